"""What is declared of a data set serves every formula, from a call, a mapping or a file."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats import cli

CODEBOOK = """
[bounds]
age = [18, 99]
wage = [0, 100]
"np.log1p(wage)" = [0, 5]
weight = [0, 10]

[levels]
region = ["north", "south"]
tract = [1, 2]

[types]
region = "string"
"""
FORMULAS = ["wage ~ age", "wage ~ C(region)", "np.log1p(wage) ~ age + region", "age ~ C(tract)"]


@pytest.fixture
def people():
    draw = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "age": draw.integers(18, 99, 300),
            "wage": draw.uniform(0, 100, 300),
            "weight": draw.uniform(1, 5, 300),
            "region": pd.array(draw.choice(["north", "south"], 300), dtype=object),
            "tract": draw.integers(1, 3, 300),
        }
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "codebook.toml"
    path.write_text(CODEBOOK)
    return path


def fit(formula, data, **more):
    with dp.testing.insecure_seed(3):
        return dp.dp_ols(formula, data, **{"method": "adassp", "epsilon": 1} | more)


@pytest.mark.parametrize("formula", FORMULAS)
def test_one_codebook_serves_every_formula_and_every_way_in(people, file, formula):
    schema = dp.Schema.of(file)
    parts = {part: dict(getattr(schema, part)) for part in ("bounds", "levels", "types")}
    ways = [{"schema": file}, {"schema": str(file)}, {"schema": schema}, {"schema": parts}, parts]
    fits = [fit(formula, people, **way) for way in ways]
    assert all(other.to_json() == fits[0].to_json() for other in fits[1:])
    assert fits[0].status == "ok" and not fits[0].estimated


def test_only_what_concerns_the_formula_changes_a_release(people, file):
    """Nor what a ledger identifies the call by."""
    own = fit("wage ~ age", people, bounds={"age": (18, 99), "wage": (0, 100)})
    assert own.to_json() == fit("wage ~ age", people, schema=file).to_json()


@pytest.mark.parametrize("more", [{"weights": "weight"}, {"subset": "region == 'north'"},
                                  {"by": "tract"}])  # fmt: skip
def test_columns_beside_the_formula_are_declared_too(people, file, more):
    assert fit("wage ~ age", people, schema=file, **more).privacy.epsilon == 1


def test_declared_levels_are_the_groups_of_their_column(people, file):
    """Whether a group is in the data or not, so that no label is read off the rows."""
    found = fit("wage ~ age", people[people["tract"] == 1], schema=file, by="tract")
    assert found.labels == (1, 2) and not found.labels_present
    assert fit("wage ~ age", people, schema=file, by="tract", groups=[2]).labels == (2,)


def test_declarations_of_a_call_take_the_place_of_the_schemas(people, file):
    found = fit("wage ~ age", people, schema=file, bounds={"age": (0, 50)})
    assert found.schema["age"].high == 50 and found.schema["wage"].high == 100
    found = fit("wage ~ C(age)", people, schema=file, levels={"age": [30, 40, 50]})
    assert found.schema["age"].levels == (30, 40, 50)
    assert fit("wage ~ C(age, levels=[30, 40])", people, schema=file).schema["age"].levels == (
        30,
        40,
    )
    found = fit("wage ~ tract", people, schema=file, bounds={"tract": (1, 2)})
    assert found.schema["tract"].high == 2


def test_absorbed_columns_need_nothing_of_a_codebook(people, file):
    found, plain = (fit("wage ~ age | tract", people, **more) for more in (
        {"schema": file}, {"bounds": {"age": (18, 99), "wage": (0, 100)}}))  # fmt: skip
    assert found.to_json() == plain.to_json()


@pytest.mark.parametrize("columns", ["csv", "parquet"])
def test_files_are_matched_by_their_header_alone(people, file, tmp_path, columns, monkeypatch):
    path = str(tmp_path / f"people.{columns}")
    getattr(people, f"to_{columns}")(path, index=False)
    assert fit("wage ~ age + region", path, schema=file).status == "ok"
    from dpstats.engines.streams import Stream

    monkeypatch.setattr(Stream, "_frames", None)
    with pytest.raises(dp.ArgumentError, match=r"bounds names 'agee', which is .*mean 'age'\?"):
        fit("wage ~ age", path, bounds={"agee": (0, 1)})
    with pytest.raises(dp.ArgumentError, match=r"no column 'ages'; did you mean 'age'\?"):
        fit("wage ~ ages", path)


REFUSED = {
    "a name that is no column": ({"bounds": {"aeg": (0, 1)}}, "bounds names 'aeg'.*'age'"),
    "levels of no column": ({"levels": {"regio": ["a"]}}, "levels names 'regio'.*'region'"),
    "types of no column": ({"types": {"tracts": "string"}}, "types names 'tracts'.*'tract'"),
    "digits in quotes": ({"bounds": {"age": ("0", "9")}}, r"\(low, high\), two numbers, got \('0'"),
    "one in quotes": ({"bounds": {"age": [0, "9"]}}, "two numbers, got"),
    "bounds too near": ({"bounds": {"age": (0, 1e-310)}}, "to be at least 1e-100 apart"),
    "no name near": ({"bounds": {"q": (0, 1)}}, "the columns are age, wage"),
    "another term": ({"bounds": {"np.log(age)": (0, 5)}}, r"'np.log\(age\)', which is no column"),
    "term of no column": ({"bounds": {"np.log(wge)": (0, 5)}}, r"'np.log\(wge\)', which is no col"),
    "number for a name": ({"bounds": {3: (0, 5)}}, "bounds names 3"),
    "bounds of another column": ({"bounds": {"tract": (2, 1)}}, r"bounds\['tract'\] to be finite"),
    "levels of another column": ({"levels": {"tract": []}}, r"levels\['tract'\] to name"),
    "another kind": ({"types": {"region": "strng"}}, r"types\['region'\]='strng'; .*'string'"),
    "both": ({"schema": {"bounds": {"age": (0, 9)}, "levels": {"age": [1, 2]}}}, "both name 'age'"),
    "another entry": ({"schema": {"bound": {}}}, "schema has no entry 'bound'; it has: bounds"),
    "no mapping": ({"schema": {"bounds": [1]}}, "expected bounds to be a mapping"),
    "no schema": ({"schema": 3}, "expected schema to be a dpstats.Schema, a mapping or the path"),
    "no file": ({"schema": "nowhere.toml"}, "cannot read nowhere.toml"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_schema_of_these_data_is_refused_before_anything_is_spent(people, case):
    arguments, message = REFUSED[case]
    budget = dp.Budget(1, 1e-6)
    with pytest.raises(dp.ArgumentError, match=message):
        fit("wage ~ age", people, budget=budget, **arguments)
    assert budget.spent == (0, 0)


def test_a_missing_column_is_named_before_bounds_are_spoken_of(people):
    for more in ({}, {"bounds": {"age": (18, 99)}}, {"bounds": {"nowhere": (0, 1)}}):
        with pytest.raises(dp.ArgumentError, match="there is no column 'log_wage'; did you mean"):
            fit("log_wage ~ np.log(aeg)", people, **more)


def test_a_file_that_is_no_toml_is_named(people, file):
    file.write_text("[bounds\n")
    with pytest.raises(dp.ArgumentError, match=r"codebook\.toml is no TOML"):
        fit("wage ~ age", people, schema=file)


def test_plans_take_the_schema(file):
    plan = dp.plan("wage ~ age + region", n=200, schema=file, method="adassp", epsilon=1,
                   repetitions=20)  # fmt: skip
    assert "region[T.south]" in plan.terms
    with pytest.raises(dp.ArgumentError, match=r"wages is unknown; did you mean 'wage'\?"):
        dp.plan("wages ~ age", n=200, schema=file, method="adassp", epsilon=1)


def test_the_shell_takes_the_schema(people, file, tmp_path, capsys):
    people.to_csv(tmp_path / "people.csv", index=False)
    call = ["fit", str(tmp_path / "people.csv"), "wage ~ age + region", "--method", "adassp",
            "--epsilon", "1", "--schema", str(file)]  # fmt: skip
    assert cli.main(call) == 0 and "region[T.south]" in capsys.readouterr().out
    assert cli.main([*call, "--bounds", "tract=2,1"]) == 2
    assert cli.main([*call, "--types", "region=string", "--levels", "region=north,east"]) == 0
    assert "region[T.east]" in capsys.readouterr().out
    assert cli.main(["plan", "wage ~ age", "--n", "100", "--methods", "adassp", "--epsilon", "1",
                     "--repetitions", "20", "--schema", str(file)]) == 0  # fmt: skip


def test_a_study_may_name_the_file(people, file, tmp_path):
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "study.toml").write_text(
        'data = "people.csv"\nschema = "codebook.toml"\nbounds = { age = [0, 120] }\n'
        '[models.one]\nformula = "wage ~ age + region"\nmethod = "adassp"\nepsilon = 1\n'
    )
    from dpstats.study import Study

    (model,) = Study.read(tmp_path / "study.toml").models
    assert model.arguments["bounds"] == {"wage": (0, 100), "age": (0, 120)}
    assert model.arguments["levels"] == {"region": ["north", "south"]}
    dp.run_study(tmp_path / "study.toml", tmp_path / "out", dry_run=True)


def test_a_file_may_begin_with_a_byte_order_mark_and_is_in_utf8(file):
    content, text = dp.Schema.of(file), file.read_text()
    file.write_text(text, encoding="utf-8-sig")
    assert dp.Schema.of(file) == content
    file.write_text(text + '[types]\n"größe" = "number"\n', encoding="latin-1")
    with pytest.raises(dp.ArgumentError, match="it is not in UTF-8; save it so"):
        dp.Schema.of(file)


HOSTILE = {
    "nested": "a = " + "[" * 100_000,
    "nested tables": "a = " + "{a=" * 50_000,
    "digits": "levels = { x = [1, " + "9" * 5000 + "] }",
    "digits of a bound": "bounds = { x = [0, " + "9" * 400 + "] }",
    "infinite bound": "bounds = { x = [0, 1e999] }",
    "text for bounds": 'bounds = { x = "12" }',
    "tables as levels": "levels = { x = [{ a = 1 }, 2] }",
    "table as a type": "types = { x = { a = 1 } }",
    "null": "\0",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_file_that_declares_nothing_is_an_argument_error(case, tmp_path):
    path = tmp_path / "schema.toml"
    path.write_text(HOSTILE[case])
    with pytest.raises(dp.ArgumentError):
        dp.Schema.of(path)
    with pytest.raises(dp.ArgumentError):
        dp.run_study(path, tmp_path / "out", dry_run=True)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(dp.ArgumentError, match="cannot read"):
        dp.Schema.of(path)


@pytest.mark.parametrize("name", ["\ud800", "\0", ""])
def test_a_name_that_no_file_can_have_is_an_argument_error(name, tmp_path):
    for read in (dp.Schema.of, lambda path: dp.run_study(path, tmp_path / "out", dry_run=True)):
        with pytest.raises(dp.ArgumentError, match="expected .* to be the path of a file"):
            read(name)


def test_a_column_whose_name_is_no_utf8_is_refused():
    values = dp.simulate.line(50, seed=1)
    name = "\ud800x"
    with pytest.raises(dp.ArgumentError, match="rename the column"):
        dp.dp_ols(f"y ~ Q({name!r})", {name: values["x"], "y": values["y"]}, epsilon=1)

"""Release records: what stands in the folder, and that others can read it."""

import csv
import html.parser
import json
import re
import resource

import numpy as np
import pandas as pd
import pytest
import yaml

import dpstats as dp
from dpstats import cli
from dpstats.results.many.comparison import compare
from dpstats.results.record.record import verify_record, write_record
from dpstats.results.record.registry import registry_yaml
from dpstats.results.restored_calls import from_text
from tests.checks.acro import loaded_by_acro
from tests.checks.pages import Links, check_fields

PUBLICATION = {
    "name": "Incomes of families: a test",
    "data_curators": ["Office of Tests"],
    "intended_use": 'To see whether "quotes" survive',
    "data_product_region": "Nowhere",
    "registry_authors": ["A. Author"],
    "data_product_sector": "Government",
}
# Field names and their types in the registry's schema (deployments-schema.yaml, July 2026).
SCHEMA = {
    "url_slug": str,
    "status": str,
    "tier": int,
    "deployment": {
        "basic": {
            "name": str, "data_curators": list, "intended_use": str, "data_product_type": str,
            "data_product_region": str, "description": str, "publication_date": str,
            "data_product_sector": str,
        },
        "dp_variant": {"variant_name": str, "data_domain": str, "unprotected_quantities": str},
        "privacy_loss": {
            "privacy_unit": str, "privacy_unit_details": str,
            "privacy_parameters": {"epsilon": float, "delta": float, "rho": float},
            "privacy_parameters_details": str,
        },
        "deployment_model": {
            "model_name": str, "actors": str, "release_type": str, "data_source_type": str,
            "access_type": str,
        },
        "accounting": {"post_processing": str, "composition": str},
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": str, "mechanisms": str,
            "justification": str,
        },
        "administrative": {"sources": str, "notes": str, "registry_authors": list},
    },
}  # fmt: skip


@pytest.fixture
def results(line):
    xy, xyz = ({name: (0, 1) for name in names} for names in ("xy", "xyz"))
    single = dp.dp_ols("y ~ x", line, method="noisy_moments", epsilon=4, bounds=xy)
    two = dp.dp_ols("y ~ x + z", line, method="adassp", epsilon=4, bounds=xyz)
    groups = dp.dp_ols("y ~ x", line, method="noisy_stats", by="area", groups=["a0", "a1", "<b>"],
                       epsilon=4, bounds=xy)  # fmt: skip
    return {"y ~ x": single, "two/<regressors>": two, "by area": groups}


def test_a_record_holds_everything_released_and_its_checksums(results, tmp_path):
    folder = write_record(results, tmp_path / "out", PUBLICATION)
    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        "1_y_x.csv", "1_y_x.png", "2_two_regressors.csv", "2_two_regressors.png",
        "3_by_area.csv", "3_by_area.png",
        "checksums", "index.html", "registry.yaml", "release.json", "results.json",
    ]  # fmt: skip
    assert sorted(path.name for path in (folder / "checksums").iterdir()) == [
        f"{name}.txt" for name in names if name != "checksums"
    ]
    stored = from_text((folder / "release.json").read_text())
    assert stored["y ~ x"].params.equals(results["y ~ x"].params)
    assert stored["by area"].frame.equals(results["by area"].frame)
    with open(folder / "1_y_x.csv") as file:
        rows = list(csv.DictReader(file))
    single = results["y ~ x"]
    assert [row["term"] for row in rows] == ["Intercept", "x", "p25", "p75"]
    assert np.allclose(
        [float(row["estimate"]) for row in rows], [*single.params, *single.predictions]
    )
    assert np.allclose([float(row["std_error"]) for row in rows[:2]], single.bse)
    assert np.allclose([float(row["upper"]) for row in rows[:2]], single.conf_int()[1])
    assert verify_record(folder) == ()


def test_the_entry_for_the_registry_has_its_fields_and_no_others(results, tmp_path):
    folder = write_record(results, tmp_path / "out", PUBLICATION)
    entry = yaml.safe_load((folder / "registry.yaml").read_text())
    check_fields(entry, SCHEMA)
    basic = entry["deployment"]["basic"]
    assert {*PUBLICATION} - {"registry_authors"} <= {*basic}
    assert basic["intended_use"] == PUBLICATION["intended_use"]
    assert entry["url_slug"] == "incomes-of-families-a-test-office-of-tests"
    loss = entry["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {}  # two relations, whose losses do not add up
    assert (
        "epsilon=4, delta=1e-06 for the presence of one row" in loss["privacy_parameters_details"]
    )
    same = {name: results[name] for name in ("y ~ x", "by area")}
    same = write_record(same, tmp_path / "same", PUBLICATION) / "registry.yaml"
    loss = yaml.safe_load(same.read_text())["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 8.0}
    pure = write_record({"y ~ x": results["y ~ x"]}, tmp_path / "pure", PUBLICATION)
    entry = yaml.safe_load((pure / "registry.yaml").read_text())["deployment"]
    assert entry["dp_variant"]["variant_name"] == "Pure DP"
    assert entry["privacy_loss"]["privacy_parameters"] == {"epsilon": 4.0}


def test_the_registry_is_told_whose_rows_are_protected_together(line):
    line["person"] = np.arange(len(line)) // 4
    call = {"method": "adassp", "epsilon": 4, "bounds": {"x": (0, 1), "y": (0, 1)}}
    rows = dp.dp_ols("y ~ x", line, **call)
    persons = dp.dp_ols("y ~ x", line, unit="person", **call)
    said = {}
    for name, results in {"rows": [rows], "persons": [persons], "both": [rows, persons]}.items():
        entry = yaml.safe_load(registry_yaml(dict(enumerate(results)), PUBLICATION))
        said[name] = entry["deployment"]["privacy_loss"]["privacy_unit"]
    assert said["rows"].startswith("Row-level") and "person" in said["rows"]
    assert said["persons"] == "User-level: all rows of one person"
    assert said["both"] == f"{said['rows']}; {said['persons']}"


def test_output_checkers_read_the_record(results, tmp_path):
    """What acro 1.0.2's load_records takes from results.json."""
    folder = write_record(results, tmp_path / "out")
    content = json.loads((folder / "results.json").read_text())
    assert content["version"] == "1.0.2" and len(content["results"]) == 3
    needed = {"uid", "status", "type", "properties", "files", "outcome", "command", "summary",
              "timestamp", "comments", "exception", "fair"}  # fmt: skip
    for key, output in content["results"].items():
        assert {*output} == needed and output["uid"] == key and output["status"] == "review"
        assert {*output["files"][0]} == {"name", "sdc"}
        assert all((folder / file["name"]).is_file() for file in output["files"])
        assert "epsilon=4" in output["summary"]


@pytest.fixture
def description(line):
    hostile = line.rename(columns={"y": "<y>_&%|"})
    return dp.dp_describe(hostile, ["x", "<y>_&%|"], epsilon=4)


def test_a_description_is_a_table_of_the_record(description, results, tmp_path):
    """Printed as papers print it, as text, LaTeX and on the page, with names escaped."""
    folder = write_record({"Table 1": description, "main": results["two/<regressors>"]},
                          tmp_path / "out", PUBLICATION)  # fmt: skip
    assert verify_record(folder) == ()
    names = {path.name for path in folder.glob("1_*")}
    assert names == {"1_Table_1.csv", "1_Table_1.txt", "1_Table_1.tex"}
    frame = pd.read_csv(folder / "1_Table_1.csv")
    assert np.allclose(frame["estimate"], description.frame["estimate"], equal_nan=True)
    assert r"\_\&\%" in (folder / "1_Table_1.tex").read_text()
    page = (folder / "index.html").read_text()
    assert description.to_html() in page and "<y>" not in page and page.count("<h2>") == 2
    restored = from_text((folder / "release.json").read_text())
    assert restored["Table 1"].frame.equals(description.frame)
    outputs = json.loads((folder / "results.json").read_text())["results"]
    assert [each["type"] for each in outputs.values()] == ["table", "regression"]
    said = yaml.safe_load((folder / "registry.yaml").read_text())
    assert said["deployment"]["basic"]["description"] == (
        "Descriptive statistics (describe: x + <y>_&%|). Coefficients of regressions: y ~ x + z."
    )
    assert said["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] == 8.0


def test_a_description_writes_its_own_record(description, tmp_path):
    folder = description.record(tmp_path / "own")
    assert verify_record(folder) == ()
    (output,) = json.loads((folder / "results.json").read_text())["results"].values()
    assert output["command"].startswith("dpstats.dp_describe: describe: x + ")
    assert output["properties"] == {"method": "describe", "formula": description.formula}


def test_a_record_names_the_function_that_made_each_result(line, tmp_path):
    table = line.assign(passed=line["y"] > 0.5)
    fits = {
        "dp_ols": dp.dp_ols("y ~ x", table, epsilon=4),
        "dp_logit": dp.dp_logit("passed ~ x", table, epsilon=4),
        "dp_poisson": dp.dp_poisson("y ~ x", table, epsilon=4),
        "dp_iv": dp.dp_iv("y ~ [x ~ z]", table, epsilon=4),
    }
    folder = write_record(fits, tmp_path / "out")
    outputs = json.loads((folder / "results.json").read_text())["results"].values()
    assert [output["command"] for output in outputs] == [f"dpstats.{name}: {name}" for name in fits]


def test_the_acro_package_loads_the_record(results, description, tmp_path):
    """Run by ``make test-acro``, whose environment has the pandas that acro needs."""
    single = {name: results[name] for name in ("y ~ x", "two/<regressors>")}
    table = compare(*single.values(), names=["one", "two"])
    everything = {**results, "Table 1": description}
    folder = write_record(everything, tmp_path / "out", tables={"both": table})
    outputs = loaded_by_acro(folder)
    assert list(outputs) == [f"output_{i}" for i in range(5)]
    assert [each["type"] for each in outputs.values()] == ["regression"] * 3 + ["table"] * 2
    assert outputs["output_0"]["terms"] == [["Intercept", "x", "p25", "p75"]]
    assert outputs["output_3"]["terms"] == [description.frame["variable"].tolist()]
    assert outputs["output_4"]["terms"] == [table.frame["term"].tolist()]
    assert all("epsilon=4" in each["summary"] for each in outputs.values())


def test_results_side_by_side_are_part_of_the_record(results, tmp_path):
    single = [results["y ~ x"], results["two/<regressors>"]]
    table = compare(*single, names=["one", "<two>"])
    folder = write_record(results, tmp_path / "out", tables={"Both & more": table})
    stem = "table_1_Both_more"
    written = pd.read_csv(folder / f"{stem}.csv", float_precision="round_trip")
    assert written.equals(table.frame)
    assert (folder / f"{stem}.txt").read_text() == table.summary() + "\n"
    assert (folder / f"{stem}.tex").read_text() == table.to_latex() + "\n"
    text = (folder / "index.html").read_text()
    assert "<h2>Both &amp; more</h2>" in text and "&lt;two&gt;" in text
    output = json.loads((folder / "results.json").read_text())["results"]["output_3"]
    assert output["type"] == "table" and output["status"] == "review"
    assert output["summary"].count("differentially private with epsilon=4") == 2
    assert [file["name"] for file in output["files"]] == [
        f"{stem}.{e}" for e in ("csv", "txt", "tex")
    ]
    assert verify_record(folder) == ()


def test_the_page_needs_no_other_file_and_says_what_is_private(results, tmp_path):
    text = (write_record(results, tmp_path / "out") / "index.html").read_text()
    links = Links(text).found
    assert len(links) == 3 and all(link.startswith("data:image/png;base64,") for link in links)
    for result in results.values():
        for assumption in result.privacy.assumptions:
            assert html.escape(assumption) in text
        assert f"epsilon={result.privacy.epsilon:g}" in text
    assert "two/&lt;regressors&gt;" in text and "<regressors>" not in text and "<b>" not in text


def test_seeded_results_are_marked_and_not_registered(line, tmp_path):
    with dp.testing.insecure_seed(1):
        res = dp.dp_ols(
            "y ~ x", line, method="adassp", epsilon=1, bounds={"x": (0, 1), "y": (0, 1)}
        )
    folder = res.record(tmp_path / "out", PUBLICATION)
    assert not (folder / "registry.yaml").exists()
    assert "NOT PRIVATE" in (folder / "index.html").read_text()
    output = json.loads((folder / "results.json").read_text())["results"]["output_0"]
    assert output["status"] == "fail" and "NOT PRIVATE" in output["summary"]


@pytest.mark.parametrize("kind", ["changed", "missing", "added"])
def test_what_is_not_as_it_was_written_is_named(results, tmp_path, kind, capsys):
    folder = results["by area"].record(tmp_path / "out")
    assert cli.main(["verify", str(folder)]) == 0
    name = "1_y_x.csv"
    if kind == "changed":
        content = bytearray((folder / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(content)
    elif kind == "missing":
        (folder / name).unlink()
    else:
        name = "more.csv"
        (folder / name).touch()
    said = {"changed": "is not as it was written", "missing": "is missing", "added": "was added"}
    assert verify_record(folder) == (f"{name} {said[kind]}",)
    capsys.readouterr()
    assert cli.main(["verify", str(folder)]) == 2
    assert capsys.readouterr().out == f"{name} {said[kind]}\n"


BAD = {
    "no mapping": "text",
    "unknown entry": PUBLICATION | {"colour": "red"},
    "missing entry": {k: v for k, v in PUBLICATION.items() if k != "name"},
    "text for a list": PUBLICATION | {"data_curators": "Office"},
    "list for a text": PUBLICATION | {"name": ["a"]},
    "empty": PUBLICATION | {"registry_authors": []},
    "sector": PUBLICATION | {"data_product_sector": "Gardening"},
    "date": PUBLICATION | {"publication_date": "1.1.2026"},
}


@pytest.mark.parametrize("name", BAD)
def test_a_publication_that_cannot_be_used_leaves_no_folder(results, tmp_path, name):
    with pytest.raises(dp.ArgumentError, match="publication"):
        results["y ~ x"].record(tmp_path / "out", BAD[name])
    assert [*tmp_path.iterdir()] == []


def test_folders_that_exist_are_refused_and_full_disks_leave_nothing(results, tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(dp.ArgumentError, match="exists"):
        results["y ~ x"].record(tmp_path / "there")
    with pytest.raises(dp.ArgumentError, match="no folder"):
        results["y ~ x"].record(tmp_path / "no" / "out")
    with pytest.raises(dp.ArgumentError, match="no release record"):
        verify_record(tmp_path)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(dp.ArgumentError, match="cannot write"):
            results["y ~ x"].record(tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


NAMES = [
    "a$^$", "x_{%$&#~^\\<>|}", "=cmd|' /C calc'!A0", "-1+1", "@x", "\tx", "a\rb", "a\n=b",
    "<script>alert(1)</script>", "\U0001f389", "\x7f\x85\u2028", "\x00x", "[a", "*b", "_x",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_text_in_every_file(name, tmp_path):
    line = dp.simulate.line(500, seed=1)
    data = {name: line["x"].to_numpy(), "y": line["y"].to_numpy(), "g": [name, "b"] * 250}
    formula, bounds = f"y ~ Q({name!r})", {name: (0, 1), "y": (0, 1)}
    call = {"data": data, "method": "noisy_moments", "epsilon": 4, "bounds": bounds}
    fit = dp.dp_ols(formula, **call)
    by = dp.dp_ols(formula, by="g", groups=[name, "b"], **call)
    table = compare(fit, fit, names=[name, "b"])
    published = PUBLICATION | {"name": name, "data_curators": [name]}
    folder = write_record({name: fit, "by": by}, tmp_path / "out", published, tables={name: table})
    files = {path.suffix: path for path in sorted(folder.iterdir())}
    assert len([*folder.glob("*.png")]) == 2 and verify_record(folder) == ()
    page = (folder / "index.html").read_text()
    assert "could not be written" not in page and "<script" not in page
    entry = yaml.safe_load(files[".yaml"].read_text(encoding="utf-8"))
    assert entry["deployment"]["basic"]["name"] == name
    for path in folder.glob("*.csv"):
        with open(path, newline="", encoding="utf-8") as file:
            cells = {cell for row in csv.reader(file) for cell in row}
        assert not [cell for cell in cells if re.match(r"[=+@\t\r\n]|-[^\di]|-1\+", cell)]
    for text in (files[".tex"].read_text(encoding="utf-8"), fit.summary().as_latex()):
        unescaped = re.sub(r"\\(text\w+\{\}|[_%$&#{}]|\\)", "", text).replace("$-$", "-")
        body = "".join(line for line in unescaped.split("\n") if "\\caption" not in line)
        assert not re.search(r"[#$~^<>|\x00\x7f]|_", body)
    assert from_text((folder / "release.json").read_text())["by"] == by


@pytest.mark.parametrize(
    ("broken", "missing"),
    [
        ("one.single.DPResults.plot", {"1_y_x.png": "picture"}),
        ("record.files.table", {"1_y_x.csv": "table"}),
        ("many.comparison.Comparison.to_latex", {"table_1_t.tex": "LaTeX table"}),
    ],
)
def test_what_cannot_be_written_is_named_and_stops_nothing(
    results, tmp_path, monkeypatch, broken, missing
):
    def fail(*arguments, **more):
        raise ValueError("of a library")

    fit = results["y ~ x"]
    table = compare(fit, names=["one"])
    whole = write_record({"y ~ x": fit}, tmp_path / "whole", tables={"t": table})
    monkeypatch.setattr(f"dpstats.results.{broken}", fail)
    folder = write_record({"y ~ x": fit}, tmp_path / "out", tables={"t": table})
    names = [{path.name for path in each.iterdir()} for each in (whole, folder)]
    ((name, what),) = missing.items()
    assert names[0] - names[1] == {name} and names[1] < names[0]
    said = f"the {what} could not be written (ValueError)"
    assert f'<p class="warning">{said}.</p>' in (folder / "index.html").read_text()
    outputs = json.loads((folder / "results.json").read_text())["results"].values()
    assert any(said in output["comments"] for output in outputs)
    assert from_text((folder / "release.json").read_text())["y ~ x"] == fit


@pytest.mark.parametrize("name", ["\ud800", "\x00"])
def test_a_folder_that_can_have_no_such_name_is_refused(results, tmp_path, name):
    with pytest.raises(dp.ArgumentError, match="expected path to be the path"):
        results["y ~ x"].record(tmp_path / name)
    with pytest.raises(dp.ArgumentError, match="expected path to be the path"):
        verify_record(str(tmp_path / name))


def test_columns_that_are_not_private_have_no_place_in_a_record(results, tmp_path):
    import statsmodels.formula.api as smf

    ols = smf.ols("y ~ x", dp.simulate.line(100, seed=1)).fit()
    table = compare(results["y ~ x"], ols=[ols])
    with pytest.raises(dp.ArgumentError, match="'both' has columns that are not private"):
        write_record(results, tmp_path / "out", tables={"both": table})
    assert list(tmp_path.iterdir()) == []

"""The report of the papers' figures runs on tiny tables, and what is committed is whole."""

import doctest
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import methods, subsets, tools
from vignettes.papers import __main__ as papers
from vignettes.papers import clips, lines, page, splits
from vignettes.reporting import __main__ as reporting

REPORT = Path(papers.__file__).parent
PICTURES = {"lines", "tracts", "bikes", "widened", "stock", "nanotubes", "uci", "clips"}


def table(columns, n=120, seed=0):
    """Made-up rows: every column a noisy multiple of the first, in [0, 1]."""
    rng = np.random.default_rng(seed)
    first = rng.uniform(0.1, 0.9, n)
    noise = rng.uniform(-0.1, 0.1, (len(columns), n))
    return pd.DataFrame({name: first + noise[j] for j, name in enumerate(columns)})


def bikes():
    rows = table(["temp", "season", "weathersit", "hum", "cnt"], 120)
    hours = np.repeat([1, 2, 3], 40)
    coarse = rows[["season", "weathersit"]].round()
    left_out = dict.fromkeys(splits.TASKS[361099].left_out, 0)
    return rows.assign(mnth=1, hr=hours, **coarse, **left_out, cnt=100 * rows["cnt"])


TINY = {
    "bike_hour": bikes,
    "istanbul_stock": lambda: table(["ise_tl", "ise_usd"]),
    "carbon_nanotubes": lambda: table(["u0", "u"]),
    "uci_airfoil": lambda: table(["a", "b", "y"]),
    "california_housing": lambda: table(["rooms", "ocean_proximity", "median_house_value"]),
    "oml_361078_houses": lambda: table([*"abcdefg", "medianhousevalue"]),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with a few tiny sets and their list."""
    folder = tmp_path_factory.mktemp("data")
    for name, make in TINY.items():
        make().to_csv(folder / f"{name}.csv.gz", index=False)
    listed = [(name, f"{name}.csv.gz", "simulated", "none") for name in TINY]
    listed.append(("uci_yacht", "missing.csv.gz", "simulated", "none"))
    columns = ["name", "file", "origin", "licence"]
    pd.DataFrame(listed, columns=columns).to_csv(folder / "MANIFEST.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def written(data, tmp_path_factory):
    """The report on the tiny sets, with few settings for the simulated lines."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "VARIED", {"n": (30, 60), "var(x)": (0.01, 0.03), "epsilon": (1, 9)})
        patch.setattr(lines, "PRODUCTS", (25, 400))
        patch.setattr(lines, "HELD", {"n": 60, "var(x)": 0.02, "epsilon": 5.0})
        folder = tmp_path_factory.mktemp("report")
        papers.report(page.Study(data, page.Page(folder), effort=1e-6))
    return folder


def test_every_section_is_written_with_its_pictures(written):
    text = (written / "README.md").read_text()
    assert text.count("\n## ") == len(papers.SECTIONS) + 1
    assert "Left out" not in text and "nan" not in text.lower().replace("nanotubes", "")
    assert set(re.findall(r"\]\((\w+)\.png\)", text)) == PICTURES
    for name in PICTURES:
        assert 2_000 < (written / f"{name}.png").stat().st_size < 80_000


def test_sections_are_written_again_one_by_one(data, written, tmp_path):
    text = (written / "README.md").read_text()
    (tmp_path / "README.md").write_text(text.replace("Stock exchange", "old").replace("a", "o"))
    papers.report(page.Study(data, page.Page(tmp_path), effort=1e-6), ["stock"])
    again = (tmp_path / "README.md").read_text().split("\n\n## ")
    before = text.split("\n\n## ")
    assert [a == b for a, b in zip(again, before, strict=True)] == [
        part in (0, 4, len(papers.SECTIONS) + 1) for part in range(len(before))
    ]


def test_sections_without_data_are_left_out(tmp_path, monkeypatch):
    (tmp_path / "MANIFEST.csv").write_text("name,file,origin,licence\n")
    without_data = {name: section for name, section in papers.SECTIONS.items() if section[1]}
    monkeypatch.setattr(papers, "SECTIONS", without_data)
    papers.report(page.Study(tmp_path, page.Page(tmp_path)), without_data)
    assert (tmp_path / "README.md").read_text().count("## Left out: ") == len(without_data)


def test_what_is_committed_is_whole():
    text = (REPORT / "README.md").read_text()
    assert text.count("\n## ") == len(papers.SECTIONS) + 1
    assert "Left out" not in text
    assert set(re.findall(r"\]\((\w+)\.png\)", text)) == PICTURES
    assert {path.stem for path in REPORT.glob("*.png")} == PICTURES


@pytest.fixture(scope="module")
def surveys(tmp_path_factory):
    """A folder with tiny stand-ins for the two public surveys."""
    folder, n = tmp_path_factory.mktemp("surveys"), 3000
    rng = np.random.default_rng(2)
    wages = pd.DataFrame({"education": rng.integers(6, 19, n), "experience": rng.uniform(0, 50, n)})
    wages["wage"] = np.exp(5 + 0.1 * wages["education"] + rng.normal(0, 0.5, n))
    mothers = pd.DataFrame(
        {"morekids": rng.choice(["yes", "no"], n), "age": rng.uniform(21, 35, n)}
    )
    mothers["work"] = rng.uniform(0, 52, n)
    for name, rows in (("cps1988", wages), ("aer_fertility", mothers)):
        rows.to_csv(folder / reporting.SETS[name][0], index=False)
    return folder


def test_the_page_on_reporting_is_written_anew(surveys, tmp_path, monkeypatch):
    """With few rows and tables, all that it shows is computed."""
    monkeypatch.setattr(reporting, "ROWS", 12_000)
    monkeypatch.setattr(reporting, "REPETITIONS", 20)
    monkeypatch.setattr(reporting, "TABLES", 10)
    reporting.report(tmp_path, surveys)
    text, committed = (
        (folder / "README.md").read_text() for folder in (tmp_path, Path(reporting.__file__).parent)
    )
    headings = re.findall(r"^## .*$", text, re.MULTILINE)
    assert headings == re.findall(r"^## .*$", committed, re.MULTILINE) and len(headings) == 6
    assert all(re.search(r"Covariance Type: +HC1", page) for page in (text, committed))
    assert {path.name for path in tmp_path.glob("*.png")} == {"plan.png", "intervals.png"}


def test_the_lead_changes_where_a_method_stays_ahead():
    errors = pd.DataFrame({"exp_theil_sen": [2, 2, 2, 2], "rival": [3, 1, 2, 1]}, [10, 20, 30, 40])
    assert lines.crossing(errors, "rival") == 40
    assert lines.crossing(errors.assign(rival=3), "rival") == np.inf
    assert lines.crossing(errors.assign(rival=1), "rival") == 10


def test_clipped_rows_have_norm_one_at_most():
    rows = pd.DataFrame({"a": [0.0, 3.0, 1e6], "b": [0.5, -4.0, 0.0]})
    design = clips.clipped(rows)
    np.testing.assert_allclose(np.linalg.norm(design, axis=1) ** 2, [0.625, 1, 1])
    np.testing.assert_allclose(design.loc[1] * np.sqrt(2), [1, 0.6, -0.8])


def test_clips_of_one_in_the_units_of_the_table():
    for largest in (0.05, 7.0, 900.0):
        call = clips.unit_clips("boosted_adassp", pd.Series([-largest, largest / 2]))
        assert call["tau"] * call["bounds"]["y"][1] == pytest.approx(1)
        assert 0.001 <= call["tau"] <= 10


def test_splits_are_the_same_at_every_call_and_miss_no_row():
    first, second = (list(splits.split(25, 3)) for _ in range(2))
    assert len(first) == 3
    for (train, test), (train_again, test_again) in zip(first, second, strict=True):
        np.testing.assert_array_equal(np.sort([*train, *test]), np.arange(25))
        np.testing.assert_array_equal(train, train_again)
        np.testing.assert_array_equal(test, test_again)
        assert len(test) == 2


def test_the_paper_s_table_is_read_as_the_paper_counts_it():
    """Gillenwater et al. say on which share of the 25 tasks R^2 is positive."""
    positive = (splits.PAPER > 0).mean().round(2).to_dict()
    assert positive["kendall_tukey"] == 0.56 and positive["lasso_tukey"] == 0.40
    assert positive["kendall_boosted_adassp"] == 0.28 and positive["lasso_boosted_adassp"] == 0.20


def test_time_and_memory_of_a_method_are_measured():
    seconds, added, status = tools.fresh("methods.measure('noisy_stats', 1000, 1, 1)")
    assert 0 < seconds < 60 and 0 <= added < 1000 and status in ("ok", "failed")


def test_models_of_subsets_are_timed(capsys):
    pytest.importorskip("sklearn")
    subsets.main(["--rows", "2000", "--models", "20", "--repeats", "1"])
    assert "our fits, all parts at once" in capsys.readouterr().out


@pytest.mark.parametrize("module", [page, methods, tools])
def test_examples(module):
    assert doctest.testmod(module).failed == 0

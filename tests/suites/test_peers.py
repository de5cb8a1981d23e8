"""The comparison with other software: its figures, and the table that it writes to pages."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import peers
from benchmarks.peer_tables import CASES


def test_figures_are_distances_and_coverage_of_the_worst_slope():
    truth, error = np.array([1.0, 2.0]), np.array([0.1, 0.5])
    near = np.array([[0.9, 1.3], [1.0, 3.0]])
    missed = np.array([[1.05, 1.3], [-np.inf, np.inf]])
    fits = [(np.array([1.1, 2.0]), near), (np.array([1.2, 2.5]), missed)]
    found = peers.measured(fits, truth, error)
    assert found["error"] == pytest.approx(1.0)
    assert (found["held"], found["shown"]) == (0.5, 0.75)
    alone = peers.measured([(slopes, None) for slopes, _ in fits], truth, error)
    assert alone["error"] == found["error"] and np.isnan(alone["held"])


def test_ours_are_compared_on_a_public_table_and_peers_that_cannot_fit_are_left_out():
    case = {"ranks": CASES["ranks of parents"]}
    own = {"dpstats": peers.with_bounds, "none": lambda *_: None}
    found = peers.compared(3, case, own)
    assert list(found["software"]) == ["dpstats", "dpstats"] and list(found["epsilon"]) == [1, 4]
    assert (found["error"] < 3).all() and (found["rows"] == 10_000).all()


@pytest.mark.parametrize("name", CASES)
def test_columns_are_within_their_bounds_and_slopes_turn_back(name):
    case = CASES[name]
    frame = case.read()
    X, y, back = case.scaled(frame)
    low, high = np.array([case.bounds[column] for column in (*case.x, case.y)], dtype=float).T
    np.testing.assert_allclose(
        low + np.column_stack([X, y]) * (high - low), frame[[*case.x, case.y]]
    )
    if not case.logit:
        design = np.column_stack([np.ones(len(y)), X])
        slopes = np.linalg.lstsq(design, y, rcond=None)[0][1:] * back
        np.testing.assert_allclose(slopes, case.reference(frame)[0], rtol=1e-6)


def test_a_page_is_written_between_its_marks_and_not_without(tmp_path):
    line = {"table": "t", "rows": 1000, "epsilon": 1.0, "error": 0.5, "shown": 1.0, "held": 0.9}
    rows = [line | {"software": "dpstats"}, line | {"software": "OpenDP", "shown": np.nan}]
    page, bare = tmp_path / "page.md", tmp_path / "bare.md"
    page.write_text("a\n<!-- peers -->\nold\n<!-- end of peers -->\nb\n")
    bare.write_text("a\n")
    text = peers.written(pd.DataFrame(rows), "OpenDP 1; 5 fits each.")
    peers.write(text, (page,))
    assert page.read_text().startswith("a\n<!-- peers -->\n\n| table | rows")
    assert "| t | 1,000 | 1 | 0.5 (0.90) | 0.5 |" in page.read_text()
    assert page.read_text().endswith("fits each.\n\n<!-- end of peers -->\nb\n")
    with pytest.raises(ValueError, match="has no marks"):
        peers.write(text, (bare,))
    assert bare.read_text() == "a\n"

"""Bars appear where they are asked for and the run takes a while, and change no release."""

import pytest

import dpstats as dp
from dpstats import progress_bar

UNIT = {"x": (0, 1), "y": (0, 1)}


@pytest.fixture
def hurried(monkeypatch):
    """A second has always passed."""
    monkeypatch.setattr(progress_bar, "_DELAY", -1.0)


def fitted(data, progress, **more):
    with dp.testing.insecure_seed(1):
        call = {"method": "noisy_newton", "epsilon": 1, "bounds": UNIT, "progress": progress}
        return dp.dp_ols("y ~ x", data, **call | more).to_json()


def test_a_single_fit_counts_what_it_releases(line, hurried, capfd):
    quiet = fitted(line, False)
    assert capfd.readouterr() == ("", "")
    assert fitted(line, None) == quiet and capfd.readouterr() == ("", "")  # no terminal
    assert fitted(line, True) == quiet
    out, err = capfd.readouterr()
    assert out == "" and err.startswith("\rnoisy_newton: ") and "releases" in err


def test_short_fits_show_nothing(line, capfd):
    fitted(line, True, method="adassp")
    assert capfd.readouterr() == ("", "")


def test_steps_are_counted_though_the_bar_comes_late(monkeypatch, capfd):
    clock = iter([0.0, 0.1, 0.2, 5.0, 6.0])
    monkeypatch.setattr(progress_bar, "monotonic", lambda: next(clock))
    with progress_bar.step_counter("fit", True) as count:
        for _ in range(3):
            count()
    assert "fit: 3 releases" in capfd.readouterr().err


def test_without_a_terminal_there_are_lines_at_most_twenty(hurried, capfd):
    assert list(progress_bar.progress_bar(range(100), "tables", True)) == list(range(100))
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 20 and lines[0].startswith("tables: 5% (5 of 100, ")
    assert lines[-1].startswith("tables: 100% (100 of 100, ")
    with progress_bar.progress_bar(3, "plans", True) as bar:
        for _ in range(3):
            bar.update()
    assert [line.split(",")[0] for line in capfd.readouterr().err.splitlines()] == [
        "plans: 33% (1 of 3", "plans: 67% (2 of 3", "plans: 100% (3 of 3",
    ]  # fmt: skip


def test_lines_wait_for_a_second_and_a_terminal_has_a_bar(capfd, monkeypatch):
    assert len(list(progress_bar.progress_bar(range(50), "tables", True))) == 50
    assert capfd.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert not isinstance(progress_bar.progress_bar(3, "tables", True), progress_bar.Lines)


def test_what_is_neither_true_nor_false_is_refused_wherever_there_are_bars(line):
    bounds = {"x": (0, 1), "y": (0, 1)}
    call = {"formula": "y ~ x", "bounds": bounds, "epsilon": 1, "methods": ["adassp"]}
    calls = [
        lambda: dp.plan(n=100, repetitions=2, progress="yes", **call),
        lambda: dp.audit("noisy_stats", trials=40, progress="yes"),
        lambda: dp.evaluate.predictions(data=line, trials=2, public=True, progress="yes", **call),
        lambda: dp.evaluate.error_bounds(data=line, trials=2, public=True, progress="yes", **call),
        lambda: dp.dp_describe(line, "x", epsilon=1, progress="yes"),
    ]
    for refused in calls:
        with pytest.raises(dp.ArgumentError, match="^expected progress to be True, False or None"):
            refused()

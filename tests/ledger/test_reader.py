"""What a ledger shows: requests in full, a summary, an export and a picture."""

import json

import numpy as np
import pytest

import dpstats as dp
from dpstats.errors import ArgumentError, BudgetError
from dpstats.privacy import GDP


def test_a_request_is_shown_in_full_before_it_is_approved(make, ols):
    steward = make(approval=True, fingerprint="2024")
    for more in ({"subset": "x > 0.2", "x_new": [0.5]}, {"formula": ["y ~ x", "x ~ y"]}):
        with pytest.raises(BudgetError, match="waits for approval"):
            ols(steward, **more)
    one, several = steward.request(1), steward.request(2)
    assert one["subset"]["text"] == "x > 0.2" and one["x_new"] and one["epsilon"] == 0.5
    assert one["state"] == "requested" and one["schema"]["x"]["high"] == 1 and "by" not in one
    assert len(several["formulas"]) == 2 and "cluster" not in several
    with pytest.raises(ArgumentError, match="no request 9"):
        steward.request(9)


def test_the_summary_and_the_export_show_what_happened(make, ols, path, tmp_path):
    steward = make(delta=1e-5, fingerprint="2024")
    steward.allocate("anna", 0.75)
    ols(dp.Ledger(path, "anna"))
    text = steward.summary()
    assert "Ledger of families" in text and "spent:        epsilon 0.5, delta 0" in text
    assert "1 released" in text and "anna" in text and steward.verify().head in text
    steward.export(tmp_path / "all.json")
    content = json.loads((tmp_path / "all.json").read_text())
    assert [entry["action"] for entry in content["audit"]] == [
        "created", "allocated", "bound", "reserved", "released", "released",
    ]  # fmt: skip
    assert content["requests"][0]["analyst"] == "anna"


def test_an_export_does_not_replace_the_ledger(make, path):
    steward = make(delta=1e-5)
    before = steward.verify()
    for place in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        with pytest.raises(dp.ArgumentError, match="expected different files"):
            steward.export(place)
    assert dp.Ledger(path).verify() == before


def test_an_export_is_a_json_file_in_a_folder_that_is_there(make, tmp_path):
    steward = make(delta=1e-5)
    paper = tmp_path / "paper.tex"
    paper.write_text("mine")
    (tmp_path / "folder.json").mkdir()
    for place in (paper, tmp_path, tmp_path / "folder.json"):
        with pytest.raises(dp.ArgumentError, match="a file that ends in .json"):
            steward.export(place)
    with pytest.raises(dp.ArgumentError, match="there is no folder"):
        steward.export(tmp_path / "nowhere" / "all.json")
    assert paper.read_text() == "mine"


def test_a_request_goes_by_one_whole_number(make):
    steward = make(delta=1e-5)
    for ask in (steward.request, steward.result, steward.approve, steward.deny):
        for number in ([1, 2], "1", 1.5, None):
            with pytest.raises(dp.ArgumentError, match="expected request to be a whole number"):
                ask(number)


def test_a_name_that_is_too_long_is_refused_in_words(tmp_path):
    for call in (dp.Ledger, lambda path: dp.Ledger.create(path, dataset="people", epsilon=1)):
        with pytest.raises(dp.LedgerError):
            call(tmp_path / ("a" * 300))


def test_spending_is_drawn_over_time(make, reserve):
    ledger = make(delta=1e-5)
    for _ in range(3):
        reserve(ledger, GDP(0.01))
    with pytest.raises(dp.ArgumentError, match="expected ax to be axes of matplotlib, got 'x'"):
        ledger.plot(ax="x")
    (line, limit) = ledger.plot().get_lines()
    drawn = line.get_ydata()
    assert len(drawn) == 5 and drawn[0] == 0 and drawn[-1] == pytest.approx(ledger.spent[0])
    assert (np.diff(drawn[:-1]) > 0).all() and drawn[-2] == drawn[-1]  # level until now
    assert [line.get_label(), limit.get_label()] == ["spent", "limit"]
    assert limit.get_ydata()[0] == 1.0


def test_a_result_is_found_by_the_number_that_the_table_of_requests_has(make, ols):
    """A whole number of NumPy is none to SQLite."""
    ledger = make()
    released = ols(ledger)
    number = ledger.requests()["id"].iloc[0]
    assert not isinstance(number, int) and ledger.result(number).params.equals(released.params)

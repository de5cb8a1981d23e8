"""Files are read by their ending; what fails says which file and nothing of what is in it."""

import builtins
import gzip
import re

import pytest

from dpstats.engines.open_table import ENDINGS, open_table
from dpstats.errors import ArgumentError
from tests.checks.open_table import FRAME, RANGE, check, check_refused, columns

TEXT = "age,pay,town\n31,1.5,Ulm\n45,,Bonn\n"


@pytest.mark.parametrize("name", ["a.csv", "a.b.CSV", "a.csv.gz", "a.tsv", "a.tsv.gz"])
def test_text(tmp_path, name):
    path = tmp_path / name
    text = TEXT.replace(",", "\t") if ".tsv" in name else TEXT
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    check(path)
    check(str(path))


def test_parquet_and_stata(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet")
    check(tmp_path / "a.parquet")
    FRAME.to_stata(tmp_path / "a.dta", write_index=False)
    check(tmp_path / "a.dta")


def test_files_with_other_columns_are_refused(tmp_path):
    """A column that one file lacks would be missing in all of its rows."""
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,z\n1,2\n")
    with pytest.raises(ArgumentError, match=r"b\.csv are not those of .*a\.csv"):
        open_table(tmp_path / "*.csv")
    FRAME.to_parquet(tmp_path / "a.parquet")
    FRAME.assign(pay=["low", "high"]).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(ArgumentError, match=r"b\.parquet are not those of .*a\.parquet"):
        open_table(tmp_path / "*.parquet")


def test_a_list_of_paths_and_globs_names_each_file_once(tmp_path):
    """A file that is read twice would count each of its rows twice."""
    first, second, third = (tmp_path / name for name in ("a.csv", "b-1.csv", "b-2.csv"))
    for place, path in enumerate([first, second, third]):
        path.write_text(f"x\n{place}\n")
    together = [str(first), tmp_path / "b-*.csv"]
    assert columns(together, x=RANGE) == [[0, 1, 2]]
    (tmp_path / "link.csv").symlink_to(second)
    for twice in (first, tmp_path / "link.csv"):
        with pytest.raises(ArgumentError, match="each file once"):
            open_table([*together, twice])
    with pytest.raises(ArgumentError, match="there is no file .*nowhere"):
        open_table([first, tmp_path / "nowhere.csv"])
    with pytest.raises(ArgumentError, match="expected .*a.csv, .*b.parquet to name files"):
        FRAME.to_parquet(tmp_path / "b.parquet")
        open_table([first, tmp_path / "b.parquet"])


def test_levels_of_a_parquet_file_must_be_declared(tmp_path):
    """Its dictionaries list what is there, part by part."""
    FRAME.astype({"town": "category"}).to_parquet(tmp_path / "a.parquet")
    assert open_table(tmp_path / "a.parquet").levels("town") is None
    check(tmp_path / "a.parquet")


def test_no_such_file_or_ending(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_text("x")
    check_refused(path, re.escape("in one of .parquet, .csv, .csv.gz, .tsv, .tsv.gz, .dta; save"))
    check_refused(tmp_path / "b.csv", "there is no file")
    check_refused("-", "standard input. is read once, .*save it as a .csv file")
    check_refused("/dev/null", "/dev/null is read once, .*save it as a .csv file")
    check_refused("https://example.org/a.csv", "is no file of this computer; save it as one")
    check_refused(tmp_path / "b*.csv", "there is no file")
    (tmp_path / "folder.csv").mkdir()
    check_refused(tmp_path / "folder.csv", r"is a folder; name its files, as in .*/\*\.csv")


@pytest.mark.parametrize("ending", list(ENDINGS))
def test_unreadable_files_show_nothing(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    # neither a header in UTF-8 nor any of the formats
    path.write_bytes(b'secret,"\xff\xfe"\n1,2,3,4\n')
    message = check_refused(path, "cannot be read as its ending says")
    assert "secret" not in message and ("in UTF-8" in message) == ("sv" in ending)


def test_a_file_that_may_not_be_read_is_told_from_one_of_another_kind(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")
    monkeypatch.setitem(ENDINGS, ".csv", refuse)
    check_refused(path, "may not be read; ask for read access to it")


def test_an_empty_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("")
    check_refused(path, "cannot be read")


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_missing_pyarrow_says_what_to_install(tmp_path, monkeypatch, name):
    original = builtins.__import__

    def without_pyarrow(module, *rest):
        if module.partition(".")[0] == "pyarrow":
            raise ImportError(module)
        return original(module, *rest)

    path = tmp_path / name
    path.write_text(TEXT)
    monkeypatch.setattr(builtins, "__import__", without_pyarrow)
    check_refused(path, re.escape("pip install 'dpstats[parquet]'"))


def test_a_path_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.csv").write_text(TEXT)
    check("~/a.csv")

"""Output files appear whole or not at all, on a disk that fills up and under kill -9."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats import cli

resource = pytest.importorskip("resource", reason="limits on files are POSIX")
UNIT = {"x": (0, 1), "y": (0, 1)}
LIMIT = 1 << 16  # bytes a file; the table below is larger
OPTIONS = ["--method", "noisy_moments", "--epsilon", "1", "--bounds", "x=0,1", "--bounds", "y=0,1"]
BY = ["by", "people.csv", "y ~ x", *OPTIONS, "--by", "area", "-o", "out.csv"]
FULL = r"(File too large|No space left on device) after [\d,]+ bytes, none of which are kept"


def people(groups=1000, size=2):
    rng = np.random.default_rng(1)
    area = np.repeat(np.arange(groups), size)
    return pd.DataFrame({"area": area, "x": rng.random(len(area)), "y": rng.random(len(area))})


@contextmanager
def files_up_to(size):
    """Real writes beyond fail, as those to a full disk do: Python ignores the signal."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    people().to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("before", [None, "what was there"])
@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz"])
def test_a_table_that_does_not_fit_leaves_what_was_there(folder, name, before):
    groups = dp.dp_ols("y ~ x", people(), by="area", method="noisy_moments", epsilon=1, bounds=UNIT)
    if before:
        (folder / name).write_text(before)
    files = sorted(os.listdir(folder))
    with files_up_to(LIMIT // 8), pytest.raises(OSError, match=FULL) as caught:
        groups.to_csv(folder / name)
    assert caught.value.filename == str(folder / name)
    assert sorted(os.listdir(folder)) == files
    assert not before or (folder / name).read_text() == before


@pytest.mark.parametrize("more", [[], ["--plot", "out.png"]])
def test_the_command_line_says_so_and_shows_what_was_paid_for(folder, capsys, more):
    assert cli.main([*BY, *more]) == 0  # compiled, so that nothing else is written
    capsys.readouterr()
    for path in folder.glob("out.*"):
        path.unlink()
    with files_up_to(LIMIT if not more else 1 << 14):
        assert cli.main([*BY, *more]) == 2
    shown = capsys.readouterr()
    assert shown.err.startswith("dpstats: error: cannot write out.csv: File too large after ")
    assert "1,000" in shown.out or "1000" in shown.out
    assert os.listdir(folder) == ["people.csv"]


def test_a_file_system_that_is_full(folder):
    """The table goes to a file system of 64 kB, mounted for this process alone."""
    script = """mount -t tmpfs -o size=64k none "$0" || exit 77
cd "$0" && "$@"; code=$?; echo "left: $(ls -A)"; exit $code"""
    mounted = folder / "small"
    mounted.mkdir()
    command = [sys.executable, "-m", "dpstats", "by", folder / "people.csv", *BY[2:]]
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare to mount a small file system with")
    done = subprocess.run(
        [unshare, "-rm", "sh", "-c", script, mounted, *command], capture_output=True, text=True
    )
    if "left: " not in done.stdout:
        pytest.skip("mounting a small file system is not allowed here")
    assert done.returncode == 2
    assert "cannot write out.csv: No space left on device after " in done.stderr
    assert done.stdout.endswith("left: \n")


def test_a_killed_process_leaves_the_old_table(tmp_path):
    """It is killed as soon as a part of the new table is on the disk."""
    target = tmp_path / "out.csv"
    target.write_text("old")
    code = f"""
import numpy as np
import dpstats as dp
data = {{"g": np.arange(20_000), "x": np.full(20_000, 0.5), "y": np.full(20_000, 0.5)}}
res = dp.dp_ols("y ~ x", data, by="g", method="noisy_moments", epsilon=1, progress=False,
                bounds={{"x": (0, 1), "y": (0, 1)}})
res.to_csv({str(target)!r})
"""
    running = subprocess.Popen([sys.executable, "-c", code])
    try:
        while not any(path.stat().st_size for path in tmp_path.glob(".*.csv")):
            assert running.poll() is None, "it was over before it could be killed"
            time.sleep(0.002)
    finally:
        running.kill()
    assert running.wait() == -signal.SIGKILL
    assert target.read_text() == "old"

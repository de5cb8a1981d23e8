"""Describe a release for output checkers, in the form of the program ACRO.

ACRO (https://github.com/AI-SDC/ACRO) is what research data centres use to check outputs; its
``load_records`` and the SACRO Viewer read ``results.json``, and the former only under its own
version, hence the constant.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from dpstats.privacy import ADD_REMOVE, REPLACE_ONE

ACRO = "1.0.2"
RELATION = {
    ADD_REMOVE: "the presence of one row",
    REPLACE_ONE: "the values of one row",
}


def acro_json(results: Mapping, files: Mapping[str, tuple[str, ...]], command: str) -> str:
    """Write the results as ACRO does; ``files`` are each result's table and picture."""
    outputs = {
        f"output_{i}": _output(f"output_{i}", name, result, files[name], command)
        for i, (name, result) in enumerate(results.items())
    }
    tool = {
        "@type": "SoftwareApplication",
        "name": "dpstats",
        "url": "https://pypi.org/project/dpstats",
        "version": installed("dpstats"),
    }
    return json.dumps({"version": ACRO, "tool": tool, "results": outputs}, indent=4)


def _output(uid: str, name: str, result, files: tuple[str, ...], command: str) -> dict:
    return {
        "uid": uid,
        "status": "review" if result.privacy.private else "fail",
        "type": "regression",
        "properties": {"method": result.method, "formula": str(result.formula)},
        "files": [{"name": file, "sdc": {}} for file in files],
        "outcome": {},
        "command": f"{command}: {name}",
        "summary": guarantee(result),
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "comments": list(result.privacy.assumptions),
        "exception": "",
        "fair": {},
    }


def guarantee(result) -> str:
    """State the guarantee of a result in one sentence."""
    report = result.privacy
    if not report.private:
        return "NOT PRIVATE: made under insecure_seed, so the noise can be subtracted"
    delta = f", delta={report.delta:g}" if report.delta else ""
    return (
        f"differentially private with epsilon={report.epsilon:g}{delta}; neighbouring tables "
        f"differ by {RELATION[report.neighbors]}"
    )


def installed(package: str) -> str:
    """Tell the version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"

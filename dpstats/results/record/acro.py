"""Describe a release for output checkers, in the form of the program ACRO.

ACRO (https://github.com/AI-SDC/ACRO) is what research data centres use to check outputs; its
``load_records`` and the SACRO Viewer read ``results.json``, and the former only under its own
version, hence the constant.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from dpstats.privacy import ADD_REMOVE, REPLACE_ONE, PrivacyReport
from dpstats.results.record.files import Written

ACRO = "1.0.2"
# What fits by these methods, or describes; all others are of dp_ols.
_VERBS = {
    "noisy_logit": "dp_logit",
    "noisy_poisson": "dp_poisson",
    "noisy_instruments": "dp_iv",
    "describe": "dp_describe",
}
_RELATION = {ADD_REMOVE: "the presence of", REPLACE_ONE: "the values of"}


def acro_json(
    results: Mapping,
    files: Mapping[str, Written],
    command: str | None,
    tables: Mapping,
    listed: Mapping[str, Written],
) -> str:
    """Write the results and tables as ACRO does; ``files`` and ``listed`` are theirs."""
    found = [_output(name, each, files[name], command) for name, each in results.items()]
    found += [_table(name, each, listed[name], command) for name, each in tables.items()]
    outputs = {f"output_{i}": {"uid": f"output_{i}"} | each for i, each in enumerate(found)}
    tool = {
        "@type": "SoftwareApplication",
        "name": "dpstats",
        "url": "https://pypi.org/project/dpstats",
        "version": installed("dpstats"),
    }
    return json.dumps({"version": ACRO, "tool": tool, "results": outputs}, indent=4)


def _output(name: str, result, written: Written, command: str | None) -> dict:
    command = command or f"dpstats.{_VERBS.get(result.method, 'dp_ols')}"
    return {
        "status": "review" if result.privacy.private else "fail",
        "type": "table" if hasattr(result, "figures") else "regression",
        "properties": {"method": result.method, "formula": str(result.formula)},
        "files": [{"name": file, "sdc": {}} for file in written.files],
        "outcome": {},
        "command": f"{command}: {name}",
        "summary": guarantee(result),
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "comments": [*result.privacy.assumptions, *written.missing],
        "exception": "",
        "fair": {},
    }


def _table(name: str, comparison, written: Written, command: str | None) -> dict:
    """Describe results side by side as an output of its own, whose numbers are theirs."""
    outputs = [_output(name, result, written, command) for result in comparison.results]
    private = all(result.privacy.private for result in comparison.results)
    return outputs[0] | {
        "status": "review" if private else "fail",
        "type": "table",
        "properties": {"columns": list(comparison.names)},
        "summary": "; ".join(
            f"{label}: {output['summary']}"
            for label, output in zip(comparison.names, outputs, strict=True)
        ),
        "comments": [
            "the numbers are those of other outputs, so nothing more is spent",
            *written.missing,
        ],
    }


def guarantee(result) -> str:
    """State the guarantee of a result in one sentence."""
    report = result.privacy
    if not report.private:
        return "NOT PRIVATE: made under insecure_seed, so the noise can be subtracted"
    delta = f", delta={report.delta:g}" if report.delta else ""
    return (
        f"differentially private with epsilon={report.epsilon:g}{delta}; neighbouring tables "
        f"differ by {relation(report)}"
    )


def relation(report: PrivacyReport) -> str:
    """Say by what neighbouring tables differ."""
    return f"{_RELATION[report.neighbors]} {report.difference}"


@cache
def installed(package: str) -> str:
    """Tell the version of a package; the files of all packages are searched for it once."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"

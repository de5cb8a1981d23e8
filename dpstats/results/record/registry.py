"""Describe a release for the OpenDP registry of deployments, as YAML.

The fields are those of ``schemas/deployments-schema.yaml`` of
https://github.com/opendp/deployments-registry-data, at tier 3.
"""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime

from dpstats.errors import ArgumentError, shown
from dpstats.privacy import distinct
from dpstats.results.record.acro import installed, relation

NEEDED = ("name", "data_curators", "intended_use", "data_product_region", "registry_authors")
_LISTS = ("data_curators", "registry_authors")
_OPTIONAL = ("description", "data_product_sector", "publication_date")
_SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")


def checked_publication(publication: Mapping) -> dict:
    """Check what the publisher states: texts, and lists of texts; ArgumentError otherwise."""
    if not isinstance(publication, Mapping):
        raise ArgumentError(f"expected publication to be a mapping, got {shown(publication)}")
    for name in publication:
        if name not in (*NEEDED, *_OPTIONAL):
            known = ", ".join((*NEEDED, *_OPTIONAL))
            raise ArgumentError(f"publication has no entry {name!r}; it has: {known}")
    for name in NEEDED:
        if name not in publication:
            raise ArgumentError(f"publication needs the entry {name!r}")
    for name, value in publication.items():
        texts = value if name in _LISTS else [value]
        if not isinstance(texts, list | tuple) or not texts or not all(map(_is_text, texts)):
            kind = "a list of texts" if name in _LISTS else "a text"
            raise ArgumentError(f"expected publication[{name!r}] to be {kind}, got {shown(value)}")
    _check_choices(publication)
    return dict(publication)


def _is_text(value) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _check_choices(publication: Mapping) -> None:
    sector, day = (publication.get(name) for name in ("data_product_sector", "publication_date"))
    if sector is not None and sector not in _SECTORS:
        raise ArgumentError(
            f"expected publication['data_product_sector'] to be one of {_SECTORS}, got {sector!r}"
        )
    try:
        date.fromisoformat(day or "2000-01-01")
    except ValueError:
        raise ArgumentError(
            f"expected publication['publication_date'] as YYYY-MM-DD, got {day!r}"
        ) from None


def registry_yaml(
    results: Mapping, publication: Mapping, together: tuple[float, float] | None = None
) -> str:
    """Write the entry of these results, which ``together`` were held to an epsilon and a delta."""
    words = re.findall(
        r"[a-z0-9]+", f"{publication['name']} {publication['data_curators'][0]}".lower()
    )
    basic = {name: publication[name] for name in (*NEEDED, *_OPTIONAL) if name in publication}
    authors = basic.pop("registry_authors")
    basic |= {"data_product_type": "Summary statistics"}
    basic.setdefault("description", _description(results))
    basic.setdefault("publication_date", datetime.now(UTC).date().isoformat())
    entry = {
        "url_slug": "-".join(words),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": basic,
            **_privacy(results, together),
            "implementation": {"mechanisms": _mechanisms(results)},
            "administrative": {"registry_authors": list(authors)},
        },
    }
    return "\n".join(_lines(entry))


def _description(results: Mapping) -> str:
    """Say in words what was released."""
    models = [str(each.formula) for each in results.values() if not hasattr(each, "figures")]
    tables = [str(each.formula) for each in results.values() if hasattr(each, "figures")]
    said = [f"Descriptive statistics ({', '.join(tables)})."] if tables else []
    said += [f"Coefficients of regressions: {', '.join(models)}."] if models else []
    return " ".join(said)


def _privacy(results: Mapping, together: tuple[float, float] | None) -> dict:
    """Collect the fields on the guarantee from the privacy reports."""
    reports = distinct(result.privacy for result in results.values())
    epsilon = math.fsum(report.epsilon for report in reports)
    delta = math.fsum(report.delta for report in reports)
    relations = sorted({relation(report) for report in reports})
    assumptions = dict.fromkeys(text for report in reports for text in report.assumptions)
    composition = "one release" if len(reports) == 1 else "the sum over the releases"
    if together is not None:
        epsilon, delta = together
        composition = "squared mu of Gaussian differential privacy, fixed before the first release"
    parameters = {"epsilon": epsilon} | ({"delta": delta} if delta else {})
    if len(relations) > 1:  # losses under different relations do not add up
        parameters, composition = {}, "releases under different relations, each with its own loss"
    return {
        "dp_variant": {
            "variant_name": "Approximate DP" if delta else "Pure DP",
            "unprotected_quantities": "; ".join(assumptions),
        },
        "privacy_loss": {
            "privacy_unit": "; ".join(dict.fromkeys(map(_unit, reports))),
            "privacy_unit_details": f"Neighbouring tables differ by {' or '.join(relations)}.",
            "privacy_parameters": parameters,
            "privacy_parameters_details": "; ".join(map(_loss, reports)),
        },
        "deployment_model": {
            "model_name": "Central",
            "release_type": "One release",
            "data_source_type": "Static",
            "access_type": "Non-interactive",
        },
        "accounting": {"composition": composition},
    }


def _unit(report) -> str:
    """Say whose rows are protected together."""
    if report.unit is None:
        return "Row-level: one person where each person is one row"
    return f"User-level: {report.difference}"


def _loss(report) -> str:
    """State the guarantee of one release, with its relation."""
    delta = f", delta={report.delta:g}" if report.delta else ""
    return f"epsilon={report.epsilon:g}{delta} for {relation(report)}"


def _mechanisms(results: Mapping) -> str:
    """List the mechanisms that drew noise, and the package."""
    drawn = {event.mechanism for result in results.values() for event in result.privacy.events}
    methods = sorted({result.method for result in results.values()})
    return (
        f"dpstats {installed('dpstats')}, methods: {', '.join(methods)}; noise: "
        f"{', '.join(sorted(drawn))}, from the operating system's source of randomness"
    )


def _lines(value, indent: str = "") -> list[str]:
    """Write mappings, lists, texts and numbers as lines of YAML."""
    lines = []
    for name, part in value.items():
        if part == {}:
            lines.append(f"{indent}{name}: {{}}")
        elif isinstance(part, Mapping):
            lines += [f"{indent}{name}:", *_lines(part, indent + "  ")]
        elif isinstance(part, list | tuple):
            lines += [f"{indent}{name}:", *(f"{indent}  - {_scalar(item)}" for item in part)]
        else:
            lines.append(f"{indent}{name}: {_scalar(part)}")
    return lines


def _scalar(value) -> str:
    """Write a text in double quotes, with escapes, and a number so that YAML sees one.

    >>> _scalar(1e-06), _scalar(2.0), _scalar('y ~ "x"')
    ('1.0e-06', '2.0', '"y ~ \\\\"x\\\\""')
    """
    if isinstance(value, float):
        digits, exponent, power = repr(value).partition("e")
        return f"{digits}{'' if '.' in digits or not exponent else '.0'}{exponent}{power}"
    if isinstance(value, str):
        return '"' + "".join(map(_character, value)) + '"'
    return json.dumps(value)


def _character(character: str) -> str:
    """Write a character of a text in double quotes; YAML has no pairs of surrogates."""
    if character in '"\\':
        return f"\\{character}"
    plain = character.isascii() and character.isprintable()
    return character if plain else f"\\U{ord(character):08x}"

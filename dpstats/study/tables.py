"""Read the tables that a study asks for: several results side by side, as papers print them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dpstats.codebook.toml_file import check_names
from dpstats.errors import ArgumentError
from dpstats.results.many.columns import terms_of
from dpstats.results.many.comparison import Comparison, checked_names, compare
from dpstats.results.many.layout import check_known, checked_labels, checked_layout
from dpstats.study.models import Model


@dataclass(frozen=True)
class Table:
    """Hold one table of the record: ``results`` by name, and the headings of their columns.

    ``terms`` are printed in place of names, and ``printed`` are the choices of
    :func:`dpstats.compare` on stars and notes.
    """

    name: str
    results: tuple[str, ...]
    labels: tuple[str, ...]
    terms: Mapping[str, str]
    printed: Mapping = field(default_factory=dict)

    def filled(self, results: Mapping) -> Comparison:
        """Put the results of a run into the table."""
        fits = [results[name] for name in self.results]
        known = terms_of(fits)  # without those that a selection left out
        labels = {term: label for term, label in self.terms.items() if term in known}
        return compare(*fits, names=self.labels, labels=labels, **self.printed)

    def check(self, terms: Mapping[str, Iterable[str]]) -> None:
        """Raise ArgumentError where it names a term that none of its results can have."""
        known = [term for name in self.results for term in terms[name]]
        check_known(f"tables.{self.name}.terms", self.terms, known)


def read_tables(content: Mapping, models: Iterable[Model]) -> tuple[Table, ...]:
    """Check ``{name: {"models": [...], "labels": [...], ...}}``, or raise ArgumentError.

    A model with several formulas gives a column for each of them.
    """
    known = {model.name: model for model in models}
    return tuple(_read(f"tables.{name}", name, own, known) for name, own in content.items())


def _read(place: str, name: str, content, known: Mapping[str, Model]) -> Table:
    if not isinstance(content, dict) or not isinstance(content.get("models"), list):
        raise ArgumentError(f"expected {place} to have models = [...], got {content!r}")
    check_names(content, ("models", "labels", "stars", "terms", "notes"), place)
    for model in content["models"]:
        if model not in known:
            raise ArgumentError(f"{place} names {model!r}; the models are: {', '.join(known)}")
        if not known[model].formulas:
            raise ArgumentError(f"{place} names {model!r}, which is a table already; leave it out")
        if "by" in known[model].arguments:
            raise ArgumentError(
                f"{place} names {model!r}, whose groups have a table of their own in the record; "
                "leave it out"
            )
    results = [result for model in content["models"] for result in known[model].result_names]
    if not results:
        raise ArgumentError(f"expected {place}.models to name a model, got []")
    labels = checked_names(content.get("labels", results), len(results), f"{place}.labels")
    terms = content.get("terms", {})
    checked_labels(f"{place}.terms", terms, terms)
    printed = {"stars": content.get("stars", False), "notes": content.get("notes")}
    checked_layout([], labels=None, keep=None, order=None, **printed)
    return Table(name, tuple(results), labels, terms, printed)

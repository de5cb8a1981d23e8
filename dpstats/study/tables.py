"""Read the tables that a study asks for: several results side by side, as papers print them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dpstats.codebook.toml_file import check_names
from dpstats.errors import ArgumentError
from dpstats.results.many.comparison import Comparison, checked_names, compare
from dpstats.results.many.layout import checked_layout
from dpstats.study.models import Model


@dataclass(frozen=True)
class Table:
    """Hold one table of the record: ``results`` by name, and the headings of their columns.

    ``printed`` are the choices of :func:`dpstats.compare` on stars, labels of terms and notes.
    """

    name: str
    results: tuple[str, ...]
    labels: tuple[str, ...]
    printed: Mapping = field(default_factory=dict)

    def filled(self, results: Mapping) -> Comparison:
        """Put the results of a run into the table."""
        return compare(*(results[name] for name in self.results), names=self.labels, **self.printed)


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
    printed = {"stars": content.get("stars", False), "labels": content.get("terms"),
               "notes": content.get("notes")}  # fmt: skip
    checked_layout([], keep=None, order=None, **printed)
    return Table(name, tuple(results), labels, printed)

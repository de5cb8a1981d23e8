"""Read the tables that a study asks for: several results side by side, as papers print them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dpstats.codebook.toml_file import check_names
from dpstats.errors import ArgumentError
from dpstats.results.many.comparison import Comparison, checked_names, compare
from dpstats.results.many.layout import Layout, checked_layout
from dpstats.study.models import Model


@dataclass(frozen=True)
class Table:
    """Hold one table of the record: ``results`` by name, and the headings of their columns.

    ``layout`` has its stars, what is printed in place of terms, and its notes.
    """

    name: str
    results: tuple[str, ...]
    labels: tuple[str, ...]
    layout: Layout = field(default_factory=Layout)

    def filled(self, results: Mapping) -> Comparison:
        """Put the results of a run into the table."""
        layout = self.layout
        return compare(
            *(results[name] for name in self.results), names=self.labels, labels=layout.labels,
            stars=layout.stars or False, notes=layout.notes,
        )  # fmt: skip


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
    stars = content.get("stars", False)
    layout = checked_layout([], stars, content.get("terms"), None, None, content.get("notes"))
    return Table(name, tuple(results), labels, layout)

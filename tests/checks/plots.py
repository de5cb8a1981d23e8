"""Draw fits, legends and maps."""

import dpstats as dp


def squares(labels, column="area"):
    """A square for each label, from left to right."""
    import geopandas
    from shapely.geometry import box

    boxes = [box(i, 0, i + 1, 1) for i in range(len(labels))]
    return geopandas.GeoDataFrame({column: labels, "geometry": boxes})


BOUNDS = {"kid_rank": (0, 1), "parent_rank": (0, 1)}
FORMULA = "kid_rank ~ parent_rank"


def fit(data, formula=FORMULA, *, method="adassp", epsilon=1, bounds=BOUNDS, **more):
    with dp.testing.insecure_seed(1):
        return dp.dp_ols(formula, data, method=method, epsilon=epsilon, bounds=bounds, **more)


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def drawn(ax) -> None:
    ax.figure.canvas.draw()

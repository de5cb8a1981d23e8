"""cluster=: what it takes, which rows it leaves out, and how labels are read."""

import numpy as np
import pandas as pd
import pytest

import dpstats as dp
from dpstats.errors import ArgumentError
from dpstats.testing import insecure_seed

CLUSTERED = {"cov_type": "cluster", "cluster": "g"}


def table(n=3000, clusters=25, seed=0):
    generator = np.random.default_rng(seed)
    group = generator.integers(0, clusters, n)
    x = generator.normal(size=n)
    y = 0.5 * x + 0.3 * generator.normal(size=clusters)[group] + generator.normal(size=n)
    return pd.DataFrame({"x": x, "y": y, "g": group, "w": 1.0, "id": np.arange(n) // 3})


def fit(data, formula="y ~ x", epsilon=4, **arguments):
    with insecure_seed(1):
        return dp.dp_ols(formula, data, epsilon=epsilon, **{**CLUSTERED, **arguments})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"cov_type": None}, 'add cov_type="cluster"'),
        ({"cov_type": "HC1"}, 'add cov_type="cluster"'),
        ({"cluster": None}, "needs what to cluster by"),
        ({"cluster": ["g"]}, "expected cluster to name a column"),
        ({"cluster": "gg"}, "gg"),
        ({"by": "g"}, "leaves one cluster"),
        ({"method": "adassp"}, "adassp has no standard errors clustered by a column"),
        ({"formula": "y ~ x | id"}, "not available with |"),
        ({"delta": 0, "method": "shrunken_pure"}, "has no standard errors clustered by a column"),
        ({"subset": "g > 3"}, "labels"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_sentence(arguments, said):
    with pytest.raises(ArgumentError, match=said.replace("|", r"\|")):
        fit(table(50), **arguments)


def test_a_row_without_a_label_is_left_out():
    data = table()
    lacking = data.assign(g=data["g"].where(data.index % 7 != 0))
    assert fit(lacking).to_json() == fit(data[data.index % 7 != 0].astype({"g": float})).to_json()


@pytest.mark.parametrize(
    "labels",
    [
        lambda g: g.astype(float),
        lambda g: "state " + g.astype(str),
        lambda g: pd.Categorical(g),
        lambda g: pd.Timestamp("2020-01-01") + pd.to_timedelta(g, "D"),
    ],
)
def test_labels_of_any_type_tell_clusters_apart(labels):
    data = table()
    other = data.assign(g=labels(data["g"]))
    assert fit(other).to_json() == fit(data).to_json()


def test_files_are_read_some_rows_at_a_time(tmp_path):
    data = table(150_000, clusters=60)
    data.to_parquet(tmp_path / "rows.parquet", row_group_size=20_000)
    streamed = fit(str(tmp_path / "rows.parquet"))
    np.testing.assert_allclose(streamed.bse, fit(data).bse, rtol=1e-12)


def test_a_column_of_the_formula_may_be_the_clusters_too():
    data = table(clusters=30)
    factor = data.assign(g=pd.Categorical(data["g"], range(30)))
    assert fit(factor, "y ~ x + g", epsilon=100).cov_type == "cluster"
    assert fit(data, "y ~ x + g", epsilon=100).fit_statistics.loc["clusters", "estimate"] > 25


def test_where_it_is_the_unit_errors_are_those_of_the_unit():
    data = table()
    with insecure_seed(1):
        alone = dp.dp_ols("y ~ x", data, epsilon=4, unit="id")
    both = fit(data, unit="id", cluster="id")
    assert both.to_json() == alone.to_json() and "clusters" not in both.fit_statistics.index


def test_the_release_says_so_and_is_restored():
    result = fit(table())
    assert result.cov_type == "cluster"
    assert any("clustered by g" in said for said in result.privacy.assumptions)
    again = dp.DPResults.from_json(result.to_json())
    pd.testing.assert_frame_equal(again.conf_int(), result.conf_int())
    assert again.to_json() == result.to_json()


def test_groups_have_clusters_of_their_own():
    data = table(9000, clusters=30).assign(k=np.arange(9000) % 2)
    result = fit(data, by="k", epsilon=8)
    assert result.cov_type == "cluster" and (result.status == "ok").all()
    assert np.isfinite(result.errors).all()


def test_weights_and_another_relation_are_taken():
    data = table()
    for more in ({"weights": "w", "bounds": {"w": (0, 2)}}, {"neighbors": "replace_one"}):
        result = fit(data, **more)
        assert result.cov_type == "cluster" and np.isfinite(result.bse).all()

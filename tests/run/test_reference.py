"""Center, scale and extremes of a design from distributions of its columns that are known."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from dpstats.estimators.contract import Extremes
from dpstats.formula import Formula
from dpstats.range_estimation import Marginal
from dpstats.run.reference import reference_of
from dpstats.schema import Categorical, Numeric
from tests.checks.released import released


def marginal(points, weights=None, **changes) -> Marginal:
    """A distribution on points, seen without noise."""
    points = np.asarray(points, dtype=float)
    weights = np.full(len(points), 1 / len(points)) if weights is None else np.asarray(weights)
    mean = float(weights @ points)
    sd = float(np.sqrt(weights @ (points - mean) ** 2))
    return Marginal(points.min(), points.max(), mean, sd, points, weights, **changes)


NORMAL = marginal(np.random.default_rng(1).normal(size=4001))
COUNTS = marginal([0.0, 1, 2, 30], [0.7, 0.2, 0.09, 0.01])


def reference(x=NORMAL, y=NORMAL, limit=None, formula="y ~ x", grouped=False, lognormal=True):
    """The reference of a design of x whose response is y."""
    schema = {name: Numeric(-100.0, 100.0) for name in ("x", "y")}
    design = Formula.parse(formula).design(schema)
    return reference_of(design, {"x": x, "y": y}, "y", limit, grouped, lognormal)


def test_scales_are_those_of_the_distributions():
    found = reference(x=replace_scale(NORMAL, 3.0), y=replace_scale(NORMAL, 2.0))
    assert found.root[0, 0] == pytest.approx(3 * NORMAL.sd, rel=0.15)
    assert found.y_scale == pytest.approx(2 * NORMAL.sd)


@pytest.mark.parametrize("term", ["np.where(k == 3, x, 0)", "I(k == 3):x"])
def test_a_number_between_two_bins_is_equalled_by_the_rows_of_one(term):
    counts = marginal(np.arange(10) + 0.4, np.full(10, 0.1))
    x = replace_scale(NORMAL, 1e5)
    schema = dict.fromkeys("kxy", Numeric(-1e6, 1e6))
    design = Formula.parse(f"y ~ {term}").design(schema)
    found = reference_of(design, {"k": counts, "x": x, "y": NORMAL}, "y", None)
    assert found.root[-1, -1] == pytest.approx(np.sqrt(0.1) * x.sd, rel=0.3)


@pytest.mark.parametrize("condition", ["k == 300", "k > 50"])
def test_a_condition_that_no_row_is_known_to_meet_leaves_other_columns_their_scales(condition):
    schema = dict.fromkeys("kxy", Numeric(-1000.0, 1000.0))
    design = Formula.parse(f"y ~ I({condition})*x").design(schema)
    found = reference_of(design, {"k": COUNTS, "x": NORMAL, "y": NORMAL}, "y", None)
    assert found.root[0, 0] == pytest.approx(NORMAL.sd, rel=0.5)
    assert np.isfinite(found.extremes.moves).all()


def replace_scale(found: Marginal, times: float) -> Marginal:
    """The distribution of so many times the values."""
    return marginal(found.points * times, found.weights)


def test_light_columns_make_no_heavy_tail_and_skewed_ones_do():
    assert reference().extremes.heavy == 0
    assert reference(y=COUNTS).extremes.heavy == 1.0
    assert reference(x=COUNTS).extremes.heavy == 1.0


def test_a_response_of_two_quantiles_may_have_any_tail():
    rough = reference(y=replace(NORMAL, is_rough=True)).extremes.heavy
    assert rough == Extremes.HEAVY_UNSEEN > 0.5
    assert reference(x=replace(NORMAL, is_rough=True)).extremes.heavy == 0
    assert reference(y=replace(COUNTS, is_rough=True)).extremes.heavy == 1.0


def test_a_share_of_far_responses_makes_a_heavy_tail_as_likely_as_it_is_clear():
    """Of normal responses 1.2% are far, of exponential ones 11%; noise may hide it.

    Regressors have no part in it.
    """
    rng = np.random.default_rng(2)
    tame, skewed = (marginal(np.sort(draw(size=4001))) for draw in (rng.normal, rng.exponential))
    light, heavy = (reference(x=COUNTS, y=y).extremes.y_heavy for y in (tame, skewed))
    assert max(light) < 5e-3 and heavy[1] > 0.999
    known, hidden = (
        reference(y=replace(tame, hidden=noise)).extremes.y_heavy for noise in (0.004, 0.04)
    )
    assert max(known) < 0.05 and hidden[0] < 0.3 and hidden[1] > 0.99
    seen = reference(y=replace(skewed, hidden=0.01)).extremes.y_heavy
    assert min(seen) > 0.99 and heavy[0] < 0.1


def test_what_is_no_histogram_with_a_spread_tells_a_heavy_tail_otherwise():
    assert reference(y=replace(NORMAL, is_rough=True)).extremes.y_heavy is None
    rare, even = (marginal([0.0, 1.0], [1 - q, q]) for q in (0.02, 0.24))
    assert reference(y=rare).extremes.y_heavy == (1.0, 1.0)
    assert reference(y=even).extremes.y_heavy == pytest.approx([even.moment(3) - 1] * 2)


def test_what_noise_may_hide_is_not_seen():
    rough = reference(y=replace(NORMAL, is_rough=True)).extremes
    assert rough.heavy_seen == reference().extremes.heavy_seen == 0
    assert reference(y=replace(COUNTS, is_rough=True)).extremes.heavy_seen == 1.0


def test_declared_ends_leave_the_less_room_for_a_tail_the_narrower_they_are():
    narrow, wide = (
        reference(limit=Numeric(-far * NORMAL.sd, far * NORMAL.sd)).extremes.room for far in (4, 30)
    )
    assert (narrow, wide) == (0, 1)
    assert reference(y=replace(NORMAL, is_rough=True)).extremes.room == 1


def test_the_kurtosis_is_that_of_the_columns_and_more_where_quantiles_hide_it():
    normal, counts = reference().extremes.kurtosis, reference(x=COUNTS).extremes.kurtosis
    assert normal[0] == pytest.approx(3, abs=0.2)
    assert counts[0] == pytest.approx(COUNTS.moment(4), rel=0.15)
    rough = reference(x=replace(NORMAL, is_rough=True)).extremes.kurtosis
    assert rough[0] == pytest.approx(normal[0] + 2)


def test_a_tail_is_what_a_kurtosis_has_beyond_a_normal_one():
    """Columns of two values have none, however rare the one is, and even ones neither."""
    assert reference().extremes.tails[0] == 0
    found = reference(x=COUNTS).extremes
    assert found.tails[0] == pytest.approx(found.kurtosis[0] - 3)
    rare = reference(x=marginal([0.0, 1.0], [0.98, 0.02])).extremes
    assert rare.kurtosis[0] > 20 and rare.tails[0] == 0
    assert reference(x=marginal(np.linspace(0, 1, 50))).extremes.tails[0] == 0


def test_a_column_is_compared_with_a_normal_one_as_far_as_it_is_seen():
    """A Laplace column has a kurtosis below 3.5 up to 2.9 deviations, a normal one below 3."""
    draw = np.random.default_rng(3)
    long, even = draw.laplace(size=20_000), draw.normal(size=20_000)
    cut = [marginal(x[np.abs(x) < most]) for x, most in ((long, 3.5), (even, 2.5))]
    kurtoses, far = zip(*((x.moment(4), x.farthest) for x in cut), strict=True)
    assert 3 < kurtoses[0] < 3.5 and not Extremes.has_tail(kurtoses[0], True)
    assert Extremes.has_tail(kurtoses[0], True, far[0])
    assert not Extremes.has_tail(kurtoses[0], False, far[0])
    assert not Extremes.has_tail(kurtoses[1], True, far[1])


@pytest.mark.parametrize(("spread", "is_long"), [(0.0, False), (0.15, False), (0.5, True)])
def test_a_rare_value_in_a_bin_is_one_value_and_a_spread_one_is_a_tail(spread, is_long):
    """The one in a hundred rows lies within so much of it on both sides; 0.5 is all of a number."""
    ones = 1 + spread * np.linspace(-1, 1, 41)
    x = marginal(np.append(0.0, ones), np.append(0.99, np.full(41, 0.01 / 41)))
    assert (reference(x=x).extremes.tails[0] > 0) == is_long


def test_a_tail_that_noise_hides_counts_as_far_alone():
    """Where nothing but zeros is seen of a column without bounds, and of skewed columns that are.

    Seen ones count too; where declared bounds are the range, nothing is taken to be beyond.
    """
    zeros = replace(marginal(np.linspace(-1, 1, 41)), is_unseen=True)
    found = reference(x=zeros).extremes
    assert found.tails[0] == 0
    assert found.far_tails[0] == pytest.approx(0.4 * 6 / 0.03, rel=0.3)
    assert reference(x=zeros, formula="y ~ np.sqrt(x**2 + 1)").extremes.far_tails[0] == 0
    bounded = replace(zeros, clipping=(-1.0, 1.0))
    assert reference(x=bounded).extremes.far_tails[0] == 0
    found = reference(x=COUNTS).extremes
    assert found.far_tails[0] == found.tails[0] > 0 == reference().extremes.far_tails[0]


def test_a_tail_that_is_not_known_is_that_of_students_t_and_counts_as_far_alone():
    known = reference(x=replace_scale(NORMAL, 3.0), lognormal=False).extremes
    assert known.far_tails[0] < 1
    rough = replace(replace_scale(NORMAL, 3.0), is_rough=True, tail_unknown=True)
    found = reference(x=rough, lognormal=False).extremes
    levels = (np.arange(1 << 14) + 0.5) / (1 << 14)
    values = scipy.stats.t(4).ppf(levels)
    assert found.far_tails[0] == pytest.approx(scipy.stats.kurtosis(values), rel=0.03)
    assert found.distances[0].max() == pytest.approx(values.max() / values.std(), rel=0.02)
    assert found.tails[0] == 0
    square = reference(x=rough, formula="y ~ I(x**2)", lognormal=False).extremes
    of_normal = reference(formula="y ~ I(x**2)", lognormal=False).extremes
    assert square.far_tails[0] == pytest.approx(of_normal.far_tails[0])
    assert reference(x=rough).extremes.far_tails[0] < 1  # logits and counts
    bounded = replace(rough, clipping=(-9 * rough.sd, 5 * rough.sd))
    cut = reference(x=bounded, lognormal=False).extremes
    values = np.clip(values / np.sqrt(2), -9, 5)
    assert cut.far_tails[0] == pytest.approx(scipy.stats.kurtosis(values), rel=0.05)


def test_tails_that_are_seen_go_on_as_power_laws_and_others_do_not():
    """Of least squares; a distance is exceeded by the share that it stands for."""
    rng = np.random.default_rng(4)
    long, even = (released(values, 0.3) for values in (rng.standard_t(3, 20_000), rng.random(5000)))
    (power, short), (plain, same) = (
        [reference(x=x, lognormal=lognormal).extremes for x in (long, even)]
        for lognormal in (False, True)
    )
    assert power.far_tails[0] > 1.2 * plain.far_tails[0] > 0
    assert power.distances[0, -1] > 1.05 * plain.distances[0, -1] > 5
    assert (np.diff(power.distances[0]) >= 0).all() and 0.3 < power.distances[0, 0] < 0.7
    np.testing.assert_array_equal(short.distances, same.distances)


def test_the_distances_of_a_group_are_as_much_shorter_as_its_tail():
    even = marginal([-10.0, -1.0, 0.0, 1.0, 10.0], [0.01, 0.2, 0.58, 0.2, 0.01])
    alone, of_all = (reference(x=even, grouped=grouped).extremes for grouped in (False, True))
    shorter = (of_all.far_tails[0] / alone.far_tails[0]) ** 0.25
    assert shorter < 0.8
    np.testing.assert_allclose(of_all.distances, shorter * alone.distances)


@pytest.mark.parametrize("formula", ["y ~ x * g", "y ~ g + x:g"])
def test_columns_of_an_interaction_have_the_tail_of_their_number(formula):
    """Within a code: the zeros at others are no tail, and what makes a number's is one."""
    schema = {name: Numeric(-100.0, 100.0) for name in ("x", "y")}
    schema |= {"g": Categorical(("a", "b", "c"))}
    design = Formula.parse(formula).design(schema)
    for x, deviation in ((NORMAL, 1.0), (COUNTS, COUNTS.sd)):
        found = reference_of(design, {"x": x, "y": NORMAL}, "y", None).extremes
        alone = reference(x=x).extremes.tails[0]
        assert found.tails == pytest.approx(np.full(3, alone), rel=0.5)  # of fewer rows
        assert found.within == pytest.approx(np.full(3, deviation), rel=0.3)
    assert reference().extremes.within.tolist() == [0.0]


def test_columns_of_an_interaction_move_with_their_numbers_where_these_are_far_out():
    """x:z by the mean of z where x is far out; x and z hardly, and a square not at all."""
    schema = {name: Numeric(-100.0, 100.0) for name in "xyz"}
    design = Formula.parse("y ~ x * z + I(x ** 2)").design(schema)
    ages = marginal(np.linspace(20.0, 60.0, 200))
    moves = reference_of(design, {"x": COUNTS, "z": ages, "y": NORMAL}, "y", None).extremes.moves
    assert moves.shape == (4, 4) and np.diag(moves) == pytest.approx(np.ones(4))
    names = [design.names[j] for j in design.layout.numeric]
    x, z, square, both = (names.index(name) for name in ("x", "z", "I(x ** 2)", "x:z"))
    assert moves[x, both] == pytest.approx(40, rel=0.1) and moves[both, x] > 0.9 / 60
    assert moves[x, z] == moves[z, x] == moves[x, square] == moves[square, x] == 0
    assert abs(moves[z, both]) < 2 * COUNTS.sd  # as x is where z is far out


def test_long_tails_on_both_sides_of_all_groups_are_not_those_of_each():
    """As where normal groups differ in scale; skewed columns are so in their groups."""
    even = marginal([-10.0, -1.0, 0.0, 1.0, 10.0], [0.01, 0.2, 0.58, 0.2, 0.01])
    skewed = marginal([0.0, 1.0, 3.0, 10.0], [0.7, 0.2, 0.08, 0.02])
    for x, limit in ((even, 3.0), (skewed, 2.5 * reference(x=skewed).extremes.skewness[0] ** 2)):
        alone, of_all = (
            reference(x=x, grouped=is_grouped).extremes for is_grouped in (False, True)
        )
        assert of_all.tails[0] == pytest.approx(min(alone.tails[0], limit))
        assert alone.tails[0] == pytest.approx(alone.kurtosis[0] - 3) and alone.tails[0] > 3
    assert reference(grouped=True).extremes.tails[0] == 0


def test_a_product_of_columns_has_a_kurtosis_of_its_own():
    kurtosis = reference(formula="y ~ x + I(x ** 2)").extremes.kurtosis
    assert kurtosis[1] > 2 * kurtosis[0]


def test_a_column_that_is_hidden_has_the_width_of_its_bounds():
    """Of one without bounds the range is a guess, and a good one about zero alone."""
    assert not reference().extremes.unseen_widths.any()
    for ends, clipping, width in (
        ((0.0, 3.0), (0.0, 3.0), 3.0),
        ((0.0, 3.0), (-900.0, 900.0), np.inf),
        ((-1.0, 1.0), (-np.inf, np.inf), 0.0),
    ):
        seen = marginal(np.linspace(*ends, 41))
        hidden = replace(seen, low=ends[0], high=ends[1], is_unseen=True, clipping=clipping)
        assert reference(x=hidden).extremes.unseen_widths.tolist() == [width]


def test_the_part_of_the_rows_at_one_value_is_known_of_columns_alone():
    rare = marginal([0.0, 1.0], [0.95, 0.05])
    assert reference(x=rare).extremes.mode_shares.tolist() == [0.95]
    assert reference(x=rare, formula="y ~ I(x ** 2)").extremes.mode_shares.tolist() == [0.0]


@pytest.mark.parametrize("share", [0.05, 0.5])
def test_two_values_differ_by_what_their_shares_make_it(share):
    """Of shares q and 1 - q the variance is q (1 - q) times the squared distance."""
    two = marginal([2.0, 5.0], [share, 1 - share])
    found = reference(x=two).extremes.squared_gaps
    assert found == pytest.approx([1 / (share * (1 - share))], rel=0.02)
    for more in (np.linspace(0, 3, 41), [0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 3.3, 3.9, 4.5], [2.0]):
        assert reference(x=marginal(more)).extremes.squared_gaps.tolist() == [0]


def test_a_response_has_the_variance_of_tails_that_go_on():
    """Noise hides the ends of a lognormal one; one that is not seen has nothing to go on from."""
    rng = np.random.default_rng(3)
    long, even = rng.lognormal(sigma=1.2, size=20_000), rng.random(20_000)
    y = released(long, 0.1)
    assert 1.4 < reference(y=y).extremes.y_far_square < long.var() / y.sd**2
    assert reference(y=y, lognormal=False).extremes.y_far_square > 1.4
    assert reference(y=released(even, 0.1)).extremes.y_far_square == pytest.approx(1, abs=0.05)
    unseen = replace(marginal(np.linspace(-1, 1, 41)), is_unseen=True)
    assert reference(y=unseen).extremes.y_far_square == reference().extremes.y_far_square == 1.0


def test_columns_have_the_variances_of_tails_that_go_on():
    """Those of two quantiles have none; declared bounds limit all, expressions are not followed."""
    rng = np.random.default_rng(3)
    long, even = rng.lognormal(sigma=1.2, size=20_000), rng.random(20_000)

    def square(x, formula="y ~ x"):
        return reference(x=x, formula=formula).extremes.far_squares.item()

    seen = released(long, 0.1)
    assert 1.4 < square(seen) < 2 * long.var() / seen.sd**2
    assert square(released(even, 0.1)) == pytest.approx(1, abs=0.05)
    assert square(seen, "y ~ I(x ** 2)") == 1.0
    rough, ends = replace(NORMAL, is_rough=True), (-100.0, 100.0)
    assert square(rough) == math.inf
    assert square(replace(rough, clipping=ends)) == pytest.approx(2.2)
    hides = [square(replace(NORMAL, hidden=share)) for share in (0.0, 0.005, 0.01, 0.5)]
    assert hides == pytest.approx([1.0, 1.3, 2.2, 2.2], abs=0.01)
    even_two = marginal([-100.0, 100.0], clipping=ends, hidden=0.01)
    assert square(even_two) == pytest.approx(1.0)


def test_a_response_reaches_its_declared_bounds_or_what_is_seen():
    bounded = reference(limit=Numeric(-100.0, 100.0)).extremes.y_reach
    assert bounded == pytest.approx(100 / NORMAL.sd, rel=0.05)
    seen = reference().extremes.y_reach
    assert seen == pytest.approx(1.3 * NORMAL.farthest, rel=0.05)
    assert reference(y=COUNTS).extremes.y_reach == pytest.approx(2.6 * COUNTS.farthest, rel=0.05)


def test_predictions_have_ends_on_each_side_of_the_mean():
    declared = reference(limit=Numeric(-100.0, 50.0)).extremes.y_ends
    np.testing.assert_allclose(declared * NORMAL.sd + NORMAL.mean, [-100, 50], rtol=0.01)
    low, high = reference(y=COUNTS).extremes.y_ends
    assert low == pytest.approx(-1.3 * COUNTS.mean / COUNTS.sd, rel=0.1)
    assert high == pytest.approx(1.3 * COUNTS.farthest, rel=0.05) and high > 3 * -low


def test_nothing_but_zeros_is_told():
    assert reference(y=replace(NORMAL, is_unseen=True)).extremes.y_unseen
    assert not reference().extremes.y_unseen


def test_parts_of_the_variance_lie_beyond_a_distance():
    """Of a column that lies 2^(k / 4) deviations out with a share 2^-k of the rows or less."""
    extremes = replace(Extremes.unknown(2), distances=np.vstack([Extremes.SHARES**-0.25] * 2))
    shares, highest = np.linspace(2.0**-15, 0.5, 10**6), extremes.distances[0, -1]
    beyond = np.maximum(shares**-0.5 - 3.0**2, 0.0).mean() * (0.5 - 2.0**-15)
    np.testing.assert_allclose(extremes.far_parts(3.0), beyond, rtol=0.15)
    assert (extremes.far_parts(highest) == 0).all() and (extremes.far_parts(0.0) <= 1).all()

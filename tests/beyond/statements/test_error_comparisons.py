"""Every test about errors, on settings whose answer is known: it can hold, fail, and stay open."""

import numpy as np
import pytest

from scripts.beyond.statements import error_comparisons as compare
from scripts.beyond.statements.error_comparisons import Gap
from scripts.beyond.statements.evidence import (
    GAUSSIAN,
    INV,
    RAW_GAUSSIAN,
    Ends,
    NoEvidenceError,
    Selection,
)
from scripts.beyond.statements.statements_about_errors import (
    individual_errors_are_comparable_for_few_users,
    utilities_are_close_for_many_users,
    utility_is_almost_the_central_one_for_few_users,
)
from tests.beyond.statements.world import (
    PRINTED,
    exact_reading,
    published_reading,
    setting,
    setting_with_errors,
)

N = (1000, 2000, 5000)
SYNTHETIC = {"synthetic": (4, 6)}


def curve(ratios, **point):
    """Settings along n: the Gaussian's error is 100 / n, and shuffle+INV's is a multiple of it."""
    return [
        setting_with_errors(gaussian=100 / n, inv=ratio * 100 / n, n=n, **point)
        for n, ratio in zip(N, ratios, strict=True)
    ]


def cells(*ratios, n=1000):
    """A setting for each cell from 1, whose errors of shuffle+INV and the Gaussian have this ratio."""
    return [
        setting_with_errors(0.1, 0.1 * ratio, n=n, metric="individual_error", cell=cell)
        for cell, ratio in enumerate(ratios, start=1)
    ]


ALL = Selection(budgets=SYNTHETIC)
SMALL_N = Selection(budgets=SYNTHETIC, ends=Ends.SMALLEST_N)
CORNER = Selection(budgets=SYNTHETIC, ends=Ends.SMALLEST_N_AT_LARGEST_EPS0)
CELLS = Selection(metric="individual_error", budgets=SYNTHETIC)


def test_better_has_a_sign_for_every_selected_setting():
    better = setting_with_errors(gaussian=0.1, inv=0.2, n=1000)
    worse = setting_with_errors(gaussian=0.2, inv=0.1, n=2000)
    equal = setting(n=5000, spread=0.0, **{GAUSSIAN: 0.1, INV: 0.1})
    reading = published_reading(better, worse, equal)
    assert compare.is_better(reading, GAUSSIAN, INV, ALL).signs.tolist() == [1, -1, 0]
    assert compare.is_better(reading, GAUSSIAN, INV, SMALL_N).signs.tolist() == [1]


def test_better_by_a_factor():
    settings = published_reading(
        setting_with_errors(0.1, 0.3), setting_with_errors(0.1, 0.15, n=2000)
    )
    assert compare.is_better(settings, GAUSSIAN, INV, ALL, times=2).signs.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("inverted", "factor", "sign"),
    [(0.18, 2, 1), (0.04, 2, -1), (0.2, 2, 0), (0.15, 1.1, -1)],
)
def test_close_is_within_a_factor_both_ways(inverted, factor, sign):
    settings = published_reading(setting_with_errors(0.1, inverted))
    assert compare.is_close(settings, ALL, factor).signs.tolist() == [sign]


def test_the_corner_has_the_largest_eps0_and_the_smallest_n():
    corner = setting_with_errors(0.1, 0.15, eps0=6.0)
    settings = published_reading(
        corner,
        setting_with_errors(0.1, 0.9, eps0=4.0),
        setting_with_errors(0.1, 0.9, n=2000, eps0=6.0),
    )
    assert compare.is_close(settings, CORNER).signs.tolist() == [1]
    assert compare.is_close(settings, SMALL_N).signs.tolist() == [1, -1]


def test_small_looks_at_every_mechanism():
    settings = published_reading(
        setting_with_errors(0.001, 0.02), setting_with_errors(0.001, 0.02, n=2000)
    )
    assert compare.is_small(settings, [GAUSSIAN, INV], 0.01, ALL).signs.tolist() == [1, -1, 1, -1]


@pytest.mark.parametrize(
    ("ratios", "end", "gap", "sign"),
    [
        ((2, 4, 8), "small", Gap.LOG_RATIO, 1),
        ((2, 4, 8), "large", Gap.LOG_RATIO, -1),
        ((0.25, 0.5, 0.5), "large", Gap.LOG_RATIO, 1),  # whoever is better
        ((0.25, 0.5, 0.5), "large", Gap.SIGNED_LOG_RATIO, -1),
        ((2, 2, 2), "large", Gap.LOG_RATIO, 0),
        ((2, 2, 2), "large", Gap.DIFFERENCE, 1),  # both errors fall, and so it does
    ],
)
def test_a_gap_along_n_is_smaller_at_one_end(ratios, end, gap, sign):
    """The ``ratios`` of shuffle+INV's error to the Gaussian's are those at three n, the smallest first."""
    reading = published_reading(*curve(ratios))
    smaller = compare.gap_is_smaller_at_end(reading, "n", end, gap, ALL)
    assert smaller.signs.tolist() == [sign]


def test_a_gap_along_eps0_has_a_sign_for_each_n():
    """At each n the ratio of both errors is 3 at eps0 = 4, and 2 at eps0 = 6: there they are closer."""
    settings = []
    for n in (1000, 2000, 5000):
        settings.append(setting_with_errors(gaussian=0.1, inv=0.3, n=n, eps0=4.0))
        settings.append(setting_with_errors(gaussian=0.1, inv=0.2, n=n, eps0=6.0))
    reading = published_reading(*settings)
    gaps = compare.gap_is_smaller_at_end(reading, "eps0", "large", Gap.LOG_RATIO, ALL)
    assert gaps.signs.tolist() == [1, 1, 1]


@pytest.fixture
def curves_of_two_rules():
    """Ratios of both errors along three n that rise by the first rule of delta, and fall by the second."""
    return published_reading(*curve((2, 4, 8), rule="1e-06"), *curve((8, 4, 2), rule="n^-1.1"))


def test_a_gap_along_n_has_a_sign_for_each_rule_of_delta(curves_of_two_rules):
    gaps = compare.gap_is_smaller_at_end(curves_of_two_rules, "n", "large", Gap.LOG_RATIO, ALL)
    assert gaps.signs.tolist() == [-1, 1]


def test_the_corner_is_compared_with_the_two_others_of_its_rule_of_delta(curves_of_two_rules):
    closest = compare.is_closest_at_smallest_n_and_largest_eps0(curves_of_two_rules, ALL)
    assert closest.signs.tolist() == [1, 1, -1, -1]


def test_closest_at_the_corner_compares_with_every_other_setting():
    settings = [*curve((1.5, 2, 3), eps0=6.0), *curve((2.5, 3, 4), eps0=4.0)]
    closest = compare.is_closest_at_smallest_n_and_largest_eps0(published_reading(*settings), ALL)
    assert closest.signs.tolist() == [1] * 5


def test_cells_differ_where_their_ratios_do():
    reading = published_reading(*cells(2, 4), *cells(2, 2, n=2000))
    assert compare.differs_between_cells(reading, CELLS).signs.tolist() == [1, 0]


def test_errors_fall_from_the_first_to_the_last_n():
    errors = compare.falls_along(published_reading(*curve((2, 4, 16))), "n", [INV, GAUSSIAN], ALL)
    assert errors.signs.tolist() == [-1, 1]


ONE_SETTING = published_reading(setting_with_errors(gaussian=0.1, inv=0.2))


def test_one_setting_has_no_gap_along_n():
    with pytest.raises(NoEvidenceError, match="experiments have one n only"):
        compare.gap_is_smaller_at_end(ONE_SETTING, "n", "large", Gap.LOG_RATIO, ALL)


def test_one_setting_has_no_corner():
    with pytest.raises(NoEvidenceError, match="experiments have one setting only"):
        compare.is_closest_at_smallest_n_and_largest_eps0(ONE_SETTING, ALL)


@pytest.mark.slow
def test_equal_cells_are_told_apart_in_1_percent_of_500_runs_at_most():
    """1 % is the level of Cochran's Q. Seven cells have 1000 half-normal errors of each mechanism."""
    rng = np.random.default_rng(7)
    settings_of_cells = cells(*[1] * 7)
    runs = 500
    told_apart = 0
    for _ in range(runs):
        for setting_of_cell in settings_of_cells:
            setting_of_cell[INV] = np.abs(rng.standard_normal(1000))
            setting_of_cell[GAUSSIAN] = np.abs(rng.standard_normal(1000))
        found = compare.differs_between_cells(published_reading(*settings_of_cells), CELLS)
        told_apart += found.verdict == "holds"
    # Four standard errors of a binomial share more are allowed.
    assert told_apart / runs <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / runs)


def gaussian_errors(mean_at_1000, mean_at_100_000):
    """Settings of the Gaussian, 40 errors of each of two cells at either n, with these mean errors."""
    return [
        setting(metric="individual_error", cell=cell, n=n, **{GAUSSIAN: mean, RAW_GAUSSIAN: mean})
        for cell in (1, 3)
        for n, mean in ((1000, mean_at_1000), (100_000, mean_at_100_000))
    ]


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "holds"), (1.3, "fails"), (0.8, "fails")])
def test_noise_is_the_same_if_it_differs_by_10_percent_at_most(factor, verdict):
    """Errors are shares of the users: 0.01 of 1000 users and 0.0001 of 100,000 are both 10 users."""
    settings = gaussian_errors(mean_at_1000=0.01, mean_at_100_000=0.0001 * factor)
    change = compare.has_same_noise_for_all_n(published_reading(*settings), CELLS)
    assert change.verdict == verdict
    # At either n the mean is over 2 cells x 40 errors that scatter by 2 %. So 0.02 is six standard errors,
    # 0.02 sqrt(2 / 80), of the ratio of two means.
    assert change.numbers == pytest.approx([factor], rel=0.02)


def test_noise_of_one_eps_and_delta_is_the_same_by_definition():
    settings = gaussian_errors(mean_at_1000=0.01, mean_at_100_000=0.01)
    assert compare.has_same_noise_for_all_n(exact_reading(*settings), CELLS).verdict == "holds"


@pytest.mark.parametrize(("inv", "signs"), [(0.3, [1, 1, 1, 1]), (0.7, [1, 1, -1, -1])])
def test_same_order_compares_neighbours_in_san_franciscos_order_at_each_n_of_paris(inv, signs):
    """With 0.7 for shuffle+INV in Paris, shuffle is better than shuffle+INV there."""
    settings = [setting_with_errors(gaussian=0.1, inv=0.2, shuffle=0.3, dataset="san_francisco")]
    for n in (1000, 2000):
        paris = setting_with_errors(gaussian=0.2, inv=inv, shuffle=0.6, dataset="paris", n=n)
        settings.append(paris)
    same = compare.has_same_order(
        published_reading(*settings), model={"san_francisco": (4,)}, tested={"paris": (4,)}
    )
    assert same.signs.tolist() == signs


def test_same_order_is_that_of_each_eps0_if_both_cities_have_the_same_ones():
    """The order at eps0 = 6 is the reverse of that at eps0 = 4, in both cities."""
    settings = []
    for city in ("paris", "san_francisco"):
        point = {"dataset": city, "inv": 0.2}
        settings.append(setting_with_errors(gaussian=0.1, shuffle=0.3, eps0=4.0, **point))
        settings.append(setting_with_errors(gaussian=0.3, shuffle=0.1, eps0=6.0, **point))
    same = compare.has_same_order(
        published_reading(*settings), model={"san_francisco": (4, 6)}, tested={"paris": (4, 6)}
    )
    assert same.signs.tolist() == [1] * 4  # of two eps0, for two neighbours each


@pytest.mark.parametrize(
    ("test", "ratio"),
    [
        (utility_is_almost_the_central_one_for_few_users, 26 / 14),
        (utilities_are_close_for_many_users, 48),
        (individual_errors_are_comparable_for_few_users, 118 / 79),
    ],
)
def test_where_the_paper_prints_the_numbers_they_judge(test, ratio):
    """The ratio of shuffle+INV's error to the Gaussian's is a printed one, not that of our runs: here 10."""
    reading = published_reading(*curve([10, 10, 10]), values=PRINTED)
    assert test(reading).numbers == pytest.approx([ratio])
    with pytest.raises(NoEvidenceError):
        test(published_reading())  # without printed values

"""Every test about errors, on settings whose answer is known: it can hold, fail, and stay open.

A sign is 1 if a comparison shows the statement, -1 if it shows the contrary, 0 if it shows neither.
"""

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
    errors_of_three,
    exact_reading,
    published_reading,
    setting,
)

N = (1000, 2000, 5000)
SYNTHETIC = {"synthetic": (4, 6)}


def curve(ratios, **point):
    """Settings along n: the Gaussian's error falls as 1 / n, shuffle+INV's is a multiple of it."""
    errors = [(n, 100 / n, ratio) for n, ratio in zip(N, ratios, strict=True)]
    return [errors_of_three(error, ratio * error, n=n, **point) for n, error, ratio in errors]


def cells(*ratios, n=1000):
    """A setting for each cell from 1, whose errors of shuffle+INV and the Gaussian have this ratio."""
    return [
        errors_of_three(0.1, 0.1 * ratio, n=n, metric="individual_error", cell=cell)
        for cell, ratio in enumerate(ratios, start=1)
    ]


ALL = Selection(budgets=SYNTHETIC)
SMALL_N = Selection(budgets=SYNTHETIC, ends=Ends.SMALLEST_N)
CORNER = Selection(budgets=SYNTHETIC, ends=Ends.SMALLEST_N_AT_LARGEST_EPS0)
CELLS = Selection(metric="individual_error", budgets=SYNTHETIC)
CELLS_AT_SMALL_N = Selection(metric="individual_error", budgets=SYNTHETIC, ends=Ends.SMALLEST_N)

GAUSSIAN_IS_BETTER = errors_of_three(0.1, 0.2)
GAUSSIAN_IS_WORSE = errors_of_three(0.2, 0.1, n=2000)
TIE = setting(n=5000, spread=0.0, **{GAUSSIAN: 0.1, INV: 0.1})
RULES = [*curve((2, 4, 8), rule="1e-06"), *curve((8, 4, 2), rule="n^-1.1")]


def test_better_looks_at_every_setting_that_is_selected():
    settings = published_reading(GAUSSIAN_IS_BETTER, GAUSSIAN_IS_WORSE, TIE)
    assert compare.is_better(settings, GAUSSIAN, INV, ALL).signs.tolist() == [1, -1, 0]
    assert compare.is_better(settings, GAUSSIAN, INV, SMALL_N).signs.tolist() == [1]


def test_better_by_a_factor():
    settings = published_reading(errors_of_three(0.1, 0.3), errors_of_three(0.1, 0.15, n=2000))
    assert compare.is_better(settings, GAUSSIAN, INV, ALL, times=2).signs.tolist() == [1, -1]


@pytest.mark.parametrize(
    ("inverted", "factor", "sign"),
    [(0.18, 2, 1), (0.04, 2, -1), (0.2, 2, 0), (0.15, 1.1, -1)],
)
def test_close_is_within_a_factor_both_ways(inverted, factor, sign):
    settings = published_reading(errors_of_three(0.1, inverted))
    assert compare.is_close(settings, ALL, factor).signs.tolist() == [sign]


def test_the_corner_has_the_largest_eps0_and_the_smallest_n():
    corner = errors_of_three(0.1, 0.15, eps0=6.0)
    settings = published_reading(
        corner, errors_of_three(0.1, 0.9, eps0=4.0), errors_of_three(0.1, 0.9, n=2000, eps0=6.0)
    )
    assert compare.is_close(settings, CORNER).signs.tolist() == [1]
    assert compare.is_close(settings, SMALL_N).signs.tolist() == [1, -1]


def test_small_looks_at_every_mechanism():
    settings = published_reading(errors_of_three(0.001, 0.02), errors_of_three(0.001, 0.02, n=2000))
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
def test_a_gap_along_n(ratios, end, gap, sign):
    settings = published_reading(*curve(ratios))
    assert compare.gap_is_smaller_at_end(settings, "n", end, gap, ALL).signs.tolist() == [sign]


def test_a_gap_along_eps0_has_a_curve_for_each_n():
    """At the larger of two eps0 shuffle+INV and the Gaussian are closer: a sign 1 for each n of `N`, three.

    The gap is |ln| of the ratio of their mean errors: ln 3 at eps0 = 4, ln 2 at eps0 = 6. `errors_of_three`
    makes up a setting from the mean errors of the Gaussian and of shuffle+INV, with random errors that
    scatter by 2 %. `ALL` selects all settings.
    """
    ratio_of_eps0 = {4.0: 3, 6.0: 2}
    settings = [
        errors_of_three(0.1, 0.1 * ratio_of_eps0[eps0], n=n, eps0=eps0)
        for n in N
        for eps0 in ratio_of_eps0
    ]
    gaps = compare.gap_is_smaller_at_end(
        published_reading(*settings), "eps0", "large", Gap.LOG_RATIO, ALL
    )
    assert gaps.signs.tolist() == [1, 1, 1]


def test_curves_do_not_mix_the_rules_of_delta():
    """A sign is 1 if a comparison within one rule of delta shows the statement, -1 if it shows the contrary.

    `RULES` are two curves along three n, of shuffle+INV's error over the Gaussian's: 2, 4, 8 by the first
    rule of delta, and 8, 4, 2 by the second. 1. Is the gap |ln ratio| smaller at the largest n? 2. Is it
    smaller at the smallest n than at each of the other two? `ALL` selects all settings.
    """
    reading = published_reading(*RULES)
    gaps = compare.gap_is_smaller_at_end(reading, "n", "large", Gap.LOG_RATIO, ALL)
    assert gaps.signs.tolist() == [-1, 1]
    closest = compare.is_closest_at_smallest_n_and_largest_eps0(reading, ALL)
    assert closest.signs.tolist() == [1, 1, -1, -1]


def test_closest_at_the_corner_compares_with_every_other_setting():
    settings = [*curve((1.5, 2, 3), eps0=6.0), *curve((2.5, 3, 4), eps0=4.0)]
    assert (
        compare.is_closest_at_smallest_n_and_largest_eps0(
            published_reading(*settings), ALL
        ).signs.tolist()
        == [1] * 5
    )


def test_cells_differ_where_their_ratios_do():
    settings = published_reading(*cells(2, 4), *cells(2, 2, n=2000))
    assert compare.differs_between_cells(settings, CELLS_AT_SMALL_N).signs.tolist() == [1]
    assert compare.differs_between_cells(
        published_reading(*cells(2, 2, 2)), CELLS
    ).signs.tolist() == [0]


def test_errors_fall_from_the_first_to_the_last_n():
    errors = compare.falls_along(published_reading(*curve((2, 4, 16))), "n", [INV, GAUSSIAN], ALL)
    assert errors.signs.tolist() == [-1, 1]


def test_one_setting_has_no_trend():
    """`GAUSSIAN_IS_BETTER` is one made-up setting, which `ALL` selects. A trend needs another setting."""
    with pytest.raises(NoEvidenceError, match="experiments have one n only"):
        compare.gap_is_smaller_at_end(
            published_reading(GAUSSIAN_IS_BETTER), "n", "large", Gap.LOG_RATIO, ALL
        )
    with pytest.raises(NoEvidenceError, match="experiments have one setting only"):
        compare.is_closest_at_smallest_n_and_largest_eps0(
            published_reading(GAUSSIAN_IS_BETTER), ALL
        )


@pytest.mark.slow
def test_depends_on_cell_has_its_level():
    """Cochran's Q finds a difference between seven equal cells, "holds", in about 1 % of 500 runs or fewer.

    1 % is the test's level, and four binomial standard deviations more are allowed. `cells` makes up a
    setting for each cell, and `CELLS` selects them. Their errors are replaced in each run: by 1000
    half-normal ones of shuffle+INV, and as many of the Gaussian.
    """
    rng = np.random.default_rng(7)
    settings = cells(*[1] * 7)
    wrong = 0
    for _ in range(500):
        samples = np.abs(rng.standard_normal((7, 2, 1000)))  # (cells, mechanisms, repetitions)
        for setting_of_cell, errors in zip(settings, samples, strict=True):
            setting_of_cell[INV], setting_of_cell[GAUSSIAN] = errors
        wrong += (
            compare.differs_between_cells(published_reading(*settings), CELLS).verdict == "holds"
        )
    assert wrong / 500 <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / 500)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "holds"), (1.3, "fails"), (0.8, "fails")])
def test_same_noise_for_all_n(factor, verdict):
    """Does the Gaussian's noise, in users, not depend on n? It may differ by a factor of 1.1.

    Errors are shares of the users: the same noise gives the mean error 0.01 at n = 1000 and 0.0001 at
    n = 100,000. Here the latter is multiplied by ``factor``, which the comparison finds as its number.
    `setting` makes up 40 errors of each cell with these means, and `CELLS` selects errors of single cells.
    """
    settings = [
        setting(metric="individual_error", cell=cell, n=n, **{GAUSSIAN: error, RAW_GAUSSIAN: error})
        for cell in (1, 3)
        for n, error in ((1000, 0.01), (100_000, 0.0001 * factor))
    ]
    change = compare.has_same_noise_for_all_n(published_reading(*settings), CELLS)
    assert change.verdict == verdict
    # At either n the mean is over 2 cells x 40 draws that scatter by 2 %. So 0.02 is six standard errors,
    # 0.02 sqrt(2 / 80), of the ratio of two means.
    assert change.numbers == pytest.approx([factor], rel=0.02)
    # On the exact reading the noise is that of the same (eps, delta) by definition.
    assert compare.has_same_noise_for_all_n(exact_reading(*settings), CELLS).verdict == "holds"


def test_same_order():
    """Are the errors of three mechanisms ordered in Paris as they mostly are in San Francisco?

    `errors_of_three` is a made-up setting at eps0 = 4 from three mean errors: of the Gaussian, of shuffle+INV
    and of shuffle. This is the order of San Francisco, from the least error on. Each setting of Paris has two
    signs, one for each two neighbours in this order: 1 if Paris has the same order, -1 if the other one.
    """
    model = [errors_of_three(0.1, 0.2, 0.3, dataset="san_francisco", n=n) for n in N]
    alike = [errors_of_three(0.2, 0.3, 0.6, dataset="paris", n=n) for n in N]
    other = errors_of_three(0.2, 0.7, 0.6, dataset="paris", n=9000)
    model_and_tested = {"san_francisco": (4,)}, {"paris": (4,)}
    same = compare.has_same_order(published_reading(*model, *alike), *model_and_tested)
    assert same.signs.tolist() == [1] * 6  # three n
    # In a fourth setting of Paris shuffle+INV errs more than shuffle.
    changed = compare.has_same_order(published_reading(*model, *alike, other), *model_and_tested)
    assert sorted(changed.signs) == [-1, *[1] * 7]


def test_same_order_of_each_eps0():
    """Where both cities have the same eps0s, Paris is compared with San Francisco at each eps0 by itself.

    `errors_of_three` makes up a setting from the mean errors of the Gaussian, shuffle+INV and shuffle. Their
    order is the same in both cities, and at eps0 = 6 the reverse of that at 4. Each of the two settings of
    Paris has two signs, one for each two neighbours in San Francisco's order: 1 if Paris has the same order.
    """
    errors = {4.0: (0.1, 0.2, 0.3), 6.0: (0.3, 0.2, 0.1)}
    settings = [
        errors_of_three(*errors[eps0], dataset=city, eps0=eps0)
        for city in ("paris", "san_francisco")
        for eps0 in errors
    ]
    each_eps0 = compare.has_same_order(
        published_reading(*settings), {"san_francisco": (4, 6)}, {"paris": (4, 6)}
    )
    assert each_eps0.signs.tolist() == [1] * 4


@pytest.mark.parametrize(
    ("test", "ratio"),
    [
        (utility_is_almost_the_central_one_for_few_users, 26 / 14),
        (utilities_are_close_for_many_users, 48),
        (individual_errors_are_comparable_for_few_users, 118 / 79),
    ],
)
def test_where_the_paper_prints_the_numbers_they_judge(test, ratio):
    """Whatever our runs of the protocol give: here shuffle+INV errs ten times as much as the Gaussian."""
    assert test(published_reading(*curve([10, 10, 10]), values=PRINTED)).numbers == pytest.approx(
        [ratio]
    )
    with pytest.raises(NoEvidenceError):
        test(published_reading())

"""The tests about delta: real numbers where the truth is known, made-up bounds to show both outcomes."""

import math

import pytest

from scripts.beyond.statements import delta_comparisons as compare
from scripts.beyond.statements.evidence import GAUSSIAN, NoEvidenceError
from scripts.beyond.statements.statements_about_delta import (
    delta_grows_with_eps0_and_falls_with_eps,
    delta_is_monotonic_on_eps_and_antimonotonic_on_eps0,
    delta_is_significantly_smaller_in_table_ii,
    delta_is_strictly_smaller_in_table_ii,
    local_model_is_much_worse,
)
from tests.beyond.statements.world import (
    exact_reading,
    printed_deltas,
    printed_row,
    published_reading,
    setting,
    setting_with_errors,
)
from tightshuffle.literature import count

POINTS = [(eps, 2.0, 20, 5) for eps in (0.2, 0.6, 1.0)]
CUBE = [(0.1, 2.0, n, k) for n in (10, 20) for k in (3, 4, 5)]
WORST = {"eps0": 2.0, "n": 20, "k": 5}


@pytest.fixture
def replace_bounds(monkeypatch):
    """Replaces both bounds on log10 delta of the histogram by a function: eps, eps0, n, k -> (low, high)."""
    return lambda function: monkeypatch.setattr(compare, "log10_bounds_of_histogram", function)


@pytest.fixture
def set_bounds(replace_bounds):
    """Sets log10 of the lower and of the upper bound on delta of the histogram, everywhere."""
    return lambda low, high: replace_bounds(lambda eps, eps0, n, k: (low, high))


@pytest.mark.parametrize("make", [published_reading, exact_reading])
def test_delta_of_a_small_setting_falls_with_eps(make):
    assert compare.compare_trend(make(), "eps", POINTS).signs.tolist() == [1, 1]
    assert compare.compare_trend(make(), "eps", POINTS, rising=True).signs.tolist() == [-1, -1]


@pytest.mark.parametrize("make", [published_reading, exact_reading])
@pytest.mark.parametrize(("eps", "sign"), [(4, -1), (1, 1)])
def test_delta_depends_on_the_count_only_below_eps0(make, eps, sign):
    depends = compare.compare_counts(make(), eps=eps, eps0=4, n=50, k=5)
    assert depends.signs.tolist() == [sign]


def test_inference_falls_where_the_domain_grows():
    """From 2 to 9 values it falls, from 9 to 5 it rises, at both eps0."""
    inference = compare.compare_inference((2, 9, 5), local_budgets=(0.5, 3))
    assert inference.signs.tolist() == [1, -1, 1, -1]


@pytest.mark.parametrize("make", [published_reading, exact_reading])
def test_the_worst_cell_does_not_protect_a_small_histogram(make):
    assert compare.compare_worst_cell(make(), (0.5, 1.0), **WORST).signs.tolist() == [-1, -1]


@pytest.mark.parametrize(("projected", "sign"), [(False, 1), (True, -1)])
def test_only_the_estimate_that_is_not_projected_is_unbiased(projected, sign):
    """One user in two cells: (1, 0) stays with probability p, else it becomes (0, 1)."""
    mean = compare.compare_mean_estimate((1, 0), local_budgets=(1.0,), projected=projected)
    assert mean.signs.tolist() == [sign]


@pytest.mark.parametrize(("width", "falls"), [(0.3, 1), (0.5, 0)])
def test_a_trend_needs_bounds_that_do_not_overlap(replace_bounds, width, falls):
    """From one eps of `POINTS` to the next, both bounds fall by 0.4. They are ``width`` apart."""
    replace_bounds(lambda eps, eps0, n, k: (-10 - eps, -10 - eps + width))
    reading = exact_reading()
    assert compare.compare_trend(reading, "eps", POINTS).signs.tolist() == [falls] * 2
    assert compare.compare_trend(reading, "eps", POINTS, rising=True).signs.tolist() == [-falls] * 2


def test_equal_deltas_are_no_trend(set_bounds):
    set_bounds(low=-5, high=-5)
    assert compare.compare_trend(exact_reading(), "eps", POINTS).signs.tolist() == [0, 0]


def test_a_trend_compares_neighbours_that_differ_in_one_parameter(replace_bounds):
    replace_bounds(lambda eps, eps0, n, k: (-n * k, -n * k))
    assert compare.compare_trend(exact_reading(), "n", CUBE).signs.tolist() == [1, 1, 1]


def test_from_0_to_0_is_no_step_and_from_a_number_to_0_is_one(replace_bounds):
    def bounds(eps, eps0, n, k):
        log10_delta = -9 if eps < 0.5 else -math.inf
        return log10_delta, log10_delta

    replace_bounds(bounds)
    assert compare.compare_trend(exact_reading(), "eps", POINTS).signs.tolist() == [1]


# Rows with n = 100, k = 10 and 80 users who hold x0. Only the first has eps < eps0, where delta is above 0.
TABLE_IV = printed_deltas(
    printed_row(item="Table IV", eps=0.5, eps0=2.0), printed_row(item="Table IV", eps=2.0, eps0=2.0)
)


def log10_exact_delta_of_count(direction):
    """log10 of the exact delta of the count of x0, in the first setting of `TABLE_IV`."""
    setting = {"n": 100, "k": 10, "eps0": 2.0, "count": 80}
    return float(count.ln_delta_of_count(0.5, direction=direction, **setting)) / math.log(10)


# 5 % are 0.021 in log10, on either side.
MISSES = pytest.mark.parametrize(
    ("miss", "verdict"), [(0.02, "holds"), (-0.02, "holds"), (0.03, "fails")]
)


@MISSES
def test_exact_delta_of_the_count_is_the_histograms_if_it_misses_by_5_percent_at_most(
    set_bounds, miss, verdict
):
    """``miss``, in log10, is 0.02 or -0.02 ("holds") or 0.03 ("fails"): 5 % are 0.021.

    Both bounds on delta of the histogram are set to that of the count of x0, with this miss.
    """
    of_histogram = log10_exact_delta_of_count(direction="both") + miss
    set_bounds(low=of_histogram, high=of_histogram)
    least = compare.compare_with_least_delta(exact_reading(values=TABLE_IV))
    assert least.verdict == verdict
    assert len(least.signs) == 1  # only where eps < eps0


@MISSES
def test_formulas_delta_is_the_exact_one_if_it_misses_by_5_percent_at_most(
    monkeypatch, miss, verdict
):
    by_formula = log10_exact_delta_of_count(direction="forward") + miss
    monkeypatch.setattr(compare, "log10_delta_by_theorem_1", lambda *point: by_formula)
    assert compare.compare_with_least_delta(published_reading(values=TABLE_IV)).verdict == verdict


def test_the_printed_formula_does_not_give_the_least_delta():
    """It gives the delta 10^-21.5 here, and the exact one of the count is 10^-7.6."""
    assert compare.compare_with_least_delta(published_reading(values=TABLE_IV)).verdict == "fails"


@pytest.mark.parametrize(("shift", "verdict"), [(-1e-6, "holds"), (1e-6, "fails")])
def test_the_worst_cell_protects_what_leaks_less(set_bounds, shift, verdict):
    """Its delta is the largest over all counts up to n - 1, found here one by one."""
    ln_deltas = [
        count.ln_delta_of_count(0.5, **WORST, count=held, direction="both") for held in range(20)
    ]
    set_bounds(low=float(max(ln_deltas)) / math.log(10) + shift, high=0.0)
    assert compare.compare_worst_cell(exact_reading(), (0.5,), **WORST).verdict == verdict


PLACES = [("synthetic", 4.0), ("paris", 4.0), ("san_francisco", 6.0)]  # datasets and eps0


def exact_reading_at(eps):
    """The exact reading of three settings, at eps0 = 4 and 6, with n = 1000 and delta = 1e-30."""
    settings = [setting(dataset, eps0=eps0, **{GAUSSIAN: 0.1}) for dataset, eps0 in PLACES]
    return exact_reading(*(point | {"eps": eps} for point in settings))


# A factor that the ratio of the expected errors exceeds in every setting, and one that it exceeds in none.
@pytest.mark.parametrize(("factor", "verdict"), [(2.0, "holds"), (1e6, "fails")])
def test_the_local_model_is_much_worse_if_it_errs_some_times_as_much(factor, verdict):
    assert compare.compare_local_model(exact_reading_at(0.4), factor=factor).verdict == verdict


@pytest.mark.parametrize(("eps", "verdict"), [(0.4, "holds"), (6.0, "fails")])
def test_delta_is_above_0_where_eps_is_below_eps0(eps, verdict):
    assert compare.compare_eps_with_eps0(exact_reading_at(eps)).verdict == verdict


# A line of Table II: the deltas as printed, and log10 of the cited bounds. Erlingsson's does not apply.
PRINTED = {"this paper": "1E-9", "balle": "1E-3", "feldman": "9E-9", "erlingsson": "0.9"}
LOG10_CITED = {"balle": -4.0, "feldman": -5.1, "koskela": -6.5, "erlingsson": math.nan}
VALUES = printed_deltas(
    *(printed_row(work, printed=printed) for work, printed in PRINTED.items()), **LOG10_CITED
)
AS_PUBLISHED = published_reading(values=VALUES)
EXACTLY = exact_reading(values=VALUES)
TABLE_II = ("Table II",)


@pytest.mark.parametrize(
    ("works", "decades", "signs"),
    [(("balle", "feldman"), 1.0, [1, -1]), (("feldman",), 0.0, [1])],
)
def test_printed_deltas_are_below_the_literatures_by_powers_of_ten(works, decades, signs):
    """1E-9 is printed for this paper, 1E-3 for Balle et al. and 9E-9 for Feldman et al."""
    below = compare.compare_with_literature(AS_PUBLISHED, TABLE_II, works, decades)
    assert below.signs.tolist() == signs


@pytest.mark.parametrize(
    ("low", "high", "works", "decades", "signs"),
    [
        (-6.0, -5.5, ("balle",), 1.0, [1]),
        (-6.0, -5.5, ("feldman",), 0.0, [1]),
        (-6.2, -6.0, ("feldman",), 1.0, [0]),  # between 0.9 and 1.1 decades below
        (-6.0, -5.9, ("feldman",), 1.0, [-1]),
        (-6.2, -6.2, ("balle", "erlingsson"), 1.0, [1]),  # no theorem, no row
    ],
)
def test_both_bounds_on_delta_are_below_the_cited_ones_by_powers_of_ten(
    set_bounds, low, high, works, decades, signs
):
    """log10 of our delta is between ``low`` and ``high``. A decade is a factor of 10.

    log10 of the cited bound is -4 for Balle et al. and -5.1 for Feldman et al. Erlingsson et al.'s theorem
    does not apply.
    """
    set_bounds(low, high)
    below = compare.compare_with_literature(EXACTLY, TABLE_II, works, decades)
    assert below.signs.tolist() == signs


def test_without_a_cited_bound_that_applies_there_is_no_evidence():
    with pytest.raises(NoEvidenceError, match="no cited bound applies"):
        compare.compare_with_literature(EXACTLY, TABLE_II, ("erlingsson",))


@pytest.mark.parametrize(("decades", "sign"), [(1.0, -1), (0.0, 1)])
def test_most_of_the_literature_is_more_than_half_of_the_works(decades, sign):
    """By a factor of 10 the printed delta is below that of one of two works, by any factor below both."""
    works = ("balle", "feldman")
    most = compare.compare_most_of_the_literature(AS_PUBLISHED, TABLE_II, works, decades)
    assert most.signs.tolist() == [sign]


def test_an_undecided_work_is_not_counted_as_one_that_is_surpassed(set_bounds):
    set_bounds(low=-6.2, high=-6.0)  # 1.1 and 0.9 decades below that of Feldman et al.
    most = compare.compare_most_of_the_literature(EXACTLY, TABLE_II, ("feldman",), decades=1.0)
    assert most.signs.tolist() == [-1]


@pytest.mark.parametrize(("ratio", "verdict"), [(3.0, "holds"), (1 / 3, "fails")])
def test_the_local_model_as_published_is_shuffle_inv_at_eps0(ratio, verdict):
    settings = [setting_with_errors(0.1, 0.1 * ratio, dataset=d, eps0=eps0) for d, eps0 in PLACES]
    assert local_model_is_much_worse(published_reading(*settings)).verdict == verdict


def test_both_words_of_figure_1s_sentence_are_swapped():
    """The caption says the contrary of the text, and is right."""
    text = delta_is_monotonic_on_eps_and_antimonotonic_on_eps0(published_reading())
    caption = delta_grows_with_eps0_and_falls_with_eps(published_reading())
    assert [part.verdict for part in text] == ["fails", "fails"]
    assert [part.verdict for part in caption] == ["holds", "holds"]


def test_strictly_smaller_needs_no_order_of_magnitude():
    """Of Feldman et al.'s printed delta ours is a ninth: smaller, but not by a factor of 10."""
    assert delta_is_significantly_smaller_in_table_ii(AS_PUBLISHED).signs.tolist() == [1, -1, 1]
    assert delta_is_strictly_smaller_in_table_ii(AS_PUBLISHED).signs.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("reading", "best", "others", "signs"),
    [
        (AS_PUBLISHED, "feldman", ("balle", "erlingsson"), [1, 1]),
        # Erlingsson's theorem does not apply.
        (EXACTLY, "feldman", ("balle", "erlingsson"), [1]),
        (EXACTLY, "balle", ("feldman",), [-1]),
    ],
)
def test_the_best_cited_bound_is_the_smallest(reading, best, others, signs):
    """As published the printed deltas count, and exactly the bounds that hold for every local randomizer.

    There is a sign for each of the ``others`` with a bound.
    """
    found = compare.compare_cited_bounds(reading, "Table II", best, others)
    assert found.signs.tolist() == signs


# The printed formula's value for the rows of `printed_row`: 10^-27.6.
LOG10_BY_FORMULA = compare.log10_delta_by_theorem_1(eps=0.1, eps0=0.5, n=100, k=10)
ONE_REPRODUCED_ROW = printed_deltas(
    printed_row(printed=f"{10**LOG10_BY_FORMULA:.3E}"),
    printed_row(eps=0.2, printed="0.9"),  # not the formula's value: does not count
    printed_row("balle"),  # not this paper's
)


def test_a_printed_delta_is_not_sound_below_the_exact_one_of_the_count():
    reading = published_reading(values=ONE_REPRODUCED_ROW)
    assert compare.compare_printed_with_true(reading, "Table II").signs.tolist() == [-1]


@pytest.mark.parametrize(("above", "verdict"), [(0.009, "fails"), (-299.99, "holds")])
def test_a_printed_delta_is_sound_unless_the_lower_bound_on_delta_is_above_it(
    set_bounds, above, verdict
):
    set_bounds(low=LOG10_BY_FORMULA + above, high=0.0)
    sound = compare.compare_printed_with_true(exact_reading(values=ONE_REPRODUCED_ROW), "Table II")
    assert sound.verdict == verdict


def test_a_delta_that_the_formula_does_not_give_is_no_evidence():
    reading = published_reading(values=printed_deltas(printed_row(printed="0.9")))
    with pytest.raises(NoEvidenceError, match="has no row that the printed formula gives"):
        compare.compare_printed_with_true(reading, "Table II")

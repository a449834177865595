"""The paper's statements about errors, in the paper's order: a test for each.

`error_comparisons` has what several tests share. Where the paper prints the errors themselves, the published
reading is judged on these (`errors_as_printed`), the exact one on our runs.
"""

from scripts.beyond.statements import error_comparisons as compare
from scripts.beyond.statements.error_comparisons import INDISTINGUISHABLE, Gap, errors_as_printed
from scripts.beyond.statements.evidence import (
    EVERYWHERE,
    GAUSSIAN,
    INV,
    LIKELIEST,
    RAW_GAUSSIAN,
    SHUFFLE,
    Ends,
    Reading,
    Selection,
)
from scripts.beyond.statements.statement import UntestableError, statement
from scripts.beyond.statements.verdict_rules import Comparisons
from scripts.shared.printed import PAPER

SYNTHETIC = {"synthetic": PAPER["synthetic"]}
SAN_FRANCISCO = {"san_francisco": PAPER["san_francisco"]}
PARIS = {"paris": PAPER["paris"]}
CITIES = {"san_francisco": (4, 6), "paris": (4, 6)}
CITIES_AT_FOUR = {"san_francisco": (4,), "paris": (4,)}
HEATMAPS = {"san_francisco": (2, 4, 6), "paris": (2, 4, 6)}  # Figures 4 and 5

CORNERS = Selection(ends=Ends.SMALLEST_N_AT_LARGEST_EPS0)
FIGURE_2 = Selection(budgets=SYNTHETIC)
FIGURE_6 = Selection(budgets=SAN_FRANCISCO)
TABLE_V = Selection(metric="individual_error", budgets=SYNTHETIC)
TABLE_V_SMALL_N = Selection(metric="individual_error", budgets=SYNTHETIC, ends=Ends.SMALLEST_N)
TABLE_V_LARGE_N = Selection(metric="individual_error", budgets=SYNTHETIC, ends=Ends.LARGEST_N)
WHOLE_CITIES_AT_FOUR = Selection(budgets=CITIES_AT_FOUR, ends=Ends.LARGEST_N)

# SV 5.1, LV V-C2: Table V and Figure 2, on N(0, 2)


@statement("table-V-small-n")
def individual_errors_are_comparable_for_few_users(reading: Reading) -> Comparisons:
    """When n = 1,000, shuffle+INV is comparable with the Gaussian mechanism."""
    reading = errors_as_printed(reading, TABLE_V.metric, mean_over_cells=True)
    return compare.is_close(reading, TABLE_V_SMALL_N)


@statement("table-V-depends-on-x0")
def individual_errors_compare_differently_by_x0(reading: Reading) -> Comparisons:
    """When n = 1,000, this depends on the value of x0."""
    return compare.differs_between_cells(reading, TABLE_V_SMALL_N)


@statement("table-V-large-n")
def gaussian_has_smaller_individual_errors_for_many_users(reading: Reading) -> Comparisons:
    """When n is 100,000, the Gaussian mechanism shows better results regardless of x0."""
    reading = errors_as_printed(reading, TABLE_V.metric)
    return compare.is_better(reading, GAUSSIAN, INV, TABLE_V_LARGE_N)


@statement("fixed-noise")
def gaussian_noise_does_not_depend_on_n(reading: Reading) -> Comparisons:
    """The Gaussian mechanism inserts fixed noise regardless of n."""
    return compare.has_same_noise_for_all_n(reading, TABLE_V)


@statement("table-V-slightly-worse")
def individual_errors_are_only_slightly_larger(reading: Reading) -> Comparisons:
    """Even for a large value of n, shuffle+INV is only slightly worse than the Gaussian mechanism."""
    reading = errors_as_printed(reading, TABLE_V.metric, mean_over_cells=True)
    return compare.is_close(reading, TABLE_V_LARGE_N)


@statement("table-V-low-error")
def individual_errors_remain_very_low(reading: Reading) -> Comparisons:
    """The individual error of shuffle+INV remains very low across different x0."""
    reading = errors_as_printed(reading, TABLE_V.metric)
    return compare.is_small(reading, [INV], 0.01, TABLE_V_LARGE_N)


@statement("tv-small-n")
def utility_is_almost_the_central_one_for_few_users(reading: Reading) -> Comparisons:
    """When n is small, the utility of the shuffle model is almost as much as that of the central model."""
    few_users = Selection(budgets=SYNTHETIC, ends=Ends.SMALLEST_N)
    return compare.is_close(errors_as_printed(reading, "tv"), few_users)


@statement("tv-gaussian-gains")
def gaussian_improves_over_shuffling_as_n_grows(reading: Reading) -> Comparisons:
    """As n increases, the utility of the Gaussian mechanism improves slightly over the shuffle model's."""
    reading = errors_as_printed(reading, "tv")
    return compare.gap_is_smaller_at_end(reading, "n", "small", Gap.SIGNED_LOG_RATIO, FIGURE_2)


@statement("tv-large-n-close")
def utilities_are_close_for_many_users(reading: Reading) -> Comparisons:
    """However they still are fairly close."""
    many_users = Selection(budgets=SYNTHETIC, ends=Ends.LARGEST_N)
    return compare.is_close(errors_as_printed(reading, "tv"), many_users)


@statement("figure-2-inversion")
def inversion_helps_on_synthetic_data(reading: Reading) -> Comparisons:
    """shuffle+INV shows better utility than the shuffle model with k-RR."""
    return compare.is_better(reading, INV, SHUFFLE, FIGURE_2)


@statement("figure-2-central-better")
def central_model_is_better_on_synthetic_data(reading: Reading) -> Comparisons:
    """Keeping the other parameters fixed, the shuffle model shows worse utility than the central model."""
    return compare.is_better(reading, GAUSSIAN, INV, FIGURE_2)


@statement("figure-2-slightly")
def shuffling_is_only_slightly_worse_on_synthetic_data(reading: Reading) -> Comparisons:
    """The utility of shuffle+INV is slightly worse than that of the central model."""
    return compare.is_close(reading, FIGURE_2)


@statement("figure-2-especially-small")
def utilities_are_closest_for_few_users_on_synthetic_data(reading: Reading) -> Comparisons:
    """It is comparable especially when the number of samples is small and the privacy level is low."""
    return compare.is_closest_at_smallest_n_and_largest_eps0(reading, FIGURE_2)


# SV 5.2, LV V-D: Figures 4 and 5, both cities cell by cell


@statement("figures-4-5-central-better")
def gaussian_approximates_the_cities_better(reading: Reading) -> Comparisons:
    """The Gaussian mechanism approximates the original slightly better than shuffle+INV in all cases."""
    if reading.is_exact:
        return compare.is_better(
            reading, GAUSSIAN, INV, Selection(budgets=HEATMAPS, ends=Ends.LARGEST_N)
        )
    single_runs = Selection(metric="cell_error", budgets=HEATMAPS)
    return compare.is_better(reading, GAUSSIAN, INV, single_runs)


@statement("figure-2-short-central-better")
def gaussian_approximates_the_cities_better_at_eps_4(reading: Reading) -> Comparisons:
    """SV 5.2: the same of the short version's Figure 2, at eps = 4."""
    return compare.is_better(reading, GAUSSIAN, INV, WHOLE_CITIES_AT_FOUR)


@statement("figures-4-5-comparable")
def both_are_comparable_on_the_cities(reading: Reading) -> Comparisons:
    """But it is comparable. As published only eps0 = 4 has repetitions of a whole city."""
    if reading.is_exact:
        return compare.is_close(reading, Selection(budgets=HEATMAPS, ends=Ends.LARGEST_N))
    return compare.is_close(reading, WHOLE_CITIES_AT_FOUR)


@statement("heatmaps-very-close")
def both_are_very_close_to_the_original(reading: Reading) -> Comparisons:
    """When eps is 4, both generate results very close to the original distribution."""
    return compare.is_small(reading, [INV, GAUSSIAN], 0.05, WHOLE_CITIES_AT_FOUR)


@statement("central-better-everywhere")
def gaussian_is_better_in_all_settings(reading: Reading) -> Comparisons:
    """SV 5.2, LV V-D: a better utility than the shuffle model across all settings."""
    return compare.is_better(reading, GAUSSIAN, INV, EVERYWHERE)


# SV 5.2, LV V-D: Figures 6 and 7, the errors of both cities


@statement("n-and-eps-matter")
def errors_fall_with_n(reading: Reading) -> Comparisons:
    """The number of samples affects the utility; the direction is ours."""
    return compare.falls_along(reading, "n", [INV, GAUSSIAN], Selection(budgets=CITIES))


@statement("eps-matters")
def errors_fall_with_eps(reading: Reading) -> Comparisons:
    """The differential privacy parameters affect the utilities; the direction is ours."""
    return compare.falls_along(reading, "eps0", [INV, GAUSSIAN], Selection(budgets=CITIES))


@statement("comparable-few-users-low-privacy")
def utilities_are_comparable_for_few_users_and_little_privacy(reading: Reading) -> Comparisons:
    """When the number of samples is small and the privacy level is low, they are comparable."""
    return compare.is_close(reading, CORNERS)


@statement("figure-6-shuffle-worse")
def shuffling_is_worse_in_san_francisco(reading: Reading) -> Comparisons:
    """The shuffle model M gives worse utility than the central model."""
    return compare.is_better(reading, GAUSSIAN, SHUFFLE, FIGURE_6)


@statement("figure-6-inversion")
def inversion_helps_in_san_francisco(reading: Reading) -> Comparisons:
    """shuffle+INV shows better utility than shuffle."""
    return compare.is_better(reading, INV, SHUFFLE, FIGURE_6)


@statement("figure-6-same-for-all-eps")
def order_is_the_same_for_all_eps(reading: Reading) -> Comparisons:
    """This trend is harmonious across the different settings for eps."""
    return compare.has_same_order(reading, {"san_francisco": (4,)}, {"san_francisco": (6,)})


@statement("figure-6-corner-close")
def utilities_are_comparable_in_the_corner_of_figure_6(reading: Reading) -> Comparisons:
    """Comparable especially when n is small (10,000) and the privacy level is low (eps = 6)."""
    return compare.is_close(
        reading, Selection(budgets=SAN_FRANCISCO, ends=Ends.SMALLEST_N_AT_LARGEST_EPS0)
    )


@statement("figure-6-corner-closest")
def utilities_are_closest_in_the_corner_of_figure_6(reading: Reading) -> Comparisons:
    """Slightly closer there than elsewhere."""
    return compare.is_closest_at_smallest_n_and_largest_eps0(reading, FIGURE_6)


@statement("figure-7-same-trend")
def paris_shows_the_trend_of_san_francisco(reading: Reading) -> Comparisons:
    """The overall trend for the dataset of Paris is the same as that of San Francisco."""
    return compare.has_same_order(reading, SAN_FRANCISCO, PARIS)


@statement("figure-7-inversion")
def inversion_helps_in_paris(reading: Reading) -> Comparisons:
    """The utility of shuffle+INV is better than that of just shuffle with k-RR."""
    return compare.is_better(reading, INV, SHUFFLE, Selection(budgets=PARIS))


@statement("figure-7-indistinguishable")
def utilities_are_indistinguishable_in_the_corner_of_figure_7(reading: Reading) -> Comparisons:
    """Almost indistinguishable when the number of samples and the privacy level are low."""
    corner = Selection(budgets=PARIS, ends=Ends.SMALLEST_N_AT_LARGEST_EPS0)
    return compare.is_close(reading, corner, factor=INDISTINGUISHABLE)


# Abstracts, introductions and conclusions


@statement("almost-comparable")
def central_and_shuffle_model_are_almost_comparable(reading: Reading) -> Comparisons:
    """SV 6, LV I: almost comparable under the same level of differential privacy protection."""
    return compare.is_close(reading, EVERYWHERE)


@statement("gap-vanishes-many-users-absolute")
def gap_vanishes_for_many_users_as_a_difference(reading: Reading) -> Comparisons:
    """LV abstract: the gap tends to vanish as the number of samples increases."""
    return compare.gap_is_smaller_at_end(reading, "n", "large", Gap.DIFFERENCE, EVERYWHERE)


@statement("gap-vanishes-many-users-relative")
def gap_vanishes_for_many_users_as_a_ratio(reading: Reading) -> Comparisons:
    """LV abstract: the gap tends to vanish as the number of samples increases."""
    return compare.gap_is_smaller_at_end(reading, "n", "large", Gap.LOG_RATIO, EVERYWHERE)


@statement("gap-vanishes-few-users-absolute")
def gap_vanishes_for_few_users_as_a_difference(reading: Reading) -> Comparisons:
    """SV 6: the gap tends to vanish as the number of samples is small."""
    return compare.gap_is_smaller_at_end(reading, "n", "small", Gap.DIFFERENCE, EVERYWHERE)


@statement("gap-vanishes-few-users-relative")
def gap_vanishes_for_few_users_as_a_ratio(reading: Reading) -> Comparisons:
    """SV 6: the gap tends to vanish as the number of samples is small."""
    return compare.gap_is_smaller_at_end(reading, "n", "small", Gap.LOG_RATIO, EVERYWHERE)


@statement("gap-high-privacy-absolute")
def gap_is_larger_for_much_privacy_as_a_difference(reading: Reading) -> Comparisons:
    """LV I: the gap is more prominent when the privacy level is high."""
    cities = Selection(budgets=CITIES)
    return compare.gap_is_smaller_at_end(reading, "eps0", "large", Gap.DIFFERENCE, cities)


@statement("gap-high-privacy-relative")
def gap_is_larger_for_much_privacy_as_a_ratio(reading: Reading) -> Comparisons:
    """LV I: the gap is more prominent when the privacy level is high."""
    cities = Selection(budgets=CITIES)
    return compare.gap_is_smaller_at_end(reading, "eps0", "large", Gap.LOG_RATIO, cities)


@statement("denoising-helps")
def inversion_helps_everywhere(reading: Reading) -> Comparisons:
    """LV VI: matrix inversion reduces the noise and hence increases the utility."""
    return compare.is_better(reading, INV, SHUFFLE, EVERYWHERE)


@statement("inversion-optimal")
def inversion_is_the_best_estimate(reading: Reading) -> Comparisons:
    """LV V-A, SV appendix B: matrix inversion is the most optimal way to approximate the original."""
    if not reading.is_exact:
        raise UntestableError("the paper's experiments have no other estimate")
    return compare.is_better(reading, INV, LIKELIEST, EVERYWHERE)


@statement("no-central-denoising")
def nothing_reduces_the_noise_of_the_central_model(reading: Reading) -> Comparisons:
    """LV I, V-A, SV appendix B: the most likely original count is the obfuscated count itself."""
    if not reading.is_exact:
        raise UntestableError("the paper's experiments do not process the Gaussian's output")
    return compare.is_better(reading, RAW_GAUSSIAN, GAUSSIAN, EVERYWHERE)


# Statements that no experiment of the paper or of ours can decide


@statement("gaussian-denoised")
def optimal_gaussian_denoises(reading: Reading) -> Comparisons:
    """LV V-A: second, they denoise the Gaussian perturbation by post-processing."""
    raise UntestableError(
        "we do not have the code of the experiments. The paper names diffprivlib's GaussianAnalytic, which"
        " does not denoise. The printed distances fit noise that was not processed"
    )


@statement("first-comparison")
def no_earlier_experiment_compared_both(reading: Reading) -> Comparisons:
    """SV 5, LV V-B: no experimental analysis had been performed."""
    raise UntestableError("it is about the literature, not about an experiment")


@statement("novel-bound")
def bound_is_new(reading: Reading) -> Comparisons:
    """LV abstract: it has not been proven before in the existing literature."""
    raise UntestableError("it is about the literature, not about an experiment")


@statement("more-convenient")
def shuffle_model_is_more_convenient(reading: Reading) -> Comparisons:
    """LV VI: much more convenient than the central model for the release of histograms."""
    raise UntestableError(
        "it is a judgement about trust in a curator, not about a measured quantity"
    )


@statement("inversion-for-histograms-only")
def inversion_is_for_histograms_only(reading: Reading) -> Comparisons:
    """LV I: the process can only be applied to the case of histogram queries."""
    raise UntestableError("the experiments have no queries other than histograms")

"""The paper's statements about delta and about its formulas, by section of the paper: a test for each.

`delta_comparisons` has what several tests share.
"""

import itertools
from collections.abc import Iterable

import numpy as np

from scripts.beyond.statements import delta_comparisons as compare
from scripts.beyond.statements.delta_comparisons import Point
from scripts.beyond.statements.error_comparisons import COMPARABLE, is_better
from scripts.beyond.statements.evidence import GAUSSIAN, INV, Reading
from scripts.beyond.statements.statement import statement
from scripts.beyond.statements.verdict_rules import Comparisons

ANALYTIC = ("erlingsson", "balle", "feldman")  # the literature's columns of both tables
FIVE_USERS = (4, 1, 0)  # how many hold each of three values


def points_below_eps0(
    eps: Iterable[float],
    eps0: Iterable[float],
    n: Iterable[int] = (100,),
    k: Iterable[int] = (10,),
) -> list[Point]:
    """All points (eps, eps0, n, k) with eps < eps0: at and beyond eps0 delta is 0."""
    return [point for point in itertools.product(eps, eps0, n, k) if point[0] < point[1]]


def even_steps(start: float, stop: float, size: float) -> list[float]:
    """Numbers from ``start`` to ``stop``, both included."""
    return np.round(np.arange(start, stop + size / 2, size), 10).tolist()


def figure_1_points(reading: Reading) -> list[Point]:
    """The points (eps, eps0, n, k) of Figure 1 with eps < eps0, at n = 100 and k = 10.

    On the exact reading it is every fifth eps and eps0, as the bounds of one point take milliseconds.
    """
    size = 0.5 if reading.is_exact else 0.1
    axis = even_steps(size, 3.0, size)
    return points_below_eps0(axis, axis)


# LV I


@statement("eps-delta-exchange")
def smaller_eps_needs_larger_delta(reading: Reading) -> Comparisons:
    """LV I: if eps decreases then delta must increase, and vice versa."""
    eps = even_steps(0.2, 1.8, 0.2) if reading.is_exact else even_steps(0.1, 3.0, 0.1)
    return compare.compare_trend(reading, "eps", points_below_eps0(eps, (2,)))


@statement("gaussian-because-approximate")
def shuffle_model_is_only_approximately_private(reading: Reading) -> Comparisons:
    """LV I, footnote 1: the Gaussian is the one to compare with, as the shuffle model has delta above 0."""
    return compare.compare_eps_with_eps0(reading)


@statement("local-much-worse")
def local_model_is_much_worse(reading: Reading) -> Comparisons:
    """SV 1, LV I: the utility of the local model is substantially worse than that of the central one.

    At eps = eps0, as published, shuffle+INV is the local model.
    """
    if reading.is_exact:
        return compare.compare_local_model(reading, factor=COMPARABLE)
    return is_better(reading, GAUSSIAN, INV, times=COMPARABLE)


@statement("literature-far-from-tight")
def most_bounds_of_the_literature_are_far_from_tight(reading: Reading) -> Comparisons:
    """LV I: most analytical bounds found in the literature are far from being tight."""
    return compare.compare_most_of_the_literature(reading, ["Table II"], ANALYTIC)


# SV 4.1, LV IV-A


@statement("table-II-sound")
def printed_delta_is_sound(reading: Reading) -> Comparisons:
    """LV IV-A: Table II highlights the soundness of the tight guarantee."""
    return compare.compare_printed_with_true(reading, "Table II")


@statement("table-II-tighter")
def delta_is_significantly_smaller_in_table_ii(reading: Reading) -> Comparisons:
    """LV IV-A: delta is significantly less than by Balle et al., Erlingsson et al. and Feldman et al."""
    return compare.compare_with_literature(reading, ["Table II"], ANALYTIC)


@statement("table-II-strictly-tighter")
def delta_is_strictly_smaller_in_table_ii(reading: Reading) -> Comparisons:
    """LV I-A: ours is strictly tighter."""
    return compare.compare_with_literature(reading, ["Table II"], ANALYTIC, decades=0.0)


@statement("table-1-tighter")
def delta_is_significantly_smaller_in_table_1(reading: Reading) -> Comparisons:
    """SV 4.1: the same of Table 1, which also has Koskela et al."""
    return compare.compare_with_literature(reading, ["Table 1"], (*ANALYTIC, "koskela"))


@statement("more-private-than-known")
def shuffling_is_more_private_than_known(reading: Reading) -> Comparisons:
    """SV 1, LV I-A: a higher level of guarantee than what is known by the community."""
    return compare.compare_with_literature(reading, ["Table II", "Table 1"], ANALYTIC, decades=0.0)


@statement("feldman-best")
def feldman_is_the_best_known_bound(reading: Reading) -> Comparisons:
    """LV I-A, IV-A: Feldman et al., known to be the best bound so far."""
    return compare.compare_cited_bounds(reading, "Table II", "feldman", ("erlingsson", "balle"))


@statement("least-delta")
def formula_is_the_least_delta(reading: Reading) -> Comparisons:
    """SV 4.3, LV IV-C: a closed form expression of the least delta for any eps."""
    return compare.compare_with_least_delta(reading)


# SV 5.1, LV V-C1: the trends of Table IV and Figure 1


@statement("eps-trend")
def delta_falls_as_eps_grows(reading: Reading) -> Comparisons:
    """SV 5.1(a), LV V-C1(a): delta decreases as eps increases for the same eps0."""
    return compare.compare_table_iv(reading, "eps")


@statement("eps0-trend")
def delta_grows_with_eps0(reading: Reading) -> Comparisons:
    """SV 5.1(a), LV V-C1(a): for a constant eps, delta increases as eps0 increases."""
    return compare.compare_table_iv(reading, "eps0", rising=True)


@statement("zero-beyond-the-loss")
def delta_is_zero_where_no_loss_exceeds_eps(reading: Reading) -> Comparisons:
    """SV 5.1(a), LV V-C1(a): when the condition v_s > eps does not hold, delta becomes 0."""
    return compare.compare_zeros(reading)


@statement("n-trend")
def delta_falls_as_n_grows(reading: Reading) -> Comparisons:
    """SV 5.1(b), LV V-C1(b): for the same eps, delta becomes smaller as n increases."""
    return compare.compare_table_iv(reading, "n")


@statement("more-users-more-privacy")
def more_users_are_more_private(reading: Reading) -> Comparisons:
    """SV 5.1(b), LV II: higher privacy protection as the number of users increases."""
    points = points_below_eps0((0.1, 0.5), (1, 2), n=(10, 30, 100, 300), k=(5, 15))
    return compare.compare_trend(reading, "n", points)


@statement("k-trend")
def delta_falls_as_k_grows(reading: Reading) -> Comparisons:
    """SV 5.1(c), LV V-C1(c): as the value of k increases, delta decreases."""
    return compare.compare_table_iv(reading, "k")


@statement("larger-domain-less-inference")
def inference_falls_as_the_domain_grows(reading: Reading) -> Comparisons:
    """SV 5.1(c), LV V-C1(c): the inference probability decreases as the domain grows."""
    domains = (2, 3, 5, 10, 15, 100, 408, 1000)
    return compare.compare_inference(domains, local_budgets=(0.1, 1, 2, 4, 6))


@statement("figure-1-text")
def delta_is_monotonic_on_eps_and_antimonotonic_on_eps0(reading: Reading) -> list[Comparisons]:
    """LV V-C1: delta is monotonic on eps and anti-monotonic on eps0."""
    points = figure_1_points(reading)
    return [
        compare.compare_trend(reading, "eps", points, rising=True),
        compare.compare_trend(reading, "eps0", points),
    ]


@statement("figure-1-caption")
def delta_grows_with_eps0_and_falls_with_eps(reading: Reading) -> list[Comparisons]:
    """LV V-C1, caption of Figure 1: delta increases as eps0 increases and decreases as eps increases."""
    points = figure_1_points(reading)
    return [
        compare.compare_trend(reading, "eps", points),
        compare.compare_trend(reading, "eps0", points, rising=True),
    ]


@statement("trends-everywhere")
def trends_are_the_same_for_other_parameters(reading: Reading) -> list[Comparisons]:
    """LV V-C1: the trend stays consistent across varying settings of the other parameters.

    As published delta also depends on the share of users who hold x0.
    """
    points = points_below_eps0((0.1, 0.5, 1.0), (1, 2, 3), n=(50, 150), k=(5, 15))
    shares = (compare.SHARE_OF_X0,) if reading.is_exact else (compare.SHARE_OF_X0, 0.2, 0.0)
    trends = []
    for share_of_x0 in shares:
        trends.append(compare.compare_trend(reading, "eps", points, share_of_x0=share_of_x0))
        trends.append(
            compare.compare_trend(reading, "eps0", points, rising=True, share_of_x0=share_of_x0)
        )
    return trends


# SV 5 and appendix B, LV V: what the experiments rest on


@statement("equal-privacy")
def both_mechanisms_have_the_same_privacy(reading: Reading) -> Comparisons:
    """SV 5.1, LV V-C2: compared while providing the same level of privacy protection."""
    return compare.compare_deltas_of_gaussian(reading)


@statement("delta-explains-table-V")
def delta_depends_on_the_count(reading: Reading) -> Comparisons:
    """SV 5.1, LV V-C2: explained through delta, which depends on n_x0 and so varies with x0."""
    return compare.compare_counts(reading, eps=4, eps0=4, n=1000, k=15)


@statement("worst-cell-guarantee")
def largest_delta_of_a_count_is_a_guarantee(reading: Reading) -> Comparisons:
    """SV appendix B, LV V-A: this ensures the worst possible tight guarantee for the shuffle model."""
    return compare.compare_worst_cell(reading, (0.1, 0.5, 1.0, 1.5), eps0=2, n=100, k=10)


@statement("estimate-unbiased-long")
def projected_estimate_is_unbiased(reading: Reading) -> Comparisons:
    """LV V-A, (7): E(estimate) = pi, of the estimate that is projected to the simplex."""
    return compare.compare_mean_estimate(FIVE_USERS, local_budgets=(1.0, 4.0), projected=True)


@statement("estimate-unbiased-short")
def estimate_is_unbiased(reading: Reading) -> Comparisons:
    """SV appendix B, (12): E(estimate) = pi; no projection is mentioned."""
    return compare.compare_mean_estimate(FIVE_USERS, local_budgets=(1.0, 4.0), projected=False)


@statement("area-san-francisco")
def san_francisco_has_the_printed_area(reading: Reading) -> Comparisons:
    """LV V-D: covering an area of 12 km x 8 km."""
    return compare.compare_area(reading, "san_francisco", width=12, height=8)


@statement("area-paris")
def paris_has_the_printed_area(reading: Reading) -> Comparisons:
    """LV V-D: covering 8 km x 6 km."""
    return compare.compare_area(reading, "paris", width=8, height=6)

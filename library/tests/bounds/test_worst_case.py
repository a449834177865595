"""What docs/theory.md says of the worst dataset, against every dataset of small cases.

The part of its conjecture that is proved: let nobody else hold x0, b other users x1, and c others third
values, in any way in the dataset D, and all x2 in D*. Then delta of D is at most that of D*, for every eps >=
0.

*Proof.* N0, N1 and S count the reports x0, x1 and third values, and r the truthful ones of the c users. Given
these, S - r reports are uniform over the third values, under P and under Q. So P and Q are mixtures over r,
and the weights of r are the same in D and D*. From r to r + 1 one uniform report becomes truthful. Told all
about r truthful reports, the adversary of D sees Bin(S - r, 1 / (k - 2)) against 1 + Bin(S - r - 1, 1 / (k -
2)) reports of one value; that of D* sees this untold, and its best tests are thresholds of the count of x2.
By induction from any r0, upwards and downwards, the threshold that has an event's probability at r0 has at
least the event's probability at r > r0, and at most that at r < r0. So the claim follows if g(r), the weight
of r under P minus e^eps times that under Q, changes its sign only once. With y = e^eps0 - 1, and up to
positive factors,

    g(r) = sum_u H_u (n - r - u)!,    H_0 <= 0, and for u >= 1
    H_u = y^u binom(b, u - 1) / (N0! (N1 - u + 1)!) (N0 - (N1 - u + 1) (e^eps + (e^eps - 1) (b - u + 1) / u)),

where u counts the truthful reports x0 or x1. The kernel (n - r - u)! is totally positive, so g changes its
sign at most as often as H (Karlin 1968, chapter 5). Both factors after the minus fall with u: H changes its
sign once. (If others hold x0, too, H can change its sign twice, and this proof fails.)
"""

import itertools
from collections import defaultdict
from fractions import Fraction

import pytest

from tests.bounds.enumeration import add_report, enumerate_worst_case, krr_probabilities

ROUNDING = 1 + 1e-12  # of the sums of floats in an enumerated delta


@pytest.mark.parametrize(("n", "k", "eps0"), [(8, 3, 0.5), (6, 4, 1.0), (5, 5, 2.0)])
@pytest.mark.parametrize("share_of_eps0", [0.0, 0.4, 0.8, 0.95])
def test_in_the_worst_dataset_nobody_holds_x1_and_all_others_one_third_value(
    n, k, eps0, share_of_eps0
):
    """The users of a dataset with the largest delta all hold x0 or x2: the conjecture of docs/theory.md."""
    deltas = enumerate_worst_case(share_of_eps0 * eps0, n=n, k=k, eps0=eps0)
    only_x0_and_x2 = [
        delta for (at_x0, _, at_x2, *_), delta in deltas.items() if at_x0 + at_x2 == n - 1
    ]
    assert max(deltas.values()) <= max(only_x0_and_x2) * ROUNDING


@pytest.mark.parametrize(("n", "k", "eps0"), [(6, 4, 1.0), (5, 5, 4.0)])
@pytest.mark.parametrize("share_of_eps0", [0.0, 0.05, 0.2, 0.5, 0.9])
def test_one_third_value_is_worse_than_any_split_if_nobody_holds_x0(n, k, eps0, share_of_eps0):
    """delta never falls when all who hold third values move to x2, if nobody holds x0 or eps is 0."""
    eps = share_of_eps0 * eps0
    deltas = enumerate_worst_case(eps, n=n, k=k, eps0=eps0)
    for (at_x0, at_x1, *at_third_values), delta in deltas.items():
        if at_x0 == 0 or eps == 0:
            all_at_x2 = (at_x0, at_x1, sum(at_third_values), *[0] * (k - 3))
            assert delta <= deltas[all_at_x2] * ROUNDING


def law_of_krr(k, values):
    """{histogram of the k-RR reports: its probability, a fraction} of users who hold these ``values``."""
    e_eps0 = Fraction(27, 10)  # any number above 1 would do
    law = {(0,) * k: Fraction(1)}
    for value in values:
        law = add_report(law, krr_probabilities(value, e_eps0, k))
    return law


def histograms_with_reports_given_out(histogram, held):
    """All equally likely histograms if the reports of x2, x3, ... are given to other users at random.

    ``held`` are the values of the other users, of whom nobody gets two reports. A user passes the report on,
    with one exchange: for x2 the own value, and for the own value x2.
    """
    k = len(histogram)
    reports = [value for value in range(2, k) for _ in range(histogram[value])]
    for values_of_users in itertools.permutations(held, len(reports)):
        image = [*histogram[:2], *[0] * (k - 2)]
        for own_value, report in zip(values_of_users, reports, strict=True):
            exchanged = {2: own_value, own_value: 2}
            image[exchanged.get(report, report)] += 1
        yield tuple(image)


@pytest.mark.parametrize(("k", "held"), [(4, (2, 3, 3)), (5, (2, 3, 4))])
@pytest.mark.parametrize("own", [0, 1])
def test_the_map_from_one_third_value_to_a_split(k, held, own):
    """A random map takes the law of the histogram of a dataset D* to exactly that of D, in fractions.

    The target user holds x0 under P and x1 under Q: ``own``. The other users hold third values: ``held`` in
    D, and all of them x2 in D*. The same map serves P and Q, so that delta of D is at most that of D*.
    """
    # With more reports of third values than other users, the target user reported one, too. Such histograms
    # have the same law under P and Q. The map draws one of D under P.
    without_x0_and_x1 = {
        histogram: chance
        for histogram, chance in law_of_krr(k, [0, *held]).items()
        if not any(histogram[:2])
    }
    chance_without = sum(without_x0_and_x1.values())

    law_of_images = defaultdict(Fraction)
    for histogram, chance in law_of_krr(k, [own, *[2] * len(held)]).items():
        if sum(histogram[2:]) > len(held):
            for image, chance_of_image in without_x0_and_x1.items():
                law_of_images[image] += chance * chance_of_image / chance_without
        else:
            images = list(histograms_with_reports_given_out(histogram, held))
            for image in images:
                law_of_images[image] += chance / len(images)
    assert law_of_images == law_of_krr(k, [own, *held])

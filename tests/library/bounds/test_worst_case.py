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

import numpy as np
import pytest

from tests.library.bounds.enumeration import add_report, enumerate_worst_case, krr_probabilities


@pytest.mark.parametrize(("n", "k", "eps0"), [(8, 3, 0.5), (6, 4, 1.0), (5, 5, 2.0)])
def test_in_the_worst_dataset_nobody_holds_x1_and_all_others_one_third_value(n, k, eps0):
    """docs/theory.md, "Which dataset is the worst?", the conjecture."""
    for share in (0.0, 0.4, 0.8, 0.95):
        table = enumerate_worst_case(share * eps0, n=n, k=k, eps0=eps0)
        known = max(table[(a, 0, n - 1 - a, *(0,) * (k - 3))] for a in range(n))
        assert max(table.values()) <= known * (1 + 1e-12)


def test_one_third_value_is_worse_than_any_split_if_nobody_holds_x0():
    """docs/theory.md, "Which dataset is the worst?", and for both directions if nobody holds x1 either."""
    for n, k, eps0 in ((6, 4, 1.0), (5, 5, 4.0)):
        for eps in np.array([0.0, 0.05, 0.2, 0.5, 0.9]) * eps0:
            table = enumerate_worst_case(eps, n=n, k=k, eps0=eps0)
            for dataset, value in table.items():
                if dataset[0] == 0 or eps == 0:
                    gathered = (*dataset[:2], sum(dataset[2:]), *(0,) * (k - 3))
                    assert value <= table[gathered] * (1 + 1e-12)


@pytest.mark.parametrize(("k", "held"), [(4, (2, 3, 3)), (5, (2, 3, 4))])
def test_the_map_from_one_third_value_to_a_split(k, held):
    """A random map takes the law of the histogram of a dataset D* to exactly that of D, in fractions.

    The target user holds x0 under P and x1 under Q. The other users hold third values: ``held`` in D, and all
    of them x2 in D*. The same map serves P and Q, so that delta of D is at most that of D*: one third value
    is worse than any split over third values.

    1. The map gives r reports of third values to r random users as their own: x2 becomes the value that the
    user holds, and that value x2. 2. With more reports of third values than other users, the target user
    reported one, too, and nobody reported x0 or x1. Such histograms have the same law under P and Q, so the
    map draws one of D.
    """

    def law(*values):
        """{histogram of the reports: probability} of k-RR, for users with these ``values``."""
        distribution = {(0,) * k: Fraction(1)}
        for value in values:
            e_eps0 = Fraction(27, 10)  # any number above 1 would do
            distribution = add_report(distribution, krr_probabilities(value, e_eps0, k))
        return distribution

    only_third_values = {
        histogram: chance for histogram, chance in law(0, *held).items() if not any(histogram[:2])
    }
    chance_of_only_third_values = sum(only_third_values.values())
    for own in (0, 1):
        mapped = defaultdict(Fraction)
        for histogram, chance in law(own, *(2,) * len(held)).items():
            reports = [value for value in range(2, k) for _ in range(histogram[value])]
            # 2. With chances in proportion to those in D.
            if len(reports) > len(held):
                for image, chance_of_image in only_third_values.items():
                    mapped[image] += chance * chance_of_image / chance_of_only_third_values
                continue

            # 1. All ordered choices of users, who are equally likely; an image is a histogram of D.
            choices_of_users = list(itertools.permutations(held, len(reports)))
            for values_of_users in choices_of_users:
                image = [*histogram[:2], *(0,) * (k - 2)]
                for value, report in zip(values_of_users, reports, strict=True):
                    exchanged = {2: value, value: 2}
                    image[exchanged.get(report, report)] += 1
                mapped[tuple(image)] += chance / len(choices_of_users)
        assert mapped == law(own, *held)

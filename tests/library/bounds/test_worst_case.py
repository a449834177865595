"""What docs/theory.md says of the worst dataset, against every dataset of small cases."""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest

from tests.library.bounds.enumeration import add, enumerate_worst_case, krr


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
    """If nobody holds x0 or x1, one map of histograms serves both laws: a direct proof of the same."""

    def law(*values):
        start = {(0,) * k: Fraction(1)}
        return functools.reduce(lambda law, own: add(law, krr(own, Fraction(27, 10), k)), values, start)

    worlds = {own: law(own, *held) for own in (0, 1)}
    only_third = {h: probability for h, probability in worlds[0].items() if h[0] + h[1] == 0}
    for own, wanted in worlds.items():
        mapped: dict[tuple[int, ...], Fraction] = {}
        for counts, probability in law(own, *(2,) * len(held)).items():
            reports = [value for value in range(2, k) for _ in range(counts[value])]
            if len(reports) > len(held):
                images = [(h, weight / sum(only_third.values())) for h, weight in only_third.items()]
            else:
                slots = list(itertools.permutations(held, len(reports)))
                images = []
                for slot in slots:
                    image = [*counts[:2], *(0,) * (k - 2)]
                    for user, value in zip(slot, reports, strict=True):
                        image[{2: user, user: 2}.get(value, value)] += 1
                    images.append((tuple(image), Fraction(1, len(slots))))
            for image, weight in images:
                mapped[image] = mapped.get(image, Fraction(0)) + probability * weight
        assert mapped == wanted

"""The count of x0: against the printed formulas in 60 digits, against enumeration, and its properties."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from tests.library.printed import (
    convolved_distributions,
    hockey_stick,
    printed_delta,
    printed_terms,
)
from tightshuffle.literature import count as accountant
from tightshuffle.literature.count import log10_ceiling, log10_delta_by_moment

RELATIVE = 1e-9  # promised in delta's docstring
READINGS = (["published", "exact"], ["forward", "reverse"])


def delta(eps, *, form="exact", direction="forward", **setting):
    return log10_delta_by_moment(
        eps, direction=direction, moment={"exact": 1, "published": 2}[form], **setting
    )


def assert_close(log10_delta, expected):
    """Relative error of delta, measured in logarithms so that 1e-400 is no special case."""
    if expected == 0:
        assert log10_delta == -np.inf
    else:
        assert abs(mp.mpf(float(log10_delta)) * mp.log(10) - mp.log(expected)) < RELATIVE


@pytest.mark.parametrize("n", [1, 2, 7, 40, pytest.param(120, marks=pytest.mark.slow)])
def test_formulas_as_printed(n):
    for share, k, eps0 in itertools.product(
        [0.0, 0.3, 0.8, 1.0], [2, 10, 408], [0.1, 0.5, 2.0, 6.0]
    ):
        setting = {"n": n, "k": k, "eps0": eps0, "count": min(n - 1, int(share * n))}
        terms = printed_terms(**setting)
        for relative, *reading in itertools.product([0.0, 0.05, 0.7, 0.999], *READINGS):
            names = dict(zip(("form", "direction"), reading, strict=True))
            expected = printed_delta(relative * eps0, terms, **names)
            assert_close(delta(relative * eps0, **setting, **names), expected)


@pytest.mark.slow
def test_down_to_1e_minus_300():
    setting = {"n": 200, "k": 10, "eps0": 2.0, "count": 10}
    terms = printed_terms(**setting)
    for eps in np.linspace(0.1, 1.999, 25):
        expected = printed_delta(eps, terms, form="published", direction="forward")
        assert_close(delta(eps, form="published", **setting), expected)
    assert mp.log10(expected) < -180
    setting = {"n": 1000, "k": 408, "eps0": 4.0, "count": 100}
    distributions = convolved_distributions(**setting)
    for eps, below in ((1.0, -30), (2.2, -250), (3.0, -300)):
        expected = hockey_stick(eps, *distributions)
        assert mp.log10(expected) < below
        assert_close(delta(eps, **setting), expected)


def test_reverse_of_the_published_form_where_its_edge_lies_beyond_the_mean():
    setting = {"n": 956, "k": 2, "eps0": 1.0, "count": 0}
    terms = printed_terms(**setting)
    for eps in (0.0, 0.01):
        names = {"form": "published", "direction": "reverse"}
        assert_close(delta(eps, **setting, **names), printed_delta(eps, terms, **names))


def test_fft_agrees_with_direct_convolution(monkeypatch):
    points = itertools.product([10**5, 10**7], [0.1, 0.5], [0.0, 0.02, 0.1], ["exact", "published"])
    for n, share, eps, form in points:
        setting = {"n": n, "k": 15, "eps0": 4.0, "count": int(n * share), "form": form}
        monkeypatch.setattr(accountant, "DIRECT_PRODUCTS", np.inf)
        direct = delta(eps, **setting)
        monkeypatch.setattr(accountant, "DIRECT_PRODUCTS", 0)
        if direct > -300:
            assert delta(eps, **setting) == pytest.approx(direct, abs=RELATIVE / math.log(10))


def test_far_beyond_the_smallest_float():
    value = delta(0.05, n=10**9, k=408, eps0=4.0, count=10**8)
    # The leading term, n times a relative entropy, by an independent formula.
    e = math.exp(4.0)
    p, q, kappa2 = e / (e + 407), 1 / (e + 407), 407 / (e + 406)
    t = (math.exp(0.05) - kappa2) / (e - kappa2)
    theta = math.log(t / (1 - t)) - math.log(q / (1 - q))
    tilted = p * math.exp(theta) / (1 - p + p * math.exp(theta))
    kl = [
        a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))
        for a, b in ((tilted, p), (t, q))
    ]
    assert value == pytest.approx(-(1e8 * kl[0] + 9e8 * kl[1]) / math.log(10), rel=1e-4)


def test_ceiling_bounds_both_forms_at_every_smaller_count():
    checked = 0
    for n, k, eps0 in (
        (30, 3, 0.5),
        (30, 8, 2.0),
        (2000, 10, 4.0),
        (10**6, 408, 4.0),
        (2000, 2, 1.0),
    ):
        for share in (0.001, 0.05, 0.3, 0.7, 0.99, 0.9999):
            for count in (0, n // 10, n // 2, n - 1):
                bound = log10_ceiling(share * eps0, n=n, k=k, eps0=eps0, count=count)
                smaller = np.unique(np.linspace(0, count, 5).astype(int))
                for form in ("exact", "published"):
                    deltas = delta(share * eps0, n=n, k=k, eps0=eps0, count=smaller, form=form)
                    assert np.all(deltas <= bound + 1e-9)
                checked += bound < 0
    assert checked > 60  # elsewhere it says no more than 1
    assert log10_ceiling(2.0, n=10, k=3, eps0=2.0, count=4) == -np.inf


EXTREME = [
    *[(25, 13, 3, 9e-7, 4.5e-7), (25, 13, 3, 2e-9, 1e-9)],  # e^-eps is next to kappa_2
    *[(9, 6, 2, 3.5e-8, 3.499999999e-8), (7, 2, 10**6, 0.05, 0.0), (8, 3, 3, 4.0, 4.0 - 1e-12)],
    (6, 0, 10**12, 1e-8, 0.0),  # 1 - kappa_2 is 1e-20
    # E^-745 is no float.
    *[(8, 3, 10, 650.0, 1.0), (8, 3, 10, 800.0, 799.0), (8, 3, 10, 1200.0, 1197.8)],
]


@pytest.mark.parametrize(("n", "count", "k", "eps0", "eps"), EXTREME)
def test_extreme_budgets(n, count, k, eps0, eps):
    with mp.workdps(60 + int(2 * eps0 / math.log(10))):
        distributions = convolved_distributions(n=n, k=k, eps0=eps0, count=count)
        terms = printed_terms(n=n, k=k, eps0=eps0, count=count)
        for direction, pair in (("forward", distributions), ("reverse", distributions[::-1])):
            setting = {"n": n, "k": k, "eps0": eps0, "count": count, "direction": direction}
            assert_close(delta(eps, **setting), hockey_stick(eps, *pair))
            published = printed_delta(eps, terms, form="published", direction=direction)
            assert_close(delta(eps, form="published", **setting), published)

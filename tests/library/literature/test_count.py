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

RELATIVE_ERROR = 1e-9  # of delta: promised in its docstring


def log10_delta(eps, *, form="exact", direction="forward", **setting):
    """Of the count of x0, by the corrected ("exact") or by the printed loss ("published").

    ``direction`` is "forward" for P against Q, or "reverse".
    """
    moment = {"exact": 1, "published": 2}[form]
    return log10_delta_by_moment(eps, direction=direction, moment=moment, **setting)


def assert_close(found_log10_delta, delta):
    """The relative error is small. It is measured in logarithms so that 1e-400 is no special case."""
    if delta == 0:
        assert found_log10_delta == -np.inf
    else:
        error = mp.mpf(float(found_log10_delta)) * mp.log(10) - mp.log(delta)
        assert abs(error) < RELATIVE_ERROR


@pytest.mark.parametrize("n", [1, 2, 7, 40, pytest.param(120, marks=pytest.mark.slow)])
@pytest.mark.parametrize("share_of_holders", [0.0, 0.3, 0.8, 1.0])
def test_formulas_as_printed(n, share_of_holders):
    """log10 delta of the count of x0 is that of Biswas et al., eqs. (6) and (2), in mpmath: to 1e-9 of delta.

    ``printed_terms`` has the equations' numbers for every count, and ``printed_delta`` adds them up to delta.
    "published" is with the loss that the paper prints, "exact" with the corrected one. "forward" is P (the
    target user holds x0) against Q (does not), "reverse" the other direction.
    """
    count = min(n - 1, int(share_of_holders * n))
    for k, eps0 in itertools.product([2, 10, 408], [0.1, 0.5, 2.0, 6.0]):
        setting = {"n": n, "k": k, "eps0": eps0, "count": count}
        terms = printed_terms(**setting)
        for eps, form, direction in itertools.product(
            eps0 * np.array([0.0, 0.05, 0.7, 0.999]),
            ["published", "exact"],
            ["forward", "reverse"],
        ):
            expected = printed_delta(eps, terms, form=form, direction=direction)
            found = log10_delta(eps, **setting, form=form, direction=direction)
            assert_close(found, expected)


@pytest.mark.slow
def test_published_form_down_to_1e_minus_180():
    setting = {"n": 200, "k": 10, "eps0": 2.0, "count": 10}
    terms = printed_terms(**setting)
    for eps in np.linspace(0.1, 1.999, 25):
        expected = printed_delta(eps, terms, form="published", direction="forward")
        assert_close(log10_delta(eps, form="published", **setting), expected)
    assert mp.log10(expected) < -180


@pytest.mark.slow
def test_exact_form_down_to_1e_minus_300():
    setting = {"n": 1000, "k": 408, "eps0": 4.0, "count": 100}
    distributions = convolved_distributions(**setting)
    for eps, upper_limit in ((1.0, 1e-30), (2.2, 1e-250), (3.0, 1e-300)):
        expected = hockey_stick(eps, *distributions)
        assert expected < upper_limit
        assert_close(log10_delta(eps, **setting), expected)


def test_reverse_of_the_published_form_where_its_edge_lies_beyond_the_mean():
    setting = {"n": 956, "k": 2, "eps0": 1.0, "count": 0}
    reading = {"form": "published", "direction": "reverse"}
    terms = printed_terms(**setting)
    for eps in (0.0, 0.01):
        assert_close(log10_delta(eps, **setting, **reading), printed_delta(eps, terms, **reading))


def test_fft_agrees_with_direct_convolution(monkeypatch):
    """log10 delta is the same by a direct convolution and by FFT, to 1e-9 of delta (RELATIVE_ERROR).

    DIRECT_PRODUCTS is up to how many products a convolution is done directly: infinity means always, and 0
    never. "published" is with the loss that the paper prints, "exact" with the corrected one.
    """
    points = itertools.product([10**5, 10**7], [0.1, 0.5], [0.0, 0.02, 0.1], ["exact", "published"])
    for n, share_of_holders, eps, form in points:
        count = int(n * share_of_holders)
        setting = {"n": n, "k": 15, "eps0": 4.0, "count": count, "form": form}
        monkeypatch.setattr(accountant, "DIRECT_PRODUCTS", np.inf)
        direct = log10_delta(eps, **setting)
        monkeypatch.setattr(accountant, "DIRECT_PRODUCTS", 0)
        by_fft = log10_delta(eps, **setting)
        assert by_fft == pytest.approx(direct, abs=RELATIVE_ERROR / math.log(10))


def test_far_beyond_the_smallest_float():
    """ln delta is about -(count KL(p' || p) + others KL(q' || q)), by Cramer's theorem.

    p and q are the probabilities of a report of x0 by one of the ``count`` users who hold x0, and by one of
    the ``others``. p' and q' are `tilted_p` and `tilted_q`: p and q after their odds were multiplied by the
    same factor. With it the privacy loss is eps, where q' = (e^eps - kappa_2) / (e^eps0 - kappa_2).
    """
    k, eps, eps0, count, others = 408, 0.05, 4.0, 10**8, 9 * 10**8
    e_eps0 = math.exp(eps0)
    p, q, kappa_2 = e_eps0 / (e_eps0 + k - 1), 1 / (e_eps0 + k - 1), (k - 1) / (e_eps0 + k - 2)
    tilted_q = (math.exp(eps) - kappa_2) / (e_eps0 - kappa_2)
    factor_of_odds = tilted_q / (1 - tilted_q) / (q / (1 - q))
    tilted_p = p * factor_of_odds / (1 - p + p * factor_of_odds)

    def divergence(a, b):
        """KL divergence of a coin with probability a from one with b."""
        return a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))

    ln_delta = -(count * divergence(tilted_p, p) + others * divergence(tilted_q, q))
    found = log10_delta(eps, n=count + others, k=k, eps0=eps0, count=count)
    # Only to 1e-4, as the theorem leaves out all but the exponent.
    assert found == pytest.approx(ln_delta / math.log(10), rel=1e-4)


@pytest.mark.parametrize(
    ("n", "k", "eps0"),
    [(30, 3, 0.5), (30, 8, 2.0), (2000, 10, 4.0), (10**6, 408, 4.0), (2000, 2, 1.0)],
)
def test_ceiling_bounds_both_forms_at_every_smaller_count(n, k, eps0):
    """`log10_ceiling` is not below log10 delta, if ``count`` or fewer of the other users hold x0.

    The forms are with the corrected loss ("exact") and with the one that the paper prints ("published").
    """
    nontrivial = 0
    for share_of_eps0, count in itertools.product(
        (0.001, 0.05, 0.3, 0.7, 0.99, 0.9999), (0, n // 10, n // 2, n - 1)
    ):
        eps = share_of_eps0 * eps0
        bound = log10_ceiling(eps, n=n, k=k, eps0=eps0, count=count)
        counts = np.unique(np.linspace(0, count, 5).astype(int))
        for form in ("exact", "published"):
            found = log10_delta(eps, n=n, k=k, eps0=eps0, count=counts, form=form)
            assert np.all(found <= bound + 1e-9)
        nontrivial += bound < 0
    # At 13 or more of the 24 points of each setting, the ceiling says more than that delta <= 1.
    assert nontrivial >= 13


def test_ceiling_at_eps0_is_0():
    assert log10_ceiling(2.0, n=10, k=3, eps0=2.0, count=4) == -np.inf


EXTREME = [  # n, count, k, eps0, eps
    *[(25, 13, 3, 9e-7, 4.5e-7), (25, 13, 3, 2e-9, 1e-9)],  # e^-eps is next to kappa_2
    *[(9, 6, 2, 3.5e-8, 3.499999999e-8), (7, 2, 10**6, 0.05, 0.0), (8, 3, 3, 4.0, 4.0 - 1e-12)],
    (6, 0, 10**12, 1e-8, 0.0),  # 1 - kappa_2 is 1e-20
    # E^-745 is no float.
    *[(8, 3, 10, 650.0, 1.0), (8, 3, 10, 800.0, 799.0), (8, 3, 10, 1200.0, 1197.8)],
]


@pytest.mark.parametrize(("n", "count", "k", "eps0", "eps"), EXTREME)
def test_extreme_budgets(n, count, k, eps0, eps):
    """log10 delta to 1e-9 of delta, where floats hardly suffice: eps0 from 2e-9 to 1200, or eps next to eps0.

    EXTREME has these settings. P and Q are the laws of the count of x0, if the target user holds x0 and if
    not. The expected delta is their hockey-stick divergence, from a convolution in mpmath. With the loss that
    the paper prints ("published") it is by the paper's formulas in mpmath. "reverse" is Q against P.
    """
    setting = {"n": n, "k": k, "eps0": eps0, "count": count}
    # 60 digits, and those of e^(2 eps0), as numbers of this size are added to 1.
    with mp.workdps(60 + int(2 * eps0 / math.log(10))):
        p, q = convolved_distributions(**setting)
        assert_close(log10_delta(eps, **setting), hockey_stick(eps, p, q))
        assert_close(log10_delta(eps, **setting, direction="reverse"), hockey_stick(eps, q, p))
        terms = printed_terms(**setting)
        for direction in ("forward", "reverse"):
            reading = {"form": "published", "direction": direction}
            expected = printed_delta(eps, terms, **reading)
            assert_close(log10_delta(eps, **setting, **reading), expected)

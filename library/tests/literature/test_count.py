"""The count of x0: against the printed formulas in 60 digits, against enumeration, and its properties."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest

from tests.printed import (
    convolved_distributions,
    hockey_stick,
    printed_delta,
    printed_terms,
)
from tightshuffle.literature import count as accountant
from tightshuffle.literature.count import ln_ceiling, ln_delta_by_moment

RELATIVE_ERROR = 1e-9  # of delta: promised in its docstring


def log10_delta(eps, *, form="exact", direction="forward", **setting):
    """Of the count of x0, by the corrected ("exact") or by the printed loss ("published").

    ``direction`` is "forward" for P against Q, or "reverse".
    """
    moment = {"exact": 1, "published": 2}[form]
    ln_delta = ln_delta_by_moment(eps, direction=direction, moment=moment, **setting)
    return ln_delta / np.log(10)


def assert_close(found_log10_delta, delta):
    """The relative error of delta is small: that of its logarithm, as delta may be 1e-400."""
    if delta == 0:
        assert found_log10_delta == -np.inf
    else:
        error = float(found_log10_delta) * mp.log(10) - mp.log(delta)
        assert abs(error) < RELATIVE_ERROR


DIRECTIONS = ["forward", "reverse"]
FORMS = ["published", "exact"]


@pytest.mark.parametrize(
    ("n", "count"),
    [
        (1, 0),
        *((2, count) for count in (0, 1)),
        *((7, count) for count in (0, 2, 5, 6)),
        *((40, count) for count in (0, 12, 32, 39)),
        *(pytest.param(120, count, marks=pytest.mark.slow) for count in (0, 36, 96, 119)),
    ],
)
@pytest.mark.parametrize("k", [2, 10, 408])
@pytest.mark.parametrize("eps0", [0.1, pytest.param(0.5, marks=pytest.mark.slow), 2.0, 6.0])
def test_log10_delta_is_that_of_the_printed_formulas(n, count, k, eps0):
    """`printed_delta` is delta by eqs. (6) and (2) of Biswas et al. in mpmath, from `printed_terms`.

    "published" is with the loss that the paper prints, "exact" with the corrected one. "forward" is P (the
    target user holds x0) against Q (does not), "reverse" the other direction.
    """
    setting = {"n": n, "k": k, "eps0": eps0, "count": count}
    terms = printed_terms(**setting)
    all_eps = eps0 * np.array([0.0, 0.05, 0.7, 0.999])
    for eps, form, direction in itertools.product(all_eps, FORMS, DIRECTIONS):
        expected = printed_delta(eps, terms, form=form, direction=direction)
        assert_close(log10_delta(eps, **setting, form=form, direction=direction), expected)


@mp.workdps(1000)
@pytest.mark.parametrize("eps0", [1e-12, 1000.0])
@pytest.mark.parametrize("share_of_eps0", [0.0, 0.5, 0.8, 1 - 1e-9])
def test_log10_delta_of_a_tiny_and_of_a_huge_budget(eps0, share_of_eps0):
    """At 1e-12 most digits cancel, and e^1000 is no float."""
    setting = {"n": 7, "k": 10, "eps0": eps0, "count": 2}
    terms = printed_terms(**setting)
    eps = share_of_eps0 * eps0
    for form, direction in itertools.product(FORMS, DIRECTIONS):
        expected = printed_delta(eps, terms, form=form, direction=direction)
        assert_close(log10_delta(eps, **setting, form=form, direction=direction), expected)


@pytest.mark.parametrize("logit", [-40.0, -3.0, 0.0, 0.2, 5.0])
@pytest.mark.parametrize("theta", [1e-8, 0.05, 0.099, 0.101, 3.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_divergence_of_a_tilt_is_that_of_two_bits(logit, theta, sign):
    """KL(Bernoulli(b) || Bernoulli(a)), of which small tilts have a form without cancellation."""
    a = 1 / (1 + mp.exp(-mp.mpf(logit)))
    b = 1 / (1 + mp.exp(-mp.mpf(logit) - sign * mp.mpf(theta)))
    exact = b * mp.log(b / a) + (1 - b) * mp.log((1 - b) / (1 - a))
    found = accountant._divergence_of_tilt(logit, sign * theta)
    assert found == pytest.approx(float(exact), rel=1e-12, abs=0)


@pytest.mark.slow
def test_exact_form_down_to_1e_minus_300():
    setting = {"n": 1000, "k": 408, "eps0": 4.0, "count": 100}
    distributions = convolved_distributions(**setting)
    for eps, upper_limit in ((1.0, 1e-30), (2.2, 1e-250), (3.0, 1e-300)):
        expected = hockey_stick(eps, *distributions)
        assert expected < upper_limit
        assert_close(log10_delta(eps, **setting), expected)


@pytest.mark.parametrize("eps", [0.0, 0.01])
def test_reverse_of_the_published_form_where_its_edge_lies_beyond_the_mean(eps):
    setting = {"n": 956, "k": 2, "eps0": 1.0, "count": 0}
    reading = {"form": "published", "direction": "reverse"}
    expected = printed_delta(eps, printed_terms(**setting), **reading)
    assert_close(log10_delta(eps, **setting, **reading), expected)


@pytest.mark.parametrize("n", [10**5, 10**7])
@pytest.mark.parametrize("share_of_holders", [0.1, 0.5])
@pytest.mark.parametrize("form", FORMS)
def test_convolution_by_fft_agrees_with_a_direct_one(n, share_of_holders, form, monkeypatch):
    """DIRECT_PRODUCTS is up to how many products a convolution is done directly."""
    count = int(n * share_of_holders)
    setting = {"n": n, "k": 15, "eps0": 4.0, "count": count, "form": form}
    eps = np.array([0.0, 0.02, 0.1])
    monkeypatch.setattr(accountant, "DIRECT_PRODUCTS", np.inf)
    direct = log10_delta(eps, **setting)
    monkeypatch.setattr(accountant, "DIRECT_PRODUCTS", 0)
    by_fft = log10_delta(eps, **setting)
    assert by_fft == pytest.approx(direct, abs=RELATIVE_ERROR / math.log(10))


def kl_divergence(a, b):
    """The KL divergence of a coin with probability a from one with b."""
    return a * math.log(a / b) + (1 - a) * math.log((1 - a) / (1 - b))


def with_odds_times(factor, probability):
    """The probability whose odds are ``factor`` times those of ``probability``."""
    return probability * factor / (1 - probability + probability * factor)


def test_log10_delta_far_below_the_smallest_float_is_that_of_cramers_theorem():
    """ln delta is about -(count KL(p' || p) + others KL(q' || q)).

    p and q are the probabilities of a report of x0 by one of the ``count`` users who hold x0, and by one of
    the ``others``. p' and q' are `tilted_p` and `tilted_q`, whose odds are the same factor larger. With it
    the privacy loss is eps, where q' = (e^eps - kappa_2) / (e^eps0 - kappa_2).
    """
    k, eps, eps0, count, others = 408, 0.05, 4.0, 10**8, 9 * 10**8
    e_eps0 = math.exp(eps0)
    p, q, kappa_2 = e_eps0 / (e_eps0 + k - 1), 1 / (e_eps0 + k - 1), (k - 1) / (e_eps0 + k - 2)
    tilted_q = (math.exp(eps) - kappa_2) / (e_eps0 - kappa_2)
    tilted_p = with_odds_times(tilted_q / (1 - tilted_q) / (q / (1 - q)), p)
    ln_delta = -(count * kl_divergence(tilted_p, p) + others * kl_divergence(tilted_q, q))
    found = log10_delta(eps, n=count + others, k=k, eps0=eps0, count=count)
    # Only to 1e-4, as the theorem leaves out all but the exponent.
    assert found == pytest.approx(ln_delta / math.log(10), rel=1e-4)


each_setting_of_a_ceiling = pytest.mark.parametrize(
    ("n", "k", "eps0"),
    [(30, 3, 0.5), (30, 8, 2.0), (2000, 10, 4.0), (10**5, 408, 4.0), (2000, 2, 1.0)],
)


def ceilings(n, k, eps0):
    """{(eps, count): log10 of `ln_ceiling`} at six eps and for four counts."""
    all_eps = eps0 * np.array([0.001, 0.05, 0.3, 0.7, 0.99, 0.9999])
    points = itertools.product(all_eps, (0, n // 10, n // 2, n - 1))
    return {
        (eps, count): ln_ceiling(eps, n=n, k=k, eps0=eps0, count=count) / math.log(10)
        for eps, count in points
    }


@each_setting_of_a_ceiling
@pytest.mark.parametrize("form", FORMS)
def test_ceiling_bounds_log10_delta_at_every_smaller_count(n, k, eps0, form):
    """`ln_ceiling` holds if ``count`` or fewer of the other users hold x0.

    The forms are with the corrected loss ("exact") and with the one that the paper prints ("published").
    """
    for (eps, count), ceiling in ceilings(n, k, eps0).items():
        fewer = np.unique(np.linspace(0, count, 5).astype(int))
        found = log10_delta(eps, n=n, k=k, eps0=eps0, count=fewer, form=form)
        assert np.all(found <= ceiling + 1e-9)


@each_setting_of_a_ceiling
def test_most_ceilings_say_more_than_that_delta_is_at_most_1(n, k, eps0):
    assert sum(ceiling < 0 for ceiling in ceilings(n, k, eps0).values()) >= 13  # of 24


def test_ceiling_at_eps0_is_0():
    assert ln_ceiling(2.0, n=10, k=3, eps0=2.0, count=4) == -np.inf


each_extreme_setting = pytest.mark.parametrize(
    ("n", "count", "k", "eps0", "eps"),
    [
        # e^-eps is next to kappa_2.
        (25, 13, 3, 9e-7, 4.5e-7),
        (25, 13, 3, 2e-9, 1e-9),
        # eps is next to eps0, or 0.
        (9, 6, 2, 3.5e-8, 3.499999999e-8),
        (7, 2, 10**6, 0.05, 0.0),
        (8, 3, 3, 4.0, 4.0 - 1e-12),
        (6, 0, 10**12, 1e-8, 0.0),  # 1 - kappa_2 is 1e-20
        # E^-745 is no float.
        (8, 3, 10, 650.0, 1.0),
        (8, 3, 10, 800.0, 799.0),
        (8, 3, 10, 1200.0, 1197.8),
    ],
)


def digits_for(eps0):
    """60, and those of e^(2 eps0), as numbers of this size are added to 1."""
    return 60 + int(2 * eps0 / math.log(10))


@each_extreme_setting
def test_exact_form_where_floats_hardly_suffice(n, count, k, eps0, eps):
    """delta of P against Q, the laws of the count of x0 if the target user holds x0 and if not, and reverse.

    The expected one is their hockey-stick divergence, from a convolution in mpmath.
    """
    setting = {"n": n, "k": k, "eps0": eps0, "count": count}
    with mp.workdps(digits_for(eps0)):
        p, q = convolved_distributions(**setting)
        assert_close(log10_delta(eps, **setting), hockey_stick(eps, p, q))
        assert_close(log10_delta(eps, **setting, direction="reverse"), hockey_stick(eps, q, p))


@each_extreme_setting
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_published_form_where_floats_hardly_suffice(n, count, k, eps0, eps, direction):
    """`printed_delta` is delta by the paper's formulas, with the loss that it prints, in mpmath."""
    setting = {"n": n, "k": k, "eps0": eps0, "count": count}
    reading = {"form": "published", "direction": direction}
    with mp.workdps(digits_for(eps0)):
        expected = printed_delta(eps, printed_terms(**setting), **reading)
        assert_close(log10_delta(eps, **setting, **reading), expected)

"""How many reports hide the target user's, and delta of one report among a random number of them."""

import math

import mpmath as mp
import numpy as np
import pytest

from tests.numerics.exact import exact_log
from tightshuffle.collection import cover as cover_module
from tightshuffle.collection.cover import Cover, ln_delta
from tightshuffle.numerics.side import Side

COVERS = [
    pytest.param([(1000, 0.3)], 0.0, id="binomial"),
    pytest.param([(5000, 0.02), (300, 0.5)], 40.0, id="two binomials and a Poisson number"),
    pytest.param([(40, 1.0)], 2000.0, id="certain ones and a Poisson number"),
]


def exact_reach(binomials, poisson, ln_probability):
    """The largest y with e^(x y) E[e^(-x N)] <= e^ln_probability at one of the code's x, in mpmath.

    N is the number of reports, but for those that there are in any case.
    """
    random = [(n, share) for n, share in binomials if share < 1]
    mean = sum(n * share for n, share in random) + poisson
    reaches = []
    for x in (math.sqrt(-2 * ln_probability / mean) * np.logspace(-1, 2, 61)).tolist():
        growth = mp.exp(-x) - 1
        ln_mgf = poisson * growth + sum(n * mp.log(1 + share * growth) for n, share in random)
        reaches.append((ln_probability - ln_mgf) / x)
    return max(reaches)


@pytest.mark.parametrize(("binomials", "poisson"), COVERS)
def test_the_likely_minimum_is_what_is_proved_and_not_one_more_by_rounding(binomials, poisson):
    """``low`` is the largest float at which one report more is not proved, by less than its rounding."""
    cover = Cover.from_numbers(binomials, poisson)
    wanted = math.ceil(exact_reach(binomials, poisson, -20.0))
    low, high = -20.0, -10.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if exact_reach(binomials, poisson, middle) < wanted:
            low = middle
        else:
            high = middle
    certain = sum(n for n, share in binomials if share == 1)
    assert cover.likely_minimum(low) == certain + wanted
    assert cover.likely_minimum(high * (1 - 1e-9)) == certain + wanted + 1


# The values of a gain and their probabilities.
ONE_VALUE = [1.0], [0.5]
LATTICE = [1.0, -1.0], [0.25, 0.5]
RARELY_ABOVE_0 = [1.0, -1.0], [0.25, 0.35]


def ln_delta_of_law(law, cover, side):
    """`ln_delta` of gains with one ``law``, which is (values, probabilities)."""
    values, probabilities = law
    return ln_delta(np.array([values]), np.array([probabilities]), cover, side=side).item()


def exact_ln_delta(law, n, share):
    """ln of the sum over j of P(J = j) E[(G_1 + ... + G_j)_+] / j, in mpmath: J - 1 is Binomial(n, share)."""
    with mp.workdps(40):
        share = mp.mpf(share)
        terms = []
        for others in range(n + 1):
            probability = mp.binomial(n, others) * share**others * (1 - share) ** (n - others)
            reports = others + 1
            terms.append(probability * mp.exp(exact_log(*law, reports)) / reports)
        return mp.log(mp.fsum(terms))


@pytest.mark.parametrize("law", [ONE_VALUE, LATTICE])
@pytest.mark.parametrize(("n", "share"), [(3, 0.5), (6, 0.1)])
def test_a_sum_over_few_reports_is_rounded_to_its_side(law, n, share):
    """The bounds are so close that the 1e-11 shows by which probabilities are rounded."""
    cover = Cover.from_numbers([(n, share)])
    low, high = [ln_delta_of_law(law, cover, side) for side in (Side.LOWER, Side.UPPER)]
    assert low <= exact_ln_delta(law, n, share) <= high <= low + 1e-9


LAWS_OF_COVERS = [
    pytest.param([], 30.0, id="a few of a Poisson number"),
    # These are just too many for the sum over all their numbers.
    pytest.param([(250, 0.3)], 0.0, id="binomial"),
    pytest.param([(80, 0.5), (20, 0.9)], 20.0, id="two binomials and a Poisson number"),
    pytest.param([(20, 1.0)], 60.0, id="certain ones and a Poisson number"),
]
each_cover = pytest.mark.parametrize(("binomials", "poisson"), LAWS_OF_COVERS)


@each_cover
def test_delta_of_a_gain_of_one_value_does_not_depend_on_how_many_reports_there_are(
    binomials, poisson
):
    """E[(G_1 + ... + G_j)_+] / j is the mean of a gain, 0.5, for every j."""
    cover = Cover.from_numbers(binomials, poisson)
    low, high = [ln_delta_of_law(ONE_VALUE, cover, side) for side in (Side.LOWER, Side.UPPER)]
    assert low < math.log(0.5) < high < low + 1e-3


@pytest.mark.parametrize(("binomials", "poisson"), LAWS_OF_COVERS[1:])
def test_many_reports_have_the_delta_of_the_sum_over_all_their_numbers(
    binomials, poisson, monkeypatch
):
    """Both ways have bounds of their own, which overlap."""
    cover = Cover.from_numbers(binomials, poisson)
    sides = (Side.LOWER, Side.UPPER)
    low, high = [ln_delta_of_law(RARELY_ABOVE_0, cover, side) for side in sides]
    monkeypatch.setattr(cover_module, "has_few_reports", lambda cover: True)
    low_of_sum, high_of_sum = [ln_delta_of_law(RARELY_ABOVE_0, cover, side) for side in sides]
    assert max(low, low_of_sum) <= min(high, high_of_sum)
    assert max(high, high_of_sum) < min(low, low_of_sum) + 1e-3


@each_cover
def test_a_rounded_cover_has_more_or_fewer_reports_in_each_part(binomials, poisson):
    cover = Cover.from_numbers(binomials, poisson)
    random = cover.shares < 1
    means = np.where(cover.is_poisson, cover.n, cover.n * cover.shares)[random]
    for side, sign in ((Side.UPPER, 1), (Side.LOWER, -1)):
        rounded = cover.rounded(side)
        of_side = np.where(rounded.is_poisson, rounded.n, rounded.n * rounded.shares)[random]
        assert np.all(sign * (of_side - means) > 0)
        assert rounded.certain_reports == cover.certain_reports


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize(
    ("binomials", "poisson"),
    [
        pytest.param([(1000, 0.3)], 0.0, id="binomial"),
        pytest.param([(400, 0.5), (30, 0.9)], 20.0, id="two binomials and a Poisson number"),
    ],
)
def test_a_bound_for_many_reports_allows_for_rounded_shares(binomials, poisson, side, monkeypatch):
    """The shares under the tilt may be wrong by 3 ``_ULP``: here this is 3e-4, and all shares are wrong."""
    cover = Cover.from_numbers(binomials, poisson)
    right = ln_delta_of_law(RARELY_ABOVE_0, cover, side)

    monkeypatch.setattr(cover_module, "_ULP", 1e-4)
    # What is allowed for other errors would hide this one.
    monkeypatch.setattr(cover_module, "_ULPS_OF_QUADRATURE", 0.0)
    monkeypatch.setattr(Cover, "rounded", lambda self, side: self)
    tilted_shares = Cover.tilted_shares
    for factor in (1 - 3e-4, 1 + 3e-4):

        def wrong_shares(self, t, factor=factor):
            return tilted_shares(self, t) * factor

        monkeypatch.setattr(Cover, "tilted_shares", wrong_shares)
        wrong = ln_delta_of_law(RARELY_ABOVE_0, cover, side)
        assert wrong >= right if side is Side.UPPER else wrong <= right

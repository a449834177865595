"""Densities: the worst pair of inputs, the bins, and the bounds, against quadrature and enumeration."""

import itertools
import math

import numpy as np
import pytest

import tightshuffle
from tests.bounds.enumeration import Shuffled
from tightshuffle.bounds.densities import _ln_means
from tightshuffle.mechanisms.gaussian import log10_delta_of_scale
from tightshuffle.numerics.side import Side
from tightshuffle.randomizers import Finite, Gaussian, Laplace, PiecewiseLinear
from tightshuffle.randomizers.density import ULP, Bins, Gains

LAPLACES = [Laplace(0.25), Laplace(1), Laplace(10)]
GAUSSIANS = [Gaussian(0.5), Gaussian(1), Gaussian(3)]
# A mountain with a terrace; nearly all of its reports are possible for all inputs.
OWN = PiecewiseLinear([0, 1, 2, 5, 9], np.array([3, 2, 2, 0.1, 0.0]) / 15.7)


def noise(density):
    """The density of the noise as a function of an array, by its definition."""
    if isinstance(density, Laplace):
        return lambda z: np.exp(-np.abs(z) / density.scale) / (2 * density.scale)
    if isinstance(density, Gaussian):
        height = 1 / (density.sigma * math.sqrt(2 * math.pi))
        return lambda z: height * np.exp(-((z / density.sigma) ** 2) / 2)
    return lambda z: np.interp(np.abs(z), density.distances, density.densities, right=0.0)


def places(density, points):
    """``points`` reports in the middle of cells of equal width, and this width; little is beyond."""
    if isinstance(density, Laplace):
        reach = 20 * density.scale
    else:
        reach = 8 * density.sigma if isinstance(density, Gaussian) else 9.0
    # A whole number of cells in 1/10, so that no kink of a density at an input is within one.
    per_tenth = math.ceil(points / (10 * (2 * reach + 1)))
    cells = np.arange(-math.ceil(reach * 10) * per_tenth, (math.ceil(reach * 10) + 10) * per_tenth)
    return (cells + 0.5) / (10 * per_tenth), 1 / (10 * per_tenth)


def excess_over(y, width, f, pair, eps, thresholds):
    """The integral of (R_x0 - e^eps R_x1 - t w)_+ for every threshold t, w the smaller of R_0 and R_1."""
    gain = f(y - pair[0]) - math.exp(eps) * f(y - pair[1])
    w = np.minimum(f(y), f(y - 1))
    return width * np.maximum(gain - thresholds[:, None] * w, 0).sum(axis=1)


THRESHOLDS = np.concatenate([-np.geomspace(1e3, 1e-3, 25), [0.0], np.geomspace(1e-3, 1e3, 25)])
INPUTS = [0, 0.1, 0.3, 0.5, 0.8, 1]


@pytest.mark.parametrize("density", [*LAPLACES, *GAUSSIANS, OWN])
@pytest.mark.parametrize("eps", [0.0, 0.1, 1.0])
def test_0_and_1_are_the_worst_pair_of_inputs_in_convex_order(density, eps):
    """Theory, "Densities": for every threshold, as all gains have the same mean. Cells are nearly exact."""
    y, width = places(density, 3000)
    f = noise(density)
    worst = excess_over(y, width, f, (0, 1), eps, THRESHOLDS)
    assert worst == pytest.approx(excess_over(y, width, f, (1, 0), eps, THRESHOLDS), rel=1e-9)
    for pair in itertools.permutations(INPUTS, 2):
        others = excess_over(y, width, f, pair, eps, THRESHOLDS)
        assert np.all(others <= worst * (1 + 1e-9) + 1e-12), pair


def test_0_and_1_are_not_the_worst_pair_of_a_density_with_two_peaks():
    """So the theorem needs that the density falls, and the test above can fail."""
    y, width = np.linspace(-6, 7, 4001), 13 / 4000

    def two_peaks(z):
        return np.exp(-8 * (np.abs(z) - 0.5) ** 2)

    worst = excess_over(y, width, two_peaks, (0, 1), 0.0, np.zeros(1))
    assert excess_over(y, width, two_peaks, (0, 0.5), 0.0, np.zeros(1)) > 1.1 * worst


@pytest.mark.parametrize("density", [*LAPLACES, *GAUSSIANS, OWN])
@pytest.mark.parametrize("eps", [0.0, 0.2])
def test_gains_in_bins_dominate_those_of_the_blanket(density, eps):
    """In convex order, and hardly: for every threshold by at most 1 % or what identifies the user."""
    y, width = places(density, 30_000)
    thresholds = THRESHOLDS[np.abs(THRESHOLDS) <= 30]
    exact = excess_over(y, width, noise(density), (0, 1), eps, thresholds)
    gains = density.bins.cut(1e-9).upper(eps)
    over = np.maximum(gains.values - thresholds[:, None], 0) @ gains.probabilities
    # The blanket's reports alone: excess_over has no reports with the gain 0 besides.
    over += gains.identified
    assert np.all(over >= exact * (1 - 1e-6) - 1e-8)
    assert np.all(over <= exact * 1.01 + 2 * gains.identified + 1e-6)


FEW = Bins(
    low=np.array([0.0, 0.5, 1.0]),
    high=np.array([0.5, 1.0, 1.5]),
    of_0=np.array([0.2, 0.25, 0.2]),
    of_1=np.array([0.16, 0.12, 0.07]),
    error_of_0=np.zeros(3),
    error_of_1=np.zeros(3),
)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_three_bins_and_few_users_against_every_dataset(n):
    """The bins' own randomizer has six reports, and the inputs 0 and 1; every dataset is enumerated."""

    class Few(Laplace):
        bins = FEW

    few = Few(1 / 1.5)
    columns = np.concatenate([FEW.of_0, FEW.of_1]), np.concatenate([FEW.of_1, FEW.of_0])
    shuffled = Shuffled(np.stack(columns, axis=1), n)
    eps = np.array([0.0, 0.1, 0.4, 0.8])
    deltas = {others: shuffled.delta(others, (0, 1), eps) for others in shuffled.datasets()}
    worst = np.max(list(deltas.values()), axis=0)
    of_one_input = np.maximum(deltas[(0,) * (n - 1)], deltas[(1,) * (n - 1)])
    low = tightshuffle.delta(eps, n=n, randomizer=few, method="lower")
    high = tightshuffle.delta(eps, n=n, randomizer=few)
    assert np.all(low <= worst * (1 + 1e-12))
    assert np.all(low >= of_one_input * (1 - 2e-3))
    assert np.all(high >= worst)


@pytest.mark.parametrize("density", [Laplace(0.5), Laplace(2), Gaussian(0.7), Gaussian(2)])
def test_two_users_against_quadrature(density):
    """delta of two shuffled reports, an integral over both, is between the bounds for other inputs, too."""
    y, width = places(density, 1500)
    f = noise(density)
    eps = 0.1
    of_dataset = {}
    for pair, other in itertools.product([(0, 1), (1, 0), (0.3, 0.8)], [0, 0.5, 1]):
        excess = f(y - pair[0]) - math.exp(eps) * f(y - pair[1])
        both = np.multiply.outer(excess, f(y - other))
        of_dataset[pair, other] = np.maximum(both + both.T, 0).sum() / 2 * width**2
    worst = max(of_dataset.values())
    quadrature = 1e-4
    low = tightshuffle.delta(eps, n=2, randomizer=density, method="lower")
    high = tightshuffle.delta(eps, n=2, randomizer=density)
    assert low <= worst * (1 + quadrature)
    assert low >= 0.99 * max(of_dataset[(0, 1), 0], of_dataset[(0, 1), 1])
    assert worst <= high * (1 + quadrature)


@pytest.mark.parametrize("eps", [0.0, 0.05, 0.3, 0.9])
def test_delta_of_one_user_is_known(eps):
    """Laplace: 1 - e^((eps - eps0) / 2); Gaussian: the mechanism's, with sensitivity 1."""
    for density, exact in (
        (Laplace(1), -math.expm1((eps - 1) / 2)),
        (Gaussian(1), 10 ** float(log10_delta_of_scale(eps, scale=1.0))),
    ):
        low = tightshuffle.delta(eps, n=1, randomizer=density, method="lower")
        high = tightshuffle.delta(eps, n=1, randomizer=density)
        assert 0.995 * exact <= low <= exact <= high <= 1.005 * exact


def matrix_of(density, tail):
    """The randomizer of the inputs 0 and 1 that reports the bin, with the tail as one."""
    bins = density.bins.cut(tail)
    columns = np.concatenate([bins.of_0, bins.of_1]), np.concatenate([bins.of_1, bins.of_0])
    return Finite(np.stack(columns, axis=1) / columns[0].sum())


@pytest.mark.parametrize(
    ("density", "n", "delta"),
    [
        (Laplace(1), 10**5, 1e-6),
        (Gaussian(1), 600_000, 1 / 600_000),
        pytest.param(Laplace(10), 10**6, 1e-9, marks=pytest.mark.slow),
        pytest.param(Laplace(0.25), 10**5, 1e-6, marks=pytest.mark.slow),
        pytest.param(Gaussian(1), 10**5, 1e-6, marks=pytest.mark.slow),
        pytest.param(Gaussian(3), 10**7, 1e-8, marks=pytest.mark.slow),
    ],
)
def test_the_bins_cost_less_than_a_thousandth_of_eps(density, n, delta):
    """The blanket's bound of the binned reports, by the code for matrices, is below that of the density.

    The lower bounds are the same but for the tail.
    """
    matrix = matrix_of(density, 1e-4 * delta)
    below = tightshuffle.epsilon(delta, n=n, randomizer=matrix, method="privacy-blanket")
    assert (
        below * (1 - 1e-5) <= tightshuffle.epsilon(delta, n=n, randomizer=density) < below * 1.001
    )
    lower = tightshuffle.epsilon(delta, n=n, randomizer=matrix, method="lower")
    of_density = tightshuffle.epsilon(delta, n=n, randomizer=density, method="lower")
    assert of_density == pytest.approx(lower, rel=1e-3)


# Upper and lower eps of others: Su et al. (2026) and Wang et al. (2024), with their own code.
PEERS = [
    (Laplace(10), 1000, 1e-6, 0.0094246, 0.0097912),
    (Laplace(1), 10**4, 1e-6, 0.0, 0.03962),
    (Laplace(0.25), 10**5, 1e-6, 0.0, 0.11145),
    (Gaussian(1), 600_000, 1 / 600_000, 0.0, 0.3627),
    (Gaussian(1), 10**5, 1e-6, 0.0, 0.4644),
]


@pytest.mark.parametrize(("density", "n", "delta", "their_lower", "their_upper"), PEERS)
def test_the_bounds_are_between_those_of_others(density, n, delta, their_lower, their_upper):
    low, high = tightshuffle.bracket(delta, n=n, randomizer=density)
    assert their_lower < low <= high < their_upper


def test_delta_at_the_eps_that_was_found_is_the_target():
    """To 1 %: the search for eps keeps one tail, and delta chooses its own."""
    for density in (Laplace(1), Gaussian(1)):
        eps = tightshuffle.epsilon(1e-4, n=10**4, randomizer=density)
        delta = tightshuffle.delta(eps, n=10**4, randomizer=density)
        assert delta == pytest.approx(1e-4, rel=1e-2)


def test_a_density_with_an_end_has_no_smaller_delta_than_its_ends():
    """Triangular noise: the reports that only one input can cause have the probability 1/2 * (1/4)^2."""
    triangle = PiecewiseLinear([0, 4], [0.25, 0])
    alone = 0.5 * 0.25**2
    assert math.isnan(tightshuffle.epsilon(alone * 0.99, n=10**4, randomizer=triangle))
    assert tightshuffle.delta(30.0, n=10**4, randomizer=triangle) >= alone
    eps = tightshuffle.epsilon(1.01 * alone, n=10**4, randomizer=triangle)
    assert 0 < eps < 3
    assert tightshuffle.delta(eps, n=10**4, randomizer=triangle, method="lower") <= 1.01 * alone


def test_no_delta_from_eps0_on():
    assert tightshuffle.delta(1.0, n=10, randomizer=Laplace(1)) == 0
    assert tightshuffle.delta(0.999, n=10, randomizer=Laplace(1)) > 0


def test_colluding_users_and_rounds():
    density = Laplace(10)
    assert tightshuffle.epsilon(1e-6, n=1000, randomizer=density, colluding=100) == (
        tightshuffle.epsilon(1e-6, n=900, randomizer=density)
    )
    once = tightshuffle.epsilon(1e-6, n=1000, randomizer=density)
    several = tightshuffle.epsilon(1e-6, n=1000, randomizer=density, rounds=4)
    assert 1.5 * once < several < 4 * once


def test_rounding_is_on_the_safe_side_for_noise_far_larger_than_the_range():
    """One user again, where losses nearly cancel: R_0 and R_1 differ by a thousandth."""
    exact = -math.expm1(-0.001 / 2)
    low = tightshuffle.delta(0.0, n=1, randomizer=Laplace(1000), method="lower")
    high = tightshuffle.delta(0.0, n=1, randomizer=Laplace(1000))
    assert low <= exact <= high < 1.0001 * exact
    assert high - low < 0.02 * exact


@pytest.mark.slow
def test_the_search_for_a_tail_ends_where_single_reports_decide():
    """sigma 1/2, so that few of the users report what is likely for the other input only."""
    low, high = tightshuffle.bracket(1e-6, n=10**5, randomizer=Gaussian(0.5))
    assert low < high < 1.03 * low


def test_the_guarantee_is_the_blankets_as_nothing_is_proved_of_the_single_value_bound():
    """For the inputs 0 and 1 alone that bound is far smaller here."""
    setting = {"n": 10**5, "randomizer": Laplace(0.25)}
    of_blanket = tightshuffle.delta(0.08, method="privacy-blanket", **setting)
    assert tightshuffle.delta(0.08, **setting) == of_blanket
    matrix = matrix_of(Laplace(0.25), 0.0)
    assert tightshuffle.delta(0.08, n=10**5, randomizer=matrix) < 0.1 * of_blanket


def test_a_delta_below_every_tail_has_no_eps():
    """A shorter tail would take minutes."""
    low, high = tightshuffle.bracket(1e-20, n=10**5, randomizer=Gaussian(1))
    assert (low, math.isnan(high)) == (0, True)
    assert tightshuffle.delta(30.0, n=10**5, randomizer=Gaussian(1)) > 1e-20


def test_gains_that_may_be_wrong_move_the_bounds_outwards():
    """By a thousandth, where values and probabilities may be wrong by so much: both count, 100 users."""
    values, probabilities = np.array([-0.5, 3.0]), np.array([0.8, 0.1])
    exact, wrong = (
        [Gains(values, probabilities, ulps, identified=0.0)] for ulps in (0.0, 1e-3 / ULP)
    )
    upper, lower = (
        _ln_means(wrong, 100, side, 1e-6) - _ln_means(exact, 100, side, 1e-6)
        for side in (Side.UPPER, Side.LOWER)
    )
    assert upper > 1e-3
    assert lower < -1e-3

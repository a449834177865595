"""A shuffled round as a privacy loss distribution of dp-accounting, which composes it with other mechanisms.

A pair of distributions dominates a round if its delta, as a function of e^eps > 0, is nowhere below that of
any dataset; it then dominates in every composition (Zhu, Dong and Wang 2022). Negative eps are the
other direction: delta_PQ(-eps) = 1 - e^-eps + e^-eps delta_QP(eps).

* *Pessimistic.* The pair that `loss_grid.connected` makes of `histogram.upper` at the points of a grid
  (Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022). `rounds` composes it without dp-accounting.
* *Optimistic.* The largest delta over datasets need not be the delta of one pair, so one dataset is taken:
  all remaining users hold a third value. With two values, each remaining user draws a new value in each
  round, which is at most as bad as some fixed values. Between two points, a line exceeds a convex function
  by at most a quarter of their distance times the change of the slope. The values are lowered by this
  amount, so no line is above delta.

Errors are of second order in the distance of points, which is about 1/50 of a standard deviation of the loss.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import Floats, check_installed, check_one, check_positive
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.bounds.histogram import upper
from tightshuffle.bounds.inverse import epsilon_from_gaussian
from tightshuffle.numerics.loss_grid import connected
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.randomizers import Randomizer
from tightshuffle.setting import make_setting

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

_POINTS = 500  # grid points at which delta is computed
_NEGLIGIBLE = -20.0  # log10 of the delta from which on losses count as infinite (pessimistic) or 0
_LARGEST = 10**7  # grid points that dp-accounting would hold
_SLACK = 1e-12  # relative error of powers of 10 and of sums of a thousand terms


def to_pld(
    *,
    n: npt.ArrayLike,
    k: float | None = None,
    eps0: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
    pessimistic: bool = True,
    spacing: float = 1e-4,
) -> "PrivacyLossDistribution":
    """The privacy loss distribution of one shuffled round, as `dp_accounting` composes it.

    ``pld.self_compose(rounds)`` and ``pld.compose(another)`` compose it with further rounds and mechanisms,
    such as Gaussian mechanisms with Poisson sampling. ``get_delta_for_epsilon`` and ``get_epsilon_for_delta``
    give delta and eps. Two datasets are neighbours here if they differ in one user's value: give other
    mechanisms the neighbouring relation REPLACE_ONE.

    Parameters
    ----------
    n, k, eps0, randomizer, colluding : as for `histogram.upper`, numbers
    pessimistic : True for a guarantee: in every composition, delta of every dataset is at most the one
        returned. False for a lower bound: delta of the dataset in which all remaining users hold one third
        value in every round is at least the one returned. (For k = 2 the remaining users draw new values in
        every round; some fixed values have at least this delta.)
    spacing : distance of the grid points of the loss, by default that of dp_accounting. Two distributions
        compose if they have the same. The bounds are wide if it is much larger than the standard deviation of
        the loss, about `gaussian_limit.gaussian_mu`.

    Returns
    -------
    dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution. It is rigorous up to
    the rounding of dp_accounting, which cuts tails of 1e-15. So do not use it for a smaller delta.

    Raises
    ------
    ValueError naming a bad argument; ModuleNotFoundError without dp-accounting (the extra ``pld``).
    """
    check_installed("pld", "dp_accounting")
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

    spacing = check_one("spacing", check_positive("spacing", spacing))
    setting = make_setting(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    users, own = setting.one()
    mu = float(gaussian_mu(n=users, randomizer=own))
    reach = epsilon_from_gaussian(
        lambda eps: float(upper(eps, n=users, randomizer=own)), _NEGLIGIBLE, own.eps0, mu=mu
    )
    last = np.ceil((own.eps0 if np.isnan(reach) else reach) / spacing)
    if last > _LARGEST:
        raise ValueError(
            f"spacing must be at least {spacing * last / _LARGEST:.2g} in this setting; got {spacing:g}"
        )
    index = np.unique(np.rint(np.linspace(0, last, _POINTS + 1))).astype(int)
    eps = index * spacing
    if pessimistic:
        grid = connected(index, spacing, upper(eps, n=users, randomizer=own) * np.log(10))
        held = np.flatnonzero(np.isfinite(grid.log_mass))
        known = dict(zip((grid.first + held).tolist(), np.exp(grid.log_mass[held]).tolist(), strict=True))
        infinite = float(np.exp(grid.log_infinite))
        return PrivacyLossDistribution.create_from_rounded_probability(known, infinite, spacing)
    forward, reverse = (_one_dataset(own, pair, eps, users) for pair in ((0, 1), (1, 0)))
    curves = below(eps, *forward, reverse[1]), below(eps, *reverse, forward[1])
    for curve in curves:  # at eps = 0 both directions are the same
        curve[0] = min(own_curve[0] for own_curve in curves)
    one, other = (masses(index, eps, *both) for both in (curves, curves[::-1]))
    return PrivacyLossDistribution.create_from_rounded_probability(
        one, 0.0, spacing, False, other, 0.0, symmetric=False
    )


def masses(index: npt.NDArray[Any], eps: Floats, forward: Floats, reverse: Floats) -> dict[int, float]:
    """The probabilities of the losses under P, by their index, from delta at ``eps`` of both directions.

    The loss 0 gets the probability that is missing to 1. The sum can exceed 1, as the deltas are bounds: then
    the probabilities are scaled down.
    """
    (at_p, _), (_, at_minus_p) = (_jumps(eps, values) for values in (forward, reverse))
    total = float(forward[-1] + at_p.sum() + at_minus_p.sum())
    scale = 1 / total if total > 1 else 1.0
    losses = [*(-index[:0:-1]).tolist(), 0, *index[1:].tolist()]
    return dict(zip(losses, [*scale * at_minus_p[::-1], max(1 - total, 0.0), *scale * at_p], strict=True))


def _jumps(eps: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Probabilities under P and Q of the losses eps[1:], from the largest convex function of e^eps below."""
    steps = np.exp(eps[:-1]) * np.expm1(np.diff(eps))
    slopes = scipy.optimize.isotonic_regression(np.diff(values) / steps, weights=steps).x
    jumps = np.maximum(np.diff(np.append(slopes, 0.0)), 0.0)
    return np.exp(eps[1:]) * jumps, jumps


def _one_dataset(own: Randomizer, pair: tuple[int, int], eps: Floats, n: int) -> tuple[Floats, Floats]:
    """Lower and upper bound on delta at ``eps`` of the dataset of the optimistic estimate (see module)."""
    reference = "x2" if own.k > 2 else {"x0": 0.5, "x1": 0.5}
    gains = np.array([own.gains(e, reference, pair) for e in eps.tolist()])
    ulps = 16 + 2 * (gains.shape[2] + eps + own.eps0)[:, None]
    ends = (
        log_positive_part(*outwards(gains[:, 0], gains[:, 1], round_up, ulps), n)[int(round_up)]
        for round_up in (False, True)
    )
    low, high = (np.exp(np.minimum(end - np.log(n), 0.0)) for end in ends)
    return low * (1 - _SLACK), np.minimum(high * (1 + _SLACK), 1.0)


def below(eps: Floats, low: Floats, high: Floats, reverse_high: Floats) -> Floats:
    """Values at ``eps``, ending in 0, such that the lines between them, in e^eps, are nowhere above delta."""
    steps = np.exp(eps[:-1]) * np.expm1(np.diff(eps))
    least, most = (low[1:] - high[:-1]) / steps, (high[1:] - low[:-1]) / steps
    # The slope just below e^eps = 1, by delta at -eps[1].
    first = (low[0] - np.exp(-eps[1]) * reverse_high[1]) / -np.expm1(-eps[1]) - 1
    excess = steps * (np.append(most[1:], 0.0) - np.append(first, least[:-1])) / 4
    values = np.minimum.accumulate(low - np.maximum(np.append(excess, 0.0), np.append(0.0, excess)))
    values[max(int((values > 0).sum()) - 1, 0) :] = 0.0
    return values

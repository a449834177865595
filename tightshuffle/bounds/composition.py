"""delta of n_c rounds of shuffled k-RR (Koskela, Heikkila and Honkela), between two rigorous estimates.

The same users report in every round with fresh randomness. For every dataset, n_c rounds are at least as
private as n_c independent draws of a dominating pair (P, Q). The pair is that of the strong or the weak
adversary (sections 3 and 3.1), or that of the clones (section 4), which holds for every eps0-LDP randomizer.
dominating_pairs.py has the pairs, loss_grid.py their privacy loss distributions. The pairs are mirror images,
so both directions have the same delta.

Every bound has two estimates: "pessimistic", never below the exact value, is the guarantee; "optimistic" is
never above the exact value. One round is summed without a grid. Its two estimates differ by 1e-9, and for
very many users by the error of summing them in blocks.
"""

import math
import warnings

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import (
    Floats,
    Integers,
    OutsideRange,
    check_choice,
    check_compositions,
    check_delta,
    check_eps,
    check_eps0,
    check_k,
    check_n,
    check_one,
    check_positive,
)
from tightshuffle.bounds.dominating_pairs import (
    PAIRS,
    Rows,
    largest_finite_loss,
    outcome_count,
    outcomes,
    rows,
    typical_spread,
)
from tightshuffle.bounds.histogram import upper
from tightshuffle.bounds.rounds import Composition, Depth, of_settings
from tightshuffle.numerics import loss_grid
from tightshuffle.numerics.binomial import log_binomial_excess

# The field's words for round_up=True and False, used for privacy loss distributions only: here, `pld.to_pld`.
ESTIMATES = ("pessimistic", "optimistic")

_DEPTH = 80.0  # at first, outcomes of probability down to e^-80; smaller ones if delta is small
_CLEAR = 25.0  # delta should be e^25 times the probability left out
_MARGIN = 16.0  # the probability left out at a depth is at most e^(16 - depth) for up to 10^6 rows
_POINTS_PER_SPREAD = 512  # grid points per standard deviation of the loss
_OUTCOMES = 8e6  # wanted number of outcomes, from which the blocks of N follow
_ENOUGH = 3e7  # most outcomes for a deeper estimate, and most grid points
_TOO_MANY = 3e8  # from this number of outcomes on, the setting is refused
_FEWEST_BLOCKS = 16
_ROWS = {True: 2**18, False: 2**21}  # rows of one round: True for the weak adversary, whose rows cost more
_SAFETY = 1e-9  # relative floating-point error that the sum over rows allows for
_TERMS = 2.0**-49  # relative error of the terms of a difference
_LN10 = math.log(10)


def composed(
    eps: npt.ArrayLike,
    pair: str = "weak",
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    compositions: npt.ArrayLike = 1,
    estimate: str = "pessimistic",
    spacing: float | None = None,
) -> Floats:
    """log10 delta of ``compositions`` rounds at ``eps``.

    Parameters
    ----------
    eps, n, k, eps0, compositions : numbers or arrays, which broadcast; ``eps`` is that of all rounds.
        ``k`` does not matter for the clones, but is checked.
    pair : "strong" or "weak": the adversary who knows which users reported at random (section 3), or knows it
        of the remaining users only (section 3.1); "clones", for any eps0-LDP randomizer (probability e^-eps0,
        as section 4 states it), or "stronger-clones" (2 / (e^eps0 + 1), as its figure is drawn)
    estimate : "pessimistic" (an upper bound) or "optimistic" (a lower bound of the same quantity)
    spacing : distance of the grid's points in units of eps; None for 1/512 of a standard deviation of the
        loss. Not used for one round.

    Returns
    -------
    log10 delta, an array of the broadcast shape (a float for scalars). -inf where eps >= compositions * eps0,
    except for "strong", whose loss has no bound. For many users and delta below about 1e-30 the two estimates
    differ more and more; the optimistic one can be -inf.

    Raises
    ------
    ValueError naming the argument that is out of range, or the n for which rounds are too many to compose.
    """
    check_choice("pair", pair, PAIRS)
    check_choice("estimate", estimate, ESTIMATES)
    spacing = None if spacing is None else check_one("spacing", check_positive("spacing", spacing))
    settings = (check_n(n), check_k(k), check_eps0(eps0), check_compositions(compositions))

    def make(*setting: float) -> Composition:
        return PairRounds(pair, *setting, estimate=estimate, spacing=spacing)

    return of_settings(make, check_eps(eps), settings)


def composed_epsilon(
    delta: npt.ArrayLike,
    pair: str = "weak",
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    compositions: npt.ArrayLike = 1,
    estimate: str = "pessimistic",
    spacing: float | None = None,
) -> Floats:
    """The smallest eps >= 0 at which ``compositions`` rounds have at most ``delta``; nan where there is none.

    The inverse of `composed`: ``delta`` in (0, 1), other parameters as there. It is faster than
    `inverse.epsilon`, because it builds the distribution once. Here eps may exceed eps0. With the pessimistic
    estimate the result is an upper bound, rounded up by 1e-10. Returns an array of the broadcast shape (a
    float for scalars). Raises ValueError like `composed`.
    """
    check_choice("pair", pair, PAIRS)
    check_choice("estimate", estimate, ESTIMATES)
    spacing = None if spacing is None else check_one("spacing", check_positive("spacing", spacing))
    points = np.broadcast_arrays(
        check_delta(delta), check_n(n), check_k(k), check_eps0(eps0), check_compositions(compositions)
    )
    result = np.empty(points[0].shape)
    for index in np.ndindex(result.shape):
        wanted, *setting = (float(point[index]) for point in points)
        result[index] = PairRounds(pair, *setting, estimate=estimate, spacing=spacing).epsilon_of(
            math.log(wanted)
        )
    return result[()]


def koskela_strong(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    eps0: npt.ArrayLike,
    compositions: npt.ArrayLike = 1,
    estimate: str = "pessimistic",
) -> Floats:
    """log10 delta against the strong adversary A_s (section 3), who knows which users reported at random.

    Parameters, result and errors as for `composed`.
    """
    return composed(eps, "strong", n=n, k=k, eps0=eps0, compositions=compositions, estimate=estimate)


def eps0_of_blanket(gamma: npt.ArrayLike, k: npt.ArrayLike) -> Floats:
    """The eps0 of the k-RR that reports a uniform value with probability ``gamma`` in (0, 1).

    gamma = k / (e^eps0 + k - 1) (Balle et al. 2019); both broadcast. Raises ValueError like the bounds.
    """
    gamma = check_delta(gamma, name="gamma")
    return np.log1p(check_k(k) * (1 - gamma) / gamma)


def balle_analytic(eps: npt.ArrayLike, *, n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """log10 delta of Theorem 3.1 of Balle et al. (2019), the analytic bound of Figure 1a, for one round.

    Koskela et al., section 3, state it for eps <= 1 as a condition on k-RR's gamma,
    gamma >= max(14 k log(2 / delta) / ((n - 1) eps^2), 27 k / ((n - 1) eps)); here it is solved for delta.

    All numbers broadcast. nan with an `OutsideRange` warning where eps > 1 or the second term exceeds gamma;
    at most 1. Raises ValueError that names a bad argument.
    """
    eps, n, k, eps0 = np.broadcast_arrays(check_eps(eps), check_n(n), check_k(k), check_eps0(eps0))
    blanket = (n - 1) / (np.expm1(eps0) + k)  # (n - 1) gamma / k
    conditions = {"eps <= 1": eps <= 1, "gamma >= 27 k / ((n - 1) eps)": blanket * eps >= 27}
    failing = [condition for condition, holds in conditions.items() if not np.all(holds)]
    if failing:
        warnings.warn(f"balle_analytic holds only for {' and '.join(failing)}", OutsideRange, stacklevel=2)
    ln_delta = np.minimum(0.0, math.log(2) - blanket * eps**2 / 14)
    return np.where(np.all(list(conditions.values()), axis=0), ln_delta / _LN10, np.nan)[()]


class PairRounds(Composition):
    """delta of one setting as a function of eps. Parameters as for `composed`, but numbers; not checked."""

    first_depth, clear, margin = _DEPTH, _CLEAR, _MARGIN

    def __init__(
        self,
        pair: str,
        n: float,
        k: float,
        eps0: float,
        compositions: float,
        *,
        estimate: str = "pessimistic",
        spacing: float | None = None,
    ) -> None:
        self.setting = (pair, int(n), int(k), eps0)
        self.eps0, self.compositions = eps0, int(compositions)
        self.bounded = pair != "strong"
        self.round_up = estimate == "pessimistic"
        self.spacing = spacing
        super().__init__(
            self.compositions * eps0 if self.bounded else math.inf,
            1e3 * self.compositions * max(1.0, eps0),
        )

    def _build(self, depth: float) -> Depth:
        return self._one_round(depth) if self.compositions == 1 else self._rounds(depth)

    def _beyond(self, eps: Floats, unsettled: Integers, result: Floats) -> Floats:
        if unsettled.size and self.setting[0] == "weak" and self.compositions == 1 and self.round_up:
            # delta is too small for these sums, which start at the mean. histogram.upper can compute it.
            _, n, k, eps0 = self.setting
            deep = upper(eps[unsettled], n=n, k=k, eps0=eps0) * _LN10
            result[unsettled] = np.minimum(result[unsettled], deep)
        return result

    def _rows(self, depth: float, blocks: int) -> Rows:
        return rows(*self.setting, depth=depth, blocks=blocks, round_up=self.round_up)

    def _size(self, depth: float) -> tuple[int, float]:
        """How many blocks of N to make, and about how many outcomes that are."""
        per_value, values = outcome_count(*self.setting, depth)
        blocks = max(_FEWEST_BLOCKS, int(_OUTCOMES / per_value))
        return blocks, per_value * min(values, blocks)

    def _one_round(self, depth: float) -> Depth:
        per_value, values = outcome_count(*self.setting, depth)
        weak = self.setting[0] == "weak"
        across = math.sqrt(per_value) if weak else 1.0  # about how many T per N
        table = self._rows(depth, max(_FEWEST_BLOCKS, int(_ROWS[weak] / across)))

        def ln_delta(eps: Floats) -> Floats:
            return np.array([_log_excess(e, table, self.round_up) for e in eps])

        last = table.log_left_out == -math.inf or across * values > 64 * _ROWS[weak]
        return Depth(ln_delta, table.log_left_out, last)

    def _rounds(self, depth: float) -> Depth:
        blocks, size = self._size(depth)
        if size > _TOO_MANY:
            raise ValueError(
                f"n must be smaller for composing the {self.setting[0]} pair with k = {self.setting[2]} "
                f"({size:.1g} outcomes); got {self.setting[1]}"
            )
        table = self._rows(depth, blocks)
        reach = largest_finite_loss(table, depth)
        spacing = self.spacing or typical_spread(*self.setting) / _POINTS_PER_SPREAD
        if self.bounded:  # the largest loss of all lies on the grid, so that nothing is rounded beyond it
            spacing = self.eps0 / math.ceil(self.eps0 / spacing)
        if reach / spacing > _ENOUGH:
            raise ValueError(
                f"spacing must be at least {reach / _ENOUGH:.2g} in this setting; got {spacing:g}"
            )
        cells = loss_grid.gather(outcomes(table, depth), spacing, reach)
        if self.round_up:
            grid = loss_grid.pessimistic(cells, table.log_left_out)
        else:
            grid = loss_grid.optimistic(cells)

        def ln_delta(eps: Floats) -> Floats:
            return loss_grid.ln_delta(eps, [(grid, self.compositions)], self.round_up)

        last = table.log_left_out == -math.inf or self._size(self._deeper(depth))[1] > _ENOUGH
        return Depth(ln_delta, table.log_left_out + math.log(self.compositions), last)


def _log_excess(eps: float, table: Rows, round_up: bool) -> float:
    """ln E[(P - e^eps Q)_+] of one round: given N and T an expected excess of Bin(T, 1/2), in closed form."""
    sign = 1 if round_up else -1
    # room = T - threshold in two forms; next to the largest loss b only the first does not cancel.
    known, lie = table.total + table.short, scipy.special.expit(-eps)
    share = math.expm1(eps - table.largest) / math.expm1(-table.largest)
    first, second = np.where(
        known * share <= table.total,
        [known * share * lie, table.short * lie],
        [table.total * lie, table.offset * math.tanh(eps / 2)],
    )
    room = first * (1 + sign * _TERMS) - second
    excess = log_binomial_excess(table.total, table.total - room)
    # Where only n1 = T exceeds the threshold, T - room would round the room away.
    with np.errstate(divide="ignore"):
        log_all = np.log(known * share) - np.logaddexp(0.0, eps)
        log_room = np.where(table.short == 0, log_all, np.log(np.maximum(room, 0.0)))
    excess = np.where(room < 1, log_room - table.total * math.log(2), excess)
    terms = table.log_weight + table.log_scale + excess
    value = scipy.special.logsumexp(terms) + math.log(table.gap) + np.logaddexp(0.0, eps)
    if round_up:
        value = np.logaddexp(value, table.log_left_out)
    return min(0.0, value + sign * _SAFETY)

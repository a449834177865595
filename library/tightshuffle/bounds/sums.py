"""Only the sums of the reports' bits are released: Prio, DAP, secure aggregation of unary encodings.

One count per value is shown. A replaced value changes two independent counts, one from p to q and one from q
to p; a user with a value or none changes one. `bits.worst_count` bounds each, for every dataset, and each
round adds its pair or pairs. docs/theory.md, "Sums only", has the proof.
"""

import functools
import math
import reprlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tightshuffle.arguments import Floats
from tightshuffle.bounds.bit_counts import Bit
from tightshuffle.bounds.bits import worst_count
from tightshuffle.bounds.rounds import Curve, Rounds
from tightshuffle.points import Neighbours, Points
from tightshuffle.randomizers import Randomizer
from tightshuffle.randomizers.unary import UnaryEncoding

_WIDTH = 4e-4  # of the bound on delta, relative, times -log(delta): eps is wrong by at most 0.02 %
_ROUGHLY = 1e-3  # the same for the rough curve, which only finds how far the points have to reach
# Settings whose distributions are kept, as several eps of one setting are often asked for.
_KEPT_SETTINGS = 16


def ln_delta(points: Points) -> Floats:
    """ln of an upper bound on delta of the sums of all rounds together; (points,), -inf where delta is 0.

    ValueError for a randomizer that is no `UnaryEncoding`.
    """
    return np.array([_ln_delta_at(point) for point in points.each()], dtype=float)


def _ln_delta_at(point: Points) -> float:
    """`ln_delta` of a ``point`` of length 1."""
    return max(float(rounds.ln_delta(point.eps)[0]) for rounds in _rounds_of_point(point))


def epsilon(target_ln_delta: float, point: Points) -> float:
    """The smallest eps at which the bound is e^``target_ln_delta``, rounded up; nan if there is none.

    ``point`` has length 1.
    """
    return max(rounds.epsilon_of(target_ln_delta) for rounds in _rounds_of_point(point))


def gaussian_mu(
    randomizer: Randomizer, *, neighbours: Neighbours = Neighbours.REPLACEMENT
) -> float:
    """mu of the Gaussian differential privacy that the sums of n users tend to, times the root of n.

    mu is the change of a sum over its standard deviation. The bit of who holds a value is 1 with probability
    p, and of another user with q.
    """
    encoding = check_unary(randomizer)
    p, q = encoding.p_star, encoding.q
    return math.sqrt(neighbours.changed_counts / min(p * (1 - p), q * (1 - q))) * (p - q)


def check_unary(randomizer: Randomizer) -> UnaryEncoding:
    """The randomizer; ValueError if it is no unary encoding, where sums are not independent."""
    if not isinstance(randomizer, UnaryEncoding):
        name = getattr(randomizer, "name", reprlib.repr(randomizer))
        raise ValueError(
            "randomizer must be rappor, oue or unary:P:Q for release = 'sums'; got"
            f" {name} (k-RR's histogram is its sums: leave release out)"
        )
    return randomizer


def _rounds_of_point(point: Points) -> list[Rounds]:
    """Bounds for all rounds together; the largest of them holds. ``point`` has length 1."""
    randomizer = check_unary(point.randomizers[0])
    return _compose(point.honest_users.item(), randomizer, point.rounds.item(), point.neighbours)


@functools.lru_cache(maxsize=_KEPT_SETTINGS)
def _compose(
    n: int, randomizer: UnaryEncoding, rounds: int, neighbours: Neighbours
) -> list[Rounds]:
    """`_rounds_of_point` for ``n`` users and this number of ``rounds``, kept."""
    pair = curves_of_two_counts(randomizer, n - 1, randomizer.log_odds)
    return compose_stages([(pair, rounds)], neighbours)


def compose_stages(
    stages: Sequence[tuple[tuple[Curve, Curve], int]], neighbours: Neighbours
) -> list[Rounds]:
    """Bounds on delta of all rounds together, the largest of which holds.

    Each of the ``stages`` is a pair of curves and a number of rounds that have these. A curve is a bound on
    delta of one count as a function of eps. In the first count of a pair (`curves_of_two_counts`), the target
    user's bit falls from p to q, and in the second it rises from q to p. By a deletion, only one count of a
    round changes, and in all rounds it is a falling one, or in all a rising one. By a replacement, both
    counts of a round change, which is like two rounds.
    """
    if neighbours is Neighbours.DELETION:
        falling = [(falls, rounds) for (falls, _), rounds in stages]
        rising = [(rises, rounds) for (_, rises), rounds in stages]
        if falling == rising:
            return [Rounds(falling)]
        return [Rounds(falling), Rounds(rising)]

    curves_and_rounds: list[tuple[Curve, int]] = []
    for (falls, rises), rounds in stages:
        if falls == rises:
            curves_and_rounds.append((falls, 2 * rounds))
        else:
            curves_and_rounds += [(falls, rounds), (rises, rounds)]
    return [Rounds(curves_and_rounds)]


def curves_of_two_counts(
    randomizer: UnaryEncoding, users: int, log_odds: tuple[float, float]
) -> tuple[Curve, Curve]:
    """Bounds on delta of the two counts that a user changes, as functions of eps.

    There is one count for each value; a user's bit in it is 1 with probability p if the user holds the value,
    and with q otherwise. In the first count the target user's bit changes from p to q, and in the second from
    q to p. The bits of ``users`` other users hide it. ``log_odds`` are the log odds that such a bit is 1, for
    who holds the value and for who does not. The target user's are those of the ``randomizer``.
    """
    target_if_held, target_if_not = randomizer.log_odds
    other_if_held, other_if_not = log_odds
    falling_bit = Bit.with_log_odds(target_if_held, target_if_not)
    falls = _curve_of_count(falling_bit, users, log_odds)
    # With p = 1 - q, one count is the other with 0 and 1 exchanged.
    if target_if_held == -target_if_not and other_if_held == -other_if_not:
        return falls, falls

    # A bit that rises is one that falls with 0 and 1 exchanged. Each count is the other's reverse direction.
    rising_bit = Bit.with_log_odds(-target_if_not, -target_if_held)
    rises = _curve_of_count(rising_bit, users, (-other_if_not, -other_if_held))
    return (
        replace(falls, ln_reverse=rises.ln_delta),
        replace(rises, ln_reverse=falls.ln_delta),
    )


def _curve_of_count(bit: Bit, users: int, log_odds: tuple[float, float]) -> Curve:
    """An upper bound on delta of one count in which the bits of ``users`` others hide the target's ``bit``.

    It is a function of eps, for the worst dataset. ``log_odds`` are the log odds that the bit of another user
    is 1, for who holds the value and for who does not.
    """

    def ln_delta(eps: Floats, width: float = _WIDTH) -> Floats:
        """ln of the upper bound; -inf from the largest loss on."""
        result = np.full(eps.shape, -np.inf)
        below = eps < bit.largest
        if np.any(below):
            _, result[below] = worst_count(
                eps[below], bit, users, log_odds, goal=width, steeply=True
            )
        return result

    return Curve(ln_delta, bit.largest, ln_rough=functools.partial(ln_delta, width=_ROUGHLY))

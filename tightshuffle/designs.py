"""k-RR with dummies: how few uniform dummies of the shuffler give a guarantee, and what error is left.

Without dummies the guarantee fixes the largest eps0 of k-RR (`planning`). With dummies eps0 may be larger, so
that reports are more accurate. With enough of them users can send the values themselves, eps0 = math.inf. The
price is more messages, and less privacy if the shuffler fails: eps0 is what is left.

The bound is that of `collection.Collection`.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from tightshuffle.arguments import check_eps, check_log10_delta, check_one, check_positive, check_whole
from tightshuffle.collection import Collection, Dummies, Group
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.numerics.roots import least_whole
from tightshuffle.planning import make_plan
from tightshuffle.randomizers.krr import lie_probability, truth_probability
from tightshuffle.setting import LARGEST_EPS0_OF_UPPER, LARGEST_K_OF_COLLECTION, LARGEST_N_OF_UPPER

STEP = 0.5  # between the eps0 of a frontier
_CLOSE = 1.005  # error over that of dummies alone, from which on a larger eps0 gains little
_DEEP = -1e3  # log10 of (delta / wanted delta); the search treats any smaller delta as 0


@dataclass(frozen=True)
class Design:
    """A collection with the fewest dummies for a guarantee.

    ``eps0``: the local budget, which is left if the shuffler fails; math.inf if users send the values.
    ``dummies``: how many the shuffler adds. ``messages_per_user``: reports and dummies, divided by the number
    of users. ``error``: `Collection.expected_error`, for uniform data, without projection. ``ratio``: the
    error over that of the central analytic Gaussian mechanism with the same guarantee.
    """

    eps0: float
    dummies: int
    messages_per_user: float
    error: float
    ratio: float


def fewest_dummies(
    n: float,
    k: float,
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    eps0: float = math.inf,
    colluding: float = 0,
) -> int:
    """The fewest uniform dummies with which our bound makes shuffled k-RR (eps, delta)-private.

    ``n`` users, ``k`` values up to 10^7; ``eps`` > 0; ``delta`` in (0, 1), or ``log10_delta`` < 0 instead.
    ``eps0`` is at most 50, or math.inf if users send the values themselves. ``colluding`` users reveal their
    reports to the adversary; below 1 it is a share of the users. ValueError names a bad argument; also if
    10^12 dummies are too few.
    """
    n, k = check_whole("n", n, 1, int(LARGEST_N_OF_UPPER)), check_whole("k", k, 2, LARGEST_K_OF_COLLECTION)
    eps = check_one("eps", check_positive("eps", check_eps(eps)))
    wanted = check_one("delta", check_log10_delta(delta, log10_delta))

    @functools.cache
    def surplus(dummies: int) -> float:
        made = with_dummies(n, k, eps0, dummies, colluding)
        return max(float(made.log10_delta(eps)) - wanted, _DEEP)

    if surplus(0) <= 0:
        return 0
    # About where the count of an empty value has the noise of the Gaussian mechanism.
    sigma = float(exact_scale(eps, log10_delta=wanted, sensitivity=HISTOGRAM_SENSITIVITY))
    lie = 0.0 if eps0 == math.inf else float(lie_probability(eps0, k))
    slope = 1.0 if eps0 == math.inf else float(truth_probability(eps0, k)) - lie
    guess = k * max((slope * sigma) ** 2 - n * lie * (1 - lie), 1.0)
    found = least_whole(surplus, guess=guess, least=1, most=int(LARGEST_N_OF_UPPER))
    if found is None:
        raise ValueError(
            f"eps must be larger: even {LARGEST_N_OF_UPPER:.0e} dummies are too few; got {eps:g}"
        )
    return found


def frontier(
    n: float,
    k: float,
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    eps0: Sequence[float] | None = None,
    colluding: float = 0,
) -> list[Design]:
    """Designs with one guarantee (eps, delta), from k-RR without dummies to dummies alone.

    Parameters as for `fewest_dummies`. ``eps0``: those of the designs. By default they are the largest one
    that needs no dummies, then multiples of 1/2 until the error is within 0.5 % of that of dummies alone, and
    math.inf. Where no estimate is useful, as with more values than users, a larger eps0 may have the larger
    error.

    Returns one `Design` per eps0, with the fewest dummies.
    """
    check_whole("k", k, 2, LARGEST_K_OF_COLLECTION)
    plan = make_plan(n, k, eps, delta, log10_delta=log10_delta, colluding=colluding)

    def design(eps0: float) -> Design:
        dummies = fewest_dummies(n, k, eps, delta, log10_delta=log10_delta, eps0=eps0, colluding=colluding)
        error = with_dummies(n, k, eps0, dummies, colluding).expected_error()
        return Design(float(eps0), dummies, 1 + dummies / n, error, error / plan.tv["gaussian"])

    if eps0 is not None:
        return [design(one) for one in eps0]
    found, alone = [design(plan.eps0)], design(math.inf)
    step = math.floor(plan.eps0 / STEP) + 1
    while step * STEP <= LARGEST_EPS0_OF_UPPER:
        found.append(design(step * STEP))
        if abs(math.log(found[-1].error / alone.error)) <= math.log(_CLOSE):
            break
        step += 1
    return [*found, alone]


def with_dummies(n: float, k: float, eps0: float, dummies: int, colluding: float = 0) -> Collection:
    """k-RR by n users, and uniform dummies by the shuffler."""
    return Collection(
        int(k), (Group("users", int(n), eps0, colluding=colluding),), dummies=Dummies(number=dummies)
    )


def luo_wang_yi(eps: float, delta: float | None = None, *, log10_delta: float | None = None) -> float:
    """32 ln(2 / delta) / eps^2, a closed form for the dummies per value if users send their values.

    Source: Luo, Wang and Yi, "Frequency estimation in the shuffle model with almost a single message", CCS
    2022, arXiv 2111.06833. Parameters and errors as for `fewest_dummies`.
    """
    eps = check_one("eps", check_positive("eps", check_eps(eps)))
    wanted = check_one("delta", check_log10_delta(delta, log10_delta))
    return 32 * (math.log(2) - wanted * math.log(10)) / eps**2

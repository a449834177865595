"""Which design gives the mean of the users' values: every one at its best parameters for a guarantee.

Values lie between two ends that are known, here 0 and 1. In each round users report, and the mean of their
values is estimated without bias. All rounds together are (eps, delta)-private for every dataset if one user's
values change, as for `planning.designs`.

**Levels.** A user rounds the value x to one of K levels 0, 1 / (K - 1), ..., 1: to one of the two levels
around it, at random, so that the mean is x. k-RR with K values reports the level, and a shuffler mixes the
reports. A report is uniform with the probability g = K / (e^eps0 + K - 1), and else the level. So the mean of
the reports less g / 2, over 1 - g, estimates the mean of the values. More levels take less from rounding, and
more from k-RR, whose lies are more. K = 2 is one bit.

**Noise on reports.** A user adds Laplace or Gaussian noise to the value, and a shuffler mixes the reports,
whose mean is the estimate.

**Noise on the sum.** Values are rounded to whole numbers from 0 to `UNITS` in the same way, and whoever adds
them up adds whole numbers of noise.
"""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle import doors
from tightshuffle.arguments import (
    Floats,
    check_colluding,
    check_log10_delta,
    check_number,
    check_one,
    check_participation,
    check_positive,
    check_rounds,
    check_whole,
)
from tightshuffle.dummies.laws import MOST_PARTIES
from tightshuffle.dummies.shares import (
    LARGEST_DEVIATION,
    STEPS,
    deviation_of_sum,
    variance_of_shares,
)
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.mechanisms.krr import lie_probability
from tightshuffle.number_text import plain
from tightshuffle.numerics.roots import interval_with_root, least_enough, least_whole
from tightshuffle.numerics.side import Side
from tightshuffle.planning.plan import expected_reports, plan
from tightshuffle.points import LARGEST_EPS0, LARGEST_N_OF_UPPER, check_guarantee
from tightshuffle.randomizers import Gaussian, Laplace

# Values are whole numbers from 0 to this before noise is added to their sum: 20 bits. A sum of a multiple of
# `STEPS` units has the guarantee of `deviation_of_sum`.
UNITS = 1023 * STEPS
_MOST_LEVELS = 10_000
# Numbers of levels are tried up to one whose variance is so many times the least.
_FAR_FROM_BEST = 1.5
# The variance of rounding to a whole number of units: of a value between two of them, and of a uniform value.
_WORST_ROUNDING = 1 / (4 * UNITS**2)
_UNIFORM_ROUNDING = 1 / (6 * UNITS**2)
_BITS_OF_FLOAT = 64
_PRECISION_OF_NOISE = 1e-4  # of ln of a parameter
_WITHOUT_REPORT_NOISE = "computed for one round and 100 % participation only"
_CENTRAL_GEOMETRIC = "central geometric"
_CENTRAL_GAUSSIAN = "central Gaussian"
# A deviation of so many ranges of the values, or of 1 over it, has a square that is a float.
_MOST_RANGES = 1e100
# A surplus is log10 of delta over its target. The search takes any smaller one, also -inf, for this.
_LEAST_SURPLUS = -1e3


@dataclass(frozen=True)
class MeanDesign:
    """A design with the parameters that have the guarantee for ``n`` users.

    ``deviation`` is the standard deviation of one round's estimated mean, in the unit of the values, if every
    user has the value at which it is largest. ``uniform_deviation`` is that for values that are spread evenly
    over their range. ``bits`` is the size of one report.

    ``eps_if_it_fails`` and ``trust`` are as for `planning.designs.Design`. ``parameters`` are in words. They
    are for values that are first mapped to 0 to 1, or to whole numbers from 0 to the stated sensitivity.

    ``eps0`` is the local budget of one report, math.inf if there is none. ``levels`` is the number of levels
    to which values are rounded, or None. ``reference`` is true for a mechanism of a curator who sees all
    values.
    """

    name: str
    n: int
    deviation: float
    uniform_deviation: float
    bits: int
    eps_if_it_fails: float
    trust: str
    parameters: str
    levels: int | None
    eps0: float = math.inf
    reference: bool = False


@dataclass(frozen=True)
class MeanComparison:
    """Designs for one guarantee, those for the fewest users first, and of equal n the most accurate first.

    ``left_out``: name -> why a design is not among them.
    """

    designs: tuple[MeanDesign, ...]
    left_out: dict[str, str]


def compare_means(
    eps: float,
    delta: float | None = None,
    *,
    n: float | None = None,
    deviation: float | None = None,
    log10_delta: float | None = None,
    value_range: tuple[float, float] = (0.0, 1.0),
    rounds: int = 1,
    colluding: float = 0,
    participation: float = 1.0,
    parties: int = 2,
    honest: int = 1,
) -> MeanComparison:
    """Every design for the mean of n users' values, at its best parameters for (eps, delta).

    Parameters
    ----------
    eps, delta, log10_delta : float
        As for `planning.plan`.
    n : int, from 1 to 10^12
        Users who could report.
    deviation : float, above 0
        Instead of n: the standard deviation of the mean at the worst input that is asked for, in the unit of
        the values. Each design is for the fewest users who reach it. A design is left out if 10^12 do not.
    value_range : two floats
        The smallest and the largest value that a user can have.
    rounds, colluding, participation : numbers
        As for `planning.plan`. The guarantee is for all rounds together, the deviation is that of one.
    parties, honest : int
        How many aggregators add noise, and how many of them do not collude, at least.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    low, high = _check_range(value_range)
    task = _Task(
        eps=check_guarantee(eps),
        log10_delta=check_one("delta", check_log10_delta(delta, log10_delta)),
        rounds=int(check_one("rounds", check_rounds(rounds))),
        colluding=colluding,
        participation=check_participation(participation),
        width=high - low,
    )
    parties = check_whole("parties", parties, 1, MOST_PARTIES)
    noises = _noises(task, parties, check_whole("honest", honest, 1, parties))

    found: dict[str, MeanDesign | None]
    if n is not None and deviation is None:
        n = check_whole("n", n, 1, int(LARGEST_N_OF_UPPER))
        check_one("colluding", check_colluding(colluding, n))
        found = _designs_of_users(task, n, noises)
    elif deviation is not None and n is None:
        deviation = _check_deviation(deviation, task.width)
        check_one("colluding", check_colluding(colluding, LARGEST_N_OF_UPPER))
        found = _designs_of_deviation(task, deviation, noises)
    else:
        raise ValueError("n or deviation must be given, but not both")

    designs = [design for design in found.values() if design is not None]
    if not designs:
        raise ValueError(
            f"deviation must be larger: {LARGEST_N_OF_UPPER:.0e} users do not reach it by any design"
        )
    designs.sort(key=lambda design: (design.n, design.deviation))
    too_few = f"{LARGEST_N_OF_UPPER:.0e} users are too few"
    left_out = {name: too_few for name, design in found.items() if design is None}
    if not task.has_report_noise:
        left_out |= {kind.name: _WITHOUT_REPORT_NOISE for kind in _KINDS}
    return MeanComparison(tuple(designs), left_out)


def report_variance(levels: int, eps0: float, value: npt.ArrayLike) -> Floats:
    """n times the variance of the mean that is estimated from n users who all have this value.

    Values lie in [0, 1], and are rounded to so many ``levels``, at least 2, that k-RR with ``eps0`` reports.
    The result has the shape of ``value``.
    """
    g = _uniform_share(levels, eps0)
    x = np.asarray(value, dtype=float)
    steps = levels - 1
    below = np.minimum(np.floor(x * steps), steps - 1) / steps
    above = below + 1 / steps
    # The mean square of the level is x^2 + (x - below) (above - x).
    mean_square = (1 - g) * ((below + above) * x - below * above) + g * _square_of_levels(levels)
    return np.asarray((mean_square - ((1 - g) * x + g / 2) ** 2) / (1 - g) ** 2)


def worst_report_variance(levels: int, eps0: float) -> float:
    """The largest `report_variance` of any value in [0, 1].

    Between two levels it is a quadratic function of the value, whose top is where (1 - g) x + g / 2 is the
    middle between the two, or outside.
    """
    g = _uniform_share(levels, eps0)
    below = np.arange(levels - 1) / (levels - 1)
    above = np.arange(1, levels) / (levels - 1)
    tops = np.clip(((below + above) / 2 - g / 2) / (1 - g), below, above)
    # The top between two levels may be one of the two, where both neighbours have the same variance.
    return float(report_variance(levels, eps0, tops).max())


def mean_report_variance(levels: int, eps0: float) -> float:
    """The mean `report_variance` of a value that is uniform in [0, 1]."""
    g = _uniform_share(levels, eps0)
    # The mean of x^2 is 1 / 3, and that of (x - below) (above - x) a sixth of the squared step.
    mean_square = (1 - g) * (1 / 3 + 1 / (6 * (levels - 1) ** 2)) + g * _square_of_levels(levels)
    squared_mean = (1 - g) ** 2 / 3 + (1 - g) * g / 2 + g**2 / 4
    return (mean_square - squared_mean) / (1 - g) ** 2


def _uniform_share(levels: int, eps0: float) -> float:
    """g, the probability with which k-RR's report of a level is uniform."""
    return levels * float(lie_probability(eps0, levels))


def _square_of_levels(levels: int) -> float:
    """The mean square of a level that is uniform."""
    return (2 * levels - 1) / (6 * (levels - 1))


@dataclass(frozen=True)
class _Task:
    """The guarantee, and the range of the values: its ``width`` is in their unit.

    All ``rounds`` together must be (``eps``, 10^``log10_delta``)-private. In each round, a user takes part
    with probability ``participation``. ``colluding`` users reveal their reports to the adversary. A number
    below 1 is a share of the users. All is checked.
    """

    eps: float
    log10_delta: float
    rounds: int
    colluding: float
    participation: float
    width: float

    @property
    def setting(self) -> dict[str, Any]:
        """The arguments that `tightshuffle.delta` and `plan` share."""
        return {
            "colluding": self.colluding,
            "participation": self.participation,
            "rounds": self.rounds,
        }

    @property
    def eps_of_round(self) -> float:
        """The eps0 that has the guarantee for any number of users, with delta = 0."""
        return min(self.eps / self.rounds, LARGEST_EPS0)

    @property
    def least_n(self) -> int:
        """The least number of users: one, and those who collude if they are given as a number."""
        return 1 if self.colluding < 1 else 1 + int(self.colluding)

    @property
    def has_report_noise(self) -> bool:
        """Whether there is a bound for noise on reports, and one that takes seconds."""
        return self.rounds == 1 and self.participation == 1

    def reports(self, n: int) -> int:
        """About how many of n users report in a round."""
        return expected_reports(n, self.participation)

    def report_variance(self, deviation: float, reports: float) -> float:
        """The variance of the mean's ``deviation``, times the ``reports``, for values in [0, 1]."""
        return reports * (deviation / self.width) ** 2

    def largest_eps0(self, levels: int, n: int) -> float:
        """The largest eps0 of k-RR with so many levels that has the guarantee for n users."""
        eps, log10_delta = self.eps, self.log10_delta
        return plan(n=n, k=levels, eps=eps, log10_delta=log10_delta, **self.setting).eps0

    def approximate_eps0(self, levels: int, reports: float) -> float:
        """About the `largest_eps0` for so many reports.

        The count of a level that nobody holds has the variance of the Gaussian mechanism, sigma^2. k-RR
        reports each other level with the probability q = 1 / (y + levels), y = e^eps0 - 1. So reports q (1 -
        q) / (y q)^2 = sigma^2, or y^2 = reports / sigma^2 (y + levels - 1).
        """
        ratio = reports / self.histogram_sigma**2
        y = (ratio + math.sqrt(ratio**2 + 4 * ratio * (levels - 1))) / 2
        return min(max(math.log1p(y), self.eps_of_round), LARGEST_EPS0)

    @functools.cached_property
    def histogram_sigma(self) -> float:
        """The standard deviation of the Gaussian mechanism's noise on each count of a histogram."""
        sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(self.rounds)
        scale = exact_scale(self.eps, log10_delta=self.log10_delta, sensitivity=sensitivity)
        return float(scale)


class _Noise(NamedTuple):
    """Noise on the sum of all values, by a design with this ``name``.

    Its ``variance`` has the range of the values as unit. ``trust`` and ``parameters`` are those of the
    design.
    """

    name: str
    variance: float
    trust: str
    parameters: str


def _designs_of_users(
    task: _Task, n: int, noises: Sequence[_Noise]
) -> dict[str, MeanDesign | None]:
    """name -> design for n users."""
    return {
        "one bit": _one_bit(task, n, task.largest_eps0(2, n)),
        "K levels": _many_levels(task, n, *_best_levels_of_users(task, n)),
        **{kind.name: _report_noise_of_users(task, kind, n) for kind in _KINDS},
        **{noise.name: _noise_on_sum(task, noise, n) for noise in noises},
    }


def _designs_of_deviation(
    task: _Task, deviation: float, noises: Sequence[_Noise]
) -> dict[str, MeanDesign | None]:
    """name -> design for the fewest users who reach the ``deviation``; None if 10^12 do not."""
    found: dict[str, MeanDesign | None] = {"one bit": None, "K levels": None}
    n = _fewest_users(task, 2, deviation, guess=_approximate_users(task, 2, deviation))
    if n is not None:
        found["one bit"] = _one_bit(task, n, _least_eps0(task, 2, deviation, n))
    best = _best_levels_of_deviation(task, deviation)
    if best is not None:
        levels, n = best
        found["K levels"] = _many_levels(task, n, levels, _least_eps0(task, levels, deviation, n))
    for kind in _KINDS:
        found[kind.name] = _report_noise_of_deviation(task, kind, deviation)
    for noise in noises:
        n = _fewest_users_of_noise(task, noise, deviation)
        found[noise.name] = None if n is None else _noise_on_sum(task, noise, n)
    return found


def _best_levels_of_users(task: _Task, n: int) -> tuple[int, float]:
    """The number of levels with the least deviation for n users, and its largest eps0."""
    eps0 = functools.cache(functools.partial(task.largest_eps0, n=n))
    reports = n * task.participation
    start = _least_levels(
        lambda levels: worst_report_variance(levels, task.approximate_eps0(levels, reports))
    )
    levels = _least_nearby(lambda levels: worst_report_variance(levels, eps0(levels)), start)
    return levels, eps0(levels)


def _best_levels_of_deviation(task: _Task, deviation: float) -> tuple[int, int] | None:
    """The number of levels that reaches the ``deviation`` with the fewest users, and how many these are."""
    levels = _least_levels(lambda levels: _approximate_users(task, levels, deviation))
    n: int | None = round(_approximate_users(task, levels, deviation))
    while n is not None:
        start = levels
        # Of the levels that reach the deviation with n users, the best have the least delta.
        surplus = functools.partial(_surplus, task, deviation=deviation, n=n)
        levels = _least_nearby(surplus, start)
        n = _fewest_users(task, levels, deviation, guess=n)
        if n is not None and levels == start:
            return levels, n
    return None


def _least_levels(cost: Callable[[int], float]) -> int:
    """The number of levels, from 3 to 10,000, with the least ``cost``, which falls and then grows."""
    best, least = 3, math.inf
    for levels in range(3, _MOST_LEVELS + 1):
        cost_of_levels = cost(levels)
        if cost_of_levels < least:
            best, least = levels, cost_of_levels
        elif cost_of_levels > _FAR_FROM_BEST * least:
            break
    return best


def _least_nearby(cost: Callable[[int], float], start: int) -> int:
    """From ``start`` on, the first number of levels whose ``cost`` is not above that of one more or less."""
    cost = functools.cache(cost)
    levels, best = 0, start
    while levels != best:
        levels = best
        best = min((levels, max(3, levels - 1), levels + 1), key=cost)
    return best


def _approximate_users(task: _Task, levels: int, deviation: float) -> float:
    """About the fewest users who reach the ``deviation`` with so many levels, from 1 to 10^12."""

    def surplus(ln_n: float) -> float:
        """ln of the variance over that of the deviation, for so many users."""
        reports = math.exp(ln_n) * task.participation
        variance = worst_report_variance(levels, task.approximate_eps0(levels, reports))
        return math.log(variance / task.report_variance(deviation, reports))

    return _root_of_users(surplus)


def _root_of_users(surplus: Callable[[float], float]) -> float:
    """About the number of users, from 1 to 10^12, at whose natural log ``surplus``, which falls, is 0."""
    ln_most = math.log(LARGEST_N_OF_UPPER)
    if surplus(ln_most) > 0:
        return LARGEST_N_OF_UPPER
    return math.exp(least_enough(surplus, 0.0, ln_most, tolerance=1e-3))


def _fewest_users(task: _Task, levels: int, deviation: float, guess: float) -> int | None:
    """The fewest users who reach the ``deviation`` with so many levels, or None if 10^12 do not.

    They report with the smallest eps0 that reaches it, which has the guarantee. The search starts from the
    ``guess``.
    """
    surplus = functools.partial(_surplus, task, levels, deviation)
    return least_whole(surplus, guess=guess, least=task.least_n, most=int(LARGEST_N_OF_UPPER))


def _surplus(task: _Task, levels: int, deviation: float, n: int) -> float:
    """log10 of delta over its target, at the smallest eps0 with which n users reach the ``deviation``."""
    eps0 = _least_eps0(task, levels, deviation, n)
    if eps0 == task.eps_of_round:
        return _LEAST_SURPLUS  # the local guarantee is enough: delta is 0
    if eps0 == math.inf:
        return -task.log10_delta  # delta counts as 1
    log10_delta = doors.delta(task.eps, n=n, k=levels, eps0=eps0, log10=True, **task.setting)
    return max(float(log10_delta) - task.log10_delta, _LEAST_SURPLUS)


def _least_eps0(task: _Task, levels: int, deviation: float, n: int) -> float:
    """The smallest eps0, from the eps of a round on, with which n users reach the ``deviation``.

    It is math.inf if no eps0 up to `LARGEST_EPS0` is enough.
    """
    variance = task.report_variance(deviation, task.reports(n))

    def surplus(eps0: float) -> float:
        return math.log(worst_report_variance(levels, eps0) / variance)

    if surplus(LARGEST_EPS0) > 0:
        return math.inf
    return least_enough(surplus, task.eps_of_round, LARGEST_EPS0, tolerance=1e-13, relative=1e-13)


def _one_bit(task: _Task, n: int, eps0: float) -> MeanDesign:
    """The design of one bit per user, two levels, with this eps0."""
    return _levels(task, "one bit", n, 2, eps0, parameters=_eps0_text(eps0))


def _many_levels(task: _Task, n: int, levels: int, eps0: float) -> MeanDesign:
    """The design of so many levels, three or more, with this eps0."""
    return _levels(
        task, "K levels", n, levels, eps0, parameters=f"K = {levels}, {_eps0_text(eps0)}"
    )


def _eps0_text(eps0: float) -> str:
    return f"eps0 = {plain(eps0, 4, side=Side.LOWER)}"


def _levels(
    task: _Task, name: str, n: int, levels: int, eps0: float, *, parameters: str
) -> MeanDesign:
    """The design called ``name`` of n users who report one of so many levels with this eps0."""
    reports = task.reports(n)
    return MeanDesign(
        name,
        n,
        deviation=task.width * math.sqrt(worst_report_variance(levels, eps0) / reports),
        uniform_deviation=task.width * math.sqrt(mean_report_variance(levels, eps0) / reports),
        bits=(levels - 1).bit_length(),
        eps_if_it_fails=task.rounds * eps0,
        trust="shuffler: to mix",
        parameters=parameters,
        levels=levels,
        eps0=eps0,
    )


@dataclass(frozen=True)
class _Kind:
    """A kind of noise that users add to their values: its ``name``, and that of its ``parameter``.

    ``density`` is the randomizer with this parameter. The noise has a standard deviation of ``factor`` times
    the parameter. The least noise for a guarantee has about the parameter ``guess`` of the eps0 that one bit
    may have.
    """

    name: str
    parameter: str
    density: type[Laplace] | type[Gaussian]
    factor: float
    guess: Callable[[float], float]

    def surplus(self, task: _Task, parameter: float, n: int) -> float:
        """log10 of delta over its target, if n users report with this noise."""
        randomizer = self.density(parameter)
        log10_delta = doors.delta(
            task.eps,
            n=n,
            randomizer=randomizer,
            colluding=task.colluding,
            log10=True,
        )
        return max(float(log10_delta) - task.log10_delta, _LEAST_SURPLUS)

    def design(self, task: _Task, parameter: float, n: int) -> MeanDesign:
        """The design of n users who add this noise, of which every input gets the same."""
        deviation = task.width * self.factor * parameter / math.sqrt(n)
        eps0 = self.density(parameter).eps0
        return MeanDesign(
            self.name,
            n,
            deviation=deviation,
            uniform_deviation=deviation,
            bits=_BITS_OF_FLOAT,
            eps_if_it_fails=eps0,
            trust="shuffler: to mix",
            parameters=f"{self.parameter} = {plain(parameter, 4, side=Side.UPPER)}",
            levels=None,
            eps0=eps0,
        )


_KINDS = (
    _Kind("Laplace reports", "scale", Laplace, math.sqrt(2), lambda eps0: 1 / eps0),
    _Kind("Gaussian reports", "sigma", Gaussian, 1.0, lambda eps0: 1.3 / math.sqrt(eps0)),
)


def _report_noise_of_users(task: _Task, kind: _Kind, n: int) -> MeanDesign | None:
    """The design in which n users add the least noise of this kind with the guarantee, or None.

    The parameter is larger than the least one by at most 0.01 %.
    """
    if not task.has_report_noise:
        return None

    @functools.cache
    def surplus(ln_parameter: float) -> float:
        parameter = min(max(math.exp(ln_parameter), kind.density.least), kind.density.most)
        return kind.surplus(task, parameter, n)

    interval = interval_with_root(
        surplus,
        math.log(kind.guess(task.approximate_eps0(2, n))),
        step=0.01,
        least=math.log(kind.density.least),
        most=math.log(kind.density.most),
    )
    if interval is None:
        return None
    if interval[0] == interval[1]:
        return kind.design(task, kind.density.least, n)
    ln_parameter = least_enough(surplus, *interval, tolerance=_PRECISION_OF_NOISE)
    return kind.design(task, math.exp(ln_parameter), n)


def _report_noise_of_deviation(task: _Task, kind: _Kind, deviation: float) -> MeanDesign | None:
    """The design in which the fewest users reach the ``deviation`` with noise of this kind, or None."""
    if not task.has_report_noise:
        return None

    def parameter(n: float) -> float:
        """The largest parameter with which n users reach the deviation."""
        most = deviation / task.width * math.sqrt(n) / kind.factor
        return min(most, kind.density.most)

    def surplus(n: int) -> float:
        if parameter(n) < kind.density.least:
            return -task.log10_delta  # delta counts as 1
        return kind.surplus(task, parameter(n), n)

    def ln_excess(ln_n: float) -> float:
        """ln of the noise that so many users need, by the guess, over the most that they may add."""
        n = math.exp(ln_n)
        return math.log(kind.guess(task.approximate_eps0(2, n)) / parameter(n))

    guess = _root_of_users(ln_excess)
    n = least_whole(surplus, guess=guess, least=task.least_n, most=int(LARGEST_N_OF_UPPER))
    return None if n is None else kind.design(task, parameter(n), n)


def _noises(task: _Task, parties: int, honest: int) -> list[_Noise]:
    """The noises that have the guarantee: by aggregators, and two by a curator, for comparison.

    ValueError if eps is too small for a noise that is computed.
    """
    geometric = deviation_of_sum(task.eps, log10_delta=task.log10_delta, rounds=task.rounds)
    in_units = math.ceil(geometric * UNITS)
    if in_units > LARGEST_DEVIATION:
        raise ValueError(f"eps must be larger, about 1e-6 for each round; got {task.eps:g}")
    law = f"noise:1.0:{in_units}"
    name, of_each = "noise of aggregators", law
    if honest > 1:
        name, of_each = "shares of noise", f"1/{honest} of {law}"
    sigma = task.histogram_sigma / HISTOGRAM_SENSITIVITY  # the sum changes by 1 at most
    curator = "curator: with all values"
    return [
        _Noise(
            name,
            variance_of_shares(in_units, parties, honest) / UNITS**2,
            f"aggregators: {honest} of {parties}, to add noise and show only sums",
            f"{of_each} from each, sensitivity {UNITS}",
        ),
        _Noise(
            _CENTRAL_GEOMETRIC,
            variance_of_shares(in_units, 1, 1) / UNITS**2,
            curator,
            f"{law}, sensitivity {UNITS}",
        ),
        _Noise(
            _CENTRAL_GAUSSIAN,
            sigma**2,
            curator,
            f"sigma = {plain(sigma, 4, side=Side.UPPER)}, sensitivity 1",
        ),
    ]


def _fewest_users_of_noise(task: _Task, noise: _Noise, deviation: float) -> int | None:
    """The fewest users who reach the ``deviation`` with this noise on their sum, or None if 10^12 do not."""
    return least_whole(
        lambda n: _deviation_of_sum(task, noise, n, _WORST_ROUNDING) - deviation,
        guess=task.width * math.sqrt(noise.variance) / deviation / task.participation,
        least=task.least_n,
        most=int(LARGEST_N_OF_UPPER),
    )


def _noise_on_sum(task: _Task, noise: _Noise, n: int) -> MeanDesign:
    """The design in which this noise is added to the sum of the values of n users."""
    return MeanDesign(
        noise.name,
        n,
        deviation=_deviation_of_sum(task, noise, n, _WORST_ROUNDING),
        uniform_deviation=_deviation_of_sum(task, noise, n, _UNIFORM_ROUNDING),
        bits=UNITS.bit_length(),
        eps_if_it_fails=math.inf,
        trust=noise.trust,
        parameters=noise.parameters,
        levels=UNITS + 1,
        reference=noise.name in (_CENTRAL_GEOMETRIC, _CENTRAL_GAUSSIAN),
    )


def _deviation_of_sum(task: _Task, noise: _Noise, n: int, rounding: float) -> float:
    """The deviation of the mean of n users' values, each of which is rounded with this variance."""
    reports = task.reports(n)
    return task.width * math.sqrt(noise.variance + reports * rounding) / reports


def _check_range(value_range: object) -> tuple[float, float]:
    """The two ends of ``value_range``. ValueError unless they are two finite numbers in ascending order."""
    if not isinstance(value_range, tuple | list) or len(value_range) != 2:
        raise ValueError(f"value_range must be two numbers; got {value_range!r}")
    low = check_number("value_range", value_range[0], "two finite numbers", math.isfinite)
    wanted = f"two finite numbers, the second above {low:g}"
    high = check_number(
        "value_range", value_range[1], wanted, lambda high: low < high and high - low < math.inf
    )
    return low, high


def _check_deviation(deviation: float, width: float) -> float:
    """The checked ``deviation``, in the unit of the values, whose range has this ``width``."""
    number = float(check_one("deviation", check_positive("deviation", deviation)))
    if not 1 / _MOST_RANGES <= number / width <= _MOST_RANGES:
        raise ValueError(
            f"deviation must be from {1 / _MOST_RANGES:g} to {_MOST_RANGES:g} times the range of the values; "
            f"got {number:g} for a range of {width:g}"
        )
    return number

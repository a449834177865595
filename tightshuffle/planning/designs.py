"""Which design to run: every one at its best parameters for a guarantee, and what it costs.

A design is a way to publish how many of n users hold each of k values, in one or several rounds. All rounds
together are (eps, delta)-private for every dataset if one user's values change. The functions that find the
parameters of a design guarantee this; here the designs are compared.
"""

import functools
import math
from dataclasses import dataclass
from typing import Any

import scipy

from tightshuffle.arguments import (
    check_colluding,
    check_log10_delta,
    check_one,
    check_positive,
    check_rounds,
    check_whole,
    renamed,
)
from tightshuffle.collection import Collection, Dummies, Group
from tightshuffle.dummies.best_law import best_cut_law, smallest_poisson_mean
from tightshuffle.dummies.laws import Law, expected_tv, poisson
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale, geometric_error
from tightshuffle.krr import lie_probability, truth_probability
from tightshuffle.number_text import plain
from tightshuffle.numerics.roots import least_whole
from tightshuffle.planning.plan import Plan, expected_tv_gaussian, plan
from tightshuffle.points import (
    LARGEST_EPS0_OF_UPPER,
    LARGEST_K_OF_COLLECTION,
    LARGEST_N_OF_UPPER,
    LARGEST_ROUNDS,
    check_guarantee,
)
from tightshuffle.randomizers import parse
from tightshuffle.randomizers.expected_errors import mean_absolute
from tightshuffle.side import Side

MORE = 1.05  # error of k-RR with dummies over that of dummies alone: a smaller eps0 for a few percent
_DEEP = -1e3  # log10 of (delta / target delta); the search treats any smaller delta as 0


@dataclass(frozen=True)
class Design:
    """A design with the parameters that have the guarantee.

    ``error`` is half the sum over the values of the mean absolute error of the share of users who hold it,
    for uniform data, without projection. With one value per user it is the expected total variation error.
    ``users_per_value`` is the mean absolute error of a value's count, in users. ``messages_per_user`` are
    per round, dummies included.

    ``eps_if_it_fails`` is what is left for all rounds, with delta = 0, if the party that is trusted shows
    everything that it receives. It is math.inf if nothing is left. ``trust`` says who must be trusted with
    what, and ``parameters`` are in words.

    ``eps0`` is the local budget of one report, math.inf without local noise. ``dummies`` is how many there
    are of all values on average, per round, and ``law`` names that of their number per value
    (`dummies.laws`). ``reference`` is true for a mechanism of a curator who sees all values.
    """

    name: str
    error: float
    users_per_value: float
    messages_per_user: float
    eps_if_it_fails: float
    trust: str
    parameters: str
    eps0: float = math.inf
    dummies: float = 0.0
    law: str | None = None
    reference: bool = False


@dataclass(frozen=True)
class Comparison:
    """Designs for one guarantee, sorted by error. ``left_out``: name -> why a design is not among them."""

    designs: tuple[Design, ...]
    left_out: dict[str, str]


@renamed
def compare_designs(
    n: float,
    k: float,
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    rounds: int = 1,
    values_per_user: int = 1,
    colluding: float = 0,
) -> Comparison:
    """Every design for n users and k values, at its best parameters for (eps, delta).

    "dummies of the best law" are the best of one family: `best_cut_law`. k-RR with dummies has the
    smallest eps0, in tenths, with an error about 5 % above that of dummies alone.

    Parameters
    ----------
    n, k : int
        Numbers of users, up to 10^12, and of values, up to 10^7.
    eps, delta, log10_delta : float
        As for `planning.plan`.
    rounds : int
        In each all users report with fresh randomness. The guarantee is for all together.
    values_per_user : int
        The most different values that a user reports per round, all of which may change.
    colluding : float
        How many users reveal their reports, and the dummies of their devices, to the adversary. A number
        below 1 is a share of the users.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    n = check_whole("n", n, 1, int(LARGEST_N_OF_UPPER))
    k = check_whole("k", k, 2, LARGEST_K_OF_COLLECTION)
    values = check_whole("values_per_user", values_per_user, 1, k)
    rounds = int(check_one("rounds", check_rounds(rounds)))
    log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
    eps = check_guarantee(eps)
    largest = LARGEST_ROUNDS // (2 * values)  # a value that changes shows in two counts
    if rounds > largest:
        limit = f"at most {largest} where values_per_user is {values}"
        raise ValueError(f"rounds must be {limit}; got {rounds}")
    honest = n - int(check_one("colluding", check_colluding(colluding, n)))

    task = _Task(n, k, eps, log10_delta, rounds, values, colluding)
    mean = smallest_poisson_mean(
        eps,
        log10_delta=log10_delta,
        values_per_user=values,
        rounds=rounds,
    )
    best_law = best_cut_law(eps, log10_delta=log10_delta, values_per_user=values, rounds=rounds)
    designs = [
        _poisson_dummies_of_devices(task, mean, honest),
        _dummies_of_the_shuffler(task, best_law),
        _sums_only(task, "rappor", "RAPPOR"),
        _sums_only(task, "oue", "OUE"),
    ]

    left_out: dict[str, str] = {}
    if values == 1:
        krr = _krr(task)
        designs.append(krr)
        eps0, reason = _eps0_with_dummies(task, mean, least=krr.eps0)
        if eps0 is None:
            left_out["k-RR with dummies"] = reason
        else:
            designs.append(_krr_with_dummies(task, eps0, mean))
    else:
        for name in ("k-RR", "k-RR with dummies"):
            left_out[name] = "only for one report per user and round"

    designs += [_central_gaussian(task), _central_geometric(task)]
    return Comparison(tuple(sorted(designs, key=lambda design: design.error)), left_out)


@dataclass(frozen=True)
class _Task:
    """Counts of k values to be published, and the checked guarantee that all rounds together must have."""

    n: int
    k: int
    eps: float
    log10_delta: float
    rounds: int
    values_per_user: int
    colluding: float

    @property
    def changed_values(self) -> int:
        """How many values of one user change, in all rounds."""
        return self.rounds * self.values_per_user

    def design(self, name: str, error: float, **fields: Any) -> Design:
        """The design with this ``error``, also in users per value."""
        return Design(name, error, users_per_value=2 * error * self.n / self.k, **fields)

    def plan(self, **arguments: Any) -> Plan:
        """The plan of a randomizer for one round for each value that one user changes.

        A user's L values change L pairs of independent counts, as L rounds of one value do.
        """
        return plan(
            n=self.n,
            k=self.k,
            eps=self.eps,
            log10_delta=self.log10_delta,
            colluding=self.colluding,
            rounds=self.changed_values,
            **arguments,
        )


def _poisson_dummies_of_devices(task: _Task, mean: float, honest: int) -> Design:
    """Poisson dummies, of which ``honest`` devices add ``mean`` per value."""
    law = poisson(mean * task.n / honest)
    parameters = f"mean {plain(mean / honest, 4, side=Side.UPPER)} per device and value"
    trust = "shuffler: with all values, to mix; devices: to add dummies"
    return _values_with_dummies(task, "Poisson dummies, from devices", law, parameters, trust)


def _dummies_of_the_shuffler(task: _Task, law: Law) -> Design:
    trust = "shuffler: with all values, to mix, and to keep its dummies secret"
    return _values_with_dummies(task, "dummies of the best law", law, law.name, trust)


def _values_with_dummies(task: _Task, name: str, law: Law, parameters: str, trust: str) -> Design:
    """The design in which users send their values as they are, and dummies hide them.

    ``law`` is that of the number of dummies per value. ``name``, ``parameters`` and ``trust`` (whom one has
    to trust, and with what) are texts for the user. If the trusted party shows all, no finite eps is left.
    """
    return task.design(
        name,
        expected_tv(law, n=task.n, k=task.k),
        messages_per_user=task.values_per_user + task.k * law.mean / task.n,
        eps_if_it_fails=math.inf,
        trust=trust,
        parameters=parameters,
        dummies=task.k * law.mean,
        law=law.name,
    )


def _sums_only(task: _Task, randomizer: str, title: str) -> Design:
    """Bits of a unary encoding, of which only the sums are shown."""
    eps0 = task.plan(randomizer=randomizer, release="sums").eps0
    share = task.values_per_user / task.k
    variance = float(parse(randomizer, k=task.k, eps0=eps0).variance(share, task.n))
    return task.design(
        f"{title}, sums only",
        task.k / 2 * float(mean_absolute(math.sqrt(variance))),
        messages_per_user=1.0,
        eps_if_it_fails=task.changed_values * eps0,
        trust="aggregators: to show only sums",
        parameters=f"eps0 = {plain(eps0, 4, side=Side.LOWER)}",
        eps0=eps0,
    )


def _krr(task: _Task) -> Design:
    krr_plan = task.plan()
    return task.design(
        "k-RR",
        krr_plan.tv["shuffle+INV"],
        messages_per_user=1.0,
        eps_if_it_fails=task.rounds * krr_plan.eps0,
        trust="shuffler: to mix",
        parameters=f"eps0 = {plain(krr_plan.eps0, 4, side=Side.LOWER)}",
        eps0=krr_plan.eps0,
    )


def _krr_with_dummies(task: _Task, eps0: float, mean: float) -> Design:
    """k-RR with the fewest uniform dummies, about ``mean`` of which per value are enough alone."""
    dummies = fewest_dummies(
        task.n,
        task.k,
        task.eps,
        log10_delta=task.log10_delta,
        eps0=eps0,
        colluding=task.colluding,
        rounds=task.rounds,
        guess=mean,
    )
    return task.design(
        "k-RR with dummies",
        with_dummies(task.n, task.k, eps0, dummies, task.colluding).expected_error(),
        messages_per_user=1 + dummies / task.n,
        eps_if_it_fails=task.rounds * eps0,
        trust="shuffler: to mix, and to add dummies",
        parameters=f"eps0 = {eps0:g}, {dummies} dummies",
        eps0=eps0,
        dummies=dummies,
    )


def _central_gaussian(task: _Task) -> Design:
    sigma = _sigma(task.eps, task.log10_delta, task.changed_values)
    error = float(expected_tv_gaussian(task.n, task.k, sigma))
    return _central(task, "central Gaussian", error, f"sigma = {sigma:.4g}")


def _central_geometric(task: _Task) -> Design:
    error_of_count = float(geometric_error(task.eps / task.changed_values))
    return _central(task, "central geometric", task.k / 2 * error_of_count / task.n, "delta = 0")


def _central(task: _Task, name: str, error: float, parameters: str) -> Design:
    return task.design(
        name,
        error,
        messages_per_user=task.values_per_user,
        eps_if_it_fails=math.inf,
        trust="curator: with all values",
        parameters=parameters,
        reference=True,
    )


@renamed
def fewest_dummies(
    n: float,
    k: float,
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    eps0: float = math.inf,
    colluding: float = 0,
    rounds: int = 1,
    guess: float | None = None,
) -> int:
    """The fewest uniform dummies with which our bound makes shuffled k-RR (eps, delta)-private.

    There are ``n`` users and ``k`` values, up to 10^7. ``eps`` is above 0, ``delta`` in (0, 1), or
    ``log10_delta`` < 0 is given instead. ``eps0`` is at most 50, or math.inf if users send the values
    themselves. ``colluding`` users reveal their reports to the adversary; below 1 it is a share of the users.
    In each of the ``rounds`` there are so many dummies. Where it is known that some are needed, ``guess`` is
    how many per value are about enough alone, and the search starts there. ValueError names a bad argument;
    also if 10^12 dummies are too few.
    """
    n = check_whole("n", n, 1, int(LARGEST_N_OF_UPPER))
    k = check_whole("k", k, 2, LARGEST_K_OF_COLLECTION)
    eps = check_guarantee(eps)
    target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))

    @functools.cache
    def surplus(dummies: int) -> float:
        collection = with_dummies(n, k, eps0, dummies, colluding, rounds)
        return max(float(collection.log10_delta(eps)) - target_log10_delta, _DEEP)

    if guess is not None:
        mean = float(check_one("guess", check_positive("guess", guess)))
    elif surplus(0) <= 0:
        return 0
    else:
        mean = _sigma(eps, target_log10_delta, rounds) ** 2

    start = k * max(_dummies_per_value(n, k, eps0, mean), 1.0)
    fewest = least_whole(surplus, guess=start, least=1, most=int(LARGEST_N_OF_UPPER))
    if fewest is None:
        raise ValueError(
            f"eps must be larger: even {LARGEST_N_OF_UPPER:.0e} dummies are too few; got {eps:g}"
        )
    return fewest


def with_dummies(
    n: float, k: float, eps0: float, dummies: int, colluding: float = 0, rounds: int = 1
) -> Collection:
    """k-RR by n users, and uniform dummies by the shuffler."""
    group = Group("users", int(n), eps0, colluding=colluding)
    return Collection(int(k), (group,), dummies=Dummies(number=dummies), rounds=int(rounds))


def _sigma(eps: float, log10_delta: float, changed_values: int) -> float:
    """The Gaussian's standard deviation if one user changes two counts for each of so many values."""
    sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(changed_values)
    return float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))


def _dummies_per_value(n: int, k: int, eps0: float, mean: float) -> float:
    """Dummies per value with which an empty value's inverted count has the variance ``mean``."""
    lie, slope = 0.0, 1.0
    if eps0 != math.inf:
        lie = float(lie_probability(eps0, k))
        slope = float(truth_probability(eps0, k)) - lie
    return slope**2 * mean - n * lie * (1 - lie)


def _eps0_with_dummies(task: _Task, mean: float, *, least: float) -> tuple[float | None, str]:
    """The least eps0, in tenths, with about the error of ``mean`` Poisson dummies per value alone.

    By a normal approximation. None, and why, where k-RR alone has this error with ``least``, the largest eps0
    that it can have, or where it has a larger one at any eps0. The latter happens below about 1.7 dummies per
    value, whose number is far from normal.
    """
    n, k = task.n, task.k
    target_error = MORE * expected_tv(poisson(mean), n=n, k=k)

    def surplus(eps0: float) -> float:
        dummies = max(0, round(k * _dummies_per_value(n, k, eps0, mean)))
        return with_dummies(n, k, eps0, dummies).expected_error() - target_error

    if surplus(least) <= 0:
        return None, "k-RR alone is about as accurate"
    if surplus(LARGEST_EPS0_OF_UPPER) > 0:
        return None, f"at no eps0 is its error within {MORE - 1:.0%} of that of dummies alone"
    root = scipy.optimize.brentq(surplus, least, LARGEST_EPS0_OF_UPPER, xtol=0.01)
    return math.ceil(10 * root) / 10, ""

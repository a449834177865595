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
from tightshuffle.planning.plan import expected_tv_gaussian, plan
from tightshuffle.points import (
    LARGEST_EPS0_OF_UPPER,
    LARGEST_K_OF_COLLECTION,
    LARGEST_N_OF_UPPER,
    LARGEST_ROUNDS,
    check_guarantee,
)
from tightshuffle.randomizers import parse
from tightshuffle.randomizers.expected_errors import mean_absolute

MORE = 1.05  # error of k-RR with dummies over that of dummies alone: a smaller eps0 for a few percent
_DEEP = -1e3  # log10 of (delta / wanted delta); the search treats any smaller delta as 0


@dataclass(frozen=True)
class Design:
    """A design with the parameters that have the guarantee.

    ``error``: half the sum over the values of the mean absolute error of the share of users who hold it, for
    uniform data, without projection; with one value per user it is the expected total variation error.
    ``users_per_value``: the mean absolute error of a value's count, in users. ``messages_per_user``: per
    round, dummies included. ``eps_if_it_fails``: what is left for all rounds, with delta = 0, if the party
    that is trusted shows everything that it receives; math.inf if nothing is left. ``trust``: who must be
    trusted with what. ``parameters``: in words; ``eps0``: local budget of one report, math.inf without local
    noise; ``dummies``: how many there are of all values on average, per round; ``law``: that of their number
    per value (`dummies.laws`). ``reference``: a mechanism of a curator who sees all values.
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
    """Designs for one guarantee, sorted by error; ``left_out``: name -> why a design is not among them."""

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

    Parameters
    ----------
    n, k : whole numbers, n up to 10^12, k up to 10^7
    eps, delta, log10_delta : as for `planning.plan`
    rounds : in which all users report with fresh randomness; the guarantee is for all together
    values_per_user : the most different values that a user reports per round, all of which may change
    colluding : how many users reveal their reports, and the dummies of their devices, to the adversary; a
        number below 1 is a share of the users

    "dummies of the best law" are the best of one family: `best_cut_law`. k-RR with dummies has the
    smallest eps0, in tenths, with an error about 5 % above that of dummies alone.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    n, k = check_whole("n", n, 1, int(LARGEST_N_OF_UPPER)), check_whole("k", k, 2, LARGEST_K_OF_COLLECTION)
    values = check_whole("values_per_user", values_per_user, 1, k)
    rounds = int(check_one("rounds", check_rounds(rounds)))
    wanted = check_one("delta", check_log10_delta(delta, log10_delta))
    eps = check_guarantee(eps)
    most = LARGEST_ROUNDS // (2 * values)  # a value that changes shows in two counts
    if rounds > most:
        raise ValueError(f"rounds must be at most {most} where values_per_user is {values}; got {rounds}")
    honest = n - int(check_one("colluding", check_colluding(colluding, n)))
    asked = {"log10_delta": wanted, "colluding": colluding}

    def design(name: str, error: float, messages: float, left: float, trust: str, **more: Any) -> Design:
        return Design(name, error, 2 * error * n / k, messages, left, trust, **more)

    found: list[Design] = []
    left_out: dict[str, str] = {}
    sigma = _sigma(eps, wanted, rounds * values)
    mean = smallest_poisson_mean(eps, log10_delta=wanted, values_per_user=values, rounds=rounds)
    best = best_cut_law(eps, log10_delta=wanted, values_per_user=values, rounds=rounds)

    def of_law(name: str, law: Law, parameters: str, trust: str) -> Design:
        error, messages = expected_tv(law, n=n, k=k), values + k * law.mean / n
        more = {"parameters": parameters, "dummies": k * law.mean, "law": law.name}
        return design(name, error, messages, math.inf, trust, **more)

    alone = of_law(
        "Poisson dummies, from devices",
        poisson(mean * n / honest),
        f"mean {plain(mean / honest, 4, round_up=True)} per device and value",
        "shuffler: with all values, to mix; devices: to add dummies",
    )
    trust = "shuffler: with all values, to mix, and to keep its dummies secret"
    found += [alone, of_law("dummies of the best law", best, best.name, trust)]

    for key, title in (("rappor", "RAPPOR"), ("oue", "OUE")):
        # A user's L values change L pairs of independent counts, as L rounds of one value do.
        made = plan(n=n, k=k, eps=eps, randomizer=key, release="sums", rounds=rounds * values, **asked)
        variance = float(parse(key, k=k, eps0=made.eps0).variance(values / k, n))
        found.append(
            design(
                f"{title}, sums only",
                k / 2 * float(mean_absolute(math.sqrt(variance))),
                1.0,
                rounds * values * made.eps0,
                "aggregators: to show only sums",
                parameters=f"eps0 = {plain(made.eps0, 4, round_up=False)}",
                eps0=made.eps0,
            )
        )
    if values == 1:
        made = plan(n=n, k=k, eps=eps, rounds=rounds, **asked)
        more = {"parameters": f"eps0 = {plain(made.eps0, 4, round_up=False)}", "eps0": made.eps0}
        error = made.tv["shuffle+INV"]
        found.append(design("k-RR", error, 1.0, rounds * made.eps0, "shuffler: to mix", **more))
        eps0, why = _eps0_with_dummies(
            n, k, mean, MORE * expected_tv(poisson(mean), n=n, k=k), least=made.eps0
        )
        if eps0 is not None:
            number = fewest_dummies(n, k, eps, eps0=eps0, rounds=rounds, guess=mean, **asked)
            error = with_dummies(n, k, eps0, number, colluding).expected_error()
            more = {"parameters": f"eps0 = {eps0:g}, {number} dummies", "eps0": eps0, "dummies": number}
            trust = "shuffler: to mix, and to add dummies"
            found.append(design("k-RR with dummies", error, 1 + number / n, rounds * eps0, trust, **more))
        else:
            left_out["k-RR with dummies"] = why
    else:
        left_out |= dict.fromkeys(("k-RR", "k-RR with dummies"), "only for one report per user and round")

    for name, error, about in (
        ("central Gaussian", float(expected_tv_gaussian(n, k, sigma)), f"sigma = {sigma:.4g}"),
        ("central geometric", k / 2 * float(geometric_error(eps / (rounds * values))) / n, "delta = 0"),
    ):
        trust = "curator: with all values"
        found.append(design(name, error, values, math.inf, trust, parameters=about, reference=True))
    return Comparison(tuple(sorted(found, key=lambda one: one.error)), left_out)


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

    ``n`` users, ``k`` values up to 10^7; ``eps`` > 0; ``delta`` in (0, 1), or ``log10_delta`` < 0 instead.
    ``eps0`` is at most 50, or math.inf if users send the values themselves. ``colluding`` users reveal their
    reports to the adversary; below 1 it is a share of the users. ``rounds``: each with so many
    dummies. ``guess``: where it is known that some are needed, how many per value are about enough alone; the
    search starts there. ValueError names a bad argument; also if 10^12 dummies are too few.
    """
    n, k = check_whole("n", n, 1, int(LARGEST_N_OF_UPPER)), check_whole("k", k, 2, LARGEST_K_OF_COLLECTION)
    eps = check_guarantee(eps)
    wanted = check_one("delta", check_log10_delta(delta, log10_delta))

    @functools.cache
    def surplus(dummies: int) -> float:
        made = with_dummies(n, k, eps0, dummies, colluding, rounds)
        return max(float(made.log10_delta(eps)) - wanted, _DEEP)

    if guess is not None:
        guess = float(check_one("guess", check_positive("guess", guess)))
    else:
        if surplus(0) <= 0:
            return 0
        guess = _sigma(eps, wanted, rounds) ** 2
    found = least_whole(
        surplus, guess=k * max(_noise(n, k, eps0, guess), 1.0), least=1, most=int(LARGEST_N_OF_UPPER)
    )
    if found is None:
        raise ValueError(
            f"eps must be larger: even {LARGEST_N_OF_UPPER:.0e} dummies are too few; got {eps:g}"
        )
    return found


def with_dummies(
    n: float, k: float, eps0: float, dummies: int, colluding: float = 0, rounds: int = 1
) -> Collection:
    """k-RR by n users, and uniform dummies by the shuffler."""
    group = Group("users", int(n), eps0, colluding=colluding)
    return Collection(int(k), (group,), dummies=Dummies(number=dummies), rounds=int(rounds))


def _sigma(eps: float, log10_delta: float, changed: int) -> float:
    """The Gaussian's standard deviation if so many times one user changes two counts."""
    sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(changed)
    return float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))


def _noise(n: int, k: int, eps0: float, mean: float) -> float:
    """Dummies per value with which an empty value's inverted count has the variance ``mean``."""
    lie = 0.0 if eps0 == math.inf else float(lie_probability(eps0, k))
    slope = 1.0 if eps0 == math.inf else float(truth_probability(eps0, k)) - lie
    return slope**2 * mean - n * lie * (1 - lie)


def _eps0_with_dummies(
    n: int, k: int, mean: float, error: float, *, least: float
) -> tuple[float | None, str]:
    """The least eps0, in tenths, with this error, if ``mean`` Poisson dummies per value are enough alone.

    By a normal approximation. None, and why, where k-RR alone has this error with ``least``, the largest eps0
    that it can have, or where it has a larger one at any eps0. The latter happens below about 1.7 dummies per
    value, whose number is far from normal.
    """

    def surplus(eps0: float) -> float:
        number = max(0, round(k * _noise(n, k, eps0, mean)))
        return with_dummies(n, k, eps0, number).expected_error() - error

    if surplus(least) <= 0:
        return None, "k-RR alone is about as accurate"
    if surplus(LARGEST_EPS0_OF_UPPER) > 0:
        return None, f"at no eps0 is its error within {MORE - 1:.0%} of that of dummies alone"
    found = scipy.optimize.brentq(surplus, least, LARGEST_EPS0_OF_UPPER, xtol=0.01)
    return math.ceil(10 * found) / 10, ""

"""Every bound by name: its function, its kind, where it is valid, its source.

`delta` and `epsilon` compute by name. The command line, figures and tests loop over `METHODS`. Every module
of a bound is imported here. Those that need scipy write ``scipy.special.f``: scipy loads such a part on first
use, which takes as long as numpy.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers, check_at_most, check_choice, check_eps, check_log10_delta
from tightshuffle.bounds import histogram, inverse, single_value
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.bounds.rounds import Curve, Rounds, of_settings
from tightshuffle.literature import amplification, blanket, clones, count, koskela, renyi
from tightshuffle.setting import (
    LARGEST_COMPOSITIONS,
    LARGEST_EPS0,
    LARGEST_EPS0_OF_UPPER,
    LARGEST_N,
    LARGEST_N_OF_UPPER,
    Setting,
    make_setting,
)

UPPER, LOWER = "upper bound", "lower bound"
EXACT = "exact for one dataset"
KINDS = (UPPER, LOWER, EXACT)

_BISWAS = "Biswas, Jung, Palamidessi, Tight Differential Privacy Guarantees for the Shuffle Model (FPS 2023)"
_KOSKELA = "Koskela, Heikkilä, Honkela, Tight Accounting in the Shuffle Model of Differential Privacy"
_BALLE = "Balle, Bell, Gascón, Nissim, The Privacy Blanket of the Shuffle Model (CRYPTO 2019), section 5"
_FELDMAN = "Feldman, McMillan, Talwar, Hiding Among the Clones (2021), Theorem 3.1"


@dataclass(frozen=True)
class Method:
    """One bound on delta.

    ``kind`` is one of KINDS. ``valid`` says in which settings the bound is valid. ``source`` names paper and
    theorem. Several rounds are composed from the bound for one round (rounds.py), unless the function itself
    ``takes_compositions``. ``zero_from_eps0``: whether delta is 0 from eps = eps0 on.
    """

    name: str
    function: Callable[..., Floats]  # of one round: (eps, *, n, k, eps0, ...) -> log10 delta
    kind: str
    valid: str
    source: str
    needs_count: bool = False
    composes: bool = False
    takes_compositions: bool = False
    zero_from_eps0: bool = True
    randomizers: bool = False  # takes any randomizer, not only k-RR
    largest_n: int = LARGEST_N
    largest_eps0: float = LARGEST_EPS0

    @property
    def column(self) -> str:
        """The name of its columns in tables."""
        return self.name.replace("-", "_")


METHODS = {
    method.name: method
    for method in (
        Method(
            name="count-exact",
            function=count.delta,
            kind=EXACT,
            valid="the noisy count of x0 only, in the dataset with this --count; no guarantee",
            source=f"{_BISWAS}, Definition 11 and Theorem 1, corrected",
            needs_count=True,
        ),
        Method(
            name="lower",
            function=histogram.lower,
            kind=LOWER,
            valid="k-RR and other randomizers; the worst dataset has at least this delta; no guarantee",
            source="this project: the datasets in which all remaining users hold one value, or one of two at"
            " random (docs/worst_case.md)",
            randomizers=True,
            largest_n=LARGEST_N_OF_UPPER,
            largest_eps0=LARGEST_EPS0_OF_UPPER,
        ),
        Method(
            name="upper",
            function=histogram.upper,
            kind=UPPER,
            valid="k-RR and other randomizers, every dataset; close to lower wherever eps is small",
            source=f"{_BALLE}, Lemma 5.3, exactly; for k-RR {_KOSKELA}, sections 3.2 to 3.4 (weak adversary)",
            composes=True,
            randomizers=True,
            largest_n=LARGEST_N_OF_UPPER,
            largest_eps0=LARGEST_EPS0_OF_UPPER,
        ),
        Method(
            name="single-value",
            function=single_value.single_value,
            kind=UPPER,
            valid="k-RR and other randomizers, every dataset; close to lower for many users. hash:G with"
            " G > 2 needs hash functions that are independent for every three values",
            source="this project: the user in question is hidden among nearly all remaining users"
            " (docs/randomizers.md)",
            randomizers=True,
            largest_n=LARGEST_N_OF_UPPER,
            largest_eps0=LARGEST_EPS0_OF_UPPER,
        ),
        Method(
            name="erlingsson",
            function=amplification.erlingsson,
            kind=UPPER,
            valid="every eps0-LDP randomizer; n >= 1000, eps0 < 1/2, delta < 1/100",
            source="Erlingsson et al., Amplification by Shuffling (SODA 2019)",
        ),
        Method(
            name="balle-hoeffding",
            function=amplification.balle_hoeffding,
            kind=UPPER,
            valid="k-RR, every dataset",
            source=f"{_BALLE}, with Hoeffding's inequality",
        ),
        Method(
            name="balle-bennett",
            function=amplification.balle_bennett,
            kind=UPPER,
            valid="k-RR, every dataset",
            source=f"{_BALLE}, with Bennett's inequality",
        ),
        Method(
            name="feldman",
            function=amplification.feldman,
            kind=UPPER,
            valid="every eps0-LDP randomizer; eps0 <= log(n / (16 log(2 / delta)))",
            source=f"{_FELDMAN}, closed form",
        ),
        Method(
            name="clones",
            function=clones.clones,
            kind=UPPER,
            valid="every eps0-LDP randomizer, every dataset",
            source=f"{_FELDMAN}'s pair, computed exactly",
            composes=True,
        ),
        Method(
            name="stronger-clones",
            function=clones.stronger_clones,
            kind=UPPER,
            valid="k-RR, every dataset",
            source="Feldman, McMillan, Talwar, Stronger Privacy Amplification by Shuffling (SODA 2023),"
            " Theorem 3.1's pair, computed exactly",
            composes=True,
        ),
        Method(
            name="koskela-strong",
            function=koskela.koskela_strong,
            kind=UPPER,
            valid="k-RR, every dataset; not 0 at eps = eps0",
            source=f"{_KOSKELA}, section 3 (strong adversary)",
            composes=True,
            zero_from_eps0=False,
        ),
        Method(
            name="girgis",
            function=renyi.girgis,
            kind=UPPER,
            valid="every eps0-LDP randomizer with discrete reports, every dataset",
            source="Girgis et al., On the Renyi Differential Privacy of the Shuffle Model (CCS 2021),"
            " Theorem 3.1, Lemmas 2.1 and 2.2",
            composes=True,
            takes_compositions=True,
        ),
        Method(
            name="blanket",
            function=blanket.blanket,
            kind=UPPER,
            valid="every eps0-LDP randomizer, every dataset; not 0 at eps = eps0",
            zero_from_eps0=False,
            source="Biswas, Jung, Palamidessi, Tight Differential Privacy Blanket for Shuffle Model, eq. (3)",
        ),
    )
}


def delta(method: str, eps: npt.ArrayLike, **setting: Any) -> Floats:
    """log10 delta by the method of that name, -inf where delta is 0: else as `tightshuffle.delta`.

    n is at most 10^12 and eps0 at most 50 for upper, lower and single-value, else 10^9 and 20. Several rounds
    are at most 10^5.
    """
    chosen, settings, more, rounds = _asked(method, setting)
    eps = check_eps(eps)
    if chosen.takes_compositions or not chosen.composes:
        return chosen.function(eps, **settings, **more)
    *points, times = np.broadcast_arrays(eps, *settings.values(), rounds)
    several = times > 1
    result = np.empty(several.shape)
    if not np.all(several):
        one = [point[~several] for point in points]
        result[~several] = chosen.function(one[0], **dict(zip(settings, one[1:], strict=True)), **more)
    if np.any(several):
        some = [point[several] for point in points]
        make = functools.partial(_together, chosen, more)
        result[several] = of_settings(make, some[0], [*some[1:], times[several]])
    return result[()]


def epsilon(
    method: str,
    delta: npt.ArrayLike | None = None,
    *,
    log10_delta: npt.ArrayLike | None = None,
    **setting: Any,
) -> Floats:
    """The smallest eps at which the method guarantees ``delta``: `tightshuffle.epsilon` explains it.

    Rounded up by about 1e-10. For upper, log10 delta at this eps is up to 1e-5 below the wanted one; for
    lower, eps is rounded down.
    """
    chosen, settings, more, rounds = _asked(method, setting)
    wanted = check_log10_delta(delta, log10_delta)
    smooth = chosen.randomizers  # nearly delta of a Gaussian mechanism
    if chosen.takes_compositions or not (chosen.composes or smooth):
        return _epsilon_of_function(chosen, wanted, settings, rounds, more)
    values = np.broadcast_arrays(wanted, *settings.values(), rounds)
    result = np.empty(values[0].shape)
    for index in np.ndindex(result.shape):
        aim, *point, times = (value[index].item() for value in values)
        at = dict(zip(settings, point, strict=True))
        if times == 1 and smooth:
            result[index] = _epsilon_from_preview(chosen, aim, at, more)
        elif times == 1:
            result[index] = _epsilon_of_function(chosen, aim, at, times, more)
        else:
            together = _together(chosen, more, *(*point, times))
            eps = together.epsilon(aim)
            # The sum of the local budgets, rounded up where delta is 0 from there on.
            most = together.largest if chosen.zero_from_eps0 else times * at["eps0"]
            result[index] = eps if eps <= most else np.nan
    return result[()]


def _asked(method: str, setting: dict[str, Any]) -> tuple[Method, dict[str, Any], dict[str, Any], Integers]:
    """The method, n, k and eps0 for its function, the further arguments that it takes, and the rounds."""
    chosen, made = METHODS[check_choice("method", method, tuple(METHODS))], make_setting(**setting)
    check(chosen, made)
    more: dict[str, Any] = {}
    if made.randomizer != "grr":
        more["randomizer"] = made.randomizer
    if chosen.needs_count:
        more |= {"count": made.count, "direction": made.direction or "both"}
    if chosen.takes_compositions:
        more["compositions"] = made.compositions
    return chosen, {"n": made.hidden, "k": made.k, "eps0": made.eps0}, more, made.compositions


def _together(chosen: Method, more: dict[str, Any], n: float, k: float, eps0: float, times: float) -> Rounds:
    """delta of that many rounds, as a function of eps."""
    one = functools.partial(chosen.function, n=n, k=k, eps0=eps0, **more)
    return Rounds([(Curve(one, eps0 if chosen.zero_from_eps0 else np.inf), int(times))])


def _epsilon_from_preview(
    chosen: Method, wanted: float, setting: dict[str, Any], more: dict[str, Any]
) -> float:
    def log10_delta_at(eps: float) -> float:
        return float(chosen.function(eps, **setting, **more))

    # Rounded up for a guarantee. Rounded down for a lower bound: at this eps some dataset has this delta.
    return inverse.epsilon_from_gaussian(
        log10_delta_at,
        wanted,
        setting["eps0"],
        mu=float(gaussian_mu(**setting, **more)),
        round_up=chosen.kind == UPPER,
    )


def _epsilon_of_function(
    chosen: Method,
    wanted: npt.ArrayLike,
    settings: dict[str, Any],
    rounds: npt.ArrayLike,
    more: dict[str, Any],
) -> Floats:
    # The inverse searches up to the argument eps0: for several rounds, the sum of their budgets.
    def bound(eps: float, *, eps0: float, one_round: float, **arguments: Any) -> Floats:
        return chosen.function(eps, eps0=one_round, **arguments)

    settings = settings | {"eps0": settings["eps0"] * rounds, "one_round": settings["eps0"]}
    return inverse.epsilon(bound, log10_delta=wanted, **settings, **more)


def check(method: Method, setting: Setting) -> None:
    """ValueError naming the first argument that the method does not accept."""

    def able(what: str) -> str:
        return ", ".join(name for name, other in METHODS.items() if getattr(other, what))

    name, own = method.name, setting.randomizer != "grr"
    several = bool(np.any(setting.compositions > 1))
    if own and not method.randomizers:
        raise ValueError(f"randomizer must be grr for {name}; other randomizers: {able('randomizers')}")
    check_at_most("compositions", setting.compositions, LARGEST_COMPOSITIONS)
    check_at_most("n", setting.n, method.largest_n)
    check_at_most("eps0", setting.eps0, method.largest_eps0)
    if several and not method.composes:
        raise ValueError(f"compositions must be 1 for {name}; for more rounds use {able('composes')}")
    for part in () if method.needs_count else ("count", "direction"):
        if getattr(setting, part) is not None:
            raise ValueError(f"{part} must be left out for {name}: only {able('needs_count')} uses it")
    if method.needs_count and setting.count is None:
        raise ValueError(f"count must be given for {name}: the number of remaining users who hold x0")

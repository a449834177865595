"""Every bound by name: what computes it, its kind, where it is valid, its source.

Modules of bounds that need scipy write ``scipy.special.f``: scipy loads such a part on first use, which takes
as long as numpy.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_at_most, check_choice, check_eps
from tightshuffle.bounds import histogram, single_value, upper
from tightshuffle.literature import amplification, blanket, clones, koskela
from tightshuffle.literature.invertible import Count, Girgis, OneRound, Pair
from tightshuffle.setting import LARGEST_EPS0, LARGEST_EPS0_OF_UPPER, LARGEST_N, LARGEST_N_OF_UPPER, Setting

UPPER, LOWER = "upper bound", "lower bound"
EXACT = "exact for one dataset"

_BISWAS = "Biswas, Jung, Palamidessi, Tight Differential Privacy Guarantees for the Shuffle Model (FPS 2023)"
_KOSKELA = "Koskela, Heikkilä, Honkela, Tight Accounting in the Shuffle Model of Differential Privacy"
_BALLE = "Balle, Bell, Gascón, Nissim, The Privacy Blanket of the Shuffle Model (CRYPTO 2019), section 5"
_FELDMAN = "Feldman, McMillan, Talwar, Hiding Among the Clones (2021), Theorem 3.1"


class Bound(Protocol):
    """A bound on delta, and its inverse. All arguments are checked, and broadcast."""

    def log10_delta(self, eps: npt.ArrayLike, setting: Setting, /) -> Floats:
        """log10 delta at ``eps``; -inf where delta is 0."""

    def epsilon(self, wanted: Floats, setting: Setting, /) -> Floats:
        """The eps at log10 delta = ``wanted``, rounded up (a lower bound's down); nan where there is none."""


@dataclass(frozen=True)
class Method:
    """One bound on delta. ``valid``: in which settings. ``source``: paper and theorem."""

    name: str
    bound: Bound
    kind: str
    valid: str
    source: str
    needs_count: bool = False
    composes: bool = False
    randomizers: bool = False  # takes any randomizer, not only k-RR
    largest_n: int = LARGEST_N
    largest_eps0: float = LARGEST_EPS0

    @property
    def column(self) -> str:
        """The name of its columns in tables."""
        return self.name.replace("-", "_")


_LARGEST = {"largest_n": LARGEST_N_OF_UPPER, "largest_eps0": LARGEST_EPS0_OF_UPPER}
_OF_ANY_RANDOMIZER: dict[str, Any] = {"randomizers": True, **_LARGEST}

METHODS = {
    method.name: method
    for method in (
        Method(
            name="count-exact",
            bound=Count(),
            kind=EXACT,
            valid="the noisy count of x0 only, in the dataset with this --count; no guarantee",
            source=f"{_BISWAS}, Definition 11 and Theorem 1, corrected",
            needs_count=True,
        ),
        Method(
            name="lower",
            bound=histogram.Side(round_up=False),
            kind=LOWER,
            valid="k-RR and other randomizers; the worst dataset has at least this delta; no guarantee",
            source="this project: the datasets in which all other users hold one value, or one of two at"
            " random",
            **_OF_ANY_RANDOMIZER,
        ),
        Method(
            name="upper",
            bound=upper,
            kind=UPPER,
            valid="k-RR and other randomizers, every dataset; close to lower wherever eps is small",
            source="the smaller one of privacy-blanket and single-value;"
            " for hash:G with G > 2, see single-value",
            composes=True,
            **_OF_ANY_RANDOMIZER,
        ),
        Method(
            name="privacy-blanket",
            bound=histogram.Side(round_up=True),
            kind=UPPER,
            valid="k-RR and other randomizers, every dataset; close to lower for k-RR wherever eps is small",
            source=f"{_BALLE}, Lemma 5.3, exactly; for k-RR {_KOSKELA}, sections 3.2 to 3.4 (weak adversary)",
            **_OF_ANY_RANDOMIZER,
        ),
        Method(
            name="single-value",
            bound=single_value,
            kind=UPPER,
            valid="k-RR and other randomizers, every dataset; close to lower for many users. hash:G with"
            " G > 2 needs hash functions that are independent for every three values",
            source="this project: the target user is hidden among nearly all other users",
            **_OF_ANY_RANDOMIZER,
        ),
        Method(
            name="erlingsson",
            bound=OneRound(amplification.erlingsson),
            kind=UPPER,
            valid="every eps0-LDP randomizer; n >= 1000, eps0 < 1/2, delta < 1/100",
            source="Erlingsson et al., Amplification by Shuffling (SODA 2019)",
        ),
        Method(
            name="balle-hoeffding",
            bound=OneRound(amplification.balle_hoeffding),
            kind=UPPER,
            valid="k-RR, every dataset",
            source=f"{_BALLE}, with Hoeffding's inequality",
        ),
        Method(
            name="balle-bennett",
            bound=OneRound(amplification.balle_bennett),
            kind=UPPER,
            valid="k-RR, every dataset",
            source=f"{_BALLE}, with Bennett's inequality",
        ),
        Method(
            name="feldman",
            bound=OneRound(amplification.feldman),
            kind=UPPER,
            valid="every eps0-LDP randomizer; eps0 <= log(n / (16 log(2 / delta)))",
            source=f"{_FELDMAN}, closed form",
        ),
        Method(
            name="clones",
            bound=Pair(clones.clones),
            kind=UPPER,
            valid="every eps0-LDP randomizer, every dataset",
            source=f"{_FELDMAN}'s pair, computed exactly",
            composes=True,
        ),
        Method(
            name="stronger-clones",
            bound=Pair(clones.stronger_clones),
            kind=UPPER,
            valid="k-RR, every dataset",
            source="Feldman, McMillan, Talwar, Stronger Privacy Amplification by Shuffling (SODA 2023),"
            " Theorem 3.1's pair, computed exactly",
            composes=True,
        ),
        Method(
            name="koskela-strong",
            bound=Pair(koskela.koskela_strong, zero_from_eps0=False),
            kind=UPPER,
            valid="k-RR, every dataset; not 0 at eps = eps0",
            source=f"{_KOSKELA}, section 3 (strong adversary)",
            composes=True,
        ),
        Method(
            name="girgis",
            bound=Girgis(),
            kind=UPPER,
            valid="every eps0-LDP randomizer with discrete reports, every dataset",
            source="Girgis et al., On the Renyi Differential Privacy of the Shuffle Model (CCS 2021),"
            " Theorem 3.1, Lemmas 2.1 and 2.2",
            composes=True,
        ),
        Method(
            name="blanket",
            bound=OneRound(blanket.blanket),
            kind=UPPER,
            valid="every eps0-LDP randomizer, every dataset; not 0 at eps = eps0",
            source="Biswas, Jung, Palamidessi, Tight Differential Privacy Blanket for Shuffle Model, eq. (3)",
        ),
    )
}


def log10_delta(method: str, eps: npt.ArrayLike, setting: Setting) -> Floats:
    """log10 delta at ``eps`` by the method of that name, -inf where delta is 0."""
    return chosen(method, setting).bound.log10_delta(check_eps(eps), setting)


def chosen(method: str, setting: Setting) -> Method:
    """The method of that name; ValueError naming the first argument that it does not accept."""
    own = METHODS[check_choice("method", method, tuple(METHODS))]
    if setting.randomizer != "grr" and not own.randomizers:
        able = ", ".join(other.name for other in METHODS.values() if other.randomizers)
        raise ValueError(f"randomizer must be grr for {method}; other randomizers: {able}")
    if setting.release != "reports" and method != "upper":
        raise ValueError(f"release must be 'reports' for {method}; sums: upper")
    check_at_most("n", setting.n, own.largest_n)
    check_at_most("eps0", setting.eps0, own.largest_eps0)
    if np.any(setting.compositions > 1) and not own.composes:
        able = ", ".join(other.name for other in METHODS.values() if other.composes)
        raise ValueError(f"compositions must be 1 for {method}; for more rounds use {able}")
    for part, value in {"count": setting.count, "direction": setting.direction}.items():
        if value is not None and not own.needs_count:
            able = ", ".join(other.name for other in METHODS.values() if other.needs_count)
            raise ValueError(f"{part} must be left out for {method}: only {able} uses it")
    if own.needs_count and setting.count is None:
        raise ValueError(f"count must be given for {method}: the number of other users who hold x0")
    return own

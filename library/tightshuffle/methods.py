"""Every bound by name: what each method is, where it is valid, its source, and its delta and eps.

Modules of bounds that need scipy write ``scipy.special.f``: scipy loads such a part on first use, which takes
as long as numpy.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from tightshuffle.arguments import Floats, check_at_most, check_choice
from tightshuffle.bounds import guarantee, pairs_of_matrix, privacy_blanket, rounds, single_value
from tightshuffle.bounds.densities import epsilon_of_round
from tightshuffle.bounds.inverse import smallest_eps
from tightshuffle.collection import one_group
from tightshuffle.literature import amplification, biswas_blanket, clones, count, koskela, renyi
from tightshuffle.numerics.side import Side
from tightshuffle.points import (
    LARGEST_EPS0,
    LARGEST_EPS0_OF_UPPER,
    LARGEST_N,
    LARGEST_N_OF_UPPER,
    Points,
)
from tightshuffle.randomizers import Density, WorstPair

UPPER, LOWER = "upper bound", "lower bound"
EXACT = "exact for one dataset"

_BISWAS = "Biswas, Jung, Palamidessi, Tight Differential Privacy Guarantees for the Shuffle Model (FPS 2023)"
_KOSKELA = (
    "Koskela, Heikkilä, Honkela, Tight Accounting in the Shuffle Model of Differential Privacy"
)
_BALLE = (
    "Balle, Bell, Gascón, Nissim, The Privacy Blanket of the Shuffle Model (CRYPTO 2019), section 5"
)
_FELDMAN = "Feldman, McMillan, Talwar, Hiding Among the Clones (2021), Theorem 3.1"


@dataclass(frozen=True)
class Method:
    """One bound on delta, by default a theorem about one round, which does not compose.

    Attributes
    ----------
    ln_bound : function Points -> ln delta (points,)
        For a method that composes, of one round or of all rounds, as its class says.
    valid, source, kind : str
        In which settings it holds; paper and theorem; an upper or lower bound, or exact for one dataset.
    needs_count, composes, takes_participation : bool
        Whether it needs the argument ``count``, accepts more than one round, and a participation below 1.
    largest_n, largest_eps0 : number
        Beyond them it is too slow or loses too many digits.
    """

    name: str
    ln_bound: Callable[[Points], Floats]
    valid: str
    source: str
    kind: str = UPPER
    needs_count: bool = False
    composes: bool = False
    takes_participation: bool = False
    takes_any_randomizer: bool = False  # else k-RR only
    takes_densities: bool = False
    largest_n: int = LARGEST_N
    largest_eps0: float = LARGEST_EPS0

    def remark(self, randomizer: object) -> str:
        """What a reader of the bound has to know about it for this ``randomizer``; mostly nothing, ""."""
        return ""

    @property
    def column(self) -> str:
        """The name of its columns in tables."""
        return self.name.replace("-", "_")

    @property
    def side(self) -> Side | None:
        """To which side its delta is rounded; None for the nearest float."""
        return {UPPER: Side.UPPER, LOWER: Side.LOWER}.get(self.kind)

    def ln_delta(self, points: Points) -> Floats:
        """ln delta of all rounds; (points,). -inf where delta is 0, nan outside of the theorem."""
        return self.ln_bound(points)

    def epsilon(self, target_ln_delta: float, point: Points) -> float:
        """The eps at which delta is e^``target_ln_delta``, on the method's side; nan if there is none."""
        eps_without_shuffler = (point.rounds * point.eps0).item()
        return smallest_eps(self._ln_delta_at(point), target_ln_delta, eps_without_shuffler)

    def _ln_delta_at(self, point: Points) -> Callable[[float], float]:
        """The bound as a function of eps: ``point`` gives all other arguments."""
        return lambda eps: float(self.ln_bound(point.with_eps(eps))[0])


@dataclass(frozen=True)
class PairMethod(Method):
    """delta of a pair of distributions that dominates every dataset's in one round: such pairs compose.

    ``zero_from_eps0``: whether that delta is 0 from eps = eps0 on.
    """

    composes: bool = True
    zero_from_eps0: bool = True

    def ln_delta(self, points: Points) -> Floats:
        return rounds.ln_delta(self.ln_bound, points, zero_from_eps0=self.zero_from_eps0)

    def epsilon(self, target_ln_delta: float, point: Points) -> float:
        if point.rounds.item() > 1:
            zero_from_eps0 = self.zero_from_eps0
            return rounds.epsilon(
                self.ln_bound, target_ln_delta, point, zero_from_eps0=zero_from_eps0
            )
        eps0 = point.eps0.item()
        return smallest_eps(self._ln_delta_at(point), target_ln_delta, eps0, falls=True)


@dataclass(frozen=True)
class OwnMethod(Method):
    """A bound of this project on one round of any randomizer: its delta is nearly that of a Gaussian."""

    takes_any_randomizer: bool = True
    takes_densities: bool = True
    largest_n: int = LARGEST_N_OF_UPPER
    largest_eps0: float = LARGEST_EPS0_OF_UPPER

    def ln_delta(self, points: Points) -> Floats:
        if points.participation < 1:
            return one_group.ln_delta(points, self._own_side)
        return super().ln_delta(points)

    def epsilon(self, target_ln_delta: float, point: Points) -> float:
        if point.participation < 1:
            return one_group.epsilon(target_ln_delta, point, self._own_side)
        return self._epsilon_of_all(target_ln_delta, point)

    def _epsilon_of_all(self, target_ln_delta: float, point: Points) -> float:
        """`epsilon` if all users take part."""
        return epsilon_of_round(self.ln_bound, target_ln_delta, point, self._own_side)

    @property
    def _own_side(self) -> Side:
        return Side.LOWER if self.kind == LOWER else Side.UPPER


@dataclass(frozen=True)
class GuaranteeMethod(OwnMethod):
    """The guarantee, which composes rounds and knows sums."""

    composes: bool = True

    def remark(self, randomizer: object) -> str:
        if guarantee.is_blanket_alone(randomizer):
            most = pairs_of_matrix.LARGEST_MATRIX
            return f"by privacy-blanket alone, as the matrix has more than {most} values"
        return ""

    def _epsilon_of_all(self, target_ln_delta: float, point: Points) -> float:
        return guarantee.epsilon_of_upper(target_ln_delta, point)


def _ln_of_count(points: Points) -> Floats:
    """ln delta of the noisy count of x0 alone, in the dataset where ``points.count`` other users hold x0.

    (points,). It is the larger one of both directions unless ``points.direction`` names one of them.
    """
    assert points.count is not None  # `chosen_method` asks for it
    return count.ln_delta_of_count(
        points.eps,
        n=points.honest_users,
        k=points.k,
        eps0=points.eps0,
        count=points.count,
        direction="both" if points.direction is None else points.direction,
    )


METHODS = {
    method.name: method
    for method in (
        Method(
            name="count-exact",
            ln_bound=_ln_of_count,
            kind=EXACT,
            valid="the noisy count of x0 only, in the dataset with this --count; no guarantee",
            source=f"{_BISWAS}, Definition 11 and Theorem 1, corrected",
            needs_count=True,
        ),
        OwnMethod(
            name="lower",
            ln_bound=guarantee.ln_lower_of_round,
            kind=LOWER,
            takes_participation=True,
            valid="k-RR and other randomizers; the worst dataset has at least this delta; no guarantee",
            source="this project: the datasets in which all other users hold one value, or one of two at"
            " random",
        ),
        GuaranteeMethod(
            name="upper",
            ln_bound=guarantee.ln_upper,
            takes_participation=True,
            valid="k-RR and other randomizers, every dataset; close to lower for k-RR, and mostly for others",
            source="the smaller one of privacy-blanket and single-value;"
            " for hash:G with G > 2, see single-value",
        ),
        OwnMethod(
            name="privacy-blanket",
            ln_bound=privacy_blanket.ln_upper,
            valid="k-RR and other randomizers, every dataset; close to lower for k-RR wherever eps is small",
            source=f"{_BALLE}, Lemma 5.3, exactly; for k-RR {_KOSKELA}, sections 3.2 to 3.4 (weak adversary)",
        ),
        OwnMethod(
            name="single-value",
            ln_bound=single_value.ln_upper,
            takes_densities=False,
            valid="k-RR and other randomizers, every dataset; close to lower for many users. hash:G with"
            " G > 2 needs hash functions that are independent for every three values",
            source="this project: the target user is hidden among nearly all other users",
        ),
        Method(
            name="erlingsson",
            ln_bound=amplification.ln_erlingsson,
            valid="every eps0-LDP randomizer; n >= 1000, eps0 < 1/2, delta < 1/100",
            source="Erlingsson et al., Amplification by Shuffling (SODA 2019)",
        ),
        Method(
            name="balle-hoeffding",
            ln_bound=amplification.ln_balle_hoeffding,
            valid="k-RR, every dataset",
            source=f"{_BALLE}, with Hoeffding's inequality",
        ),
        Method(
            name="balle-bennett",
            ln_bound=amplification.ln_balle_bennett,
            valid="k-RR, every dataset",
            source=f"{_BALLE}, with Bennett's inequality",
        ),
        Method(
            name="feldman",
            ln_bound=amplification.ln_feldman,
            valid="every eps0-LDP randomizer; eps0 <= log(n / (16 log(2 / delta)))",
            source=f"{_FELDMAN}, closed form",
        ),
        PairMethod(
            name="clones",
            ln_bound=clones.ln_clones,
            valid="every eps0-LDP randomizer, every dataset",
            source=f"{_FELDMAN}'s pair, computed exactly",
        ),
        PairMethod(
            name="stronger-clones",
            ln_bound=clones.ln_stronger_clones,
            valid="k-RR, every dataset",
            source="Feldman, McMillan, Talwar, Stronger Privacy Amplification by Shuffling (SODA 2023),"
            " Theorem 3.1's pair, computed exactly",
        ),
        PairMethod(
            name="koskela-strong",
            ln_bound=koskela.ln_koskela_strong,
            zero_from_eps0=False,
            valid="k-RR, every dataset; not 0 at eps = eps0",
            source=f"{_KOSKELA}, section 3 (strong adversary)",
        ),
        Method(
            name="girgis",
            ln_bound=renyi.ln_girgis,
            valid="every eps0-LDP randomizer with discrete reports, every dataset",
            source="Girgis et al., On the Renyi Differential Privacy of the Shuffle Model (CCS 2021),"
            " Theorem 3.1, Lemmas 2.1 and 2.2",
            composes=True,
        ),
        Method(
            name="blanket",
            ln_bound=biswas_blanket.ln_blanket,
            valid="every eps0-LDP randomizer, every dataset; not 0 at eps = eps0",
            source="Biswas, Jung, Palamidessi, Tight Differential Privacy Blanket for Shuffle Model, eq. (3)",
        ),
    )
}


def chosen_method(name: str, points: Points) -> Method:
    """The method of that name; ValueError naming the first argument that it does not accept."""
    method = METHODS[check_choice("method", name, tuple(METHODS))]
    if points.randomizer != "grr" and not method.takes_any_randomizer:
        able = _names(method for method in METHODS.values() if method.takes_any_randomizer)
        raise ValueError(f"randomizer must be grr for {name}; other randomizers: {able}")
    if name == "single-value" and any(isinstance(each, WorstPair) for each in points.randomizers):
        raise ValueError(
            "randomizer must not be support for single-value, which asks for third values; use upper"
        )
    if points.release != "reports" and name != "upper":
        raise ValueError(f"release must be 'reports' for {name}; sums: upper")

    if points.participation < 1 and not method.takes_participation:
        able = _names(method for method in METHODS.values() if method.takes_participation)
        raise ValueError(f"participation must be 1 for {name}; below 1: {able}")

    check_at_most("n", points.n, method.largest_n)
    if isinstance(points.randomizer, Density):
        if not method.takes_densities:
            able = _names(method for method in METHODS.values() if method.takes_densities)
            raise ValueError(f"randomizer must be no density for {name}; densities: {able}")
    else:
        check_at_most("eps0", points.eps0, method.largest_eps0)
    if np.any(points.rounds > 1) and not method.composes:
        able = _names(method for method in METHODS.values() if method.composes)
        raise ValueError(f"rounds must be 1 for {name}; for more rounds use {able}")

    for argument, value in {"count": points.count, "direction": points.direction}.items():
        if value is not None and not method.needs_count:
            able = _names(method for method in METHODS.values() if method.needs_count)
            raise ValueError(f"{argument} must be left out for {name}: only {able} uses it")
    if method.needs_count and points.count is None:
        raise ValueError(f"count must be given for {name}: the number of other users who hold x0")
    return method


def _names(methods: Iterable[Method]) -> str:
    return ", ".join(method.name for method in methods)

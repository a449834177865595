"""Shuffled rounds in Google's accountant: an event, and an accountant that composes it with all others.

This module needs dp-accounting (the extra ``pld``). Neighbours differ in one user's value, so the accountant
asks for ``NeighboringRelation.REPLACE_ONE``.
"""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tightshuffle.arguments import check_installed, check_number
from tightshuffle.bounds.guarantee import end_of_losses, ln_upper_of_round
from tightshuffle.bounds.pld import dominating_losses
from tightshuffle.bounds.rounds import BoundAtDepth, Composition
from tightshuffle.numerics.loss_grid import ComposedLosses, LossGrid
from tightshuffle.numerics.powers import delta_of_log10
from tightshuffle.numerics.side import Side
from tightshuffle.points import make_point

try:
    import attr
    from dp_accounting import NeighboringRelation
    from dp_accounting.dp_event import (
        ComposedDpEvent,
        DpEvent,
        GaussianDpEvent,
        SelfComposedDpEvent,
    )
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.pld.pld_pmf import PLDPmf
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution
except ModuleNotFoundError:
    check_installed("pld", "dp_accounting")
    raise


@attr.s(frozen=True, auto_attribs=True)
class ShuffledDpEvent(DpEvent):  # type: ignore[misc]
    """One round of the shuffle model: each of n users sends one report, and all reports are released mixed.

    The mechanism: user i holds one of k values and turns it into a report with a local randomizer, which is
    eps0-private, with fresh randomness and independently of all other users. A shuffler releases the multiset
    of the n reports. ``colluding`` users reveal their own reports to the adversary.

    The neighbours: two datasets of the same n users that differ in the value of one user who does not
    collude (``NeighboringRelation.REPLACE_ONE``).

    The promise: for every dataset, the release is at most as revealing as the dominating pair that
    `tightshuffle.to_pld` gives for these attributes, whatever the values of the other users are. It also
    holds for a value that depends on earlier releases. So several rounds of the same users are a
    ``SelfComposedDpEvent`` of this event. `ShuffleAccountant` keeps this promise at every delta; for shuffled
    rounds alone, ``tightshuffle.epsilon(rounds=...)`` does so, too.

    The event is immutable, and its meaning is fixed: a mechanism that needs another attribute, or another
    meaning of one, becomes another event.

    Attributes
    ----------
    n : int, from 1 to 10^12
        Users who send a report.
    k : int, at least 2
        Values.
    eps0 : float, above 0 and at most 50
        Local budget of one report.
    randomizer : str
        A name that `tightshuffle.randomizers.parse` takes; "grr" is k-randomized response.
    colluding : int or float, at least 0
        Users who reveal their reports to the adversary; a number below 1 is a share of the n users.

    Raises
    ------
    ValueError that names a bad attribute, so that an accountant is not left with half of a composition.
    """

    n: int
    k: int
    eps0: float
    randomizer: str = "grr"
    colluding: float = 0

    def __attrs_post_init__(self) -> None:
        make_point(**attr.asdict(self))


class ShuffleAccountant(PLDAccountant):  # type: ignore[misc]
    """dp-accounting's ``PLDAccountant``, which also knows `ShuffledDpEvent`, and composes by our own rules.

    dp-accounting composes with Fourier transforms whose rounding is absolute, has either sign, and grows with
    the rounds. After 10,000 rounds it was 5e-13: delta could be negative, and eps too small. This accountant
    keeps the losses of every mechanism and composes them as `tightshuffle.epsilon` composes rounds
    (`numerics.loss_grid`): delta is never below 0, and includes an allowance for every transform, which grows
    with the rounds and the logarithm of the length and shrinks with delta. For all shuffled rounds the
    guarantee is proven so. Of any other mechanism dp-accounting's distribution of one release is taken as it
    is.

    Losses beyond the eps at which a shuffled round has delta = 10^-20 count as infinite. So eps may be inf
    for delta below 10^-20 times the rounds. ``tightshuffle.epsilon(rounds=...)`` has no such limit.

    Parameters: ``value_discretization_interval`` of all privacy losses. Its ledger, ``supports`` and
    dp-accounting's ``calibrate_dp_mechanism`` work as with any accountant.
    """

    def __init__(self, value_discretization_interval: float = 1e-4) -> None:
        check_number(
            "value_discretization_interval",
            value_discretization_interval,
            "a number above 0 and finite",
            lambda x: 0 < x < math.inf,
        )
        super().__init__(NeighboringRelation.REPLACE_ONE, value_discretization_interval)
        # The losses of one release of every mechanism, and how often it is released.
        self._releases: dict[Any, tuple[_Losses, int]] = {}

    def _maybe_compose(self, event: DpEvent, count: int, do_compose: bool) -> Any:
        """dp-accounting's ``CompositionErrorDetails`` of an event that cannot be composed, else None.

        If ``do_compose``, the event is also composed ``count`` times. dp-accounting calls this method with
        ``do_compose`` False first. Only if the result is None does it call it again with True.
        `ShuffledDpEvent` can always be composed. Of another event, dp-accounting makes the losses; if it has
        parts, it calls this method for each.
        """
        has_parts = isinstance(event, ComposedDpEvent | SelfComposedDpEvent)
        is_shuffled = isinstance(event, ShuffledDpEvent)
        if not do_compose or has_parts:
            return None if is_shuffled else super()._maybe_compose(event, count, do_compose)

        # Many Gaussians are one, with less noise.
        is_one = isinstance(event, GaussianDpEvent)
        key = object() if is_one or not _is_hashable(event) else event
        if key in self._releases:
            losses, times = self._releases[key]
            self._releases[key] = (losses, times + count)
        elif is_shuffled:
            losses = _losses_of_round(
                int(event.n),
                int(event.k),
                float(event.eps0),
                event.randomizer,
                float(event.colluding),
                spacing=self._value_discretization_interval,
            )
            self._releases[key] = (losses, count)
        else:
            kept = _KeptLosses(self._value_discretization_interval)
            self._pld: Any = kept
            super()._maybe_compose(event, count if is_one else 1, do_compose)
            # Nothing is kept of an event that reveals nothing, or everything, which dp-accounting notes.
            if kept.losses is not None:
                self._releases[key] = (kept.losses, 1 if is_one else count)
        return None

    def get_epsilon(self, target_delta: float) -> float:
        """The smallest eps at which delta is at most ``target_delta``, rounded up; inf if there is none."""
        if self._contains_non_dp_event:
            return math.inf
        if target_delta >= 1:
            return 0.0
        if target_delta == 0:
            return max(composition.largest for composition in self._directions)
        ln_delta = math.log(target_delta)
        eps = [composition.epsilon_of(ln_delta) for composition in self._directions]
        return math.inf if any(map(math.isnan, eps)) else max(eps)

    def get_delta(self, target_epsilon: float) -> float:
        """An upper bound on delta at ``target_epsilon``, from 0 to 1."""
        if self._contains_non_dp_event:
            return 1.0
        eps = np.array([target_epsilon], dtype=float)
        ln_deltas = [composition.ln_delta(eps).item() for composition in self._directions]
        return float(delta_of_log10(np.max(ln_deltas) / np.log(10), Side.UPPER))

    @property
    def _directions(self) -> list["_Composed"]:
        """All releases together, in each direction; one of the two, if both are the same."""
        nothing = LossGrid(0, float(self._value_discretization_interval), np.zeros(1), -math.inf)
        releases = list(self._releases.values()) or [(_Losses(nothing, nothing), 1)]
        forward = [(losses.forward, times) for losses, times in releases]
        reverse = [(losses.reverse, times) for losses, times in releases]
        is_symmetric = all(losses.forward is losses.reverse for losses, _ in releases)
        return [_Composed(forward)] if is_symmetric else [_Composed(forward), _Composed(reverse)]


class _Losses(NamedTuple):
    """The privacy losses of one release of a mechanism, in both directions of a pair of neighbours."""

    forward: LossGrid
    reverse: LossGrid


class _KeptLosses:
    """Stands for the accountant's privacy loss distribution: it keeps what is composed with it."""

    def __init__(self, spacing: float) -> None:
        self.spacing = spacing
        self.losses: _Losses | None = None

    def compose(self, distribution: PrivacyLossDistribution) -> "_KeptLosses":
        """Keep dp-accounting's ``distribution`` of one release."""
        forward = self._grid(distribution._pmf_remove)
        is_symmetric = distribution._pmf_add is distribution._pmf_remove
        reverse = forward if is_symmetric else self._grid(distribution._pmf_add)
        self.losses = _Losses(forward, reverse)
        return self

    def _grid(self, masses: PLDPmf) -> LossGrid:
        """The same losses as a `LossGrid`. Where a transform of dp-accounting left less than 0, it is 0."""
        dense = masses.to_dense_pmf()
        with np.errstate(divide="ignore"):
            log_mass = np.log(np.maximum(dense._probs, 0.0))
            log_infinite = float(np.log(dense._infinity_mass))
        return LossGrid(int(dense._lower_loss), self.spacing, log_mass, log_infinite)


class _Composed(Composition):
    """delta of all releases together in one direction, from grids that are what they are at every depth."""

    first_depth, ln_clearance = 50.0, 0.0

    def __init__(self, rounds: Sequence[tuple[LossGrid, int]]) -> None:
        self._rounds = rounds
        largest_finite = sum(times * float(grid.losses[-1]) for grid, times in rounds)
        has_infinite_loss = any(grid.log_infinite > -math.inf for grid, _ in rounds)
        super().__init__(math.inf if has_infinite_loss else largest_finite, largest_finite)

    def _build(self, depth: float) -> BoundAtDepth:
        """The bound, which leaves nothing out."""
        return BoundAtDepth(
            ComposedLosses(self._rounds, Side.UPPER).ln_delta,
            ln_left_out=-math.inf,
            is_last=True,
        )


@functools.lru_cache(maxsize=8)
def _losses_of_round(
    n: int, k: int, eps0: float, randomizer: str, colluding: float, *, spacing: float
) -> _Losses:
    """The losses of a pair that dominates a `ShuffledDpEvent`, on multiples of ``spacing``.

    They are kept, as a calibration makes an accountant of the same round for each number of rounds.
    """
    point = make_point(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    losses = dominating_losses(
        lambda eps: ln_upper_of_round(point.with_eps(eps)), end_of_losses(point), spacing
    )
    return _Losses(losses, losses)


def _is_hashable(event: DpEvent) -> bool:
    """Whether an event can be the key of a dictionary: not if one of its attributes is an array."""
    try:
        hash(event)
    except TypeError:
        return False
    return True

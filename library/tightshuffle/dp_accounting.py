"""Shuffled rounds in Google's accountant: an event, and an accountant that composes it with all others.

This module needs dp-accounting (the extra ``pld``). Neighbours differ in one user's value, so the accountant
asks for ``NeighboringRelation.REPLACE_ONE``.
"""

import math
from typing import Any

from tightshuffle.arguments import check_installed, check_number
from tightshuffle.doors import to_pld
from tightshuffle.points import make_point

try:
    import attr
    from dp_accounting import NeighboringRelation
    from dp_accounting.dp_event import DpEvent, RandomizedResponseDpEvent
    from dp_accounting.pld import PLDAccountant
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
    ``SelfComposedDpEvent`` of this event.

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
    """dp-accounting's ``PLDAccountant``, which also knows `ShuffledDpEvent`.

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

    def _maybe_compose(self, event: DpEvent, count: int, do_compose: bool) -> Any:
        """dp-accounting's ``CompositionErrorDetails`` of an event that cannot be composed, else None.

        If ``do_compose``, the event is also composed ``count`` times: the accountant's privacy loss
        distribution, ``self._pld``, becomes that of everything so far and these events. dp-accounting calls
        this method with ``do_compose`` False first. Only if the result is None does it call it again with
        True. `ShuffledDpEvent` can always be composed. All other events are left to dp-accounting, but for
        randomized response.
        """
        if isinstance(event, RandomizedResponseDpEvent) and count > 1:
            if not do_compose:
                return super()._maybe_compose(event, count, do_compose)
            # dp-accounting 0.6 composes it once whatever the count is (docs/upstream.md). So let another
            # accountant compose it once, and compose the result with itself. An event that is not private
            # only sets a flag of its accountant, which is taken over.
            once = ShuffleAccountant(self._value_discretization_interval).compose(event)
            self._contains_non_dp_event |= once._contains_non_dp_event
            self._pld: Any = self._pld.compose(once._pld.self_compose(count))
            return None

        if not isinstance(event, ShuffledDpEvent):
            return super()._maybe_compose(event, count, do_compose)
        if do_compose:
            # The event's attributes are the arguments of `to_pld`.
            arguments: dict[str, Any] = attr.asdict(event)
            loss_distribution = to_pld(**arguments, spacing=self._value_discretization_interval)
            self._pld = self._pld.compose(loss_distribution.self_compose(count))
        return None

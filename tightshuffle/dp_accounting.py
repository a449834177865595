"""Shuffled rounds in Google's accountant: an event, and an accountant that composes it with all others.

This module needs dp-accounting (the extra ``pld``). Neighbours differ in one user's value, so the accountant
asks for ``NeighboringRelation.REPLACE_ONE``.
"""

import math
from typing import Any

import tightshuffle
from tightshuffle.arguments import check_installed, check_number
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
    """One round in which ``n`` users each send a report, which a shuffler mixes.

    Attributes: as for `tightshuffle.upper`. Several rounds are a ``SelfComposedDpEvent`` of it. ValueError
    names a bad one, so that an accountant is not left with half of a composition.
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
        if isinstance(event, RandomizedResponseDpEvent) and count > 1:
            problem = super()._maybe_compose(event, 1, do_compose=False)
            if do_compose:
                # dp-accounting 0.6 composes it once whatever the count is (docs/upstream.md).
                once = ShuffleAccountant(self._value_discretization_interval).compose(event)
                self._contains_non_dp_event |= once._contains_non_dp_event
                self._pld: Any = self._pld.compose(once._pld.self_compose(count))
            return problem
        if not isinstance(event, ShuffledDpEvent):
            return super()._maybe_compose(event, count, do_compose)
        if do_compose:
            arguments: dict[str, Any] = attr.asdict(event)
            one = tightshuffle.to_pld(**arguments, spacing=self._value_discretization_interval)
            self._pld = self._pld.compose(one.self_compose(count))
        return None

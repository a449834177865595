"""The numbers that texts state about the simulated attack."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from scripts.shared.findings import Results

SETTING = ["n", "k", "eps0", "count"]  # count: of the n - 1 other users, who hold x0


@dataclass(frozen=True)
class AuditOfSetting:
    """The cases of one setting, counted. A case is an eps and what the attacker sees."""

    n: int
    k: int
    eps0: float
    count: int  # of the other users, who hold x0
    of: int  # cases
    seen: int  # in which the attack succeeds
    together: int  # which contradict the published delta, if all bounds are to hold at once
    upper: int  # which contradict `upper`, each alone


@dataclass(frozen=True)
class Attacker:
    """The cases in which the attacker sees the same."""

    of: int
    together: int  # as in `Audit`


@dataclass(frozen=True)
class Audit:
    """How often the audit's lower bounds on delta exceed the published delta, and how often `upper`."""

    of: int  # cases
    seen: int  # in which the attack succeeds
    alone: int  # whose own bound exceeds the published delta
    together: int  # the same for the bounds that hold all at once
    upper: int  # whose own bound exceeds `upper`
    confidence: float  # percent
    runs: int  # with either value, at most
    settings: list[AuditOfSetting]
    count: Attacker | None  # who sees the count of x0 alone, whose delta Theorem 1 is to give
    histogram: Attacker | None  # who sees all counts


def audit(results: Results) -> Audit:
    """How often the simulated attack succeeds and contradicts a delta.

    The table "audit" in ``results`` has a row for each case: a setting (n, k, eps0, count), an eps, and what
    the attacker sees. The attack succeeds in a case if its lower bound on delta is above 0.

    Over all cases, and for each setting, the fields are: of (cases), seen (successes), together (bounds above
    the published delta, for bounds that hold all at once), and upper (bounds above our upper bound). The
    other fields are over all cases: alone (bounds above the published delta, for bounds each of which holds
    on its own), confidence (percent), and runs (the most in a case, with either value of the target user).
    """
    rows = results["audit"]
    settings = []
    for _, cases in rows.groupby(SETTING, sort=False):
        setting: dict[str, Any] = {name: cases[name].iloc[0] for name in SETTING}
        settings.append(AuditOfSetting(**setting, **_fields_that_count_cases(cases)))
    return Audit(
        **_fields_that_count_cases(rows),
        alone=rows["violated"].sum(),
        confidence=100 * rows["confidence"].iloc[0],
        runs=rows["runs"].max(),
        settings=settings,
        count=_attacker(rows, "count"),
        histogram=_attacker(rows, "histogram"),
    )


def _attacker(rows: pd.DataFrame, observes: str) -> Attacker | None:
    """The cases of the attacker who sees the "count" or the "histogram". None if there are none."""
    cases = rows[rows["observes"] == observes]
    if cases.empty:
        return None
    return Attacker(of=len(cases), together=int(cases["violated_jointly"].sum()))


def _fields_that_count_cases(cases: pd.DataFrame) -> dict[str, Any]:
    """The fields of, seen, together and upper of `Audit` and `AuditOfSetting`: numbers of ``cases``.

    They are how many cases there are, in how many the attack's lower bound on delta is above 0, above the
    published delta (if all bounds hold at once), and above our upper bound.
    """
    return {
        "of": len(cases),
        "seen": (cases["audited_delta"] > 0).sum(),
        "together": cases["violated_jointly"].sum(),
        "upper": cases["upper_violated"].sum(),
    }

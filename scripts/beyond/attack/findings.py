"""The numbers that texts state about the simulated attack."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.shared.findings import Results
from tightshuffle.number_text import rounded
from tightshuffle.side import Side

SETTING = ["n", "k", "eps0", "count"]


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
class Example:
    """A cell of Table IV beside the attack's lower bound on its delta."""

    n: int
    k: int
    eps0: float
    eps: float
    count: int
    printed: str  # the paper's digits
    at_least: float  # the lower bound, which holds with all others, rounded down to two digits


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
    example: Example | None  # None if no cell of Table IV is contradicted


def audit(results: Results) -> Audit:
    """The cases of the simulated attack, counted in all and per setting, and the clearest cell of Table IV.

    A row of the table "audit" is a case: a setting, an eps, and what the attacker sees.
    """
    rows = results["audit"]
    settings = []
    for _, cases in rows.groupby(SETTING, sort=False):
        setting: dict[str, Any] = {name: cases[name].iloc[0] for name in SETTING}
        settings.append(AuditOfSetting(**setting, **_numbers_of_cases(cases)))
    return Audit(
        **_numbers_of_cases(rows),
        alone=rows["violated"].sum(),
        confidence=100 * rows["confidence"].iloc[0],
        runs=rows["runs"].max(),
        settings=settings,
        example=_clearest_example(rows, results["verdicts"]),
    )


def _numbers_of_cases(cases: pd.DataFrame) -> dict[str, Any]:
    """The fields of, seen, together and upper of `Audit` and `AuditOfSetting`: numbers of ``cases``."""
    return {
        "of": len(cases),
        "seen": (cases["audited_delta"] > 0).sum(),
        "together": cases["violated_jointly"].sum(),
        "upper": cases["upper_violated"].sum(),
    }


def _clearest_example(rows: pd.DataFrame, verdicts: pd.DataFrame) -> Example | None:
    """The cell of Table IV that the attack contradicts most clearly. None if it contradicts none.

    A cell is contradicted if the attack on the count of x0, in the cell's setting, has a joint lower bound
    above the published delta. Of the contradicted cells with the most runs, it is the one whose joint bound
    is the most orders of magnitude above. ``rows`` are the audit's, ``verdicts`` those on the printed values.
    """
    cell = ["n", "k", "eps0", "eps", "count"]
    table_iv = verdicts[verdicts["item"] == "Table IV"].drop_duplicates(cell)
    cells = table_iv[cell].apply(pd.to_numeric).astype(float).assign(printed=table_iv["printed"])

    exceeding = rows[rows["violated_jointly"] & (rows["observes"] == "count")]
    contradicted = exceeding.merge(cells, on=cell)
    if contradicted.empty:
        return None

    log10_bound = np.log10(contradicted["joint_delta"])
    contradicted["orders_above"] = log10_bound - contradicted["published_log10_delta"]
    clearest = contradicted.sort_values(["runs", "orders_above"], kind="stable").iloc[-1]
    setting: dict[str, Any] = {name: clearest[name] for name in cell}
    return Example(
        **setting,
        printed=clearest["printed"],
        at_least=float(rounded(clearest["joint_delta"], 2, side=Side.LOWER)),
    )

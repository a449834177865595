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
    """The cases of one setting; a case is an eps and what the attacker sees."""

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
    """The cases of the audit, counted in all and per setting, and the clearest cell of Table IV."""
    rows = results["audit"]
    return Audit(
        of=len(rows),
        seen=(rows["audited_delta"] > 0).sum(),
        alone=rows["violated"].sum(),
        together=rows["violated_jointly"].sum(),
        upper=rows["upper_violated"].sum(),
        confidence=100 * rows["confidence"].iloc[0],
        runs=rows["runs"].max(),
        settings=[_audit_of_setting(cases) for _, cases in rows.groupby(SETTING, sort=False)],
        example=_example(rows, results["verdicts"]),
    )


def _audit_of_setting(cases: pd.DataFrame) -> AuditOfSetting:
    setting: dict[str, Any] = {name: cases[name].iloc[0] for name in SETTING}
    return AuditOfSetting(
        **setting,
        of=len(cases),
        seen=(cases["audited_delta"] > 0).sum(),
        together=int(cases["violated_jointly"].sum()),
        upper=int(cases["upper_violated"].sum()),
    )


def _example(rows: pd.DataFrame, verdicts: pd.DataFrame) -> Example | None:
    """Of the contradicted cells of Table IV with the most runs, the one with the largest gap."""
    cell = ["n", "k", "eps0", "eps", "count"]
    table_iv = verdicts[verdicts["item"] == "Table IV"].drop_duplicates(cell)
    cells = table_iv[cell].apply(pd.to_numeric).astype(float).assign(printed=table_iv["printed"])
    exceeded = rows[rows["violated_jointly"] & (rows["observes"] == "count")].merge(cells, on=cell)
    if exceeded.empty:
        return None

    exceeded["above"] = np.log10(exceeded["joint_delta"]) - exceeded["published_log10_delta"]
    best = exceeded.sort_values(["runs", "above"], kind="stable").iloc[-1]
    setting: dict[str, Any] = {name: best[name] for name in cell}
    return Example(
        **setting,
        printed=best["printed"],
        at_least=float(rounded(best["joint_delta"], 2, side=Side.LOWER)),
    )

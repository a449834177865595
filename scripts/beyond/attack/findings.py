"""The numbers that texts state about the simulated attack."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from scripts.shared.findings import Results
from tightshuffle.number_text import rounded
from tightshuffle.side import Side

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
    """How often the simulated attack succeeds and contradicts a delta, and its clearest cell of Table IV.

    The table "audit" in ``results`` has a row for each case: a setting (n, k, eps0, count), an eps, and what
    the attacker sees. The attack succeeds in a case if its lower bound on delta is above 0.

    Over all cases, and for each setting, the fields are: of (cases), seen (successes), together (bounds above
    the published delta, for bounds that hold all at once), and upper (bounds above our upper bound). The
    other fields are over all cases: alone (bounds above the published delta, for bounds each of which holds
    on its own), confidence (percent), and runs (the most in a case, with either value of the target user).
    The example is the cell of Table IV that the attack contradicts most clearly, or None.
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
        example=_most_contradicted_cell(rows, results["verdicts"]),
    )


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


def _most_contradicted_cell(rows: pd.DataFrame, verdicts: pd.DataFrame) -> Example | None:
    """The cell of Table IV that the attack contradicts most clearly, or None if it contradicts none.

    ``rows`` are the attack's: one for each setting, eps and kind of attacker. ``verdicts`` are our verdicts
    on the paper's printed values, with all columns as texts.

    The attack contradicts a cell if its lower bound on delta of the count of x0, in the setting and at the
    eps of the cell, exceeds the published delta. Taken are the bounds that hold all at once (joint_delta).
    Of the contradicted cells with the most runs, it is the one whose bound exceeds the published delta by the
    most orders of magnitude. The result has the setting, the printed digits, and the lower bound.
    """
    cell = ["n", "k", "eps0", "eps", "count"]
    table_iv = verdicts[verdicts["item"] == "Table IV"].drop_duplicates(cell)
    cells = table_iv[cell].apply(pd.to_numeric).astype(float).assign(printed=table_iv["printed"])

    exceeding = rows[rows["violated_jointly"] & (rows["observes"] == "count")]
    contradicted = exceeding.merge(cells, on=cell)
    if contradicted.empty:
        return None

    log10_bound = np.log10(contradicted["joint_delta"])
    contradicted["decades_above"] = log10_bound - contradicted["published_log10_delta"]
    # Rising in the number of runs, and in the decades among equal ones: the last row is the clearest.
    clearest = contradicted.sort_values(["runs", "decades_above"], kind="stable").iloc[-1]
    setting: dict[str, Any] = {name: clearest[name] for name in cell}
    return Example(
        **setting,
        printed=clearest["printed"],
        at_least=float(rounded(clearest["joint_delta"], 2, side=Side.LOWER)),
    )

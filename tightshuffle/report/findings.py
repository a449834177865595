"""What the report's headline says, computed from the results: theorem, audit, saturation, parity, claims.

Everything here takes and returns plain values. Rows are dicts of strings, as a CSV file has them.
"""

import math
from collections import Counter
from dataclasses import dataclass

from tightshuffle.report import verdicts as report

SATURATED = 0.01  # a scale this share below the exact one no longer follows delta
NEARLY = 0.05  # errors that differ by at most this share count as nearly the same
CLAIM_VERDICTS = ("holds", "holds only as published", "fails", "untestable")
SETTING = ("dataset", "n", "k", "eps0", "delta")
COMPARISONS = ("unprojected", "projected", "maximum likelihood")  # of results/parity_ratio.csv


def theorem(verdicts):
    """How far the published delta of Table IV lies from the exact one; None where no row has both.

    Returns a dict: ``largest`` (the ``report.Gap`` of the largest one), ``below`` of ``of`` rows in which the
    published delta is the smaller one, and ``tally`` of the table's verdicts.
    """
    rows = [row for row in verdicts if row["item"] == "Table IV"]
    found = report.gaps(rows)
    if not found:
        return None
    return {
        "largest": max(found, key=lambda gap: gap.orders),
        "below": sum(gap.orders > 0 for gap in found),
        "of": len(found),
        "tally": report.tally(rows),
    }


def audit(rows):
    """How often the audit's lower bounds on delta contradict the published delta, and how often ``upper``.

    ``rows`` of results/audit.csv. Returns a dict: ``published``: in how many of ``of`` rows the bound that
    holds for all rows together exceeds the published delta; ``upper``: in how many the larger bound of the
    row on its own exceeds upper; ``largest``: the row whose joint bound lies the most orders of magnitude
    above the published delta, or None.
    """
    above = [(excess(row, "joint_delta", "published_log10_delta"), row) for row in rows]
    largest = max((found for found in above if found[0] > 0), key=lambda found: found[0], default=None)
    return {
        "of": len(rows),
        "published": sum(orders > 0 for orders, _ in above),
        "upper": sum(excess(row, "audited_delta", "upper_log10_delta") > 0 for row in rows),
        "largest": largest[1] if largest else None,
    }


def excess(row, audited, reading):
    """log10 of the column ``audited`` minus the reading's log10 delta; -inf where the audit shows nothing."""
    delta = float(row[audited])
    return math.log10(delta) - float(row[reading]) if delta > 0 else -math.inf


def saturation(table):
    """Where diffprivlib's analytic scale no longer follows delta: a list of dicts, one per eps.

    ``table`` is the data frame of results/privacy/gaussian_scale.csv (scales for sensitivity 1). Keys:
    ``eps``; ``stays`` the published scale at the smallest delta asked for, ``gives`` the log10 delta of that
    scale, ``asked`` that smallest log10 delta, ``needed`` the exact scale for it; ``short_from`` the largest
    log10 delta from which on the published scale is short by more than `SATURATED`, nan where it never is.
    """
    found = []
    for eps, curve in table.groupby("eps"):
        curve = curve.sort_values("log10_delta", ascending=False)
        short = curve["published"] < (1 - SATURATED) * curve["exact"]
        last = curve.iloc[-1]
        found.append(
            {
                "eps": float(eps),
                "stays": float(last["published"]),
                "gives": float(last["published_log10_delta"]),
                "asked": float(last["log10_delta"]),
                "needed": float(last["exact"]),
                # From the last one that is not short on, all are.
                "short_from": float(curve["log10_delta"][short & short[::-1].cummin()[::-1]].max()),
            }
        )
    return found


def budgets(datasets):
    """(settings whose eps is at least eps0, all settings) of the config's published experiments."""
    pairs = [
        (dataset, experiment, budget["eps"] >= budget["eps0"])
        for dataset, plan in datasets.items()
        for experiment in ("tv", "individual", "estimates")
        for budget in (plan.get(experiment) or {}).get("budgets", [])
    ]
    return sum(zero for *_, zero in pairs), len(pairs)


@dataclass(frozen=True)
class Comparison:
    """Both mechanisms at one setting and equal (eps, delta), errors measured by one metric.

    ``means``: (mechanism, estimator) -> mean error. ``ratios``: comparison -> row of parity_ratio.csv: ratio,
    low, high (bootstrap interval), predicted.
    """

    setting: dict[str, float | str]
    eps: float
    means: dict[tuple[str, str], float]
    ratios: dict[str, dict[str, str]]


def comparisons(means, ratios, *, metric="tv", bound="upper"):
    """The ``Comparison`` of every setting, in order.

    ``means`` and ``ratios`` are the rows of parity.csv and parity_ratio.csv. Raises ValueError
    where two rows say the same, or a setting has means only or ratios only.
    """
    found = {}
    for rows, name in ((means, "parity.csv"), (ratios, "parity_ratio.csv")):
        for row in rows:
            if row["metric"] != metric or row["bound"] != bound:
                continue
            key = row["dataset"], *(float(row[name]) for name in SETTING[1:])
            new = Comparison(dict(zip(SETTING, key, strict=True)), float(row["eps"]), {}, {})
            place = found.setdefault(key, new)
            if "comparison" in row:
                into, kind, value = place.ratios, row["comparison"], row
            else:
                into, kind, value = place.means, (row["mechanism"], row["estimator"]), float(row["mean"])
            if kind in into:
                raise ValueError(f"{name}: two rows of {kind} for {place.setting}; make the file again")
            into[kind] = value
    for place in found.values():
        if not place.means or not place.ratios:
            raise ValueError(
                f"parity: {place.setting} stands in one of parity.csv, parity_ratio.csv only; make them again"
            )
    return list(found.values())


def parity(compared, kind="unprojected"):
    """The range of the ratio of errors over all settings; None without any.

    Returns a dict: ``least`` and ``most`` (pairs of ratio and Comparison), ``nearly`` of ``of`` settings in
    which the errors differ by at most `NEARLY`, ``repetitions`` (the fewest), and ``by_eps0``: eps0 ->
    (least, most) ratio.
    """
    found = [(float(one.ratios[kind]["ratio"]), one) for one in compared if kind in one.ratios]
    if not found:
        return None
    by_eps0 = {}
    for ratio, one in sorted(found, key=lambda pair: pair[1].setting["eps0"]):
        low, high = by_eps0.get(one.setting["eps0"], (ratio, ratio))
        by_eps0[one.setting["eps0"]] = (min(low, ratio), max(high, ratio))
    return {
        "least": min(found, key=lambda pair: pair[0]),
        "most": max(found, key=lambda pair: pair[0]),
        "nearly": sum(1 / (1 + NEARLY) <= ratio <= 1 + NEARLY for ratio, _ in found),
        "of": len(found),
        "repetitions": min(int(float(one.ratios[kind]["repetitions"])) for _, one in found),
        "by_eps0": by_eps0,
    }


def claims(rows, name="claims"):
    """How many claims got each verdict, all four in order: verdict -> number.

    Raises ValueError that names the row (counted from 1, the header not counted) with another verdict.
    """
    for number, row in enumerate(rows, start=1):
        if row["verdict"] not in CLAIM_VERDICTS:
            raise ValueError(
                f"{name}, row {number}: verdict is {row['verdict']!r}, expected one of"
                f" {', '.join(CLAIM_VERDICTS)}"
            )
    found = Counter(row["verdict"] for row in rows)
    return {verdict: found[verdict] for verdict in CLAIM_VERDICTS}

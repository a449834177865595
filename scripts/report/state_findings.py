"""Every number that the report, the article or docs/ state, computed once.

A rule writes them to results/findings.json. Numbers stay numbers, and printed digits are texts. A number for
which a text says "at least" is rounded to the safe side.
"""

import inspect
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize

import tightshuffle
from scripts.parity.summarise_parity import NEARLY, nearly_equal
from scripts.privacy.printed_formulas import theorem_1_as_printed
from scripts.shared.job import job, write_bytes
from scripts.shared.printed import PAPER, parse_tolerance
from scripts.shared.published_gaussian import published_scale
from scripts.verdicts import verdict_rules as rules
from scripts.verdicts.judge_jointly import CONTRADICTED, REJECTED, TIMES
from scripts.verdicts.noise_scale import gaussian_errors, likely
from scripts.verdicts.verdict_counts import (
    count_verdicts,
    counted_claims,
    fixed_values,
    orders,
    read_verdicts,
)
from tightshuffle.bounds import histogram
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale, log10_delta_of_scale
from tightshuffle.literature import amplification, clones, count
from tightshuffle.number_text import rounded
from tightshuffle.numerics.positive_part import log_positive_part

DEFAULT: dict[str, Any] = {"n": 100, "k": 10, "eps0": 2.0}  # the default setting of Table IV; 80 hold x0
TABLE_1: dict[str, Any] = {"n": 100, "k": 10, "eps0": 0.5}
EXAMPLE: dict[str, Any] = {"n": 1000, "k": 15, "eps0": 4.0}
PAIRED = "the paper's pairing"

Finding = dict[str, Any]
# tables by name, for the paper's datasets only; titles: dataset -> its title; papers: `papers_eps0`
Results = Mapping[str, Any]


def findings(results: Results, topics: Iterable[Callable[[Results], Finding]] = ()) -> dict[str, Finding]:
    """topic -> its numbers, or ``{"not_computed": why}`` where the configuration lacks what it needs.

    ``results``: verdicts and claim_verdicts as `read_verdicts` gives them; ``topics``: all by default.
    """
    found = {}
    for topic in topics or TOPICS:
        try:
            found[topic.__name__] = json.loads(to_json(topic(results)))
        except (LookupError, ArithmeticError, ValueError) as error:
            found[topic.__name__] = {"not_computed": f"{type(error).__name__}: {error}"}
    return found


def to_json(found: Mapping[str, Any]) -> str:
    """The findings as results/findings.json has them. Raises ValueError for a number that is not finite."""
    return json.dumps(found, default=lambda number: number.item(), indent=1, allow_nan=False) + "\n"


def printed(results: Results) -> Finding:
    """The verdicts on the printed values: in all, of the fixed ones, by item; the tolerances in percent."""
    verdicts = results["verdicts"]
    tolerances = sorted({parse_tolerance(text) for text in verdicts["tolerance"]})
    items = verdicts.groupby("item", sort=False)
    return {
        **count_verdicts(verdicts),
        "random": (verdicts["kind"] == "random").sum(),
        "fixed": count_verdicts(fixed_values(verdicts)),
        "by_item": [{"item": item, **count_verdicts(rows)} for item, rows in items],
        "close": [float(100 * share) for rule, share in tolerances if rule == "digits"],
        "central": [float(100 * share) for rule, share in tolerances if rule == "central"],
    }


def claims(results: Results) -> Finding:
    """The verdicts on the paper's statements that count; ``cross``: as published -> exactly -> number."""
    counted = counted_claims(results["claim_verdicts"])
    counts = counted["verdict"].value_counts().reindex(rules.CLAIM_VERDICTS, fill_value=0)
    cross = pd.crosstab(counted["verdict_published"], counted["verdict_exact"])
    found = [name for name in rules.READING_VERDICTS if name in cross.index.union(cross.columns)]
    return {
        "of": counts.sum(),
        "hold": counts[[rules.HOLDS, rules.MOSTLY]].sum(),
        "only_exactly": counts[rules.ONLY_EXACTLY],
        "only_published": counts[rules.ONLY_PUBLISHED],
        "fail": counts[rules.FAILS],
        "undecided": counts[[rules.UNSETTLED, rules.UNTESTABLE]].sum(),
        "cross": cross.reindex(index=found, columns=found, fill_value=0).to_dict("index"),
    }


def theorem(results: Results) -> Finding:
    """Table IV: in how many cells with two positive readings the published delta is too small, how far."""
    rows = _chosen(results["verdicts"], item="Table IV")
    found = [orders(*pair) for pair in zip(rows["reproduced"], rows["exact"], strict=True)]
    gaps = [gap for gap in found if gap is not None]
    if not gaps:
        raise LookupError("no cell of Table IV has two positive readings")
    return {"orders": max(gaps), "below": sum(gap > 0 for gap in gaps), "of": len(gaps)}


def default_setting(_: Results) -> Finding:
    """Table IV's default setting by every reading: the count of x0, and the whole histogram."""
    rows = []
    for eps in (0.1, 0.5, 1.0):
        setting = {**DEFAULT, "count": 80, "direction": "forward"}
        log10 = {
            "published": theorem_1_as_printed(eps, **setting),
            "exact": count.delta(eps, **setting),
            "worst": count.delta(eps, **DEFAULT, count=np.arange(DEFAULT["n"]), direction="both").max(),
            "lower": histogram.lower(eps, **DEFAULT),
            "upper": tightshuffle.upper(eps, log10=True, **DEFAULT),
        }
        rows.append({"eps": eps, **{name: _delta(value) for name, value in log10.items()}})
    eps = 0.5
    ways = [count.delta(eps, **DEFAULT, count=0, direction=way) for way in ("reverse", "forward")]
    return DEFAULT | {"count": 80, "rows": rows, "reverse_eps": eps, "reverse": 10 ** (ways[0] - ways[1])}


def _delta(log10_delta: Any) -> float:
    return 10 ** float(log10_delta)


def audit(results: Results) -> Finding:
    """How often the audit's lower bounds on delta exceed the published delta, and how often ``upper``.

    ``alone`` and ``upper`` count each row's own bound, ``together`` the bound that holds for all rows at
    once; ``settings`` has the same per setting; ``upper`` is "none" for 0, as texts say it. The example is
    a setting of Table IV, of those with the most runs the one whose bound exceeds the published delta by
    the most orders of magnitude; its ``at_least`` is rounded down to two digits.
    """
    rows, setting = results["audit"], ["n", "k", "eps0", "eps", "count"]
    seen, alone, together = rows["audited_delta"] > 0, rows["violated"], rows["violated_jointly"]
    table_iv = results["verdicts"][results["verdicts"]["item"] == "Table IV"].drop_duplicates(setting)
    table_iv = table_iv[setting].apply(pd.to_numeric).astype(float).assign(printed=table_iv["printed"])
    exceeded = rows[together & (rows["observes"] == "count")].merge(table_iv, on=setting)
    exceeded["above"] = np.log10(exceeded["joint_delta"]) - exceeded["published_log10_delta"]
    best = exceeded.sort_values(["runs", "above"], kind="stable").tail(1).to_dict("records")
    example = [*setting, "printed"]
    return {
        "of": len(rows),
        "seen": seen.sum(),
        "alone": alone.sum(),
        "together": together.sum(),
        "upper": rows["upper_violated"].sum() or "none",
        "confidence": 100 * rows["confidence"].iloc[0],
        "runs": rows["runs"].max(),
        "settings": [
            {name: found[name].iloc[0] for name in setting if name != "eps"}
            | {"of": len(found), "seen": (found["audited_delta"] > 0).sum()}
            | {"together": found["violated_jointly"].sum(), "upper": found["upper_violated"].sum()}
            for _, found in rows.groupby(["n", "k", "eps0", "count"], sort=False)
        ],
        "example": {name: best[0][name] for name in example}
        | {"at_least": float(rounded(best[0]["joint_delta"], 2, round_up=False))}
        if best
        else None,
    }


def joint_tests(results: Results) -> Finding:
    """The tests of all printed random values of a table together; power in percent."""
    judged = results["joint_tests"]
    if judged.empty:
        raise LookupError("there is no joint test")
    return {
        "of": len(judged),
        "rejected": (judged["verdict"] == REJECTED).sum(),
        "least": judged["corrected_p"].min(),
        "power": [100 * judged[name].max() for name in TIMES],
    }


def grids(results: Results) -> Finding:
    """Per city the p-values of its printed errors on both grids; the cities that contradict both."""
    found, cities = results["grids"].groupby("dataset", sort=False), results["titles"]
    by_city = {
        city: {"title": cities.get(str(city), city), "p": rows.set_index("grid")["p"].to_dict()}
        for city, rows in found
    }
    wrong = [by_city[city] for city, rows in found if (rows["verdict"] == CONTRADICTED).all()]
    return {"by_city": by_city, "contradicted": wrong}


def cells(results: Results) -> Finding:
    """The check-ins of Paris on both of its grids."""
    found = results["totals"].set_index(["dataset", "grid"])["checkins"]
    box, stepped = found["paris", "uniform"], found["paris", "stepped"]
    return {"box": box, "stepped": stepped}


def gaussian(_: Results) -> Finding:
    """Scales at eps = 4, delta = 1e-30, sensitivity 1: diffprivlib's, which our rerun has, and the needed."""
    return {"delta": 1e-30, "library": published_scale(4.0, 1e-30, 1.0), "needed": exact_scale(4.0, 1e-30)}


def noise(results: Results) -> Finding:
    """Which scales of the Gaussian fit what is printed.

    ``both_fit``: whether the scale of delta 1e-8 and sensitivity sqrt(2) does, and that of our rerun.
    """
    sizes = _chosen(results["totals"], grid="uniform").set_index("dataset")["checkins"]
    users = {str(dataset): int(size) for dataset, size in sizes.items()}
    low, high = likely(gaussian_errors(results["verdicts"], users))
    named = published_scale(4.0, 1e-8, math.sqrt(2)), published_scale(4.0, 1e-30, 1.0)
    fit = low <= min(named) and max(named) <= high
    return {"low": low, "high": high, "both_fit": bool(fit), "delta": 1e-8, "eps": 4.0}


def parity(results: Results) -> Finding:
    """Ratios of mean TV errors at equal privacy, shuffle+INV over Gaussian, eps from ``upper``.

    A setting is informative if at least one mechanism, projected, has a smaller error than the uniform
    histogram, which ignores the data. The range is that of the informative settings, both estimates
    projected. The published one is our rerun of Figures 2, 6 and 7: shuffle+INV projected, the Gaussian not,
    at eps = eps0.
    """
    tv = _chosen(results["parity_ratio"], metric="tv")
    upper = tv[tv["bound"] == "upper"]
    parts = dict(list(upper.groupby("comparison")))
    plain, projected, paired = (parts[name] for name in ("unprojected", "projected", PAIRED))
    informative = projected[projected["informative"]]
    if informative.empty:
        raise LookupError("no setting is informative")
    published = tv.loc[tv["comparison"] == "published", "ratio"]
    return {
        "settings": len(projected),
        "uninformative": len(projected) - len(informative),
        "of": len(informative),
        **_range(informative["ratio"]),
        "nearly": nearly_equal(informative["ratio"]).sum(),
        "nearly_percent": 100 * NEARLY,
        "repetitions": min(rows.loc[rows["informative"], "repetitions"].min() for rows in parts.values()),
        "eps0": sorted(projected["eps0"].unique()),
        "published": _range(published) if len(published) else None,
        "paired": _range(paired.loc[paired["informative"], "ratio"]),
        "far_percent": 100 * (plain["ratio"] / plain["predicted"] - 1).abs().max(),
        "uniform": [
            {"title": results["titles"].get(str(dataset), dataset), "tv": rows["uniform"].iloc[-1]}
            for dataset, rows in projected.groupby("dataset", sort=False)
        ],
        "rows": [
            _by_budget(rows, results) for _, rows in upper.groupby(["dataset", "eps0"], sort=False)
        ],
    }


def papers_settings(results: Results) -> Finding:
    """The ratios of `parity` in the paper's own settings, and in its own pairing; what speaks for the paper.

    ``better``: how often shuffling is ahead; ``above``: where, at most, other informative ratios are larger.
    """
    upper = _chosen(results["parity_ratio"], metric="tv", bound="upper")
    projected, paired = (upper[upper["comparison"] == name] for name in ("projected", PAIRED))
    if missing := sorted(set(PAPER) - set(results["papers"])):
        raise LookupError(f"not the paper's settings: {', '.join(missing)}")
    own, own_paired = (_own(rows, results["papers"])["ratio"] for rows in (projected, paired))
    above = projected[projected["informative"] & (projected["ratio"] > own.max())]
    where = {name: sorted(set(above[name])) for name in ("dataset", "eps0")}
    return {
        "of": len(own),
        **_range(own),
        "paired": _range(own_paired) | {"better": (own_paired < 1).sum()},
        "above": where | {"users": above["n"].max() if len(above) else None},
    }


def _own(rows: pd.DataFrame, papers: Mapping[str, Collection[float]]) -> pd.DataFrame:
    """The rows of the datasets and budgets in ``papers``, the paper's own (`papers_eps0`)."""
    points = zip(rows["dataset"], rows["eps0"], strict=True)
    return rows[[eps0 in papers.get(dataset, ()) for dataset, eps0 in points]]


def unequal(results: Results) -> Finding:
    """eps at delta = 1e-6 of the two mechanisms that Figure 2 compares at eps = eps0 = 4, in our rerun.

    ``gaussian``: for the histogram; ``shuffled``: the upper bound at the smallest and the largest n. The
    smaller eps protects more, and has the larger error: the comparison handicaps shuffling.
    """
    delta, scale = 1e-6, published_scale(4.0, 1e-30, 1.0)

    def excess(eps: float) -> float:
        found = log10_delta_of_scale(eps, scale=scale, sensitivity=HISTOGRAM_SENSITIVITY)
        return float(found) - math.log10(delta)

    rows = _chosen(results["parity_ratio"], dataset="synthetic", bound="upper", delta=delta, eps0=4.0)
    if "synthetic" not in results["papers"]:
        raise LookupError("not the paper's settings: synthetic")
    ends = rows.sort_values("n").iloc[[0, -1]][["n", "eps"]].to_dict("records")
    return {"delta": delta, "gaussian": optimize.brentq(excess, 0.0, 4.0, xtol=1e-10), "shuffled": ends}


def _by_budget(rows: pd.DataFrame, results: Results) -> Finding:
    """The ranges of one dataset and eps0 over n and both rules of delta; ``own``: in the paper's figures."""
    first, parts = rows.iloc[0], dict(list(rows.groupby("comparison")))
    plain, projected = parts["unprojected"], parts["projected"]
    return {
        "title": results["titles"].get(first["dataset"], first["dataset"]),
        "eps0": first["eps0"],
        "own": not _own(projected, results["papers"]).empty,
        "informative": projected["informative"].sum(),
        "of": len(projected),
        "measured": _range(plain["ratio"]),
        "predicted": _range(plain["predicted"]),
        "limit": plain["limit"].iloc[0],
        "projected": _range(projected["ratio"]),
    }


def literature(results: Results) -> Finding:
    """Table 1 at eps = 0.1: what is printed, and what the bounds are worth there."""
    eps = 0.1
    said = _chosen(results["verdicts"], item="Table 1", eps=str(eps)).set_index("mechanism")["printed"]
    low, high = float(histogram.lower(eps, **TABLE_1)), float(histogram.upper(eps, **TABLE_1))
    balle = float(amplification.balle_bennett(eps, **TABLE_1))
    cell = count.delta(eps, **TABLE_1, count=80, direction="forward")
    rows = (  # name, mechanism of the printed values, log10 of the bound
        # outside of Erlingsson's conditions there is no bound
        ("Erlingsson et al., 2019", "erlingsson", None),
        ("Balle et al., 2019 (Bennett)", "balle", balle),
        ("Feldman et al., 2021 (summed)", "feldman", clones.clones(eps, **TABLE_1)),
        ("Feldman et al., 2023 (summed)", "", clones.stronger_clones(eps, **TABLE_1)),
        ("Koskela et al., 2021 (weak adversary)", "koskela", high),
        ("Biswas et al., count of x0", "this paper", cell),
    )
    return TABLE_1 | {
        "eps": eps,
        "rows": [
            {"name": name, "printed": said.get(key), "bound": None if bound is None else _delta(bound)}
            for name, key, bound in rows
        ],
        "low": _delta(low),
        "high": _delta(high),
        "near_percent": _wider(low, high),
        "times": 10 ** (balle - high),
    }


def apart(_: Results) -> Finding:
    """By how many percent ``upper`` exceeds ``lower`` at `EXAMPLE`, and the bracket's width by default."""
    ends = (histogram.lower, partial(tightshuffle.upper, log10=True))
    rows = [{"eps": eps, "percent": _wider(*(end(eps, **EXAMPLE) for end in ends))} for eps in (1.0, 2.0)]
    bracket = 100 * inspect.signature(log_positive_part).parameters["width"].default
    return EXAMPLE | {"rows": rows, "bracket_percent": bracket}


def _wider(low: Any, high: Any) -> float:
    return 100 * (10 ** float(high - low) - 1)


def designs(_: Results) -> Finding:
    """The eps0 of k-RR at 100,000 users and 256 values for (1, 1e-6), which is left if the shuffler fails."""
    return {"eps0": tightshuffle.plan(n=100_000, k=256, eps=1, delta=1e-6).eps0}


TOPICS: tuple[Callable[[Results], Finding], ...] = (
    printed, claims, theorem, default_setting, audit, joint_tests, grids, cells, gaussian, noise,
    parity, papers_settings, unequal, literature, apart, designs,
)  # fmt: skip


def _chosen(rows: pd.DataFrame, **values: float | str) -> pd.DataFrame:
    """The rows with the given values, in order. Raises LookupError if there is none."""
    found = rows[np.logical_and.reduce([rows[name] == value for name, value in values.items()])]
    if found.empty:
        raise LookupError(f"no row with {values}")
    return found


def _range(values: Iterable[Any]) -> Finding:
    found = [float(value) for value in values]
    return {"low": min(found), "high": max(found)}


if __name__ == "__main__":
    with job() as snakemake:
        titles = snakemake.params.titles
        found: dict[str, Any] = {
            name: read_verdicts(path) if name.endswith("verdicts") else pd.read_csv(path)
            for name, path in snakemake.input.items()
        }
        if "parity_ratio" in found:
            found["parity_ratio"] = found["parity_ratio"][found["parity_ratio"]["dataset"].isin(list(titles))]
        found |= {"titles": titles, "papers": snakemake.params.papers}
        write_bytes(to_json(findings(found)).encode(), snakemake.output[0])

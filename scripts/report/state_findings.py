"""Every number that the report, the article or docs/ state, computed once.

A rule writes them to results/findings.json. Numbers stay numbers, and printed digits are texts. A number for
which a text says "at least" is rounded to the safe side.
"""

import inspect
import json
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize

import tightshuffle
from scripts.beyond.parity.run_parity import POPULAR
from scripts.beyond.parity.summarise_parity import NEARLY, nearly_equal
from scripts.beyond.statements import verdict_rules as rules
from scripts.beyond.statements.claim_counts import counted_claims
from scripts.beyond.statements.judge_jointly import CONTRADICTED, OTHER_NOISE, OUR_NUMBERING, REJECTED, TIMES
from scripts.beyond.statements.noise_scale import gaussian_errors, likely
from scripts.paper.delta.compute_delta_hat import SMALLEST_FLOAT
from scripts.paper.delta.printed_formulas import theorem_1_as_printed
from scripts.paper.trials.run_delta_hat_trials import FORMS, gaussian_ratios
from scripts.paper.values.verdict_counts import (
    GOOD,
    count_verdicts,
    fixed_values,
    orders,
    read_verdicts,
)
from scripts.shared.job import job, write_bytes
from scripts.shared.printed import PAPER, parse_tolerance
from scripts.shared.published_gaussian import published_scale
from scripts.shared.table_files import read_parquet
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale, log10_delta_of_scale
from tightshuffle.guarantee import lower, upper
from tightshuffle.literature import count
from tightshuffle.methods import delta
from tightshuffle.number_text import rounded
from tightshuffle.numerics.positive_part import log_positive_part
from tightshuffle.side import Side

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
    """Table IV: in how many cells with two positive readings the published delta is too small, how far.

    ``elsewhere``: the largest gap in each other table of deltas, over the printed values that the formula
    gives; these tables have other settings.
    """
    verdicts = results["verdicts"]
    rows = _chosen(verdicts, item="Table IV")
    found = [orders(*pair) for pair in zip(rows["reproduced"], rows["exact"], strict=True)]
    gaps = [gap for gap in found if gap is not None]
    if not gaps:
        raise LookupError("no cell of Table IV has two positive readings")
    theirs = (verdicts["mechanism"] == "this paper") & verdicts["verdict"].isin(GOOD)
    elsewhere: dict[str, float] = {}
    for row in verdicts[theirs & verdicts["item"].isin(["Table II", "Table 1"])].to_dict("records"):
        gap = orders(row["reproduced"], row["exact"])
        elsewhere[row["item"]] = max(elsewhere.get(row["item"], 0.0), gap or 0.0)
    below = sum(gap > 0 for gap in gaps)
    return {"orders": max(gaps), "below": below, "of": len(gaps), "elsewhere": elsewhere}


def default_setting(_: Results) -> Finding:
    """Table IV's default setting by every reading: the count of x0, and the whole histogram."""
    rows = []
    for eps in (0.1, 0.5, 1.0):
        setting = {**DEFAULT, "count": 80, "direction": "forward"}
        log10 = {
            "published": theorem_1_as_printed(eps, **setting),
            "exact": count.delta(eps, **setting),
            "worst": count.delta(eps, **DEFAULT, count=np.arange(DEFAULT["n"]), direction="both").max(),
            "lower": lower(eps, log10=True, **DEFAULT),
            "upper": upper(eps, log10=True, **DEFAULT),
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
        | {"at_least": float(rounded(best[0]["joint_delta"], 2, side=Side.LOWER))}
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
    """Per city how its printed errors fit both grids; the cities that contradict both, by our noise.

    ``p`` and ``corrected`` (Holm over all cities and grids) are for our noise and numbering, ``error`` is the
    standard error of p. ``every_numbering``: whether our noise is contradicted by every numbering. ``other``:
    for the noise `OTHER_NOISE` the numbering with the largest p on each grid; ``other_fits``: none of these
    is contradicted. They are the best of several, which favours the grid.
    """
    rows = results["grids"]
    rows = rows.assign(contradicted=rows["verdict"] == CONTRADICTED)
    theirs = (rows["delta"] == OTHER_NOISE[0]) & (rows["sensitivity"] == OTHER_NOISE[1])
    by_city = {}
    for city, found in rows[~theirs].groupby("dataset", sort=False):
        ours = found[found["numbering"] == OUR_NUMBERING].set_index("grid")
        other = rows[theirs & (rows["dataset"] == city)].sort_values("p").groupby("grid").tail(1)
        by_city[str(city)] = {
            "title": results["titles"].get(str(city), city),
            "p": ours["p"].to_dict(),
            "error": ours["p_error"].to_dict(),
            "corrected": ours["corrected_p"].to_dict(),
            "contradicts_both": bool(ours["contradicted"].all()),
            "every_numbering": bool(found["contradicted"].all()),
            "other": other.set_index("grid")[["p", "numbering"]].to_dict("index"),
            "other_fits": not other["contradicted"].any(),
        }
    delta, sensitivity = OTHER_NOISE
    noise = {"delta": delta, "sensitivity": sensitivity, "scale": published_scale(4.0, *OTHER_NOISE)}
    wrong = [city for city in by_city.values() if city["contradicts_both"]]
    return {"by_city": by_city, "contradicted": wrong, "other_noise": noise}


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
        "rows": [_by_budget(rows, results) for _, rows in upper.groupby(["dataset", "eps0"], sort=False)],
    }


def papers_settings(results: Results) -> Finding:
    """The ratios of `parity` in settings like the paper's: its data, n and eps0, each with our deltas.

    ``points``: how many there are without the ``deltas``; ``paired``: in the paper's pairing, in which
    shuffling is ``better`` so often; ``popular`` and ``ten_popular``: errors of the most popular values of
    the dataset; ``above``: where, at most, other informative ratios are larger; ``outside``: the informative
    ratios of all other settings. Raises LookupError unless all of the paper's settings are in the results.
    """
    if missing := sorted(set(PAPER) - set(results["papers"])):
        raise LookupError(f"not the paper's settings: {', '.join(missing)}")
    upper = _chosen(results["parity_ratio"], bound="upper")
    tv = upper[upper["metric"] == "tv"]
    projected, paired = (tv[tv["comparison"] == name] for name in ("projected", PAIRED))
    own, own_paired = (_own(rows, results["papers"]) for rows in (projected, paired))
    informative = projected[projected["informative"]]
    others = informative.drop(_own(informative, results["papers"]).index)
    above = others[others["ratio"] > own["ratio"].max()]
    where = {name: sorted(set(above[name])) for name in ("dataset", "eps0")}
    popular = upper[upper["comparison"] == "projected"]
    one, ten = (_own(_chosen(popular, metric=name), results["papers"]) for name in POPULAR)
    return {
        "of": len(own),
        "points": len(own.drop_duplicates(["dataset", "eps0", "n"])),
        "deltas": own["delta_rule"].nunique(),
        **_range(own["ratio"]),
        "paired": _range(own_paired["ratio"]) | {"better": (own_paired["ratio"] < 1).sum()},
        "popular": _range(one["ratio"]),
        "ten_popular": _range(ten["ratio"]),
        "above": where | {"users": above["n"].max() if len(above) else None},
        "outside": {"of": len(others), **_range(others["ratio"])} if len(others) else None,
    }


def popular(results: Results) -> Finding:
    """The largest of the paper's ratios of a popular value, and those of the values of its Table V.

    ``largest``: the most popular cell of San Francisco at eps0 = 6 and the most users, at the first delta:
    measured (``low`` to ``high`` is its interval), and the closed form for many users. ``limits``: that
    closed form in each of the paper's datasets and budgets. ``table_v``: its values one by one, n and eps0 as
    there, and both deltas.
    """
    rows = _chosen(results["parity_ratio"], bound="upper")
    city = _chosen(rows, metric="most_popular", dataset="san_francisco", eps0=6.0)
    city = city[city["n"] == city["n"].max()]
    measured = _chosen(city, comparison="projected").iloc[0]
    limits = _own(_chosen(rows, metric="most_popular", comparison="unprojected"), results["papers"])
    table_v = _own(_chosen(rows, metric="individual_error", comparison="projected"), {"synthetic": [4.0]})
    printed = results["verdicts"]["item"] == "Table V"
    sizes = results["verdicts"].loc[printed, "n"].astype(int).unique()
    table_v = table_v[(table_v["cell"] > 0) & table_v["n"].isin(sizes)]
    if set(PAPER) != set(results["papers"]):
        raise LookupError("not the paper's settings")
    return {
        "largest": {name: measured[name] for name in ("n", "ratio", "low", "high")}
        | {"limit": _chosen(city, comparison="unprojected")["limit"].iloc[0]},
        "limits": [
            {"title": results["titles"][dataset], "eps0": eps0, "limit": found["limit"].iloc[0]}
            for (dataset, eps0), found in limits.groupby(["dataset", "eps0"], sort=False)
        ],
        "table_v": _range(table_v["ratio"]),
    }


def almost_comparable(results: Results) -> Finding:
    """The paper's statement on accuracy: its verdicts, and in how many comparisons it is true and false."""
    row = _chosen(results["claim_verdicts"], id="almost-comparable").iloc[0]
    return {
        name: {"verdict": row[f"verdict_{name}"], "statistic": row[f"statistic_{name}"]}
        for name in ("published", "exact")
    }


def _own(rows: pd.DataFrame, papers: Mapping[str, Collection[float]]) -> pd.DataFrame:
    """The rows of the datasets and budgets in ``papers``, the paper's own (`papers_eps0`)."""
    points = zip(rows["dataset"], rows["eps0"], strict=True)
    return rows[[eps0 in papers.get(dataset, ()) for dataset, eps0 in points]]


def unequal(results: Results) -> Finding:
    """eps of the two mechanisms that Figure 2 compares at eps = eps0 = 4, in our rerun, at two deltas.

    At delta = 1e-6, ``gaussian``: for the histogram; ``shuffled``: the upper bound at the smallest and the
    largest n. The smaller eps protects more, and has the larger error: the comparison handicaps shuffling.
    ``at_floor``: at the delta of 1e-30 that the rerun gives the Gaussian, with the eps that it is ``said`` to
    have there. Nobody can answer that (4, 1e-30) is what both have.
    """
    delta, floor, eps0 = 1e-6, 1e-30, 4.0
    if "synthetic" not in results["papers"]:
        raise LookupError("not the paper's settings: synthetic")
    scale = published_scale(eps0, floor, 1.0)

    def excess(eps: float, delta: float) -> float:
        found = log10_delta_of_scale(eps, scale=scale, sensitivity=HISTOGRAM_SENSITIVITY)
        return float(found) - math.log10(delta)

    def gaussian(delta: float) -> float:
        return float(optimize.brentq(excess, 0.0, 20.0, args=(delta,), xtol=1e-10))

    rows = _chosen(results["parity_ratio"], dataset="synthetic", bound="upper", delta=delta, eps0=eps0)
    ends = rows.sort_values("n").iloc[[0, -1]][["n", "k", "eps"]].to_dict("records")
    at_floor = [
        {"n": end["n"], "eps": tightshuffle.epsilon(floor, n=int(end["n"]), k=int(end["k"]), eps0=eps0)}
        for end in ends
    ]
    return {
        "delta": delta,
        "gaussian": gaussian(delta),
        "shuffled": [{"n": end["n"], "eps": end["eps"]} for end in ends],
        "at_floor": {"delta": floor, "said": eps0, "gaussian": gaussian(floor), "shuffled": at_floor},
    }


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
    bounds = {
        name: delta(eps, method=name, log10=True, **TABLE_1)
        for name in ("lower", "privacy-blanket", "balle-bennett", "clones", "stronger-clones")
    }
    low, high, balle = (bounds[name] for name in ("lower", "privacy-blanket", "balle-bennett"))
    cell = count.delta(eps, **TABLE_1, count=80, direction="forward")
    rows = (  # name, mechanism of the printed values, log10 of the bound
        # outside of Erlingsson's conditions there is no bound
        ("Erlingsson et al., 2019", "erlingsson", None),
        ("Balle et al., 2019 (Bennett)", "balle", balle),
        ("Feldman et al., 2021 (summed)", "feldman", bounds["clones"]),
        ("Feldman et al., 2023 (summed)", "", bounds["stronger-clones"]),
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
    rows = []
    for eps in (1.0, 2.0):
        low, high = lower(eps, log10=True, **EXAMPLE), upper(eps, log10=True, **EXAMPLE)
        rows.append({"eps": eps, "percent": _wider(low, high)})
    bracket = 100 * inspect.signature(log_positive_part).parameters["width"].default
    return EXAMPLE | {"rows": rows, "bracket_percent": bracket}


def _wider(low: Any, high: Any) -> float:
    return 100 * (10 ** float(high - low) - 1)


def delta_hat(results: Results) -> Finding:
    """delta-hat where it is not 0, eps < eps0, in the paper's datasets; and what its form does to the errors.

    ``orders``: of magnitude by which the printed delta-hat lies below the exact one; ``beyond_floats``: at
    how many of all points (``of``) it lies below the smallest float; ``ratios``: of the Gaussian's mean TV
    error to that of shuffle+INV, for both forms of delta-hat.
    """
    table = results["delta_hat"]
    by_form = gaussian_ratios(results["delta_hat_trials"]).groupby("form")["ratio"]
    return {
        "of": len(table),
        "orders": _range(table["exact"] - table["published"]),
        "beyond_floats": (table["published"] < -SMALLEST_FLOAT).sum(),
        "ratios": {form: _range(by_form.get_group(form)) for form in FORMS},
    }


def constants(results: Results) -> Finding:
    """The ratio of shuffle+INV's error to the Gaussian's in Figures 2, 6 and 7, by floor and sensitivity."""
    table = results["constants"]
    return {"floors": sorted(table["floor"].unique(), reverse=True), **_range(table["ratio"])}


def designs(_: Results) -> Finding:
    """The eps0 of k-RR at 100,000 users and 256 values for (1, 1e-6), which is left if the shuffler fails."""
    return {"eps0": tightshuffle.plan(n=100_000, k=256, eps=1, delta=1e-6).eps0}


def papers_extremes(results: Results) -> Finding:
    """The settings of the smallest and the largest ratio of `papers_settings`, with their intervals.

    ``tv``: of the total variation error; ``popular``: of the most popular value. ``low`` and ``high`` are the
    ends of the bootstrap interval of this one setting, which does not know that it is an extreme of many.
    """
    rows = _chosen(results["parity_ratio"], bound="upper", comparison="projected")
    extremes: Finding = {}
    for name, metric in (("tv", "tv"), ("popular", "most_popular")):
        ordered = _own(_chosen(rows, metric=metric), results["papers"]).sort_values("ratio", kind="stable")
        extremes[name] = {"least": _extreme(ordered, 0, results), "most": _extreme(ordered, -1, results)}
    if set(PAPER) != set(results["papers"]):
        raise LookupError("not the paper's settings")
    return extremes


def _extreme(ordered: pd.DataFrame, place: int, results: Results) -> Finding:
    """The ratio at one place, the ends of its interval, and the setting."""
    row = ordered.iloc[place]
    numbers = {name: row[name] for name in ("ratio", "low", "high", "n", "eps0")}
    return {"title": results["titles"][row["dataset"]], **numbers, "delta_rule": str(row["delta_rule"])}


TOPICS: tuple[Callable[[Results], Finding], ...] = (
    printed, claims, theorem, default_setting, audit, joint_tests, grids, cells, gaussian, noise,
    delta_hat, constants, parity, papers_settings, popular, almost_comparable, unequal, literature, apart,
    designs, papers_extremes,
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


def read_datasets(paths: Iterable[str]) -> pd.DataFrame:
    """The tables of several datasets, CSV or Parquet, as one."""
    tables = [read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path) for path in paths]
    return pd.concat(tables, ignore_index=True)


if __name__ == "__main__":
    with job() as snakemake:
        titles = snakemake.params.titles
        found: dict[str, Any] = {}
        for name, paths in snakemake.input.items():
            if name.startswith("delta_hat"):
                found[name] = read_datasets(paths)
            elif name.endswith("verdicts"):
                found[name] = read_verdicts(paths)
            else:
                found[name] = pd.read_csv(paths)
        if "parity_ratio" in found:
            found["parity_ratio"] = found["parity_ratio"][found["parity_ratio"]["dataset"].isin(list(titles))]
        found |= {"titles": titles, "papers": snakemake.params.papers}
        write_bytes(to_json(findings(found)).encode(), snakemake.output[0])

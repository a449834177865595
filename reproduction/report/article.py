"""The reproduction article: what its template fills in, and how Typst sets it.

`article_values` takes rows of results (dicts of strings) and gives nested dicts and lists of strings, as the
template shows them: a number that the article says is made here and nowhere else. A part whose results a
configuration lacks is None, and the template leaves it out.
"""

import inspect
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import typst

import tightshuffle
from reproduction.figures.randomizers import LABELS
from reproduction.protocol.gaussian import published_scale
from reproduction.report import findings
from reproduction.report.quotes import TABLE_1, TABLE_IV, chosen, delta_text, scientific
from reproduction.report.which_page import statement
from reproduction.verification.noise_scale import gaussian_errors, likely
from reproduction.verification.printed import Row, decimal_from_log10, parse_tolerance
from reproduction.verification.verdicts import (
    CONTRADICTED,
    REJECTED,
    REPRODUCED,
    TIMES,
    count_claims,
    count_verdicts,
    fixed_values,
)
from tightshuffle.bounds import histogram
from tightshuffle.gaussian import exact_scale
from tightshuffle.literature import amplification, clones, count
from tightshuffle.numerics.positive_part import log_positive_part

MAIN = "article.typ"  # the template among the parts
BAND = {"n": 1000, "k": 15, "eps0": 4.0}  # where the text says how wide the band is
SATURATED = (4.0, 1e-30)  # eps, delta: where the text says what diffprivlib's scale is for sensitivity 1
MODERATE = (math.sqrt(2), 1e-8)  # sensitivity, delta: a scale that fits as well
BOUNDS: list[tuple[str, str, Callable[..., Any] | None]] = [  # mechanism of Table 1, name in the article
    ("erlingsson", "Erlingsson et al., 2019", None),  # outside of the theorem's conditions
    ("balle", "Balle et al., 2019 (Bennett)", amplification.balle_bennett),
    ("feldman", "Feldman et al., 2021 (summed)", clones.clones),
    ("", "Feldman et al., 2023 (summed)", clones.stronger_clones),
    ("koskela", "Koskela et al., 2021 (weak adversary)", histogram.upper),
]

Values = dict[str, Any]  # strings and truth values, and lists and dicts of them


@dataclass(frozen=True)
class Results:
    """What the article is computed from: rows of their files, and the figures' captions by name."""

    verdicts: Sequence[Row]
    claim_verdicts: Sequence[Row]
    audit: Sequence[Row]
    joint: Sequence[Row]
    grids: Sequence[Row]
    totals: Sequence[Row]
    study: pd.DataFrame  # of every randomizer at a wanted guarantee
    ratios: pd.DataFrame = field(default_factory=pd.DataFrame)
    captions: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)  # of the datasets that the ratios are about
    changed: Sequence[Sequence[str]] = ()  # `configuration.differences`: key, the paper's value, this run's


def article_values(results: Results) -> Values:
    """Everything that the template fills in, as strings."""
    return {
        "version": tightshuffle.__version__,
        "changed": [list(difference) for difference in results.changed],
        "reproduced": _reproduced(results),
        "claims": _claims(results.claim_verdicts),
        "joint": _joint(results.joint),
        "grids": _contradicted(results),
        "cells": _cells(results),
        "hand": _hand(n=2, k=3, growth=Fraction(2)),
        "theorem": _theorem(results.verdicts),
        "audit": _audit(results),
        "whole": _whole(results.verdicts),
        "gaussian": _gaussian(results),
        "parity": _parity(results.ratios, results.titles),
        "captions": {name: text.split("\n\n")[0] for name, text in results.captions.items()},
        "study": _study(results.study),
    }


def set_article(parts: Mapping[str, bytes], values: Values) -> bytes:
    """The PDF of the template `MAIN` of ``parts``; the same bytes for the same arguments.

    ``parts``: file name -> content in UTF-8, also of what the template asks for: styles, references, figures
    as SVG. The template reads ``values`` from values.json. Raises ValueError with Typst's words if it cannot
    be set without a warning.
    """
    files = {name: content for name, content in parts.items() if name != MAIN}
    files |= {"main.typ": parts[MAIN], "values.json": json.dumps(values).encode()}
    compile_files: Any = typst.compile_with_warnings  # its types know single files only
    try:
        pdf, warnings = compile_files(files, format="pdf", ignore_system_fonts=True, timestamp=0)
    except typst.TypstError as error:
        raise ValueError(f"{MAIN}: {error}") from error
    if warnings:
        raise ValueError(f"{MAIN}: {'; '.join(str(warning) for warning in warnings)}")
    return bytes(pdf)


def _reproduced(results: Results) -> Values:
    """The verdicts on printed values, in all and per item of the paper."""
    items = dict.fromkeys(row["item"] for row in results.verdicts)
    frame = pd.DataFrame(results.verdicts)
    counts, fixed = count_verdicts(frame), count_verdicts(fixed_values(frame))
    rows = []
    for item in items:
        found = count_verdicts(frame[frame["item"] == item])
        by = found.by_verdict
        numbers = [found.total, *(by[verdict] for verdict in REPRODUCED), found.total - found.reproduced]
        rows.append([item, *map(str, numbers)])
    return {
        "of": str(counts.total),
        "values": str(counts.reproduced),
        "digits": str(counts.by_digits),
        "random_of": str(sum(row["kind"] == "random" for row in results.verdicts)),
        "random": str(counts.by_verdict["consistent"]),
        "missed": str(counts.total - counts.reproduced),
        "fixed_of": str(fixed.total),
        "fixed": str(fixed.by_digits),
        "items": rows,
        "close": _tolerance(results.verdicts, "digits"),
        "central": _tolerance(results.verdicts, "central"),
    }


def _tolerance(verdicts: Sequence[Row], rule: str) -> str:
    """The percentages with which values are judged by the rule."""
    rules = sorted({parse_tolerance(row["tolerance"]) for row in verdicts})
    return ", ".join(f"{float(100 * share):g}" for name, share in rules if name == rule)


def _claims(claims: Sequence[Row]) -> Values:
    counts = count_claims(pd.DataFrame(claims))
    rows = [[verdict, str(number)] for verdict, number in counts.items() if number]
    return {"of": str(sum(counts.values())), "rows": rows}


def _joint(joint: Sequence[Row]) -> Values | None:
    """The tests of all printed random values of a table together."""
    judged = [row for row in joint if row["verdict"]]
    if not judged:
        return None
    return {
        "of": str(len(judged)),
        "rejected": str(sum(row["verdict"] == REJECTED for row in judged)),
        "least": f"{min(float(row['corrected_p']) for row in judged):.2f}",
        "power": [f"{100 * max(float(row[name]) for row in judged):.0f}" for name in TIMES],
    }


def _contradicted(results: Results) -> list[Values]:
    """The cities whose printed errors contradict both of their grids, with the p-values."""
    cities = dict.fromkeys(row["dataset"] for row in results.grids)
    judged = {city: [row for row in chosen(results.grids, dataset=city) if row["verdict"]] for city in cities}
    return [
        {"title": results.titles[city], "p": [f"{float(row['p']):.2g}" for row in rows]}
        for city, rows in judged.items()
        if all(row["verdict"] == CONTRADICTED for row in rows)
    ]


def _cells(results: Results) -> Values | None:
    """The check-ins of Paris, on the whole box and on the grid that ``np.arange`` makes."""
    found = {(row["dataset"], row["grid"]): int(row["checkins"]) for row in results.totals}
    try:
        box, stepped = found["paris", "uniform"], found["paris", "stepped"]
    except KeyError:
        return None
    return {"box": f"{box:,}", "stepped": f"{stepped:,}", "lost": f"{box - stepped:,}"}


def _hand(n: int, k: int, growth: Fraction) -> Values:
    """The theorem for n users none of whom but the first holds x0, in exact fractions; growth is e^eps0.

    By enumeration of all 2^n sets of users who report x0.
    """
    p, q = growth / (growth + k - 1), 1 / (growth + k - 1)

    def distribution(probabilities: Sequence[Fraction]) -> list[Fraction]:
        result = [Fraction(0)] * (n + 1)
        for bits in product((0, 1), repeat=n):
            factors = (hit if bit else 1 - hit for bit, hit in zip(bits, probabilities, strict=True))
            result[sum(bits)] += math.prod(factors, start=Fraction(1))
        return result

    with_x0, without = distribution([p, *[q] * (n - 1)]), distribution([q] * n)
    kappa = (1 - p) / (1 - q)
    printed = [kappa + (growth - kappa) * Fraction(s, n) ** 2 for s in range(n + 1)]  # nobody holds x0: J = s
    return {
        "n": str(n),
        "k": str(k),
        "growth": str(growth),
        "s": "1",
        "ratio": str(with_x0[1] / without[1]),
        "printed": str(printed[1]),
        "mass": str(sum(mass * value for mass, value in zip(without, printed, strict=True))),
    }


def _theorem(verdicts: Sequence[Row]) -> Values | None:
    """Table IV: how far off it is; its default setting by every reading."""
    found = findings.theorem(verdicts)
    if found is None:
        return None
    rows = []
    for eps in (0.1, 0.5, 1.0):
        setting = {**TABLE_IV, "count": 80, "direction": "forward"}
        worst = count.delta(eps, **TABLE_IV, count=np.arange(TABLE_IV["n"]), direction="both").max()
        deltas = [delta_text(count.delta, eps, **setting, form=form) for form in ("published", "exact")]
        deltas.append(_power(float(worst)))
        deltas += [delta_text(bound, eps, **TABLE_IV) for bound in (histogram.lower, histogram.upper)]
        rows.append([f"{eps:g}", *deltas])
    eps = 0.5
    reverse, forward = (
        count.delta(eps, **TABLE_IV, count=0, direction=direction) for direction in ("reverse", "forward")
    )
    setting = {name: f"{value:g}" for name, value in TABLE_IV.items()}
    return {
        "orders": f"{found.largest:.1f}",
        "below": str(found.below),
        "of": str(found.of),
        "setting": setting | {"count": "80"},
        "rows": rows,
        "reverse": f"{10 ** float(reverse - forward):.1f}",
        "reverse_eps": f"{eps:g}",
    }


def _audit(results: Results) -> Values | None:
    found = findings.audit(results.audit, results.verdicts)
    if found.example is None:
        return None
    row, printed = found.example
    numbers = {name: f"{float(row[name]):g}" for name in ("n", "k", "eps0", "eps", "count")}
    return numbers | {
        "of": str(found.of),
        "seen": str(found.seen),
        "alone": str(found.alone),
        "published": str(found.published),
        "safe": found.upper == 0,  # no bound exceeds ``upper``
        "confidence": f"{100 * float(row['confidence']):g}",
        "runs": f"{max(int(float(row['runs'])) for row in results.audit):,}",
        "example": _down(float(row["joint_delta"])),
        "printed": printed.replace("E", "e"),
    }


def _whole(verdicts: Sequence[Row]) -> Values:
    """The whole histogram: the band's width, and Table 1's first line beside what the bounds give."""
    printed = {row["mechanism"]: row["printed"] for row in chosen(verdicts, item="Table 1", eps="0.1")}
    rows = []
    for mechanism, name, bound in BOUNDS:
        ours = delta_text(bound, 0.1, **TABLE_1) if bound else ""
        rows.append([name, printed.get(mechanism, "").replace("E", "e"), ours])
    exact = delta_text(count.delta, 0.1, **TABLE_1, count=80, direction="forward")
    rows.append(["Biswas et al., count of x0", printed["this paper"].replace("E", "e"), exact])
    low, high = (float(bound(0.1, **TABLE_1)) for bound in (histogram.lower, histogram.upper))
    widths = [_width(eps, **BAND) for eps in (1.0, 2.0)]
    return {
        "literature": rows,
        "setting": {name: f"{value:g}" for name, value in TABLE_1.items()} | {"eps": "0.1"},
        "low": _power(low),
        "high": _power(high),
        "near": f"{100 * (10 ** (high - low) - 1):.1f}",
        "times": f"{10 ** (float(amplification.balle_bennett(0.1, **TABLE_1)) - high):.0f}",
        "band": {name: f"{value:,g}" for name, value in BAND.items()} | {"eps": ["1", "2"], "width": widths},
        "bracket": f"{100 * inspect.signature(log_positive_part).parameters['width'].default:g}",
    }


def _gaussian(results: Results) -> Values:
    """Which scales fit what is printed, if `MODERATE` and `SATURATED` do, and the library's limit."""
    (eps, delta), (sensitivity, moderate) = SATURATED, MODERATE
    users = {row["dataset"]: int(row["checkins"]) for row in results.totals if row["grid"] == "uniform"}
    try:
        low, high, _ = likely(gaussian_errors(results.verdicts, users), cut=False)
    except KeyError:  # a dataset is not in the configuration
        low, high = math.nan, math.nan
    named = published_scale(eps, delta, 1.0), published_scale(eps, moderate, sensitivity)
    return {
        "fits": [f"{low:.2f}", f"{high:.2f}"] if low <= min(named) and max(named) <= high else None,
        "moderate": f"{moderate:.0e}",
        "eps": f"{eps:g}",
        "delta": f"{delta:.0e}",
        "library": f"{published_scale(eps, delta, 1.0):.2f}",
        "needed": f"{float(exact_scale(eps, delta)):.2f}",
    }


def _parity(ratios: pd.DataFrame, titles: Mapping[str, str]) -> Values | None:
    """Ratios of mean TV errors, shuffle+INV over Gaussian; None without settings that tell something."""
    if ratios.empty:
        return None
    tv = ratios[ratios["metric"] == "tv"]
    upper = tv[tv["bound"] == "upper"]
    plain, projected = (upper[upper["comparison"] == name] for name in ("unprojected", "projected"))
    told = projected[projected["informative"]]
    if told.empty:
        return None
    published = tv.loc[tv["comparison"] == "published", "ratio"]
    paired = upper.loc[(upper["comparison"] == "the paper's pairing") & upper["informative"], "ratio"]
    nearly = told["ratio"].between(1 / (1 + findings.NEARLY), 1 + findings.NEARLY)
    rows = []
    for (dataset, eps0), found in plain.groupby(["dataset", "eps0"], sort=False):
        here = (projected["dataset"] == dataset) & (projected["eps0"] == eps0)
        spans = [_span(part) for part in (found["ratio"], found["predicted"], projected.loc[here, "ratio"])]
        informative = f"{projected.loc[here, 'informative'].sum()} of {here.sum()}"
        limit = f"{found['limit'].iloc[0]:.2f}"
        rows.append([titles[str(dataset)], f"{eps0:g}", informative, *spans[:2], limit, spans[2]])
    return {
        "settings": str(len(projected)),
        "silent": str(len(projected) - len(told)),
        "told": str(len(told)),
        "range": [f"{told['ratio'].min():.2f}", f"{told['ratio'].max():.2f}"],
        "nearly": str(nearly.sum()),
        "share": f"{100 * findings.NEARLY:g}",
        "published": [f"{published.min():.1f}", f"{published.max():.0f}"] if len(published) else None,
        "paired": [f"{paired.min():.2f}", f"{paired.max():.2f}"],
        "far": f"{100 * (plain['ratio'] / plain['predicted'] - 1).abs().max():.1f}",
        "uniform": [[titles[name], f"{value:.2f}"] for name, value in _last(projected, "uniform")],
        "rows": rows,
    }


def _last(frame: pd.DataFrame, name: str) -> Iterable[tuple[str, float]]:
    """The value of the most users, per dataset, in order."""
    last = frame.groupby("dataset", sort=False)[name].last()
    return ((str(dataset), float(value)) for dataset, value in last.items())


def _study(study: pd.DataFrame) -> Values:
    """The study's result in sentences, and a table over n.

    ``study``: the rows of results/study/study.csv. The table is for the eps next to 1, the first rule and the
    k in the middle.
    """
    cells = sorted(set(study["k"]))[len(set(study["k"])) // 2]
    eps = min(study["eps"], key=lambda value: abs(value - 1))
    first = study[(study["delta_rule"] == study["delta_rule"].iloc[0]) & (study["eps"] == eps)]
    shown = first[first["k"] == cells].pivot(index="randomizer", columns="n", values="ratio")
    return {
        "statement": statement(study),
        "eps": f"{eps:g}",
        "delta": f"{first['delta'].iloc[0]:.0e}",
        "k": f"{cells:,}",
        "sizes": [f"{int(n):,}" for n in shown],
        "rows": [
            [name, *(f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in shown.loc[key])]
            for key, name in LABELS.items()
            if key in shown.index
        ],
    }


def _width(eps: float, **setting: Any) -> str:
    """By how many percent ``upper`` exceeds ``lower``."""
    low, high = (float(bound(eps, **setting)) for bound in (histogram.lower, histogram.upper))
    return f"{100 * (10 ** (high - low) - 1):.2g}"


def _span(values: "pd.Series[float]") -> str:
    return f"{values.min():.2f} to {values.max():.2f}"


def _power(log10_delta: float) -> str:
    return scientific(decimal_from_log10(log10_delta))


def _down(value: float) -> str:
    """A lower bound with two digits, rounded down."""
    exponent = math.floor(math.log10(value))
    return f"{math.floor(value / 10.0 ** (exponent - 1)) / 10:.1f}e{exponent:+03d}"

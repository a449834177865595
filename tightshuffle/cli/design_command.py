"""`tightshuffle design`: k-RR with dummies."""

import itertools
import math
from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_colluding
from tightshuffle.cli.layout import Answer, delta_text, table
from tightshuffle.designs import Design, frontier, luo_wang_yi
from tightshuffle.number_text import plain
from tightshuffle.planning import make_plan


def answer_design(arguments: Namespace) -> Answer:
    """The designs for one guarantee; for several, the two ends of each and what a closed form asks for."""
    pairs = list(itertools.product(arguments.eps, arguments.delta))
    return _one(arguments, *pairs[0]) if len(pairs) == 1 else _several(arguments, pairs)


def _one(arguments: Namespace, eps: float, log10_delta: float) -> Answer:
    about = _about(arguments)
    designs = frontier(eps=eps, log10_delta=log10_delta, **about)
    guarantee = {"method": "collection", **about, "eps": eps, "log10_delta": log10_delta}
    columns = {"eps0": "eps0", "dummies": "dummies", "messages_per_user": "messages_per_user"}
    columns |= {"expected_tv": "error", "ratio": "ratio"}
    records = [{name: getattr(one, column) for name, column in columns.items()} for one in designs]
    per_value = _per_value(designs[-1], eps, log10_delta)
    rows = [("eps0", "dummies", "messages per user", "expected error", "over the Gaussian's")]
    for one in designs:
        shown = (f"{one.messages_per_user:.4g}", f"{one.error:.4g}", f"{one.ratio:.3f}")
        rows.append((plain(one.eps0, round_up=False), str(one.dummies), *shown))
    lines = [
        f"(eps = {eps:.15g}, delta = {delta_text(log10_delta)}) for every dataset with {_written(about)}",
        "",
        table(rows),
        "",
        "eps0: local budget of a k-RR report, which is left if the shuffler fails; inf: the value itself.",
        "dummies: uniform values that the shuffler adds; messages per user: 1 + dummies / n.",
        "expected error: expected total variation error, uniform data, before projection;",
        "the Gaussian is the central analytic Gaussian mechanism with the same (eps, delta).",
        "",
        f"Dummies alone: {plain(per_value['dummies_per_value'], 4, round_up=True)} per value.",
        f"The closed form 32 ln(2/delta)/eps^2 of Luo, Wang and Yi (2022): {per_value['closed_form']:.4g}"
        f" per value, {per_value['times']:.3g} times as many.",
    ]
    return Answer("\n".join(lines), {**guarantee, "designs": records, "dummies_alone": per_value})


def _several(arguments: Namespace, pairs: list[tuple[float, float]]) -> Answer:
    about = _about(arguments)
    records = []
    rows: list[tuple[str, ...]] = [
        ("eps", "delta", "eps0", "ratio", "dummies per user", "ratio", "per value", "closed form", "times")
    ]
    for eps, log10_delta in pairs:
        alone = make_plan(eps=eps, log10_delta=log10_delta, **about).eps0
        krr, dummies = frontier(eps=eps, log10_delta=log10_delta, eps0=[alone, math.inf], **about)
        per_value = _per_value(dummies, eps, log10_delta)
        sent = dummies.messages_per_user - 1
        row = {"eps": eps, "log10_delta": log10_delta, "eps0_without_dummies": krr.eps0}
        row |= {"ratio_without_dummies": krr.ratio, "dummies_per_user": sent}
        records.append(row | {"ratio_of_dummies": dummies.ratio, **per_value})
        counted = plain(per_value["dummies_per_value"], 4, round_up=True)
        asked = [counted, f"{per_value['closed_form']:.4g}", f"{per_value['times']:.3g}"]
        known = [f"{eps:.15g}", delta_text(log10_delta), plain(krr.eps0, round_up=False)]
        rows.append((*known, f"{krr.ratio:.3f}", f"{sent:.4g}", f"{dummies.ratio:.3f}", *asked))
    lines = [
        f"for every dataset with {_written(about)}",
        "",
        table(rows),
        "",
        "eps0, ratio: k-RR without dummies, and its expected error over that of the central Gaussian.",
        "dummies per user, ratio: dummies alone; users send the values themselves.",
        "per value: dummies alone over k; closed form: 32 ln(2/delta)/eps^2 of Luo, Wang and Yi (2022).",
    ]
    return Answer("\n".join(lines), {"method": "collection", **about, "guarantees": records})


def _about(arguments: Namespace) -> dict[str, Any]:
    about = {"n": arguments.n, "k": arguments.k}
    if arguments.colluding:
        about["colluding"] = int(check_colluding(arguments.colluding, arguments.n))
    return about


def _written(about: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in about.items())


def _per_value(design: Design, eps: float, log10_delta: float) -> dict[str, float]:
    """What dummies alone need per value, and what the closed form asks for."""
    k = design.collection.k
    assert k is not None
    needed, closed = design.dummies / k, luo_wang_yi(eps, log10_delta=log10_delta)
    return {"dummies_per_value": needed, "closed_form": closed, "times": closed / needed}

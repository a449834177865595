"""`tightshuffle design`: k-RR with dummies."""

import itertools
import math
from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_colluding
from tightshuffle.cli.layout import Answer, table
from tightshuffle.designs import Design, frontier, luo_wang_yi
from tightshuffle.number_text import e_notation, from_log10, plain
from tightshuffle.planning import make_plan


def answer_design(arguments: Namespace) -> Answer:
    """The designs for one guarantee; for several, the two ends of each and what a closed form asks for."""
    pairs = list(itertools.product(arguments.eps, arguments.delta))
    return _one(arguments, *pairs[0]) if len(pairs) == 1 else _several(arguments, pairs)


def _one(arguments: Namespace, eps: float, log10_delta: float) -> Answer:
    about = _about(arguments)
    designs = frontier(eps=eps, log10_delta=log10_delta, **about)
    guarantee = {"method": "collection", **about, "eps": eps, "log10_delta": log10_delta}
    records = [_record(design) for design in designs]
    per_value = _per_value(designs[-1], eps, log10_delta)
    rows: list[tuple[str, ...]] = [
        ("eps0", "dummies", "messages per user", "expected error", "over the Gaussian's")
    ]
    rows += [_cells(design) for design in designs]
    lines = [
        f"(eps = {eps:.15g}, delta = {_delta(log10_delta)}) for every dataset with {_written(about)}",
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
        records.append(
            {
                "eps": eps,
                "log10_delta": log10_delta,
                "eps0_without_dummies": krr.eps0,
                "ratio_without_dummies": krr.ratio,
                "dummies_per_user": dummies.messages_per_user - 1,
                "ratio_of_dummies": dummies.ratio,
                **per_value,
            }
        )
        sent, ratios = dummies.messages_per_user - 1, [f"{one.ratio:.3f}" for one in (krr, dummies)]
        counted = plain(per_value["dummies_per_value"], 4, round_up=True)
        asked = [counted, f"{per_value['closed_form']:.4g}", f"{per_value['times']:.3g}"]
        largest = plain(krr.eps0, round_up=False)
        rows.append(
            (f"{eps:.15g}", _delta(log10_delta), largest, ratios[0], f"{sent:.4g}", ratios[1], *asked)
        )
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


def _record(design: Design) -> dict[str, Any]:
    return {
        "eps0": design.eps0,
        "dummies": design.dummies,
        "messages_per_user": design.messages_per_user,
        "expected_tv": design.error,
        "ratio": design.ratio,
    }


def _cells(design: Design) -> tuple[str, ...]:
    eps0 = "inf" if design.eps0 == math.inf else plain(design.eps0, round_up=False)
    return (
        eps0,
        str(design.dummies),
        f"{design.messages_per_user:.4g}",
        f"{design.error:.4g}",
        f"{design.ratio:.3f}",
    )


def _per_value(design: Design, eps: float, log10_delta: float) -> dict[str, float]:
    """What dummies alone need per value, and what the closed form asks for."""
    k = design.collection.k
    assert k is not None
    needed, closed = design.dummies / k, luo_wang_yi(eps, log10_delta=log10_delta)
    return {"dummies_per_value": needed, "closed_form": closed, "times": closed / needed}


def _delta(log10_delta: float) -> str:
    return e_notation(from_log10(log10_delta), 4)

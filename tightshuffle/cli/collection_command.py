"""`tightshuffle collection`: a collection that a file describes."""

import math
from argparse import Namespace
from typing import Any

import numpy as np

from tightshuffle.cli.layout import USELESS_EPS, Answer, delta_text, table
from tightshuffle.cli.values import histogram
from tightshuffle.collection import Collection, read_collection
from tightshuffle.number_text import plain


def answer_collection(arguments: Namespace) -> Answer:
    """The bounds for every group, at one eps or delta, and the errors."""
    collection = read_collection(arguments.file)
    stages = (collection, *collection.then)
    partly = any(group.participation < 1 for stage in stages for group in stage.groups)
    records = [
        _of_group(collection, group.name, arguments.eps, arguments.delta, partly)
        for group in collection.groups
    ]
    asked = "log10_delta" if arguments.delta is None else "eps"
    worst = max(records, key=lambda record: record[f"{asked}_upper"])["group"]
    shares = histogram(arguments.data)[1] if arguments.data else None
    errors: dict[str, float] = {"collection": collection.expected_error(shares)}
    eps = arguments.eps if arguments.delta is None else max(record["eps_upper"] for record in records)
    log10_delta = max(r["log10_delta_upper"] for r in records) if arguments.delta is None else arguments.delta
    if 0 < eps < math.inf and -math.inf < log10_delta < 0:
        errors["gaussian"] = collection.gaussian_error(eps, log10_delta, shares)
    if shares is not None:
        errors["uniform"] = float(np.abs(shares - 1 / len(shares)).sum() / 2)
    json = {"method": "collection", "groups": records, "largest": worst, "expected_tv": errors}
    return Answer(_text(collection, arguments, records, worst, errors), json)


def _of_group(
    collection: Collection, name: str, eps: float | None, log10_delta: float | None, partly: bool
) -> dict[str, Any]:
    group = next(group for group in collection.groups if group.name == name)
    record: dict[str, Any] = {
        "group": name,
        "users": group.users,
        "eps0": collection.eps0(name),
        "participation": group.participation,
    }
    asked = [("lower", "lower", False), ("upper", "upper", False)] + [("unseen", "upper", True)] * partly
    for column, bound, unseen in asked:
        about: dict[str, Any] = {"group": name, "bound": bound, "unseen": unseen}
        if eps is None:
            record[f"eps_{column}"] = collection.epsilon(log10_delta=log10_delta, **about)
        else:
            record[f"log10_delta_{column}"] = float(collection.log10_delta(eps, **about))
    return record | {"eps_without_shuffler": collection.if_the_shuffler_fails(name)}


def _text(
    collection: Collection,
    arguments: Namespace,
    records: list[dict[str, Any]],
    worst: str,
    errors: dict[str, float],
) -> str:
    of_delta = arguments.delta is None
    several = collection.rounds > 1 or bool(collection.then)
    if of_delta:
        asked = f"delta at eps = {arguments.eps:.15g}"
    else:
        asked = f"eps at delta = {delta_text(arguments.delta)}"
    header = ["group", "users", "eps0", "at least", "at most"]
    partly = "eps_unseen" in records[0] or "log10_delta_unseen" in records[0]
    header += ["if unseen"] * partly + ["no shuffler"]
    rows = [header]
    for record in records:
        row = [record["group"], str(record["users"]), plain(record["eps0"])]
        for column, round_up in (("lower", False), ("upper", True), ("unseen", True))[: 2 + partly]:
            value = record[f"log10_delta_{column}" if of_delta else f"eps_{column}"]
            row.append(_delta(value, round_up) if of_delta else plain(value, round_up=round_up))
        rows.append([*row, plain(record["eps_without_shuffler"], round_up=True)])
    stages = [collection, *collection.then]
    rounds = sum(stage.rounds for stage in stages)
    lines = [
        f"{asked}, for every dataset"
        + ", sums only" * (collection.release == "sums")
        + ", value or none" * collection.deletion
        + f", after {rounds} rounds together" * several,
        "",
        table(rows),
        "",
        "at least: some dataset has this much.",
        "at most: a proven bound for every dataset, for a user who takes part"
        + " in every round" * several
        + ".",
    ]
    lines += ["if unseen: the same if nobody can know who takes part."] * partly
    lines += [
        "no shuffler: eps with delta = 0 that is left if the shuffler fails;"
        f" from {USELESS_EPS:g} on, nothing useful."
    ]
    lines += [f"The largest is that of group {worst!r}."] * (len(records) > 1)
    names = {
        "collection": "this collection",
        "gaussian": "analytic Gaussian at the largest (eps, delta)",
        "uniform": "a uniform histogram that ignores the data",
    }
    data = "the data of the file" if arguments.data else "uniform data"
    width = max(len(names[name]) for name in errors)
    lines += [
        "",
        f"expected total variation error, {data}, before projection"
        + " (one round):" * several
        + ":" * (not several),
        *(f"  {names[name]:<{width}}  {_error(value)}" for name, value in errors.items()),
    ]
    lines += [
        "The error is for groups that hold the values in the same shares; else the estimate is biased."
    ] * (len(records) > 1)
    return "\n".join(lines)


def _error(value: float) -> str:
    return "no formula for a matrix and users who do not take part" if math.isnan(value) else f"{value:.4g}"


def _delta(log10_delta: float, round_up: bool) -> str:
    none = log10_delta == -math.inf and not round_up
    return "none known" if none else delta_text(log10_delta, round_up)

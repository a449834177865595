"""`tightshuffle collection`: a collection that a file describes."""

import math
from argparse import Namespace
from typing import Any

import numpy as np

from tightshuffle.cli.layout import USELESS_EPS, Answer, delta_text, table
from tightshuffle.cli.values import histogram
from tightshuffle.collection import Collection, Group, read_collection
from tightshuffle.number_text import plain
from tightshuffle.numerics.side import Side
from tightshuffle.points import Neighbours

# The bounds of a group, by the names of their columns, and to which side each is rounded. "unseen" is the
# upper bound if nobody can know who takes part.
_SIDES = {"lower": Side.LOWER, "upper": Side.UPPER, "unseen": Side.UPPER}
_ESTIMATES = {
    "collection": "this collection",
    "gaussian": "analytic Gaussian at the largest (eps, delta)",
    "uniform": "a uniform histogram that ignores the data",
}


def answer_collection(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle collection`: bounds for every group, and expected errors of the estimate.

    The bounds are on delta if the user gives an eps, or on eps if the user gives a delta. `arguments.delta`
    is log10 of that delta, since the parser takes the logarithm. An error is the expected total variation
    error of one round. Beside that of the collection are those of a trusted curator's Gaussian noise with the
    guarantee of the worst group, and of a uniform histogram, if the user gives data.
    """
    collection = read_collection(arguments.file)
    stages = (collection, *collection.then)  # each is one or several rounds
    columns = ["lower", "upper"]
    if any(group.participation < 1 for stage in stages for group in stage.groups):
        columns.append("unseen")
    records = [_group_record(collection, group, arguments, columns) for group in collection.groups]

    # The guarantee (eps, delta) of the group with the largest upper bound.
    if arguments.delta is None:
        worst = max(records, key=lambda record: record["log10_delta_upper"])
        eps, log10_delta = arguments.eps, worst["log10_delta_upper"]
    else:
        worst = max(records, key=lambda record: record["eps_upper"])
        eps, log10_delta = worst["eps_upper"], arguments.delta

    shares = None  # of the users, for each value; None for uniform data
    if arguments.data:
        # The number of users is that of the collection, not that of the data.
        _, shares = histogram(arguments.data)
    errors: dict[str, float] = {"collection": collection.expected_error(shares)}
    if 0 < eps < math.inf and -math.inf < log10_delta < 0:
        errors["gaussian"] = collection.gaussian_error(eps, log10_delta, shares)
    if shares is not None:
        errors["uniform"] = float(np.abs(shares - 1 / len(shares)).sum() / 2)

    record = {
        "method": "collection",
        "groups": records,
        "largest": worst["group"],
        "expected_tv": errors,
    }
    return Answer(_answer_text(collection, arguments, record, columns), record)


def _group_record(
    collection: Collection, group: Group, arguments: Namespace, columns: list[str]
) -> dict[str, Any]:
    """The JSON record of a group: what it is, and a bound for all rounds together for each of the columns.

    The bounds are on delta, as its log10, at the user's eps, or on eps at the user's delta, of which
    `arguments.delta` is the log10. A column is "lower", "upper", or "unseen": the upper bound if nobody can
    know who takes part.
    """
    record: dict[str, Any] = {
        "group": group.name,
        "users": group.users,
        "eps0": collection.eps0(group.name),
        "participation": group.participation,
    }
    for column in columns:
        options: dict[str, Any] = {
            "group": group.name,
            "bound": "lower" if column == "lower" else "upper",
            "unseen": column == "unseen",
        }
        if arguments.eps is None:
            record[f"eps_{column}"] = collection.epsilon(log10_delta=arguments.delta, **options)
        else:
            log10_delta = float(collection.log10_delta(arguments.eps, **options))
            record[f"log10_delta_{column}"] = log10_delta
    record["eps_without_shuffler"] = collection.if_the_shuffler_fails(group.name)
    return record


def _answer_text(
    collection: Collection, arguments: Namespace, record: dict[str, Any], columns: list[str]
) -> str:
    """The text of the answer: the table of the groups, its legend, and the errors.

    ``record`` is the JSON record of the answer. ``columns`` are the names of its bounds, as in `_SIDES`.
    """
    stages = [collection, *collection.then]
    rounds = sum(stage.rounds for stage in stages)
    several_rounds = collection.rounds > 1 or bool(collection.then)
    several_groups = len(record["groups"]) > 1

    if arguments.delta is None:
        title = f"delta at eps = {arguments.eps:.15g}, for every dataset"
    else:
        title = f"eps at delta = {delta_text(arguments.delta)}, for every dataset"
    if collection.release == "sums":
        title += ", sums only"
    if collection.neighbours is Neighbours.DELETION:
        title += ", value or none"
    if several_rounds:
        title += f", after {rounds} rounds together"

    participation = "who takes part in every round" if several_rounds else "who takes part"
    lines = [
        title,
        "",
        _table_of_groups(record["groups"], columns, of_delta=arguments.delta is None),
        "",
        "at least: some dataset has this much.",
        f"at most: a proven bound for every dataset, for a user {participation}.",
    ]
    if "unseen" in columns:
        lines.append("if unseen: the same if nobody can know who takes part.")
    lines.append(
        "no shuffler: eps with delta = 0 that is left if the shuffler fails;"
        f" from {USELESS_EPS:g} on, nothing useful."
    )
    if several_groups:
        lines.append(f"The largest is that of group {record['largest']!r}.")

    data = "the data of the file" if arguments.data else "uniform data"
    heading = f"expected total variation error, {data}, before projection"
    if several_rounds:
        heading += " (one round)"
    errors = record["expected_tv"]
    width = max(len(_ESTIMATES[name]) for name in errors)
    lines += ["", f"{heading}:"]
    lines += [
        f"  {_ESTIMATES[name]:<{width}}  {_error_text(error)}" for name, error in errors.items()
    ]
    if several_groups:
        lines.append(
            "The error is for groups that hold the values in the same shares; else the estimate is biased."
        )
    return "\n".join(lines)


def _table_of_groups(records: list[dict[str, Any]], columns: list[str], *, of_delta: bool) -> str:
    """The text of the table of the groups, from their JSON records.

    There is a bound for each of the ``columns``, "lower", "upper" and perhaps "unseen". They are bounds on
    delta if ``of_delta``, else on eps. Each is rounded to its safe side, which `_SIDES` has.
    """
    titles = {"lower": "at least", "upper": "at most", "unseen": "if unseen"}
    rows = [["group", "users", "eps0", *(titles[column] for column in columns), "no shuffler"]]
    for record in records:
        row = [record["group"], str(record["users"]), plain(record["eps0"])]
        for column in columns:
            side = _SIDES[column]
            if of_delta:
                row.append(_delta_bound_text(record[f"log10_delta_{column}"], side))
            else:
                row.append(plain(record[f"eps_{column}"], side=side))
        row.append(plain(record["eps_without_shuffler"], side=Side.UPPER))
        rows.append(row)
    return table(rows)


def _error_text(error: float) -> str:
    """An expected error as text, or why there is none."""
    if math.isnan(error):
        return "no formula for a matrix and users who do not take part"
    return f"{error:.4g}"


def _delta_bound_text(log10_delta: float, side: Side) -> str:
    """A bound on delta as text, rounded to its ``side``. A lower bound of 0 says nothing."""
    if log10_delta == -math.inf and side is Side.LOWER:
        return "none known"
    return delta_text(log10_delta, side)

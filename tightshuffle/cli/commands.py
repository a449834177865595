"""One function per command, from parsed arguments to an `Answer`."""

import itertools
import math
import warnings
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import tightshuffle
from tightshuffle import methods
from tightshuffle.arguments import OutsideRange, check_choice, check_colluding, check_n
from tightshuffle.cli.layout import (
    INDENT,
    USELESS_ERROR,
    Answer,
    delta_text,
    indented,
    one_or_all,
    table,
    what_is_left,
)
from tightshuffle.cli.values import histogram
from tightshuffle.number_text import plain
from tightshuffle.randomizers import Randomizer, parse

_ROUND_UP = {methods.UPPER: True, methods.LOWER: False}
_DEEPEST = -12.0  # log10 of the delta at which a comparison ends
_NEIGHBOURS = {  # --deletion -> what the Gaussian's sigma is for
    False: "a histogram in which one user's value changes: sensitivity sqrt(2)",
    True: "a histogram that lacks one user's value: sensitivity 1",
}


@dataclass(frozen=True)
class _Column:
    """The results of one method at every eps or delta, and why some of them are nan."""

    method: methods.Method
    setting: dict[str, Any]
    answers: list[float]
    reason: str = ""

    @property
    def notes(self) -> list[str | None]:
        """Why a result is no finite number, or None."""
        others = {False: None, True: "delta is 0"}
        return [self.reason if math.isnan(x) else others[math.isinf(x)] for x in self.answers]


def _answer_bounds(arguments: Namespace) -> Answer:
    """delta at every eps, or eps at every delta, by one method or by several side by side."""
    of_delta = arguments.command != "epsilon"
    asked_name, answer_name = ("eps", "log10_delta") if of_delta else ("delta", "eps")
    asked = getattr(arguments, asked_name)
    columns = _ask_all(arguments, _delta_of if of_delta else _eps_of, asked)
    shared = {name: value for column in columns for name, value in _named(column.setting).items()}
    given = {**shared, asked_name: one_or_all(asked)}
    found = [
        {answer_name: one_or_all(column.answers), "note": one_or_all(column.notes)} for column in columns
    ]
    rows = list(zip(*(column.answers for column in columns), strict=True))
    promised = not any(all(math.isnan(value) for value in row) for row in rows)

    def show(column: _Column, value: float, why: str = "") -> str:
        if math.isnan(value):
            return f"nan{why}"
        up = _ROUND_UP.get(column.method.kind)
        return delta_text(value, up) if of_delta else plain(value, round_up=up)

    if len(columns) == 1:
        column, method = columns[0], columns[0].method
        lines = [("eps", "delta", "log10 delta") if of_delta else ("delta", "eps")]
        complaints = []
        for x, y, note in zip(asked, column.answers, column.notes, strict=True):
            line = (f"{x:g}", show(column, y, f" ({column.reason})"))
            lines.append((*line, f"{y:.6g}" * (not math.isnan(y))) if of_delta else line)
            if note and math.isnan(y):
                complaints.append(note if of_delta else f"delta = {x:g}, by {method.name}: {note}")
        heading = f"{method.name}: {method.kind}; valid for {method.valid}\n{_written(column.setting)}"
        json = {"method": method.name, **given, **found[0]}
        return Answer(f"{heading}\n\n{table(lines)}", json, complaints, promised)

    kinds = {c.method.name: {"kind": c.method.kind, **one} for c, one in zip(columns, found, strict=True)}
    cells = [(asked_name, *kinds)]
    for x, row in zip(asked, rows, strict=True):
        cells.append((f"{x:g}", *map(show, columns, row)))
    if not of_delta and sorted(kinds) == ["lower", "upper"]:  # one bracket
        place = {name: 1 + list(kinds).index(name) for name in kinds}
        ends = [(row[place["lower"]], row[place["upper"]]) for row in cells[1:]]
        brackets = [f"at most {high}" if low == "nan" else f"between {low} and {high}" for low, high in ends]
        cells = list(zip([row[0] for row in cells], ["eps of the worst dataset", *brackets], strict=True))
    legend = []
    for column in columns:
        missing = any(math.isnan(value) for value in column.answers)
        said = f"{column.method.kind}; " + (f"nan: {column.reason}" if missing else column.method.valid)
        legend.append(indented(said, column.method.name))
    title = f"{'delta' if of_delta else 'eps'} by several methods\n{_written(shared)}"
    text = "\n".join([title, "", table(cells), "", *legend])
    return Answer(text, {**given, "methods": kinds}, (), promised)


_Ask = Callable[[methods.Method, Mapping[str, Any], Any], tuple[list[float], str]]


def _delta_of(method: methods.Method, setting: Mapping[str, Any], eps: Any) -> tuple[list[float], str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers = _floats(tightshuffle.delta(eps, method=method.name, log10=True, **setting))
    outside = [str(c.message) for c in caught if issubclass(c.category, OutsideRange)]
    return answers, "; ".join(dict.fromkeys(outside))


def _eps_of(method: methods.Method, setting: Mapping[str, Any], delta: Any) -> tuple[list[float], str]:
    answers = _floats(tightshuffle.epsilon(delta, method=method.name, **setting))
    largest = setting["eps0"] * setting.get("rounds", 1)
    return answers, f"no guarantee from shuffling here; eps = {largest:g} holds without shuffling"


def _ask_all(arguments: Namespace, ask: _Ask, asked: list[float]) -> list[_Column]:
    """The results of every method: nan if a method does not apply; ValueError if no method applies."""
    names = list(methods.METHODS) if arguments.method == "all" else arguments.method.split(",")
    chosen = [methods.METHODS[check_choice("METHOD", name, methods.METHODS)] for name in dict.fromkeys(names)]
    found, refusals = [], []
    for method, setting in zip(chosen, _settings(arguments, chosen), strict=True):
        try:
            found.append(_Column(method, setting, *ask(method, setting, np.array(asked))))
        except ValueError as error:
            refusals.append(error)
            found.append(_Column(method, setting, [math.nan] * len(asked), str(error)))
    if len(refusals) == len(chosen):
        raise refusals[0]
    return found


def _answer_methods(arguments: Namespace) -> Answer:
    names = ("kind", "valid", "source", "needs_count", "composes", "randomizers")
    listed = {m.name: {name: getattr(m, name) for name in names} for m in methods.METHODS.values()}
    blocks = []
    for m in methods.METHODS.values():
        more = ["needs --count"] * m.needs_count + ["takes --rounds"] * m.composes
        more += ["takes --randomizer"] * m.randomizers
        title = f"{m.name:<{INDENT}}" + "; ".join([m.kind, *more])
        blocks.append("\n".join([title, indented(f"valid for {m.valid}"), indented(m.source)]))
    return Answer("\n\n".join(blocks), listed)


def _answer_plan(arguments: Namespace) -> Answer:
    from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY

    n, k, shares = _histogram(arguments)
    rounds, name = arguments.rounds, arguments.randomizer
    options = {"randomizer": name, "colluding": arguments.colluding, "rounds": rounds}
    options |= {"error": arguments.error, "release": arguments.release, "deletion": arguments.deletion}
    given = {key: options[key] for key, usual in _USUAL.items() if options[key] != usual}
    data = "uniform data" if shares is None else "the data of the file"
    texts, objects = [], []
    for eps, log10_delta in itertools.product(arguments.eps, arguments.delta):
        plan = tightshuffle.plan(n=n, k=k, eps=eps, log10_delta=log10_delta, shares=shares, **options)
        row = {"method": "upper", "n": plan.n, "k": k, "eps0": plan.eps0, "eps": eps}
        row["log10_delta"] = log10_delta
        shown = given | ({"randomizer": plan.randomizer} if "randomizer" in given else {})
        row |= {**shown, "log10_delta_of_eps0": plan.log10_delta, "capped": plan.capped, "sigma": plan.sigma}
        sensitivity = 1.0 if arguments.deletion else HISTOGRAM_SENSITIVITY
        row |= {"sensitivity": sensitivity, "eps_without_shuffler": rounds * plan.eps0}
        objects.append({**row, "expected_tv": plan.tv})
        texts.append(_plan_text(k, shown, data, eps, log10_delta, plan))
    json = objects[0] if len(objects) == 1 else {"method": "upper", "plans": objects}
    return Answer("\n\n\n".join(texts), json)


def _answer_users(arguments: Namespace) -> Answer:
    given = {name: value for name in _ASKED if (value := getattr(arguments, name)) != _USUAL.get(name)}
    users = tightshuffle.fewest_users(arguments.eps, log10_delta=arguments.delta, **given)
    guarantee = f"(eps = {arguments.eps:g}, delta = {delta_text(arguments.delta)}) for every dataset"
    text = f"{guarantee}, {_written(given)}\n\nfewest users   {users}"
    return Answer(text, {**given, "eps": arguments.eps, "log10_delta": arguments.delta, "n": users})


def _histogram(arguments: Namespace) -> tuple[int | None, int, Any]:
    """n, k, and the share of each value, None for uniform data."""
    if (arguments.k is None) != bool(arguments.data):
        raise ValueError("give --k, or --data, which gives the users and their values")
    if not arguments.data:
        return arguments.n, arguments.k, None
    users, shares = histogram(arguments.data)
    return users, len(shares), shares


def _plan_text(k: int, given: dict[str, Any], data: str, eps: float, log10_delta: float, plan: Any) -> str:
    reached = delta_text(plan.log10_delta, True)
    rounds, colluding = given.get("rounds", 1), int(check_colluding(given.get("colluding", 0), plan.n))
    name = given.get("randomizer", "k-RR")
    sent, trusted = ("summed", "reports leak") if "release" in given else ("shuffled", "the shuffler fails")
    tv = {name: f"{value:.4g}" for name, value in plan.tv.items()}
    rows = [
        (f"{name} with eps0 = {plain(plan.eps0, round_up=False)}, {sent}, inverted", tv["shuffle+INV"]),
        (f"analytic Gaussian, sigma = {plain(plan.sigma, round_up=True)}", tv["gaussian"]),
        (f"{name} with eps0 = {eps / rounds:g}, not {sent} (delta = 0)", tv["local"]),
    ]
    if "uniform" in tv:
        rows.append(("a uniform histogram that ignores the data", tv["uniform"]))
    width = max(len(name) for name, _ in rows)
    lines = [
        f"(eps = {eps:g}, delta = {delta_text(log10_delta)}) for every dataset"
        f" with n = {plan.n}, k = {k}"
        + f", after {rounds} rounds" * (rounds > 1)
        + f", {colluding} of the users colluding" * (colluding > 0),
        "",
        *(f"fewest users   {plan.n}   (error at most {error:g})" for error in [given.get("error")] if error),
        f"largest eps0   {plain(plan.eps0, round_up=False)}   (upper: delta = {reached})"
        + "; the plan tries no larger eps0" * plan.capped,
        f"left, with delta = 0, if {trusted}: {what_is_left(rounds * plan.eps0)}"
        + f", for the {rounds} rounds together" * (rounds > 1),
        "",
        f"expected total variation error, {data}, before projection" + " (one round)" * (rounds > 1) + ":",
        *(f"  {name:<{width}}  {value}" for name, value in rows),
        "",
        f"The Gaussian's sigma is for {_NEIGHBOURS[given.get('deletion', False)]}.",
    ]
    if max(plan.tv.values()) > 1:
        lines += ["", USELESS_ERROR]
    return "\n".join(lines)


def _answer_compare(arguments: Namespace) -> Answer:
    bounds = [m for m in methods.METHODS.values() if m.kind == methods.UPPER and m.name != "upper"]
    others = [m.name for m in bounds if m.randomizers or arguments.randomizer == "grr"]
    arguments.method = ",".join(["lower", "upper", *others])
    if arguments.eps is None:
        setting = _settings(arguments, [methods.METHODS["upper"]])[0]
        end = tightshuffle.epsilon(log10_delta=_DEEPEST, **setting) or setting["eps0"]
        arguments.eps = np.linspace(0.0, end, 65 if arguments.json else 9).tolist()
    return _answer_bounds(arguments)


def _answer_dummies(arguments: Namespace) -> Answer:
    from tightshuffle.cli.dummies_command import answer_dummies

    return answer_dummies(arguments)


def _answer_collection(arguments: Namespace) -> Answer:
    from tightshuffle.cli.collection_command import answer_collection

    return answer_collection(arguments)


def _answer_design(arguments: Namespace) -> Answer:
    from tightshuffle.cli.design_command import answer_design

    return answer_design(arguments)


ANSWERS: dict[str, Callable[[Namespace], Answer]] = {
    "delta": _answer_bounds,
    "epsilon": _answer_bounds,
    "methods": _answer_methods,
    "plan": _answer_plan,
    "users": _answer_users,
    "dummies": _answer_dummies,
    "design": _answer_design,
    "collection": _answer_collection,
    "compare": _answer_compare,
}

_USUAL: dict[str, Any] = {"randomizer": "grr", "colluding": 0, "rounds": 1, "error": None}
_USUAL |= {"release": "reports", "deletion": False}
_RELEASED = ("release", "deletion")
_ASKED = ("k", "eps0", "randomizer", "colluding", "rounds", *_RELEASED)


def _settings(arguments: Namespace, chosen: list[methods.Method]) -> list[dict[str, Any]]:
    """The keywords of `tightshuffle.delta` for each method: options that it does not use are left out."""
    given: dict[str, Any] = {"n": arguments.n, "k": arguments.k, "eps0": arguments.eps0}
    if arguments.randomizer.startswith("file:"):
        own = parse(arguments.randomizer, k=arguments.k, eps0=arguments.eps0)
        given |= {"k": own.k, "eps0": own.eps0, "randomizer": own}
    elif arguments.randomizer != "grr":
        given["randomizer"] = arguments.randomizer
    if arguments.colluding:
        given["colluding"] = int(check_colluding(arguments.colluding, check_n(arguments.n)))
    counted = {"count": arguments.count, "direction": arguments.direction}
    counted = {name: value for name, value in counted.items() if value is not None}
    nobody = not any(method.needs_count for method in chosen)  # then each of them refuses it
    given |= {name: value for name in _RELEASED if (value := getattr(arguments, name)) != _USUAL[name]}
    rounds = {"rounds": arguments.rounds}
    return [
        given
        | (counted if method.needs_count or nobody else {})
        | (rounds if method.composes or arguments.rounds != 1 else {})
        for method in chosen
    ]


def _named(setting: Mapping[str, Any]) -> dict[str, Any]:
    """The setting with names and numbers only."""
    own = setting.get("randomizer")
    return {**setting, "randomizer": own.name} if isinstance(own, Randomizer) else dict(setting)


def _written(setting: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} = {value:g}" if name == "eps0" else f"{name} = {value}"
        for name, value in _named(setting).items()
    )


def _floats(array: Any) -> list[float]:
    """A list of floats, without negative zeros."""
    return [float(x) + 0.0 for x in np.atleast_1d(array)]

"""One function per command, from parsed arguments to an `Answer`.

`arguments.delta` is log10 of delta, since the parser takes the logarithm; of `epsilon` a list of `Delta`.
"""

import itertools
import math
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import tightshuffle
from tightshuffle import methods
from tightshuffle.arguments import OutsideRange, check_choice, check_colluding, check_n
from tightshuffle.cli.layout import (
    ERROR_OF_REPORTS,
    INDENT,
    USELESS_ERROR,
    Answer,
    delta_text,
    indented,
    one_or_all,
    setting_in_words,
    setting_text,
    table,
    what_is_left,
    who_is_protected,
    with_plot,
)
from tightshuffle.cli.plot_file import check_plot_file, format_of, write_plot_file
from tightshuffle.cli.values import Delta, histogram
from tightshuffle.number_text import plain
from tightshuffle.numerics.side import Side
from tightshuffle.points import Neighbours
from tightshuffle.randomizers import Density, Randomizer, check_given, has_own_budget, parse

_LOG10_DELTA_AT_END = -12.0  # a comparison that names no eps ends where `upper` has this delta
_POINTS_OF_TEXT = 9  # eps of such a comparison
_POINTS_OF_JSON = 65
_POINTS_OF_PICTURE = 129
_QUERIES = {  # for which the Gaussian's sigma is, and their sensitivity
    Neighbours.REPLACEMENT: "a histogram in which one user's value changes: sensitivity sqrt(2)",
    Neighbours.DELETION: "a histogram that lacks one user's value: sensitivity 1",
}
# The options of `plan`, apart from its data and guarantee. They have the same defaults in other commands.
_DEFAULTS: dict[str, Any] = {
    "randomizer": "grr",
    "colluding": 0,
    "participation": 1,
    "rounds": 1,
    "error": None,
    "release": "reports",
    "neighbours": Neighbours.REPLACEMENT,
}
_RELEASE_OPTIONS = ("release", "neighbours")
_ROUND_OPTIONS = ("participation", *_RELEASE_OPTIONS)
_BATCH_OPTIONS = (
    "k",
    "eps0",
    "randomizer",
    "colluding",
    "rounds",
    *_ROUND_OPTIONS,
)


@dataclass(frozen=True)
class _Column:
    """The answers of one method: log10 delta at every eps if ``of_delta``, else eps at every delta.

    ``setting`` has the other arguments of `tightshuffle.delta` and `epsilon`, and ``reason`` says why some
    answers are nan.
    """

    method: methods.Method
    setting: dict[str, Any]
    of_delta: bool
    answers: list[float]
    reason: str

    @property
    def notes(self) -> list[str | None]:
        """For each answer why it is no finite number, or None."""
        return [self._note(answer) for answer in self.answers]

    def _note(self, answer: float) -> str | None:
        if math.isnan(answer):
            return self.reason
        return "delta is 0" if math.isinf(answer) else None

    @property
    def remark(self) -> str:
        """What a reader has to know about the method in this setting, or ""."""
        return self.method.remark(self.setting.get("randomizer"))

    @property
    def record(self) -> dict[str, Any]:
        """The answers and their notes, for JSON, and the remark on the method if there is one."""
        name = "log10_delta" if self.of_delta else "eps"
        record = {name: one_or_all(self.answers), "note": one_or_all(self.notes)}
        return {**record, "remark": self.remark} if self.remark else record

    def text(self, answer: float) -> str:
        """An answer as text: delta or eps, rounded up by an upper bound, down by a lower one, or "nan"."""
        if math.isnan(answer):
            return "nan"
        side = self.method.side
        if self.of_delta:
            return delta_text(answer, side)
        return plain(answer, side=side)


def _answer_bounds(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle delta` and `epsilon`: delta at every eps, or eps at every delta.

    It is by one method, or by several side by side.
    """
    if arguments.command == "epsilon":
        deltas: list[Delta] = arguments.delta
        log10_deltas = [delta.log10 for delta in deltas]
        columns = _compute_columns(arguments, log10_deltas, of_delta=False)
        if all(delta.is_float for delta in deltas):
            question = {"delta": one_or_all([float(delta.typed) for delta in deltas])}
        else:
            question = {"log10_delta": one_or_all(log10_deltas)}
        return _answer_columns(columns, "delta", [delta.text for delta in deltas], question)
    columns = _compute_columns(arguments, arguments.eps, of_delta=True)
    texts = [f"{eps:g}" for eps in arguments.eps]
    return _answer_columns(columns, "eps", texts, {"eps": one_or_all(arguments.eps)})


def _answer_columns(
    columns: list[_Column], target_name: str, targets: list[str], question: dict[str, Any]
) -> Answer:
    """The answer with the results of one or several methods, each a column, at the same ``targets``.

    ``target_name`` says what the targets are: "eps" or "delta". ``question`` has them for JSON. A single
    method's reasons for missing results are complaints, which go to standard error. For several methods, the
    legend of the table has them.
    """
    # There is a guarantee if at each target some upper bound has a result. Other methods count where no upper
    # bound is asked for.
    bounding = [column for column in columns if column.method.kind == methods.UPPER] or columns
    has_result = ~np.isnan([column.answers for column in bounding]).all(axis=0)
    has_guarantee = bool(has_result.all())

    # What the user asked, for JSON: the arguments of all methods, each once, and the targets.
    shared: dict[str, Any] = {}
    for column in columns:
        shared.update(_with_name_of_randomizer(column.setting))
    question = {**shared, **question}

    if len(columns) == 1:
        column = columns[0]
        text, complaints = _text_of_method(column, targets)
        record = {"method": column.method.name, **question, **column.record}
        return Answer(text, record, complaints, has_guarantee)

    text = _text_of_methods(columns, shared, target_name, targets)
    records = {
        column.method.name: {"kind": column.method.kind, **column.record} for column in columns
    }
    return Answer(text, {**question, "methods": records}, has_guarantee=has_guarantee)


def _text_of_method(column: _Column, targets: list[str]) -> tuple[str, list[str]]:
    """The text of a single method's answers at the ``targets``, and the complaints for standard error.

    The text is a heading and a table with a row per target. A complaint says why there is no answer at a
    target. If answers are eps, it also names the target and the method. If they are delta, it is the
    library's warning, the same at every target.
    """
    method = column.method
    rows = [["eps", "delta", "log10 delta"] if column.of_delta else ["delta", "eps"]]
    complaints = []
    for target, answer in zip(targets, column.answers, strict=True):
        missing = math.isnan(answer)
        row = [target, f"nan ({column.reason})" if missing else column.text(answer)]
        if column.of_delta:
            row.append("" if missing else f"{answer:.6g}")
        rows.append(row)
        if missing and column.reason:
            where = "" if column.of_delta else f"delta = {target}, by {method.name}: "
            complaints.append(where + column.reason)

    setting = _setting_and_whom_it_protects(_with_name_of_randomizer(column.setting))
    validity = f"valid for {method.valid}"
    if column.remark:
        validity += f"; {column.remark}"
    heading = f"{method.name}: {method.kind}; {validity}\n{setting}"
    return f"{heading}\n\n{table(rows)}", complaints


def _text_of_methods(
    columns: list[_Column], shared: Mapping[str, Any], target_name: str, targets: list[str]
) -> str:
    """The text of several methods' answers: a table with a row per target, and a legend.

    ``shared`` are the arguments of all methods. ``target_name`` is "eps" if the answers are delta, and
    "delta" if they are eps. The legend says what kind of result each method gives, and where it is valid or
    why an answer is missing.
    """
    names = [column.method.name for column in columns]
    rows = [(target_name, *names)]
    for index, target in enumerate(targets):
        rows.append((target, *(column.text(column.answers[index]) for column in columns)))
    if target_name == "delta" and sorted(names) == ["lower", "upper"]:
        rows = _merge_bracket(rows)

    legend = []
    for column in columns:
        missing = any(math.isnan(answer) for answer in column.answers)
        parts = [column.method.kind, f"nan: {column.reason}" if missing else column.method.valid]
        if column.remark:
            parts.append(column.remark)
        legend.append(indented("; ".join(parts), column.method.name))
    title = f"{'eps' if target_name == 'delta' else 'delta'} by several methods"
    setting = _setting_and_whom_it_protects(shared)
    return "\n".join([f"{title}\n{setting}", "", table(rows), "", *legend])


def _setting_and_whom_it_protects(setting: Mapping[str, Any]) -> str:
    """The arguments in one line, and, if users may not take part, whom the guarantee is for."""
    lines = [setting_text(setting)]
    if "participation" in setting:
        lines += who_is_protected(setting["participation"])
    return "\n".join(lines)


def _merge_bracket(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows of a table in which one column has the place of those of `lower` and `upper`."""
    header = rows[0]
    merged: list[tuple[str, ...]] = [(header[0], "eps of the worst dataset")]
    for row in rows[1:]:
        low, high = row[header.index("lower")], row[header.index("upper")]
        text = f"between {low} and {high}"
        if "nan" in (low, high):
            text = f"at most {high}" if low == "nan" else f"at least {low}"
        merged.append((row[0], text))
    return merged


def _compute_columns(arguments: Namespace, targets: list[float], of_delta: bool) -> list[_Column]:
    """The answers of every method that the user names, each method a column, at the ``targets``.

    An answer is log10 delta at a target eps if ``of_delta``, else eps at a target log10 delta, and nan where
    the method does not apply. ValueError if every method refuses the setting.
    """
    names = list(methods.METHODS) if arguments.method == "all" else arguments.method.split(",")
    unique_names = [check_choice("METHOD", name, methods.METHODS) for name in dict.fromkeys(names)]
    chosen = [methods.METHODS[name] for name in unique_names]
    compute = _compute_log10_delta if of_delta else _compute_eps

    columns = []
    refusals = []
    for method, setting in zip(chosen, _settings_of_methods(arguments, chosen), strict=True):
        try:
            answers, reason = compute(method, setting, np.array(targets))
        except ValueError as error:
            refusals.append(error)
            answers, reason = [math.nan] * len(targets), str(error)
        columns.append(_Column(method, setting, of_delta, answers, reason))
    if len(refusals) == len(chosen):
        raise refusals[0]
    return columns


def _compute_log10_delta(
    method: methods.Method, setting: Mapping[str, Any], eps: Any
) -> tuple[list[float], str]:
    """log10 delta at every eps, and why it is nan at some: the warnings of the library."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers = _list_of_floats(
            tightshuffle.delta(eps, method=method.name, log10=True, **setting)
        )
    reasons = [
        str(warning.message) for warning in caught if issubclass(warning.category, OutsideRange)
    ]
    return answers, "; ".join(dict.fromkeys(reasons))


def _compute_eps(
    method: methods.Method, setting: Mapping[str, Any], log10_delta: Any
) -> tuple[list[float], str]:
    """eps at every log10 delta, and the reason for those that are nan."""
    eps = tightshuffle.epsilon(log10_delta=log10_delta, method=method.name, **setting)
    answers = _list_of_floats(eps)
    eps_without_shuffler = setting["eps0"] * setting.get("rounds", 1)
    reason = "no guarantee from shuffling here"
    if math.isfinite(eps_without_shuffler):
        reason += f"; eps = {eps_without_shuffler:g} holds without shuffling"
    return answers, reason


def _answer_methods(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle methods`: what every method is, and where it is valid."""
    records = {}
    blocks = []
    for name, method in methods.METHODS.items():
        records[name] = {
            "kind": method.kind,
            "valid": method.valid,
            "source": method.source,
            "needs_count": method.needs_count,
            "composes": method.composes,
            "participation": method.takes_participation,
            "randomizers": method.takes_any_randomizer,
        }
        remarks = [method.kind]
        if method.needs_count:
            remarks.append("needs --count")
        if method.composes:
            remarks.append("takes --rounds")
        if method.takes_participation:
            remarks.append("takes --participation")
        if method.takes_any_randomizer:
            remarks.append("takes --randomizer")
        title = f"{name:<{INDENT}}" + "; ".join(remarks)
        blocks.append(
            "\n".join([title, indented(f"valid for {method.valid}"), indented(method.source)])
        )
    return Answer("\n\n".join(blocks), records)


def _answer_plan(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle plan`: a plan for every pair of an eps and a delta that the user names.

    `arguments.delta` has log10 of the deltas, since the parser takes the logarithm. In the text, and in
    JSON, are only those options that the user changed.
    """
    n, k, shares = _data_of_plan(arguments)
    options = {name: getattr(arguments, name) for name in _DEFAULTS}
    changed = _changed_options(arguments, _DEFAULTS)
    data = "uniform data" if shares is None else "the data of the file"

    texts = []
    records: list[dict[str, Any]] = []
    for eps, log10_delta in itertools.product(arguments.eps, arguments.delta):
        plan = tightshuffle.plan(
            n=n, k=k, eps=eps, log10_delta=log10_delta, shares=shares, **options
        )
        if "randomizer" in changed:
            changed["randomizer"] = plan.randomizer  # with the parameter that the plan has found
        texts.append(_plan_text(k, changed, data, eps, log10_delta, plan))
        record = {
            "method": "upper",
            "n": plan.n,
            "k": k,
            "eps0": plan.eps0,
            "eps": eps,
            "log10_delta": log10_delta,
            **changed,
            "log10_delta_of_eps0": plan.log10_delta,
            "capped": plan.capped,
            "sigma": plan.sigma,
            "sensitivity": Neighbours(arguments.neighbours).sensitivity,
            "eps_without_shuffler": arguments.rounds * plan.eps0,
            "expected_tv": plan.tv,
        }
        records.append(record)

    json = records[0] if len(records) == 1 else {"method": "upper", "plans": records}
    return Answer("\n\n\n".join(texts), json)


def _data_of_plan(arguments: Namespace) -> tuple[int | None, int, Any]:
    """n (None if the plan is to find it), k, and the share of users of each value (None for uniform data)."""
    if (arguments.k is None) != bool(arguments.data):
        raise ValueError("give --k, or --data, which gives the users and their values")
    if not arguments.data:
        return arguments.n, arguments.k, None
    users, shares = histogram(arguments.data)
    return users, len(shares), shares


def _plan_text(
    k: int,
    options: dict[str, Any],
    data: str,
    eps: float,
    log10_delta: float,
    plan: Any,
) -> str:
    """The text of a ``plan`` for ``k`` values: the guarantee, the largest eps0, and the expected errors.

    The guarantee of all rounds together is (``eps``, 10^``log10_delta``). ``options`` are those that the user
    changed, and ``data`` says in words for which data the errors are.
    """
    rounds = options.get("rounds", 1)
    colluding = int(check_colluding(options.get("colluding", 0), plan.n))
    eps0 = plain(plan.eps0, side=Side.LOWER)

    guarantee = f"(eps = {eps:g}, delta = {delta_text(log10_delta)}) for every dataset"
    guarantee += f" with n = {plan.n}, k = {k}"
    if rounds > 1:
        guarantee += f", after {rounds} rounds"
    if colluding > 0:
        guarantee += f", {colluding} of the users colluding"
    lines = [guarantee, ""]
    if "error" in options:
        lines.append(f"fewest users   {plan.n}   (error at most {options['error']:g})")

    largest = f"largest eps0   {eps0}   (upper: delta = {delta_text(plan.log10_delta, Side.UPPER)})"
    if plan.capped:
        largest += "; the plan tries no larger eps0"
    failure = "reports leak" if "release" in options else "the shuffler fails"
    remaining = f"left, with delta = 0, if {failure}: {what_is_left(rounds * plan.eps0)}"
    heading = f"expected total variation error, {data}, before projection"
    if rounds > 1:
        remaining += f", for the {rounds} rounds together"
        heading += " (one round)"
    lines += [largest, remaining, "", f"{heading}:"]
    lines += _error_lines(options, plan, local_eps0=eps / rounds)

    query = _QUERIES[options.get("neighbours", Neighbours.REPLACEMENT)]
    lines += ["", f"The Gaussian's sigma is for {query}."]
    participation = options.get("participation", 1)
    lines += who_is_protected(participation)
    if participation < 1:
        lines.append(ERROR_OF_REPORTS)
    if max(plan.tv.values()) > 1:
        lines += ["", USELESS_ERROR]
    return "\n".join(lines)


def _error_lines(options: dict[str, Any], plan: Any, *, local_eps0: float) -> list[str]:
    """A line per mechanism with its expected total variation error, which is in `plan.tv`.

    The mechanisms are the shuffled randomizer, with the plan's eps0, a trusted curator's Gaussian noise, and
    the same randomizer without a shuffler. It then needs the smaller budget ``local_eps0`` in a round for the
    same guarantee. ``options`` are those that the user changed.
    """
    name = options.get("randomizer", "k-RR")
    sent = "summed" if "release" in options else "shuffled"
    eps0, sigma = plain(plan.eps0, side=Side.LOWER), plain(plan.sigma, side=Side.UPPER)
    titles = {
        "shuffle+INV": f"{name} with eps0 = {eps0}, {sent}, inverted",
        "gaussian": f"analytic Gaussian, sigma = {sigma}",
        "local": f"{name} with eps0 = {local_eps0:g}, not {sent} (delta = 0)",
    }
    if "uniform" in plan.tv:
        titles["uniform"] = "a uniform histogram that ignores the data"
    width = max(map(len, titles.values()))
    return [f"  {title:<{width}}  {plan.tv[key]:.4g}" for key, title in titles.items()]


def _answer_users(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle users`: the fewest users for a guarantee, with reports of a given eps0.

    The answer shows only options that the user changed.
    """
    setting = _changed_options(arguments, _BATCH_OPTIONS)
    users = tightshuffle.fewest_users(arguments.eps, log10_delta=arguments.delta, **setting)
    guarantee = (
        f"(eps = {arguments.eps:g}, delta = {delta_text(arguments.delta)}) for every dataset"
    )
    text = f"{guarantee}, {setting_text(setting)}\n\nfewest users   {users}"
    if arguments.participation != 1:
        text = "\n".join([text, "", *who_is_protected(arguments.participation)])
    return Answer(
        text, {**setting, "eps": arguments.eps, "log10_delta": arguments.delta, "n": users}
    )


def _answer_compare(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle compare`: delta by `lower`, and by every upper bound for the randomizer.

    delta is at the eps that the user names, or else at some from 0 to where the bound `upper` is 1e-12. The
    answer is that of `tightshuffle delta` with these methods and eps, which are set in ``arguments``.
    With ``--plot`` there is a picture, too.
    """
    if arguments.plot is not None:
        check_plot_file(arguments.plot)
    names = ["lower", "upper"]
    for name, method in methods.METHODS.items():
        applies = method.takes_any_randomizer or arguments.randomizer == "grr"
        applies = applies and (method.takes_participation or arguments.participation == 1)
        if arguments.randomizer.startswith("density:"):
            applies = applies and method.takes_densities
        if method.kind == methods.UPPER and name != "upper" and applies:
            names.append(name)
    arguments.method = ",".join(names)

    if arguments.eps is None:
        points = _POINTS_OF_JSON if arguments.json else _POINTS_OF_TEXT
        arguments.eps = np.linspace(0.0, _end_of_comparison(arguments), points).tolist()
    answer = _answer_bounds(arguments)
    if arguments.plot is None:
        return answer
    _draw_comparison(arguments)
    return with_plot(answer, arguments.plot)


def _end_of_comparison(arguments: Namespace) -> float:
    """The eps where `upper` is 1e-12, or eps0 if it is less at every eps."""
    setting = _settings_of_methods(arguments, [methods.METHODS["upper"]])[0]
    last = tightshuffle.epsilon(log10_delta=_LOG10_DELTA_AT_END, **setting)
    return float(last or setting["eps0"])


def _draw_comparison(arguments: Namespace) -> None:
    """Write the picture of a comparison: delta by the methods of ``arguments``, at many eps.

    One eps is in the middle of the axis, which ends at eps0 if that is less. Several are the axis's ends.
    """
    from tightshuffle.cli.pictures import draw_bounds, encoded

    first, last = min(arguments.eps), max(arguments.eps)
    marked = [last] if first == last else []
    if marked:
        eps0 = _settings_of_methods(arguments, [methods.METHODS["upper"]])[0]["eps0"]
        first, last = 0.0, min(2 * last, max(last, eps0)) or _end_of_comparison(arguments)
    eps = np.linspace(first, last, _POINTS_OF_PICTURE)
    columns = _compute_columns(arguments, eps.tolist(), of_delta=True)
    curves = {column.method.name: np.array(column.answers) for column in columns}
    setting = _with_name_of_randomizer(columns[0].setting)
    title = f"delta over eps by every bound: {setting_in_words(setting)}"
    figure = draw_bounds(eps, curves, title=title, asked=marked)
    write_plot_file(encoded(figure, format_of(arguments.plot)), arguments.plot)


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


def _settings_of_methods(
    arguments: Namespace, chosen: Sequence[methods.Method]
) -> list[dict[str, Any]]:
    """For each chosen method its keyword arguments of `tightshuffle.delta`, apart from method and eps.

    A method gets an option that it does not take only if the user should hear of it, by the error of the
    library. So --count and --direction go to the methods that need a count, or to all methods if none of them
    does. --rounds goes to the methods that compose rounds, and to all methods if it is not 1.
    """
    shared: dict[str, Any] = {"n": arguments.n, "k": arguments.k, "eps0": arguments.eps0}
    if has_own_budget(arguments.randomizer):
        randomizer = parse(arguments.randomizer, k=arguments.k, eps0=arguments.eps0)
        shared.update(k=randomizer.k, eps0=randomizer.eps0, randomizer=randomizer)
    elif arguments.randomizer != "grr":
        k, eps0 = check_given(arguments.randomizer, arguments.k, arguments.eps0)
        shared.update(k=k, eps0=eps0, randomizer=arguments.randomizer)
        if arguments.k is None:  # nothing depends on it
            del shared["k"]
    if arguments.colluding:
        shared["colluding"] = int(check_colluding(arguments.colluding, check_n(arguments.n)))
    shared.update(_changed_options(arguments, _ROUND_OPTIONS))

    options_of_count = _changed_options(arguments, ("count", "direction"))
    counts_matter = any(method.needs_count for method in chosen)
    settings = []
    for method in chosen:
        setting = dict(shared)
        if method.needs_count or not counts_matter:
            setting.update(options_of_count)
        if method.composes or arguments.rounds != 1:
            setting["rounds"] = arguments.rounds
        settings.append(setting)
    return settings


def _changed_options(arguments: Namespace, names: Iterable[str]) -> dict[str, Any]:
    """The values of those of the options ``names`` that are not at their default."""
    values = {name: getattr(arguments, name) for name in names}
    return {name: value for name, value in values.items() if value != _DEFAULTS.get(name)}


def _with_name_of_randomizer(setting: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the setting, in which the name of a randomizer has the place of the object.

    A density has inputs instead of a number of values: those for which the guarantee is.
    """
    named = dict(setting)
    randomizer = named.get("randomizer")
    if isinstance(randomizer, Randomizer):
        named["randomizer"] = randomizer.name
    if isinstance(randomizer, Density):
        del named["k"]
        if math.isinf(randomizer.eps0):
            del named["eps0"]
        named["inputs"] = "[0, 1]"
    return named


def _list_of_floats(array: Any) -> list[float]:
    """The numbers of the array, or the one number, as a list. A negative zero becomes 0."""
    return [float(number) + 0.0 for number in np.atleast_1d(array)]

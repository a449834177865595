"""The command `tightshuffle`: every accountant, the Gaussian's noise, what a guarantee costs, and an audit.

Answers go to standard output, as a small table or with --json as one object. An error goes to standard error
in one line, and the exit code is 2.
"""

import json
import math
import os
import sys
import textwrap
import warnings
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tightshuffle.arguments import OutsideRange
from tightshuffle.cli import values
from tightshuffle.cli.parser import make_parser
from tightshuffle.privacy import methods

_INDENT, _WIDTH = 17, 100
_SAFE_SIDE = {methods.UPPER: 1, methods.LOWER: -1}


def main(argv: Sequence[str] | None = None) -> int:
    """Answer the command line ``argv`` (that of the process by default); the exit code."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            arguments = make_parser().parse_args(argv)
            answer = _ANSWERS[arguments.command](arguments, caught)
        for message in dict.fromkeys(str(warning.message) for warning in caught):
            _complain(message)
        print(answer, flush=True)
    except (ValueError, OverflowError) as error:
        return _complain(error)
    except MemoryError:
        return _complain("n or k is too large for this machine's memory")
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has read enough. Python must not try to write what is left in the buffer.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _complain(message: object) -> int:
    print("tightshuffle:", " ".join(str(message).split()), file=sys.stderr)
    return 2


# --- answers -----------------------------------------------------------------------------------------------


def _answer_delta(arguments: Namespace, caught: list[warnings.WarningMessage]) -> str:
    method = methods.METHODS[arguments.method]
    setting = _setting(arguments, method)
    log_deltas = _floats(methods.delta(method.name, np.array(arguments.eps), **setting))
    reason = "; ".join(str(c.message) for c in caught if issubclass(c.category, OutsideRange))
    notes = [reason if math.isnan(x) else "delta is 0" if math.isinf(x) else None for x in log_deltas]
    if arguments.json:
        columns = {"eps": arguments.eps, "log10_delta": log_deltas, "note": notes}
        return _json({"method": method.name, **setting}, columns)
    side = _SAFE_SIDE.get(method.kind, 0)
    rows = [("eps", "delta", "log10 delta")]
    for eps, x in zip(arguments.eps, log_deltas, strict=True):
        known = not math.isnan(x)
        rows.append((f"{eps:g}", values.written(x, side) if known else f"nan ({reason})", f"{x:.6g}" * known))
    return f"{_heading(method, setting)}\n\n{_table(rows)}"


def _answer_epsilon(arguments: Namespace, _: object) -> str:
    method = methods.METHODS[arguments.method]
    setting = _setting(arguments, method)
    epsilons = _floats(methods.epsilon(method.name, np.array(arguments.delta), **setting))
    local_budget = setting["eps0"] * setting.get("compositions", 1)
    reason = f"not promised at any eps up to {local_budget:g}, which holds without shuffling"
    notes = [reason if math.isnan(eps) else None for eps in epsilons]
    for delta, eps in zip(arguments.delta, epsilons, strict=True):
        if math.isnan(eps):
            warnings.warn(f"delta = {delta:g} is {reason}, by {method.name}", OutsideRange, stacklevel=1)
    if arguments.json:
        columns = {"delta": arguments.delta, "eps": epsilons, "note": notes}
        return _json({"method": method.name, **setting}, columns)
    side = _SAFE_SIDE.get(method.kind, 0)
    rows = [("delta", "eps")]
    for delta, eps in zip(arguments.delta, epsilons, strict=True):
        rows.append((f"{delta:g}", f"nan ({reason})" if math.isnan(eps) else values.short(eps, side)))
    return f"{_heading(method, setting)}\n\n{_table(rows)}"


def _answer_methods(arguments: Namespace, _: object) -> str:
    every_method = methods.METHODS.values()
    if arguments.json:
        names = ("kind", "valid", "source", "needs_count", "composes")
        return _json({m.name: {name: getattr(m, name) for name in names} for m in every_method})
    blocks = []
    for m in every_method:
        more = ["needs --count"] * m.needs_count + ["takes --compositions"] * m.composes
        title = f"{m.name:<{_INDENT}}" + "; ".join([m.kind, *more])
        blocks.append("\n".join([title, _indented(f"valid for {m.valid}"), _indented(m.source)]))
    return "\n\n".join(blocks)


def _answer_sigma(arguments: Namespace, _: object) -> str:
    from tightshuffle.mechanisms.gaussian import exact_scale

    eps, log10_delta, sensitivity = arguments.eps, arguments.delta, arguments.sensitivity
    sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))
    if arguments.json:
        setting = {"eps": eps, "log10_delta": log10_delta, "sensitivity": sensitivity}
        return _json({"method": "gaussian", **setting, "sigma": sigma})
    rows = [("eps", "delta", "sensitivity", "sigma")]
    rows.append((f"{eps:g}", values.written(log10_delta), f"{sensitivity:.6g}", values.short(sigma, 1)))
    return f"analytic Gaussian mechanism, exact\n\n{_table(rows)}"


def _answer_plan(arguments: Namespace, _: object) -> str:
    from tightshuffle.experiments.plan import make_plan
    from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY

    n, k, eps, log10_delta = arguments.n, arguments.k, arguments.eps, arguments.delta
    plan = make_plan(n, k, eps, log10_delta=log10_delta)
    if arguments.json:
        guarantee = {"n": n, "k": k, "eps0": plan.eps0, "eps": eps, "log10_delta": log10_delta}
        search = {"log10_delta_of_eps0": plan.log10_delta, "capped": plan.capped}
        noise = {"sigma": plan.sigma, "sensitivity": HISTOGRAM_SENSITIVITY}
        return _json({"method": "upper", **guarantee, **search, **noise, "expected_tv": plan.tv})
    reached = values.written(plan.log10_delta, 1)
    tv = {name: f"{value:.4g}" for name, value in plan.tv.items()}
    rows = [
        (f"k-RR with eps0 = {values.short(plan.eps0, -1)}, shuffled, inverted", tv["shuffle+INV"]),
        (f"analytic Gaussian, sigma = {values.short(plan.sigma, 1)}", tv["gaussian"]),
        (f"k-RR with eps0 = {eps:g}, not shuffled (delta = 0)", tv["local"]),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [
        f"(eps = {eps:g}, delta = {values.written(log10_delta)}) for every dataset"
        f" of n = {n} users, k = {k} cells",
        "",
        f"largest eps0   {values.short(plan.eps0, -1)}   (upper: delta = {reached})"
        + "; larger ones are not looked at" * plan.capped,
        "",
        "expected total variation distance, uniform data, before projection:",
        *(f"  {name:<{width}}  {value}" for name, value in rows),
    ]
    if max(plan.tv.values()) > 1:
        lines += ["", "Above 1: the estimate is worthless."]
    return "\n".join(lines)


def _answer_audit(arguments: Namespace, _: object) -> str:
    from tightshuffle.experiments.audit import OBSERVES, assess
    from tightshuffle.experiments.game import play

    names = ("n", "k", "eps0", "count", "remaining", "runs", "seed")
    setting = {name: getattr(arguments, name) for name in names}
    tally = play(**setting, cores=arguments.cores or os.cpu_count() or 1)
    setting["remaining"] = tally.remaining
    rows = assess([tally], arguments.eps, confidence=arguments.confidence)
    if arguments.json:
        by_observer = {name: [row for row in rows if row["observes"] == name] for name in OBSERVES}

        def columns(rows: list[dict[str, Any]], *names: str) -> dict[str, Any]:
            return {name: _one_or_all([row[name] for row in rows]) for name in names}

        bounds = ("published_log10_delta", "exact_log10_delta", "upper_log10_delta")
        seen = ("audited_delta", "direction", "event", "hits", "other_hits")
        return _json(
            {"method": "audit", **setting, "confidence": arguments.confidence}
            | {"eps": _one_or_all(arguments.eps), **columns(by_observer["count"], *bounds)}
            | {"audited": {observer: columns(own, *seen) for observer, own in by_observer.items()}}
        )
    table = [("eps", "observer", "delta at least", "published", "exact", "upper", "event")]
    for row in rows:
        audited = values.written(math.log10(row["audited_delta"]), -1) if row["audited_delta"] > 0 else "0"
        fits = ("published", "exact") if row["observes"] == "count" else ("published", "upper")
        published, exact, upper = (
            values.written(row[f"{name}_log10_delta"], side) if name in fits else ""
            for name, side in (("published", 0), ("exact", 0), ("upper", 1))
        )
        event = f"{row['event']} ({row['direction']})"
        table.append((f"{row['eps']:g}", row["observes"], audited, published, exact, upper, event))
    lines = [
        f"audit: lower bounds on delta, each with confidence {arguments.confidence:g};"
        " a smaller one is refuted",
        ", ".join(f"{name} = {value}" for name, value in setting.items()),
        "",
        _table(table),
    ]
    return "\n".join(lines)


_ANSWERS: dict[str, Callable[[Namespace, list[warnings.WarningMessage]], str]] = {
    "delta": _answer_delta,
    "epsilon": _answer_epsilon,
    "methods": _answer_methods,
    "sigma": _answer_sigma,
    "plan": _answer_plan,
    "audit": _answer_audit,
}


def _setting(arguments: Namespace, method: methods.Method) -> dict[str, Any]:
    """The keywords of methods.delta; ValueError for an option that the method does not take."""
    setting = {"n": arguments.n, "k": arguments.k, "eps0": arguments.eps0}
    counted = ", ".join(name for name, other in methods.METHODS.items() if other.needs_count)
    for name in ("count", "direction"):
        value = getattr(arguments, name)
        if value is not None and not method.needs_count:
            raise ValueError(f"--{name} is for {counted} only; leave it out for {method.name}")
        if value is not None:
            setting[name] = value
    if method.needs_count and arguments.count is None:
        raise ValueError(
            f"--count is needed for {method.name}: how many of the remaining n - 1 users hold x0"
        )
    if method.composes or arguments.compositions > 1:
        setting["compositions"] = arguments.compositions
    return setting


# --- layout ------------------------------------------------------------------------------------------------


def _heading(method: methods.Method, setting: dict[str, Any]) -> str:
    settings = (
        f"{name} = {value:g}" if name == "eps0" else f"{name} = {value}" for name, value in setting.items()
    )
    return f"{method.name}: {method.kind}; valid for {method.valid}\n{', '.join(settings)}"


def _indented(text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    """The rows in columns, aligned to the left: numbers differ in length only by exponents and reasons."""
    widths = [max(len(row[i]) for row in rows if not row[i].startswith("nan (")) for i in range(len(rows[0]))]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _json(answer: dict[str, Any], columns: dict[str, list[Any]] | None = None) -> str:
    answer = answer | {name: _one_or_all(column) for name, column in (columns or {}).items()}
    return json.dumps(_plain(answer), allow_nan=False)


def _plain(value: Any) -> Any:
    """The same with None for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _floats(array: Any) -> list[float]:
    """A list of floats, without negative zeros."""
    return [float(x) + 0.0 for x in np.atleast_1d(array)]


def _one_or_all(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else items


if __name__ == "__main__":
    sys.exit(main())

"""The command `tightshuffle`: every accountant, the Gaussian's noise and what a guarantee costs.

Answers go to standard output, as a small table or with --json as one object. Whatever is wrong goes to
standard error in one line, and the exit code is 2.
"""

import json
import math
import os
import sys
import textwrap
import warnings

import numpy as np

from tightshuffle.arguments import OutsideRange
from tightshuffle.cli import values
from tightshuffle.cli.parser import make_parser
from tightshuffle.privacy import methods

_INDENT, _WIDTH = 17, 100
_SAFE_SIDE = {methods.UPPER: 1, methods.LOWER: -1}


def main(argv=None):
    """Answer the command line ``argv`` (that of the process by default); the exit code."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            given = make_parser().parse_args(argv)
            answer = _ANSWERS[given.command](given, caught)
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
        # Whoever read this has enough. The interpreter must not try to write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


def _complain(message):
    print("tightshuffle:", " ".join(str(message).split()), file=sys.stderr)
    return 2


# --- answers -----------------------------------------------------------------------------------------------


def _answer_delta(given, caught):
    method = methods.METHODS[given.method]
    setting = _setting(given, method)
    log_delta = np.atleast_1d(methods.delta(given.method, np.array(given.eps), **setting))
    reason = "; ".join(str(c.message) for c in caught if issubclass(c.category, OutsideRange))
    log_delta = [float(x) + 0.0 for x in log_delta]
    notes = [reason if math.isnan(x) else "delta is 0" if math.isinf(x) else None for x in log_delta]
    if given.json:
        rest = {"eps": _one_or_all(given.eps), "log10_delta": _one_or_all(log_delta)}
        return _json({"method": method.name, **setting, **rest, "note": _one_or_all(notes)})
    side = _SAFE_SIDE.get(method.kind, 0)
    rows = [("eps", "delta", "log10 delta")]
    for eps, x in zip(given.eps, log_delta, strict=True):
        known = not math.isnan(x)
        rows.append((f"{eps:g}", values.written(x, side) if known else f"nan ({reason})", f"{x:.6g}" * known))
    return f"{_heading(method, setting)}\n\n{_table(rows)}"


def _answer_epsilon(given, _):
    method = methods.METHODS[given.method]
    setting = _setting(given, method)
    eps = np.atleast_1d(methods.epsilon(given.method, np.array(given.delta), **setting))
    eps = [float(x) + 0.0 for x in eps]
    most = setting["eps0"] * setting.get("compositions", 1)
    reason = f"not promised at any eps up to {most:g}, which holds without shuffling"
    notes = [reason if math.isnan(x) else None for x in eps]
    for delta, x in zip(given.delta, eps, strict=True):
        if math.isnan(x):
            warnings.warn(f"delta = {delta:g} is {reason}, by {method.name}", OutsideRange, stacklevel=1)
    if given.json:
        rest = {"delta": _one_or_all(given.delta), "eps": _one_or_all(eps)}
        return _json({"method": method.name, **setting, **rest, "note": _one_or_all(notes)})
    side = _SAFE_SIDE.get(method.kind, 0)
    rows = [("delta", "eps")]
    for delta, x in zip(given.delta, eps, strict=True):
        rows.append((f"{delta:g}", f"nan ({reason})" if math.isnan(x) else values.short(x, side)))
    return f"{_heading(method, setting)}\n\n{_table(rows)}"


def _answer_methods(given, _):
    everyone = methods.METHODS.values()
    if given.json:
        names = ("kind", "valid", "source", "needs_count", "composes")
        return _json({m.name: {name: getattr(m, name) for name in names} for m in everyone})
    blocks = []
    for m in everyone:
        more = ["needs --count"] * m.needs_count + ["takes --compositions"] * m.composes
        title = f"{m.name:<{_INDENT}}" + "; ".join([m.kind, *more])
        blocks.append("\n".join([title, _indented(f"valid for {m.valid}"), _indented(m.source)]))
    return "\n\n".join(blocks)


def _answer_sigma(given, _):
    from tightshuffle.mechanisms.gaussian import exact_scale

    sigma = float(exact_scale(given.eps, log10_delta=given.delta, sensitivity=given.sensitivity))
    if given.json:
        rest = {"sensitivity": given.sensitivity, "sigma": sigma}
        return _json({"method": "gaussian", "eps": given.eps, "log10_delta": given.delta, **rest})
    rows = [("eps", "delta", "sensitivity", "sigma")]
    delta, sensitivity = values.written(given.delta), f"{given.sensitivity:.6g}"
    rows.append((f"{given.eps:g}", delta, sensitivity, values.short(sigma, 1)))
    return f"analytic Gaussian mechanism, exact\n\n{_table(rows)}"


def _answer_plan(given, _):
    from tightshuffle.experiments.plan import make_plan
    from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY

    plan = make_plan(given.n, given.k, given.eps, log10_delta=given.delta)
    if given.json:
        setting = {"method": "upper", "n": given.n, "k": given.k, "eps0": plan.eps0, "eps": given.eps}
        rest = {"log10_delta": given.delta, "log10_delta_of_eps0": plan.log10_delta, "capped": plan.capped}
        noise = {"sigma": plan.sigma, "sensitivity": HISTOGRAM_SENSITIVITY}
        return _json({**setting, **rest, **noise, "expected_tv": plan.tv})
    reached = values.written(plan.log10_delta, 1)
    tv = {name: f"{value:.4g}" for name, value in plan.tv.items()}
    rows = [
        (f"k-RR with eps0 = {values.short(plan.eps0, -1)}, shuffled, inverted", tv["shuffle+INV"]),
        (f"analytic Gaussian, sigma = {values.short(plan.sigma, 1)}", tv["gaussian"]),
        (f"k-RR with eps0 = {given.eps:g}, not shuffled (delta = 0)", tv["local"]),
    ]
    width = max(len(name) for name, _ in rows)
    lines = [
        f"(eps = {given.eps:g}, delta = {values.written(given.delta)}) for every dataset"
        f" of n = {given.n} users, k = {given.k} cells",
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


def _answer_audit(given, _):
    from tightshuffle.experiments.audit import OBSERVES, assess
    from tightshuffle.experiments.game import play

    setting = {
        name: getattr(given, name) for name in ("n", "k", "eps0", "count", "remaining", "runs", "seed")
    }
    tally = play(**setting, cores=given.cores or os.cpu_count() or 1)
    setting["remaining"] = tally.remaining
    rows = assess([tally], given.eps, confidence=given.confidence)
    columns = {
        observer: {name: [row[name] for row in rows if row["observes"] == observer] for name in rows[0]}
        for observer in OBSERVES
    }
    if given.json:
        claims = ("published_log10_delta", "exact_log10_delta", "upper_log10_delta")
        seen = ("audited_delta", "direction", "event", "hits", "other_hits")
        return _json(
            {"method": "audit", **setting, "confidence": given.confidence, "eps": _one_or_all(given.eps)}
            | {name: _one_or_all(columns["count"][name]) for name in claims}
            | {
                "audited": {
                    observer: {name: _one_or_all(own[name]) for name in seen}
                    for observer, own in columns.items()
                }
            }
        )
    table = [("eps", "observer", "delta at least", "published", "exact", "upper", "event")]
    for row in rows:
        audited = values.written(math.log10(row["audited_delta"]), -1) if row["audited_delta"] > 0 else "0"
        fits = ("published", "exact") if row["observes"] == "count" else ("published", "upper")
        claims = [
            values.written(row[f"{name}_log10_delta"], side) if name in fits else ""
            for name, side in (("published", 0), ("exact", 0), ("upper", 1))
        ]
        event = f"{row['event']} ({row['direction']})"
        table.append((f"{row['eps']:g}", row["observes"], audited, *claims, event))
    lines = [
        f"audit: lower bounds on delta, each with confidence {given.confidence:g}; a smaller one is refuted",
        ", ".join(f"{name} = {value}" for name, value in setting.items()),
        "",
        _table(table),
    ]
    return "\n".join(lines)


_ANSWERS = {
    "delta": _answer_delta,
    "epsilon": _answer_epsilon,
    "methods": _answer_methods,
    "sigma": _answer_sigma,
    "plan": _answer_plan,
    "audit": _answer_audit,
}


def _setting(given, method):
    """The keywords of methods.delta; ValueError for an option that the method has no use for."""
    setting = {"n": given.n, "k": given.k, "eps0": given.eps0}
    counted = ", ".join(name for name, other in methods.METHODS.items() if other.needs_count)
    for name in ("count", "direction"):
        value = getattr(given, name)
        if value is not None and not method.needs_count:
            raise ValueError(f"--{name} is for {counted} only; leave it out for {method.name}")
        if value is not None:
            setting[name] = value
    if method.needs_count and given.count is None:
        raise ValueError(f"--count is needed for {method.name}: how many of the other n - 1 users hold x0")
    if method.composes or given.compositions > 1:
        setting["compositions"] = given.compositions
    return setting


# --- layout ------------------------------------------------------------------------------------------------


def _heading(method, setting):
    words = (
        f"{name} = {value:g}" if name == "eps0" else f"{name} = {value}" for name, value in setting.items()
    )
    return f"{method.name}: {method.kind}; valid for {method.valid}\n{', '.join(words)}"


def _indented(text):
    return textwrap.fill(text, _WIDTH, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)


def _table(rows):
    """Columns aligned; numbers to the left, as they differ in length only by reasons and exponents."""
    widths = [max(len(row[i]) for row in rows if not row[i].startswith("nan (")) for i in range(len(rows[0]))]
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def _json(answer):
    return json.dumps(_plain(answer), allow_nan=False)


def _plain(value):
    """The same with None in the place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _one_or_all(items):
    return items[0] if len(items) == 1 else items


if __name__ == "__main__":
    sys.exit(main())

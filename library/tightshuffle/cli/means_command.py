"""`tightshuffle design --mean`: every design for the mean of numbers, in one table."""

from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_colluding
from tightshuffle.cli.layout import (
    ERROR_OF_REPORTS,
    USELESS_EPS,
    Answer,
    delta_text,
    setting_text,
    table,
    what_is_left,
    who_is_protected,
)
from tightshuffle.planning.means import MeanDesign, compare_means

_HEADER = ("design", "worst input", "uniform inputs", "bits", "left if it fails")
_TEXT_HEADER = ("design", "who is trusted", "parameters")
_LEGEND = (
    "worst input: standard deviation of one round's mean if every user has the value that is worst for it.",
    "uniform inputs: the same if values are spread evenly over their range.",
    "bits: of one report; noise on reports is counted as a float.",
    "left if it fails: total eps over all rounds, with delta = 0, if the trusted party fails.",
    "K: each value is rounded to one of K levels at random, and k-RR reports the level.",
    "parameters: for values that are first mapped to 0 to 1, or to 0 to the sensitivity.",
    "A curator of a central mechanism gets the values themselves: these rows are for comparison.",
)
WHOLE_RANGE = (0.0, 1.0)
_DEFAULTS = {"rounds": 1, "colluding": 0, "participation": 1, "parties": 2, "honest": 1}
# Options of `design` that are about values, of which a mean has none, with their defaults.
_OF_VALUES = {"k": None, "values_per_user": 1, "share": 0.1}


def answer_means(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle design --mean`, for n users or for the fewest who reach a deviation.

    The text has two tables, and sentences that explain them, as that of `design_command`. Of the arguments,
    it shows those that the user changed.
    """
    for name, default in _OF_VALUES.items():
        if getattr(arguments, name) != default:
            raise ValueError(f"--{name.replace('_', '-')} cannot be given with --mean")
    setting: dict[str, Any] = {}
    for name in ("n", "deviation"):
        if getattr(arguments, name) is not None:
            setting[name] = getattr(arguments, name)
    for name, default in _DEFAULTS.items():
        if getattr(arguments, name) != default:
            setting[name] = getattr(arguments, name)
    eps = arguments.eps
    log10_delta = arguments.delta  # the parser has taken the logarithm
    comparison = compare_means(eps, log10_delta=log10_delta, value_range=arguments.range, **setting)
    if "colluding" in setting and "n" in setting:  # a share of the users is shown as their number
        setting["colluding"] = int(check_colluding(setting["colluding"], setting["n"]))

    left_out = [f"Left out: {name} ({why})." for name, why in comparison.left_out.items()]
    if left_out:
        left_out.append("")
    numbers = [_HEADER, *map(_numbers_of, comparison.designs)]
    if arguments.deviation is not None:  # each design has its own number of users
        users = ["fewest users", *(f"{design.n}" for design in comparison.designs)]
        numbers = [(name, n, *rest) for (name, *rest), n in zip(numbers, users, strict=True)]
    low, high = arguments.range
    guarantee = f"(eps = {eps:.15g}, delta = {delta_text(log10_delta)}) for every dataset"
    lines = [
        f"{guarantee}, {setting_text(setting)}, values from {low:g} to {high:g}",
        "",
        table(numbers),
        "",
        table([_TEXT_HEADER, *map(_texts_of, comparison.designs)]),
        "",
        *left_out,
        *_LEGEND,
        *who_is_protected(arguments.participation),
    ]
    if arguments.participation < 1:
        lines.append(ERROR_OF_REPORTS)
    if min(design.eps_if_it_fails for design in comparison.designs) >= USELESS_EPS:
        lines.append(
            "None of these designs protects anybody if the shuffler or the aggregators fail."
        )
    record: dict[str, Any] = {
        **setting,
        "range": [low, high],
        "eps": eps,
        "log10_delta": log10_delta,
        "designs": [vars(design) for design in comparison.designs],
        "left_out": comparison.left_out,
    }
    return Answer("\n".join(lines), record)


def _numbers_of(design: MeanDesign) -> tuple[str, ...]:
    """The cells of a design in the first table, in the order of `_HEADER`."""
    return (
        design.name,
        f"{design.deviation:.3g}",
        f"{design.uniform_deviation:.3g}",
        str(design.bits),
        what_is_left(design.eps_if_it_fails),
    )


def _texts_of(design: MeanDesign) -> tuple[str, ...]:
    """The cells of a design in the second table, in the order of `_TEXT_HEADER`."""
    return design.name, design.trust, design.parameters

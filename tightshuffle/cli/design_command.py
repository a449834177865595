"""`tightshuffle design`: every design for one guarantee, in one table."""

from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_colluding
from tightshuffle.cli.layout import Answer, delta_text, table
from tightshuffle.designs import Design, compare_designs
from tightshuffle.number_text import plain

HEADER = ("design", "error", "users per value", "messages", "if it fails", "parameters", "who is trusted")


def answer_design(arguments: Namespace) -> Answer:
    """The table, and what its columns are."""
    about = {name: getattr(arguments, name) for name in ("n", "k")}
    for name, usual in (("compositions", 1), ("reports_per_user", 1), ("colluding", 0)):
        if (value := getattr(arguments, name)) != usual:
            about[name] = value
    eps, log10_delta = arguments.eps, arguments.delta
    found = compare_designs(eps=eps, log10_delta=log10_delta, **about)
    if "colluding" in about:
        about["colluding"] = int(check_colluding(about["colluding"], about["n"]))
    held = about["n"] * about.get("reports_per_user", 1) / about["k"]
    lines = [
        f"(eps = {eps:.15g}, delta = {delta_text(log10_delta)}) for every dataset, {_written(about)}",
        "",
        table([HEADER, *(row(one, held) for one in found.designs)]),
        "",
        *(f"Left out: {name} ({why})." for name, why in found.left_out.items()),
        *[""] * bool(found.left_out),
        "error: expected total variation error of one round, for uniform data and before projection;",
        "users per value: the same as the mean error of a value's count, of how many users hold it;",
        "messages: per user and round; if it fails: eps for all rounds that is left then.",
        "A curator of a central mechanism gets the values themselves: these rows are for comparison.",
    ]
    record: dict[str, Any] = {**about, "eps": eps, "log10_delta": log10_delta}
    record |= {"designs": [vars(one) for one in found.designs], "left_out": found.left_out}
    return Answer("\n".join(lines), record)


def row(design: Design, held: float) -> tuple[str, ...]:
    """The texts of a design's line; ``held``: how many users hold a value, on average."""
    left = plain(design.eps_if_it_fails, 4, round_up=True)
    return (
        design.name,
        f"{design.error:.3g}",
        f"{_users(design.users_per_value)} of {_users(held)}",
        f"{design.messages_per_user:.4g}",
        "nothing left" if left == "inf" else f"eps {left}",
        design.parameters,
        design.trust,
    )


def _users(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else plain(number, 3)


def _written(about: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in about.items())

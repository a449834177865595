"""`tightshuffle design`: k-RR with dummies."""

from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_colluding
from tightshuffle.cli.layout import Answer, delta_text, table
from tightshuffle.designs import frontier, luo_wang_yi
from tightshuffle.number_text import plain


def answer_design(arguments: Namespace) -> Answer:
    """The designs for one guarantee, and what a closed form asks for."""
    about, eps, log10_delta = _about(arguments), arguments.eps, arguments.delta
    designs = frontier(eps=eps, log10_delta=log10_delta, **about)
    guarantee = {"method": "collection", **about, "eps": eps, "log10_delta": log10_delta}
    records = []
    for one in designs:
        row = {"eps0": one.eps0, "dummies": one.dummies, "messages_per_user": one.messages_per_user}
        records.append({**row, "expected_tv": one.error, "ratio": one.ratio})
    needed, closed = designs[-1].dummies / arguments.k, luo_wang_yi(eps, log10_delta=log10_delta)
    per_value = {"dummies_per_value": needed, "closed_form": closed, "times": closed / needed}
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


def _about(arguments: Namespace) -> dict[str, Any]:
    about = {"n": arguments.n, "k": arguments.k}
    if arguments.colluding:
        about["colluding"] = int(check_colluding(arguments.colluding, arguments.n))
    return about


def _written(about: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in about.items())

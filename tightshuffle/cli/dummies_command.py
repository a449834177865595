"""`tightshuffle dummies`: values sent as they are, hidden by dummies of the best law, or of a given one."""

import math
from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_one, check_rounds, check_whole
from tightshuffle.cli.layout import Answer, delta_text, table
from tightshuffle.dummies.best_law import best_cut_law, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import Law, expected_tv, parse_law, poisson
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.number_text import plain
from tightshuffle.points import LARGEST_N_OF_UPPER, LARGEST_ROUNDS
from tightshuffle.randomizers.expected_errors import mean_absolute

_NEAR = 1.003  # an error that counts as the Gaussian's


def answer_dummies(arguments: Namespace) -> Answer:
    """The designs for one (eps, delta), or the eps of one law."""
    check_whole("n", arguments.n, 1, int(LARGEST_N_OF_UPPER))
    check_whole("k", arguments.k, 2)
    check_whole("values_per_user", arguments.values_per_user, 1, arguments.k)
    rounds = int(check_one("rounds", check_rounds(arguments.rounds)))
    most = LARGEST_ROUNDS // int(arguments.values_per_user)
    if rounds > most:
        raise ValueError(
            f"rounds must be at most {most} where values_per_user is {arguments.values_per_user};"
            f" got {rounds}"
        )
    about = {name: getattr(arguments, name) for name in ("n", "k", "values_per_user", "rounds")}
    return _of_law(arguments, about) if arguments.law else _designs(arguments, about)


def _of_law(arguments: Namespace, about: dict[str, Any]) -> Answer:
    law = parse_law(arguments.law)
    low, high = (
        HiddenByDummies(law, about["values_per_user"], about["rounds"], round_up=up).epsilon(
            log10_delta=arguments.delta
        )
        for up in (False, True)
    )
    error = expected_tv(law, n=about["n"], k=about["k"])
    lines = [
        f"eps at delta = {delta_text(arguments.delta)}, for every dataset, {_written(about)}",
        "",
        f"between {plain(low, round_up=False)} and {plain(high, round_up=True)}",
        f"dummies per value, on average   {law.mean:.6g}",
        f"expected total variation error  {error:.4g}",
    ]
    record = {**about, "law": law.name, "log10_delta": arguments.delta, "eps": high, "eps_at_least": low}
    return Answer("\n".join(lines), {**record, "mean": law.mean, "expected_tv": error})


def _designs(arguments: Namespace, about: dict[str, Any]) -> Answer:
    n, k, eps = about["n"], about["k"], arguments.eps
    asked = {"log10_delta": arguments.delta}
    asked |= {name: about[name] for name in ("values_per_user", "rounds")}
    changed = HISTOGRAM_SENSITIVITY * math.sqrt(about["values_per_user"] * about["rounds"])
    sigma = exact_scale(eps, log10_delta=arguments.delta, sensitivity=changed)
    gaussian = float(mean_absolute(sigma))
    share = smallest_poisson_mean(eps, **asked, devices=n, colluding=arguments.colluding)
    best = best_cut_law(eps, **asked)
    designs: list[tuple[str, Law]] = [("shuffler", best)]
    cheap = best_cut_law(eps, **asked, absolute_error=_NEAR * gaussian)
    if cheap.mean < best.mean:
        more = cheap.absolute_error > best.absolute_error
        designs = [*designs * more, ("shuffler", cheap)]
    designs.append(("devices", poisson(share * n)))
    rows: list[tuple[str, ...]] = [
        ("law", "added by", "dummies per value", "messages per user", "expected error", "over the Gaussian's")
    ]
    records = []
    for who, law in designs:
        record = {
            "law": law.name,
            "added_by": who,
            "mean": law.mean,
            "expected_tv": expected_tv(law, n=n, k=k),
        }
        record |= {
            "messages_per_user": about["values_per_user"] + k * law.mean / n,
            "ratio": law.absolute_error / gaussian,
        }
        records.append(record)
        shown = [f"{record[key]:.4g}" for key in ("mean", "messages_per_user", "expected_tv")]
        rows.append((law.name if who == "shuffler" else "poisson", who, *shown, f"{record['ratio']:.3f}"))
    lines = [
        f"(eps = {eps:.15g}, delta = {delta_text(arguments.delta)}) for every dataset, {_written(about)}",
        "",
        table(rows),
        "",
        f"Each device adds a Poisson number of every value with mean {plain(share, 4, round_up=True)}.",
        "A cut law is only for the shuffler, which must keep the numbers secret.",
        "The shuffler sees all values unless users encrypt them for the analyst; the two must not collude.",
        "If the shuffler fails, nothing is left: users send their values as they are.",
        "expected error: expected total variation error, before projection;",
        "the Gaussian is the central analytic Gaussian mechanism with the same (eps, delta).",
    ]
    guarantee = {**about, "eps": eps, "log10_delta": arguments.delta, "mean_per_device": share}
    return Answer("\n".join(lines), {**guarantee, "designs": records})


def _written(about: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in about.items())

"""`tightshuffle dummies`: values sent as they are, hidden by dummies of the best law, or of a given one."""

import math
from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_one, check_rounds, check_whole
from tightshuffle.cli.layout import Answer, delta_text, table
from tightshuffle.dummies.best_law import best_cut_law, smallest_poisson_mean
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import (
    MOST_PARTIES,
    Law,
    error_of_parties,
    expected_tv,
    parse_law,
    poisson,
    sum_of_parties,
)
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.number_text import plain
from tightshuffle.points import LARGEST_N_OF_UPPER, LARGEST_ROUNDS
from tightshuffle.randomizers.expected_errors import mean_absolute
from tightshuffle.side import Side

_NEAR = 1.003  # ratio to the Gaussian's error up to which a law's error counts as equal
_HEADER = (
    "law",
    "added by",
    "dummies per value",
    "messages per user",
    "expected error",
    "over the Gaussian's",
)
_LEGEND = (
    "A cut law is only for the shuffler, which must keep the numbers secret.",
    "The shuffler sees all values unless users encrypt them for the analyst; the two must not collude.",
    "If the shuffler fails, nothing is left: users send their values as they are.",
    "expected error: expected total variation error, before projection;",
    "the Gaussian is the central analytic Gaussian mechanism with the same (eps, delta).",
)


def answer_dummies(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle dummies`: the best laws for (eps, delta), or the eps of a law at delta."""
    check_whole("n", arguments.n, 1, int(LARGEST_N_OF_UPPER))
    check_whole("k", arguments.k, 2)
    check_whole("values_per_user", arguments.values_per_user, 1, arguments.k)
    rounds = int(check_one("rounds", check_rounds(arguments.rounds)))
    largest_rounds = LARGEST_ROUNDS // int(arguments.values_per_user)
    if rounds > largest_rounds:
        raise ValueError(
            f"rounds must be at most {largest_rounds} where values_per_user is"
            f" {arguments.values_per_user}; got {rounds}"
        )

    parties = check_whole("parties", arguments.parties, 1, MOST_PARTIES)
    honest = check_whole("honest", arguments.honest, 1, parties)

    setting = {name: getattr(arguments, name) for name in ("n", "k", "values_per_user", "rounds")}
    if parties > 1:
        setting["parties"] = parties
        setting["honest"] = honest
    if arguments.law:
        return _answer_law(arguments, setting)
    return _answer_designs(arguments, setting)


def _answer_law(arguments: Namespace, setting: dict[str, Any]) -> Answer:
    """The answer with the eps at delta of the law that the user names, and with its expected error.

    Whoever colludes with parties knows their dummies: those of the honest ones hide values, and all add to
    the error.
    """
    law = parse_law(arguments.law)
    parties = setting.get("parties", 1)
    law_of_honest = sum_of_parties(law, setting.get("honest", 1))
    low = _eps_of_law(law_of_honest, arguments.delta, setting, side=Side.LOWER)
    high = _eps_of_law(law_of_honest, arguments.delta, setting, side=Side.UPPER)
    error = expected_tv(law, n=setting["n"], k=setting["k"], parties=parties)
    lines = [
        f"eps at delta = {delta_text(arguments.delta)}, for every dataset, {_written(setting)}",
        "",
        f"between {plain(low, side=Side.LOWER)} and {plain(high, side=Side.UPPER)}",
        f"dummies per value, on average   {parties * law.mean:.6g}",
        f"expected total variation error  {error:.4g}",
    ]
    record = {
        **setting,
        "law": law.name,
        "log10_delta": arguments.delta,
        "eps": high,
        "eps_at_least": low,
        "mean": parties * law.mean,
        "expected_tv": error,
    }
    return Answer("\n".join(lines), record)


def _eps_of_law(law: Law, log10_delta: float, setting: dict[str, Any], side: Side) -> float:
    bound = HiddenByDummies(law, setting["values_per_user"], setting["rounds"], side=side)
    return bound.epsilon(log10_delta=log10_delta)


def _answer_designs(arguments: Namespace, setting: dict[str, Any]) -> Answer:
    """The answer with the best laws for (eps, delta), in a table with their errors.

    Each error is also shown over that of the central Gaussian mechanism with the same guarantee.
    """
    n, k, eps, log10_delta = setting["n"], setting["k"], arguments.eps, arguments.delta
    counts = setting["values_per_user"] * setting["rounds"]
    sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(counts)
    sigma = exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity)
    gaussian_error = float(mean_absolute(sigma))
    mean_per_device, designs = _find_laws(arguments, setting, gaussian_error)

    rows: list[tuple[str, ...]] = [_HEADER]
    records = []
    for added_by, law, parties in designs:
        mean = parties * law.mean
        record = {
            "law": law.name,
            "added_by": added_by,
            "mean": mean,
            "expected_tv": expected_tv(law, n=n, k=k, parties=parties),
            "messages_per_user": setting["values_per_user"] + k * mean / n,
            "ratio": error_of_parties(law, parties) / gaussian_error,
        }
        records.append(record)
        name = "poisson" if added_by == "devices" else law.name
        texts = [f"{record[key]:.4g}" for key in ("mean", "messages_per_user", "expected_tv")]
        rows.append((name, added_by, *texts, f"{record['ratio']:.3f}"))

    mean_text = plain(mean_per_device, 4, side=Side.UPPER)
    lines = [
        f"(eps = {eps:.15g}, delta = {delta_text(log10_delta)}) for every dataset, {_written(setting)}",
        "",
        table(rows),
        "",
        f"Each device adds a Poisson number of every value with mean {mean_text}.",
        *_LEGEND,
    ]
    answer = {
        **setting,
        "eps": eps,
        "log10_delta": log10_delta,
        "mean_per_device": mean_per_device,
        "designs": records,
    }
    return Answer("\n".join(lines), answer)


def _find_laws(
    arguments: Namespace, setting: dict[str, Any], gaussian_error: float
) -> tuple[float, list[tuple[str, Law, int]]]:
    """The mean of a device's Poisson law, and every law to show, with who adds it and how many parties do.

    The laws are cut ones, and the devices' Poisson law last. The best one has about the least error. The
    cheaper one has the fewest dummies with an error of at most that of the best law, or 1.003 times the
    Gaussian's if that is larger. Shown are only the cheaper one if it has fewer dummies and no larger error,
    both if it has fewer dummies and a larger error, and else only the best one.
    """
    guarantee = {
        "log10_delta": arguments.delta,
        "values_per_user": setting["values_per_user"],
        "rounds": setting["rounds"],
    }
    n, eps = setting["n"], arguments.eps
    mean_per_device = smallest_poisson_mean(
        eps, **guarantee, devices=n, colluding=arguments.colluding
    )
    parties = setting.get("parties", 1)
    added_by = "shuffler" if parties == 1 else f"each of {parties} parties"
    guarantee.update(parties=parties, honest=setting.get("honest", 1))

    best = best_cut_law(eps, **guarantee)
    best_error = error_of_parties(best, parties)
    largest_error = max(best_error, _NEAR * gaussian_error)
    cheap = best_cut_law(eps, **guarantee, absolute_error=largest_error)

    designs: list[tuple[str, Law, int]] = []
    if cheap.mean >= best.mean or error_of_parties(cheap, parties) > best_error:
        designs.append((added_by, best, parties))
    if cheap.mean < best.mean:
        designs.append((added_by, cheap, parties))
    designs.append(("devices", poisson(mean_per_device * n), 1))
    return mean_per_device, designs


def _written(setting: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in setting.items())

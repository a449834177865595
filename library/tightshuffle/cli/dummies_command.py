"""`tightshuffle dummies`: values sent as they are, hidden by dummies of the best law, or of a given one."""

import math
from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_one, check_rounds, check_whole
from tightshuffle.cli.layout import Answer, delta_text, setting_text, table
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
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.number_text import plain
from tightshuffle.numerics.side import Side
from tightshuffle.points import LARGEST_N_OF_UPPER, LARGEST_ROUNDS
from tightshuffle.randomizers.expected_errors import mean_absolute

_NEAR = 1.003  # an error counts as equal to the Gaussian's up to so many times that
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
    """The answer of `tightshuffle dummies`: the best laws for (eps, delta), or the eps of a law at delta.

    ``arguments`` are those of `commands`, with log10 of delta. A law is the distribution of the number of
    dummies that hide a value. Of several ``parties``, each adds a number of the same law, and ``honest`` ones
    tell nobody their numbers.
    """
    check_whole("n", arguments.n, 1, int(LARGEST_N_OF_UPPER))
    check_whole("k", arguments.k, 2)
    check_whole("values_per_user", arguments.values_per_user, 1, arguments.k)
    # A user may change values_per_user values in each round. They count as so many rounds of one value.
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
    if arguments.law is not None:
        return _answer_law(arguments, setting)
    return _answer_designs(arguments, setting)


def _answer_law(arguments: Namespace, setting: dict[str, Any]) -> Answer:
    """The answer for a law that the user names: its eps at delta, and its expected error.

    Each of the `parties` in the ``setting`` adds a number of dummies by the law to every value. The values
    are hidden by the dummies of the `honest` parties alone, as others may tell the adversary their numbers.
    The error is that of the dummies of all parties.
    """
    law = parse_law(arguments.law)
    parties = setting.get("parties", 1)
    mean_of_all = parties * law.mean  # dummies of a value
    law_of_honest = sum_of_parties(law, setting.get("honest", 1))
    low = _eps_of_law(law_of_honest, arguments.delta, setting, side=Side.LOWER)
    high = _eps_of_law(law_of_honest, arguments.delta, setting, side=Side.UPPER)
    error = expected_tv(law, n=setting["n"], k=setting["k"], parties=parties)
    lines = [
        f"eps at delta = {delta_text(arguments.delta)}, for every dataset, {setting_text(setting)}",
        "",
        f"between {plain(low, side=Side.LOWER)} and {plain(high, side=Side.UPPER)}",
        f"dummies per value, on average   {mean_of_all:.6g}",
        f"expected total variation error  {error:.4g}",
    ]
    record = {
        **setting,
        "law": law.name,
        "log10_delta": arguments.delta,
        "eps": high,
        "eps_at_least": low,
        "mean": mean_of_all,
        "expected_tv": error,
    }
    return Answer("\n".join(lines), record)


def _eps_of_law(law: Law, log10_delta: float, setting: dict[str, Any], side: Side) -> float:
    """A bound on the eps of all rounds if a number of dummies by this ``law`` hides each value.

    The ``side`` says whether it is an upper or a lower bound.
    """
    bound = HiddenByDummies(law, setting["values_per_user"], setting["rounds"], side=side)
    return bound.epsilon(log10_delta=log10_delta)


def _answer_designs(arguments: Namespace, setting: dict[str, Any]) -> Answer:
    """The answer for a guarantee (eps, delta): the best laws of dummies, with their costs and errors.

    There are one or two cut laws, of numbers from 0 to twice their mean, which the shuffler or several
    parties add. The last law is the Poisson law of the dummies of all devices together. An error is shown as
    an expected total variation error, and as the ratio of a count's expected absolute error to that of the
    central Gaussian mechanism with the same guarantee.
    """
    n, k, eps, log10_delta = setting["n"], setting["k"], arguments.eps, arguments.delta
    # A user may change so many values, each of which changes two counts by 1.
    changed_values = setting["values_per_user"] * setting["rounds"]
    sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(changed_values)
    sigma = exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity)
    gaussian_error = float(mean_absolute(sigma))  # of a count, in users

    guarantee = {
        "log10_delta": log10_delta,
        "values_per_user": setting["values_per_user"],
        "rounds": setting["rounds"],
    }
    mean_per_device = smallest_poisson_mean(
        eps, **guarantee, devices=n, colluding=arguments.colluding
    )
    parties = setting.get("parties", 1)
    guarantee.update(parties=parties, honest=setting.get("honest", 1))
    party_name = "shuffler" if parties == 1 else f"each of {parties} parties"
    # Who adds dummies, by which law, and how many parties do.
    designs = [(party_name, law, parties) for law in _cut_laws(eps, guarantee, gaussian_error)]
    designs.append(("devices", poisson(mean_per_device * n), 1))

    rows: list[tuple[str, ...]] = [_HEADER]
    records = []
    for added_by, law, parties in designs:
        mean_of_all = parties * law.mean  # dummies of a value
        record = {
            "law": law.name,
            "added_by": added_by,
            "mean": mean_of_all,
            "expected_tv": expected_tv(law, n=n, k=k, parties=parties),
            "messages_per_user": setting["values_per_user"] + k * mean_of_all / n,
            "ratio": error_of_parties(law, parties) / gaussian_error,
        }
        records.append(record)
        # The name of the devices' law would show the mean of all their dummies together.
        name = "poisson" if added_by == "devices" else law.name
        texts = [f"{record[key]:.4g}" for key in ("mean", "messages_per_user", "expected_tv")]
        rows.append((name, added_by, *texts, f"{record['ratio']:.3f}"))

    mean_text = plain(mean_per_device, 4, side=Side.UPPER)
    lines = [
        f"(eps = {eps:.15g}, delta = {delta_text(log10_delta)}) for every dataset, {setting_text(setting)}",
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


def _cut_laws(eps: float, guarantee: dict[str, Any], gaussian_error: float) -> list[Law]:
    """One or two cut laws of dummies with a guarantee: about the most accurate one, and a cheaper one.

    A cut law gives numbers from 0 to twice its mean. ``guarantee`` are the keyword arguments of
    `best_cut_law` beside ``eps``. The error of a law is the expected absolute error of a count, to which each
    of the parties adds a number of dummies by this law. The accurate law has about the least error. The
    cheaper law has the fewest dummies of all whose error is at most the larger of two: the error of the
    accurate law, and `_NEAR` times ``gaussian_error``, the error of the central Gaussian mechanism. The
    result are

    - only the accurate law, if the cheaper one has no fewer dummies,
    - only the cheaper law, if it has fewer dummies and no larger error,
    - both, if the cheaper law has a larger error.
    """
    parties = guarantee["parties"]
    accurate = best_cut_law(eps, **guarantee)
    least_error = error_of_parties(accurate, parties)
    largest_error = max(least_error, _NEAR * gaussian_error)
    cheap = best_cut_law(eps, **guarantee, absolute_error=largest_error)

    if cheap.mean >= accurate.mean:
        return [accurate]
    if error_of_parties(cheap, parties) <= least_error:
        return [cheap]
    return [accurate, cheap]

"""Simulations that check the study's closed forms, and give the error after projection.

On uniform data, on the datasets, and on one city cut into finer and coarser cells.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import special
from scipy.linalg import hadamard

from reproduction.data.grid import Grid, grids_of
from reproduction.data.sub_cells import cut
from reproduction.experiments.likelihood import expectation_maximisation
from reproduction.experiments.study import FAMILIES, best_randomizers
from reproduction.protocol.metrics import total_variation, uniform_histogram
from tightshuffle.arguments import Floats, Integers
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.numerics.seeds import seed_of
from tightshuffle.randomizers import Finite, HadamardResponse
from tightshuffle.randomizers.expected_errors import errors, gaussian_errors
from tightshuffle.randomizers.krr import maximum_likelihood, project_to_simplex

GAUSSIAN = "gaussian"
_LISTED = 512  # reports of Hadamard response at most, for expectation maximisation
_FEW = 20  # repetitions of it at most
_SLOW = 100  # values of m beyond which subsets take too long to draw


def simulate(
    counts: Integers, settings: Mapping[str, Any], *, dataset: str, randomizers: Sequence[str], seed: int
) -> pd.DataFrame:
    """Mean TV distances of all mechanisms, with intervals and closed forms.

    Parameters
    ----------
    counts : users per cell, shape (k,), all of whom take part
    settings : eps (a list), delta, repetitions, confidence
    randomizers : of `FAMILIES`; the Gaussian mechanism is added

    Returns
    -------
    DataFrame: dataset, n, k, eps, delta, randomizer, eps0, estimator (inversion, projection, for k-RR and for
    Hadamard response of up to 511 values also maximum_likelihood), mean, low, high, predicted (for inversion,
    else nan), uniform, repetitions. Subsets of more than 100 values are left out: drawing them is slow.
    """
    parts = [
        _simulated(counts, float(eps), settings, name, {"dataset": dataset}, seed)
        for eps in settings["eps"]
        for name in (GAUSSIAN, *randomizers)
    ]
    return pd.DataFrame([row for part in parts for row in part])


def simulate_uniform(settings: Mapping[str, Any], *, seed: int) -> pd.DataFrame:
    """`simulate` on uniform data, for every n >= k of ``settings``; n is cut to a multiple of k."""
    parts = [
        simulate(np.full(k, n // k), settings, dataset="uniform", randomizers=list(FAMILIES), seed=seed)
        for n in settings["n"]
        for k in settings["k"]
        if n >= k
    ]
    return pd.concat(parts, ignore_index=True)


def _simulated(
    counts: Integers, eps: float, settings: Mapping[str, Any], name: str, keys: dict[str, Any], seed: int
) -> Iterator[dict[str, Any]]:
    n, k, delta = int(counts.sum()), len(counts), float(settings["delta"])
    repetitions, shares = settings["repetitions"], counts / n
    inverted: Floats
    estimates: dict[str, Floats] = {}
    point = keys | {"n": n, "k": k, "eps": eps, "delta": delta, "randomizer": name}
    rng = np.random.default_rng(seed_of(seed, stage="study", **point))
    if name == GAUSSIAN:
        eps0 = math.nan
        sigma = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))
        inverted = (counts + sigma * rng.standard_normal((repetitions, k))) / n
        predicted = gaussian_errors(k, n=n, sigma=sigma).sum() / 2
        estimates["inversion"] = inverted
    else:
        point_of = (np.array([value]) for value in (eps, math.log10(delta), float(n), float(k)))
        own = best_randomizers(name, *point_of)[0][0]
        eps0 = own.eps0
        if getattr(own, "m", 1) > _SLOW:
            return
        if isinstance(own, HadamardResponse) and own.order <= _LISTED:
            supported = hadamard(own.order)[:, 1 : k + 1] > 0
            p = round(own.p_star, 12)  # the same bits on every processor
            probabilities = np.where(supported, p, 1 - p) * 2 / own.order
            columns = Finite(probabilities).sample(counts, rng, repetitions)
            observed = columns @ supported
            estimates["maximum_likelihood"] = expectation_maximisation(columns[:_FEW] / n, probabilities)
        else:
            observed = own.sample(counts, rng, repetitions)
        inverted = own.estimate(observed, n)
        predicted = errors(own, shares, n=n).sum() / 2
        estimates["inversion"] = inverted
        if name == "grr":
            estimates["maximum_likelihood"] = maximum_likelihood(observed / n, eps0)
    estimates["projection"] = project_to_simplex(inverted)
    uniform = float(total_variation(uniform_histogram(k), shares))
    for estimator, estimate in estimates.items():
        mean, half = _interval(total_variation(estimate, shares), settings["confidence"])
        yield point | {
            "eps0": eps0,
            "estimator": estimator,
            "mean": mean,
            "low": mean - half,
            "high": mean + half,
            "predicted": predicted if estimator == "inversion" else math.nan,
            "uniform": uniform,
            "repetitions": len(estimate),
        }


def _interval(values: Floats, confidence: float) -> tuple[float, float]:
    """Mean and half width of Student's interval."""
    quantile = special.stdtrit(len(values) - 1, (1 + confidence) / 2)
    half = quantile * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean()), float(half)


def cut_into_grids(
    sub_cells: Grid, sums: Integers, city: Mapping[str, Any], settings: Mapping[str, Any], *, seed: int
) -> pd.DataFrame:
    """`simulate` on one city, cut into finer and coarser cells.

    Parameters
    ----------
    sub_cells, sums : the city's counts in small cells, as `sub_cells.read_sub_cells` gives them
    city : the config's section on the city: its box
    settings : as for `simulate`; ``grids``, a list of columns and rows, and ``randomizers``

    Returns
    -------
    The table of `simulate`, with columns and rows. Grids whose edges the sub-cells lack are left out.
    """
    parts = []
    for size in settings["grids"]:
        try:
            _, cells = cut(sub_cells, sums, grids_of({"box": city["box"], "uniform": size})["uniform"])
        except ValueError:  # a box of your own
            continue
        dataset = f"{size['columns']} x {size['rows']}"
        table = simulate(
            cells.ravel(), settings, dataset=dataset, randomizers=settings["randomizers"], seed=seed
        )
        parts.append(table.assign(columns=size["columns"], rows=size["rows"]))
    if not parts:
        raise ValueError("study.grids: none of the grids fits the city's box; change grids or the box")
    return pd.concat(parts, ignore_index=True)

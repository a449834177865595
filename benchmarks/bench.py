"""What the bounds and the pipeline cost, as ratios within one run: `make bench`, some minutes.

Times are core-seconds, which other work on the machine disturbs least; of several calls, the median. Even so,
compare within one run only. It prints Markdown.
"""

import itertools
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from dp_accounting.pld import privacy_loss_distribution
from scipy import special, stats

import tightshuffle
from scripts.paper.data.sample_synthetic import sample_normal
from scripts.paper.trials.run_trials import Protocol, run_point
from scripts.shared.seeds import seed_of
from tightshuffle.dummies.bound import HiddenByDummies
from tightshuffle.dummies.laws import cut_power
from tightshuffle.planning.designs import compare_designs
from tightshuffle.randomizers import KRandomizedResponse

ROOT = Path(__file__).resolve().parents[1]
K, EPS0, DELTA = 408, 4.0, 1e-6  # cells and budget of the paper's San Francisco experiments
SPACING = 1e-4  # of dp-accounting's privacy loss distribution
BUDGET = {"eps0": 4.0, "eps": 0.5}  # of the points of config/scale.yaml that are measured
REPETITIONS = 100  # of the grid's 1,000
SIZES = (10**3, 10**5, 10**7, 3 * 10**8)


def timed(
    function: Callable[[], Any], *, least: int = 3, seconds: float = 0.5
) -> tuple[float, Any]:
    """The median core-seconds of a call, after a first one, and its value."""
    value, times, end = function(), [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        start = time.process_time()
        value = function()
        times.append(time.process_time() - start)
    return statistics.median(times), value


def naive_sum(eps: float, n: int) -> float:
    """E[(G_1 + ... + G_n)_+] / n, which `upper` rounds up, summed over the numbers of each kind of report."""
    values, masses = KRandomizedResponse(K, EPS0).gains(eps)
    assert len(values) == 3, "k-RR: reports of x0, of x1, and of the blanket; with all others G = 0"
    counts = np.ogrid[: n + 1, : n + 1, : n + 1]
    left = n - sum(counts)
    logs = special.gammaln(n + 1) + left * math.log1p(-masses.sum()) - special.gammaln(left + 1)
    for count, mass in zip(counts, masses, strict=True):
        logs = logs + count * math.log(mass) - special.gammaln(count + 1)
    gain = sum(count * value for count, value in zip(counts, values, strict=True))
    return float((np.where(left >= 0, np.exp(logs), 0) * np.maximum(gain, 0)).sum() / n)


def clones_by_dp_accounting(eps: float, n: int) -> float:
    """delta of the clones by dp-accounting, which takes the outcomes of its two distributions one by one."""
    total = np.arange(n + 1)
    drawn = stats.binom.pmf(total - 1, n - 1, math.exp(-EPS0))  # clones and the user
    first: dict[tuple[int, int], float] = {}
    second: dict[tuple[int, int], float] = {}
    for size in total[drawn > 1e-16].tolist():
        a = np.arange(size + 1)
        of_x0 = drawn[size] * stats.binom.pmf(a - 1, size - 1, 0.5)
        of_x1 = of_x0[::-1]
        # k-RR of budget eps0 mixes the two (Feldman et al. 2021, Lemma 3.5).
        p = (math.exp(EPS0) * of_x0 + of_x1) / (math.exp(EPS0) + 1)
        for i in np.flatnonzero((p > 1e-16) & (p[::-1] > 1e-16)).tolist():
            first[size, i], second[size, i] = math.log(p[i]), math.log(p[size - i])
    loss = privacy_loss_distribution.from_two_probability_mass_functions(
        second, first, value_discretization_interval=SPACING
    )
    return float(loss.get_delta_for_epsilon(eps))


def clones_by_tails(n: int) -> float:
    """eps of the clones at `DELTA`, as Feldman et al. compute it: 20 bisections of sums of binomial tails."""
    share, truth = math.exp(-EPS0), special.expit(EPS0)
    clones = np.arange(*stats.binom.ppf([1e-12, 1 - 1e-12], n - 1, share))
    drawn = stats.binom.pmf(clones, n - 1, share)

    def delta(eps: float) -> float:
        odds = (truth * math.exp(eps) - (1 - truth)) / (truth - (1 - truth) * math.exp(eps))
        # Messages 0, from which P exceeds e^eps Q.
        least = np.floor(odds * (clones + 1) / (1 + odds)) + 1
        drawn_least, one_fewer = (stats.binom.sf(least - more, clones, 0.5) for more in (1, 2))
        p = truth * one_fewer + (1 - truth) * drawn_least
        q = (1 - truth) * one_fewer + truth * drawn_least
        return float((drawn * (p - math.exp(eps) * q)).sum())

    low, high = 0.0, EPS0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(middle) > DELTA else (low, middle)
    return high


def eps_of_clones(n: int) -> list[str]:
    """A row: n, our time for eps of the clones, that of the bisections, and the ratios of times and eps."""
    ours, eps = timed(lambda: tightshuffle.epsilon(DELTA, n=n, k=K, eps0=EPS0, method="clones"))
    theirs, other = timed(lambda: clones_by_tails(n), least=1)
    return [
        f"{n:,}",
        written(ours),
        written(theirs),
        f"{theirs / ours:.3g}",
        f"{eps / other - 1:.0e}",
    ]


def small() -> list[list[str]]:
    """Rows: the time of eps of collections of few users, of both bounds."""
    rows = []
    for users, cells, rounds in ((20, K, 1), (100, 10, 1), (100, 10, 2)):
        row = [f"{users}", f"{cells}", f"{rounds}"]
        for bound in ("upper", "lower"):
            group = tightshuffle.Group("all", users, EPS0)
            ask = partial(eps_of_collection, cells, group, rounds, bound)
            row.append(written(timed(ask, least=1)[0]))
        rows.append(row)
    return rows


def eps_of_collection(cells: int, group: tightshuffle.Group, rounds: int, bound: str) -> float:
    """A new collection each time: it keeps what it has computed."""
    return tightshuffle.Collection(cells, (group,), rounds=rounds).epsilon(DELTA, bound=bound)


def compare(n: int, method: str, delta: float, other: Callable[[float, int], float]) -> list[str]:
    """A row: n, our time and another way's, their ratio, and how far our delta lies above the other one."""
    setting = {"n": n, "k": K, "eps0": EPS0, "method": method}
    eps = tightshuffle.epsilon(delta, **setting)
    ours, bound = timed(lambda: tightshuffle.delta(eps, **setting))
    theirs, value = timed(lambda: other(eps, n), least=1)
    return [
        f"{n:,}",
        written(ours),
        written(theirs),
        f"{theirs / ours:.3g}",
        f"{bound / value - 1:.0e}",
    ]


def alone(n: int, method: str) -> str:
    """The time of one bound where `upper` has `DELTA`."""
    setting = {"n": n, "k": K, "eps0": EPS0}
    eps = tightshuffle.epsilon(DELTA, **setting)
    return written(timed(lambda: tightshuffle.delta(eps, method=method, **setting))[0])


def collection(question: str, users: int = 10**9) -> list[str]:
    """A row: the time of a collection of five groups, and of as many users who are all alike."""
    groups = [
        tightshuffle.Group(f"{eps0:g}", users // 5, eps0) for eps0 in (1.5, 2.0, 2.5, 3.0, 3.5)
    ]
    rounds = int(question) if question.isdigit() else 1
    alike = {"n": users, "k": K, "eps0": 1.5, "rounds": rounds}

    def grouped() -> tightshuffle.Collection:
        return tightshuffle.Collection(K, tuple(groups), rounds=rounds)

    if question == "delta":
        eps = grouped().epsilon(DELTA)
        ours, _ = timed(lambda: grouped().log10_delta(eps))
        plain, _ = timed(lambda: tightshuffle.delta(eps, log10=True, **alike))
    else:
        ours, _ = timed(lambda: grouped().epsilon(DELTA))
        plain, _ = timed(lambda: tightshuffle.epsilon(DELTA, **alike))
    what = "delta, one round" if question == "delta" else f"eps, {rounds} round{'s' * (rounds > 1)}"
    return [what, written(ours), written(plain), f"{ours / plain:.3g}"]


def design() -> list[list[str]]:
    """Rows: the time of a bound on sums, of one on dummies of a cut law, and of the table of all designs."""
    # Another n each time: a bound on sums keeps its last settings.
    users = itertools.count(2_000_000)
    sums = {"k": K, "eps0": 21.0, "randomizer": "rappor", "release": "sums"}
    law = cut_power(27, 1.0, 2.0)
    asked = {
        "delta of sums": lambda: tightshuffle.delta(1.0, n=next(users), **sums),
        "eps of sums": lambda: tightshuffle.epsilon(DELTA, n=next(users), **sums),
        "delta of dummies": lambda: HiddenByDummies(law).log10_delta(1.0),
        "all designs, 52 rounds": lambda: compare_designs(next(users), K, 1.0, 1e-8, rounds=52),
    }
    return [[what, written(timed(ask)[0])] for what, ask in asked.items()]


def points() -> list[list[str]]:
    """Rows: k, and the core-seconds of one point of config/scale.yaml with 1,000 repetitions, by n."""
    plans = yaml.safe_load((ROOT / "config/scale.yaml").read_text())
    protocol = (
        yaml.safe_load((ROOT / "config/config.yaml").read_text())["protocol"] | plans["protocol"]
    )
    rows = []
    for name, plan in plans["datasets"].items():
        rng = np.random.default_rng(seed_of(0, stage="synthetic", dataset=name))
        keys = ("mean", "spread", "spread_is", "range", "cells", "population")
        counts = sample_normal(rng=rng, **{key: plan[key] for key in keys})["count"].to_numpy()
        row = [f"{plan['cells']:,}"]
        for n in SIZES:
            how = {
                "repetitions": REPETITIONS,
                "cells": [],
                "protocol": Protocol(**protocol),
                "seed": 0,
            }
            run_point(counts[:2] + 100, dataset=name, n=9, **BUDGET, **how)  # imports what it needs
            start = time.process_time()
            run_point(counts, dataset=name, n=n, **BUDGET, **how)
            row.append(f"{(time.process_time() - start) * 1000 / REPETITIONS:.2f}")
        rows.append(row)
    return rows


def pipeline() -> list[list[str]]:
    """Rows: core-seconds and minutes of Snakemake: planning, one short job, and the quick pipeline."""
    quick = [
        "--configfile",
        str(ROOT / "config/quick.yaml"),
        "--snakefile",
        str(ROOT / "Snakefile"),
    ]
    target = "results/quick/delta/delta_surface.csv"
    wanted = {"a plan": ["--dry-run"], "one short job": ["--", target], "config/quick.yaml": []}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for what, arguments in wanted.items():
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            command = [sys.executable, "-m", "snakemake", "--cores", "all", "--directory", folder]
            subprocess.run([*command, *quick, *arguments], check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            rows.append([what, f"{spent:.1f}", f"{(time.perf_counter() - start) / 60:.1f}"])
    return rows


def written(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def table(title: str, header: str, rows: list[list[str]]) -> None:
    """Print a Markdown table; the columns of ``header`` are separated by bars."""
    columns = header.split("|")
    print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def main() -> None:
    versions = ", ".join(
        f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "dp-accounting")
    )
    print(
        f"Python {platform.python_version()}, {versions}, {os.cpu_count()} cores; k = {K}, eps0 = {EPS0:g}."
    )
    found = [compare(n, "upper", 0.01, naive_sum) for n in (50, 100, 200)]
    table("`upper` and the naive sum, delta = 0.01", "n|ours|naive|ratio|ours / naive - 1", found)
    found = [[f"10^{i}", alone(10**i, "upper"), alone(10**i, "lower")] for i in (3, 5, 7, 9, 12)]
    table("One bound, delta = 1e-6", "n|`upper`|`lower`", found)
    found = [compare(n, "clones", DELTA, clones_by_dp_accounting) for n in (10**3, 10**4, 10**5)]
    table(
        "`clones` and dp-accounting, delta = 1e-6",
        "n|ours|dp-accounting|ratio|ours / theirs - 1",
        found,
    )
    found = [eps_of_clones(n) for n in (10**3, 10**4, 10**5, 10**6)]
    table(
        "eps of `clones` and 20 bisections, delta = 1e-6",
        "n|ours|bisections|ratio|ours / theirs - 1",
        found,
    )
    table("eps of few users, delta = 1e-6", "n|k|rounds|upper|lower", small())
    found = [collection(question) for question in ("delta", "1", "52")]
    table("Five groups, 10^9 users, and `upper` of equal users", "what|groups|equal|ratio", found)
    table("Other designs, from 2,000,000 users on", "what|time", design())
    header = "|".join(["k", *(f"n = {n:,}" for n in SIZES)])
    table("Core-seconds of a point of config/scale.yaml", header, points())
    table("Snakemake", "what|core-seconds|minutes", pipeline())


if __name__ == "__main__":
    main()

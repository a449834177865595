"""Benchmarks: python scripts/bench_accountants.py results/bench (or make bench).

Time and memory of every accountant, and ratios to the obvious other ways of computing the same. Measured
one at a time, each in a fresh process and after a first small call: the median of several calls. All
threads of the linear algebra count as the environment says; make bench allows one.
"""

import argparse
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd

from benchmarks import ratios as bench_ratios
from benchmarks.cases import CASES, DELTA, EPS0, SHARE, K, eps_of
from benchmarks.figure import caption, draw
from benchmarks.measure import fresh_processes, machine, peak_memory, timed
from benchmarks.ratios import PUBLISHED
from tightshuffle.figures import style
from tightshuffle.figures.wording import scientific
from tightshuffle.pipeline.job import job, write_bytes, write_csv
from tightshuffle.report.markdown import markdown_page, markdown_table

COLUMNS = ["accountant", "n", "k", "eps0", "eps", "seconds", "memory_mb", "log10_delta"]
RATIO_HEADER = [
    "what", "users", "against", "ours", "theirs", "ratio", "our error", "their error", "goal", "reached",
]  # fmt: skip
WARM_UP = 0.5  # eps of a first call for few users, which imports and sets up what is not measured
LIBRARIES = (  # imported once for all processes; scripts beside this one are not found that early
    "dp_accounting.pld.privacy_loss_distribution",
    "matplotlib.tri",
    "mpmath",
    "pandas",
    "scipy.signal",
    "scipy.stats",
)
RATIOS = (("against_the_double_sum", 1000), ("against_doubles", 10**5), ("against_users", 10**6))
GOALS = (  # accountant, n (None: every one), column, at most
    ("count-exact", 10**5, "seconds", 0.010),
    ("count-exact", 10**9, "seconds", 2),
    ("count-exact", None, "memory_mb", 300),
    ("count-published", 10**5, "seconds", 0.010),
    ("count-published", 10**9, "seconds", 2),
    ("count-published", None, "memory_mb", 300),
    ("delta-hat", 10**5, "seconds", 1),
    ("lower", 10**6, "seconds", 1),
    ("lower", 10**9, "seconds", 10),
    ("upper", 10**6, "seconds", 1),
    ("upper", 10**9, "seconds", 10),
)
HOW = (
    "Medians of several calls; every accountant and every ratio in a fresh process of its own, one at a time."
    " Memory is how far one call raises the peak of the resident memory. Accountants are asked at the ε at"
    f" which δ is about {scientific(DELTA)} with k = {K} and ε₀ = {EPS0:g}, count-published at count-exact's,"
    f" where its δ is far smaller. Of the n users {SHARE:g} n hold x0; delta-hat is for {K} cells with {K}"
    " different counts. A time of – : that δ is not reached below ε₀, or n is not for this accountant.",
    "Errors are relative errors of δ against 60 digits (the double sum, which is its own reference, at"
    f" k = {PUBLISHED['k']}, ε₀ = {PUBLISHED['eps0']:g}) or 40 digits. dp-accounting's time includes the two"
    " laws that it needs, which take most of it, except where its outcomes are given.",
)


def measure(name, n, eps, k=K, eps0=EPS0):
    """One row of accountants.csv; runs in a process of its own."""
    bound, setting = CASES[name].bound, {"n": n, "k": k, "eps0": eps0}
    bound(WARM_UP, **(setting | {"n": CASES[name].sizes[0]}))
    memory = peak_memory(lambda: bound(eps, **setting))
    seconds, value = timed(lambda: bound(eps, **setting))
    return dict(zip(COLUMNS, [name, n, k, eps0, eps, seconds, memory, float(value)], strict=True))


def accountants(run, cases=CASES, largest=np.inf, **setting):
    """The table of all accountants; ``run`` calls a function in a process of its own."""
    rows = []
    for name in cases:
        for n in CASES[name].sizes:
            eps = eps_of(name, n, **setting) if n <= largest else np.nan
            if np.isfinite(eps):
                rows.append(run(measure, name, n, eps, **setting))
    return pd.DataFrame(rows, columns=COLUMNS)


def goals(table):
    """Lines of the goals' table: accountant, users, goal, measured, reached.

    Raises ValueError where there is a goal for what was not measured.
    """
    lines = []
    for name, n, column, most in GOALS:
        chosen = table[(table["accountant"] == name) & ((table["n"] == n) | (n is None))]
        if chosen.empty:
            raise ValueError(f"{name}: not measured at n = {n:,}, for which there is a goal")
        value = chosen[column].max()
        unit = _seconds if column == "seconds" else _megabytes
        where = f"n = {n:,}" if n else f"n ≤ {chosen['n'].max():,}"
        lines.append([name, where, f"≤ {unit(most)}", unit(value), _mark(value <= most)])
    return lines


def ratio_lines(table):
    """Lines of the ratios' table, from ratios.csv."""
    return [
        [
            row["what"],
            f"{row['n']:,}",
            row["peer"],
            _seconds(row["seconds"]),
            _seconds(row["peer_seconds"]),
            f"{row['ratio']:,.3g} ×" if row["ratio"] < 1000 else f"{row['ratio']:,.0f} ×",
            _error(row["error"]),
            _error(row["peer_error"]),
            row["goal"].replace(">=", "≥").replace(" x", " ×") or "–",
            "–" if row["reached"] == "" else _mark(row["reached"]),
        ]
        for row in table.to_dict("records")
    ]


def times_lines(table):
    """Lines of the table of times: an accountant per line, an n per column."""
    wide = table.pivot(index="accountant", columns="n", values="seconds")
    wide = wide.reindex(table["accountant"].unique())
    header = ["seconds", *(f"n = 10^{np.log10(n):g}" for n in wide.columns)]
    lines = [
        [name, *("–" if np.isnan(value) else _seconds(value) for value in row)]
        for name, row in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return header, lines


def summary(table, ratios, computer):
    """Paragraphs and tables of summary.md."""
    versions = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in computer.items())
    return [
        *HOW,
        f"Measured on: {versions}.",
        markdown_table(["accountant", "users", "goal", "measured", "reached"], goals(table)),
        markdown_table(RATIO_HEADER, ratio_lines(ratios)),
        markdown_table(*times_lines(table)),
    ]


def _seconds(value):
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


def _megabytes(value):
    return f"{value:.3g} MB"


def _error(value):
    return "–" if np.isnan(value) else f"{value:.1e}"


def _mark(good):
    return "yes" if good else "no"


def main(folder):
    computer = machine()
    with fresh_processes(LIBRARIES) as executor:

        def run(function, *arguments, **keywords):
            return executor.submit(function, *arguments, **keywords).result()

        table = accountants(run)
        rows = [row for name, n in RATIOS for row in run(getattr(bench_ratios, name), n)]
    ratios = pd.DataFrame(rows, columns=bench_ratios.COLUMNS)
    write_csv(table, folder / "accountants.csv")
    write_csv(ratios, folder / "ratios.csv")
    write_csv(pd.DataFrame([computer]), folder / "machine.csv")
    figure = draw(table)
    write_bytes(style.png(figure), folder / "bench.png")
    write_bytes(style.pdf(figure), folder / "bench.pdf")
    write_bytes(f"{caption(table, computer)}\n".encode(), folder / "bench.txt")
    page = markdown_page("Benchmarks", summary(table, ratios, computer))
    write_bytes(page.encode(), folder / "summary.md")
    print(page)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the accountants; write tables and a figure.")
    parser.add_argument("folder", type=Path, help="where to write, for example results/bench")
    folder = parser.parse_args().folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"error: bench: {error}")
    with job(SimpleNamespace(rule="bench", log=[folder / "bench.log"], input=[], output=[])):
        main(folder)

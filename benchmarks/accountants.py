"""Time and memory of every accountant (a function that computes delta), and ratios to other accountants.

    python -m benchmarks.accountants results/bench

Every accountant and every ratio is measured in a fresh process, one at a time; a time is the median of
several calls after a first small one. `make bench` allows the linear algebra one thread.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.cases import CASES, DELTA, EPS0, SHARE, K, eps_of
from benchmarks.measure import fresh_processes, machine, peak_memory, timed
from benchmarks.peers import PUBLISHED, against_doubles, against_the_double_sum, against_users
from benchmarks.rivals import DEEP, ENGINE_SIZES, MOST_OUTCOMES, SIZES, compare, engine_cost, violations
from reproduction.jobs.job import write_bytes, write_csv
from reproduction.report.markdown import markdown_page, markdown_table
from tightshuffle.number_text import plain

COLUMNS = ["accountant", "n", "k", "eps0", "eps", "seconds", "memory_mb", "log10_delta"]
RATIO_HEADER = [
    "what",
    "users",
    "other method",
    "time, ours",
    "time, other",
    "ratio",
    "error, ours",
    "error, other",
]
WARM_UP = 0.5  # eps of a first call for few users, which imports and sets up what is not measured
LIBRARIES = (  # imported once for all processes
    "dp_accounting.pld.privacy_loss_distribution",
    "mpmath",
    "pandas",
    "scipy.signal",
    "scipy.stats",
)
RIVALS = {  # what a line says: column of rivals.csv, and how it is written
    "`upper`": ("upper", "time"),
    "`lower`": ("lower", "time"),
    "`upper` / `lower` - 1": ("excess", ".0e"),
    "variation ratio": ("variation_ratio", "time"),
    "variation ratio / `lower`": ("variation_ratio_over_lower", ".4f"),
    "FFT of the blanket": ("fft", "time"),
    "FFT: error of delta": ("fft_error", ".0e"),
    f"FFT: its value where `upper` is {DEEP:.0e}": ("fft_floor", ".0e"),
    "dp-accounting": ("dp_accounting", "time"),
    "dp-accounting: error of delta": ("dp_accounting_error", ".0e"),
}
ENGINE = {
    "nodes": ("nodes", ",.0f"),
    "width of the interval": ("width", ".0e"),
    "`log_positive_part`": ("engine", "time"),
    "`upper`, one eps": ("upper", "time"),
    "`upper`, 100 eps in one call, per eps": ("upper_per_eps_of_100", "time"),
}
VIOLATIONS = ["n", "k", "eps0", "eps", "variation ratio", "lower", "upper"]
RATIOS = ((against_the_double_sum, 1000), (against_doubles, 10**5), (against_users, 10**6))
METHOD = (
    "Times are core-seconds, medians of several calls; every method and every ratio runs in a fresh process"
    " of its own, one at a time. Memory is how far one call raises the peak of the resident memory. Each"
    f" method is evaluated at the eps at which its delta is about {DELTA:g}, with k = {K} and"
    f" eps0 = {EPS0:g}; Theorem 1 as printed at the eps of count-exact, where its delta is far smaller."
    f" Of the n users {SHARE:g} n hold x0; delta-hat is for {K} values with {K} different counts."
    " No number (–): no eps up to eps0 has this delta, or the method is not measured at this n.",
    "Errors are relative errors of delta against 60 digits (the double sum, which is its own reference, at"
    f" k = {PUBLISHED['k']}, eps0 = {PUBLISHED['eps0']:g}) or 40 digits. dp-accounting's time includes the"
    " two distributions that it needs, which take most of it, except where its outcomes are given.",
)
RIVALS_METHOD = (
    f"Bounds of k-RR by other methods (k = {K}, eps0 = {EPS0:g}), at the eps where `upper` is {DELTA:g}. The"
    " variation ratio can be below `lower`, so it is not always an upper bound. The error of the FFT is"
    " against `upper`. dp-accounting gets the pair of the variation ratio (at most"
    f" {MOST_OUTCOMES:,} outcomes), and its error is against this pair. Su et al., the code of"
    " Wang et al., and Takagi and Liew were not run."
)
ENGINE_METHOD = (
    "The cost of the interval for E[(G_1 + ... + G_n)_+], at the same eps: nodes of the integral, and times."
)


def measure(name, n, eps, k=K, eps0=EPS0):
    """One row of accountants.csv; runs in a process of its own."""
    bound, setting = CASES[name].bound, {"n": n, "k": k, "eps0": eps0}
    bound(WARM_UP, **(setting | {"n": CASES[name].sizes[0]}))
    memory = peak_memory(lambda: bound(eps, **setting))
    seconds, value = timed(lambda: bound(eps, **setting))
    return dict(zip(COLUMNS, [name, n, k, eps0, eps, seconds, memory, float(value)], strict=True))


def measure_all(run, cases=CASES, largest=np.inf, **setting):
    """The table of all accountants; ``run`` calls a function in a process of its own."""
    rows = []
    for name in cases:
        for n in CASES[name].sizes:
            eps = eps_of(name, n, **setting) if n <= largest else np.nan
            if np.isfinite(eps):
                rows.append(run(measure, name, n, eps, **setting))
    return pd.DataFrame(rows, columns=COLUMNS)


def summary(table, ratios, rivals, violated, engine, computer):
    """The page summary.md."""
    versions = ", ".join(f"{name.replace('_', '-')} {value}" for name, value in computer.items())
    parts = [
        *METHOD,
        f"Measured on: {versions}.",
        markdown_table(RATIO_HEADER, [_ratio_line(row) for row in ratios.to_dict("records")]),
        RIVALS_METHOD,
        markdown_table(*by_line(rivals, RIVALS)),
        "Settings in which the variation ratio is below `lower` (rounded down here, `upper` up):",
        markdown_table(VIOLATIONS, [_violation_line(row) for row in violated.to_numpy()]),
        ENGINE_METHOD,
        markdown_table(*by_line(engine, ENGINE)),
        "Time of each method, then memory in MB:",
        markdown_table(*by_users(table, "seconds", _seconds)),
        markdown_table(*by_users(table, "memory_mb", "{:.3g}".format)),
    ]
    return markdown_page("Benchmarks", parts)


def by_users(table, column, written):
    """Header and lines of a table of one column: one method per line, one n per column."""
    wide = table.pivot(index="accountant", columns="n", values=column)
    wide = wide.reindex(table["accountant"].unique())
    lines = [
        [name, *("–" if np.isnan(value) else written(value) for value in row)]
        for name, row in zip(wide.index, wide.to_numpy(), strict=True)
    ]
    return ["method", *(f"n = 10^{np.log10(n):g}" for n in wide.columns)], lines


def by_line(table, lines):
    """Header and lines of a table with one n per column; ``lines`` as `RIVALS`."""
    written = {
        name: [_seconds(value) if form == "time" else format(value, form) for value in table[column]]
        for name, (column, form) in lines.items()
    }
    return ["", *(f"n = 10^{np.log10(n):g}" for n in table["n"])], [
        [
            name,
            *(
                "–" if np.isnan(value) else text
                for text, value in zip(texts, table[lines[name][0]], strict=True)
            ),
        ]
        for name, texts in written.items()
    ]


def _violation_line(row):
    sides = [None] * (len(row) - 2) + [False, True]
    return [plain(value, 4, round_up=side) for value, side in zip(row, sides, strict=True)]


def _ratio_line(row):
    ratio = f"{row['ratio']:,.3g} ×" if row["ratio"] < 1000 else f"{row['ratio']:,.0f} ×"
    times = _seconds(row["seconds"]), _seconds(row["peer_seconds"])
    errors = ("–" if np.isnan(row[name]) else f"{row[name]:.1e}" for name in ("error", "peer_error"))
    return [row["what"], f"{row['n']:,}", row["peer"], *times, ratio, *errors]


def _seconds(value):
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    computer = machine()
    with fresh_processes(LIBRARIES) as executor:

        def run(function, *arguments, **keywords):
            return executor.submit(function, *arguments, **keywords).result()

        table = measure_all(run)
        ratios = pd.DataFrame([row for function, n in RATIOS for row in run(function, n)])
        rivals = pd.DataFrame([run(compare, n) for n in SIZES])
        engine = pd.DataFrame([run(engine_cost, n) for n in ENGINE_SIZES])
        violated = pd.DataFrame(run(violations))
    write_csv(table, folder / "accountants.csv")
    write_csv(ratios, folder / "ratios.csv")
    write_csv(rivals, folder / "rivals.csv")
    write_csv(violated, folder / "variation_ratio.csv")
    write_csv(engine, folder / "engine.csv")
    write_csv(pd.DataFrame([computer]), folder / "machine.csv")
    page = summary(table, ratios, rivals, violated, engine, computer)
    write_bytes(page.encode(), folder / "summary.md")
    print(page)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.accountants FOLDER")
    main(Path(sys.argv[1]))

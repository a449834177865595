"""Which randomizer to use: the study's result in a few sentences, and a table."""

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from scripts.shared.job import job, write_bytes
from scripts.study.looks import LABELS

TITLE = "Which randomizer to use"
HEADER = [
    "n", "k", "target eps", "use", "eps0", "bits", "expected TV error", "ratio to the Gaussian",
    "error without a shuffler",
]  # fmt: skip
USELESS = 0.5  # TV error: that of the uniform histogram on the cities is 0.48 and 0.67
_TIE = 1e-3  # ratios this near are the same


def statement(study: pd.DataFrame) -> list[str]:
    """The result in a few sentences, from the rows of results/study/study.csv."""
    keys = ["n", "k", "eps", "delta_rule"]
    ratio, tv = (study.pivot(index=keys, columns="randomizer", values=name) for name in ("ratio", "tv"))
    least = ratio.min(axis=1)
    ties, wins = (ratio[name] <= (1 + _TIE) * least for name in ("grr", "subset"))
    first = study["delta_rule"].iloc[0]
    of_first = ties.xs(first, level="delta_rule")
    only = f" ({of_first.sum()} of {len(of_first)} with delta = {first})" if len(of_first) < len(ties) else ""
    lost = []
    if not ties.all():
        beaten, error = (ratio["grr"] / least)[~ties], tv[~ties].min(axis=1)
        useful, useless = beaten[error <= USELESS], error[error > USELESS].min()
        lost = [
            f"In the other {len(beaten)}, the error of k-RR is {100 * (beaten.min() - 1):.2g} to"
            f" {100 * (beaten.max() - 1):.2g} % larger than the smallest.",
            f"In {len(useful)} of these, the smallest total variation error is at most {USELESS}"
            + (f", and that of k-RR up to {100 * (useful.max() - 1):.2g} % larger" if len(useful) else "")
            + (f"; elsewhere it is at least {_down(useless)}." if useless > 0 else "."),
        ]
    krr = study[(study["randomizer"] == "grr") & (study["k"] > 2)]
    small, largest_eps = krr[krr["eps"] <= 1], krr["eps"].max()
    beyond = krr.loc[krr["eps"] == largest_eps, "ratio"].max()
    local = study.pivot_table(index=keys, values=["local_tv", "tv"], aggfunc="min")
    most = study["n"].max()
    large = study[(study["n"] == most) & (study["eps"] <= 1)].groupby("randomizer")["ratio"].min()
    return [
        f"The {len(ratio)} settings have n from {_ends(study['n'])}, k from {_ends(study['k'])} and eps from"
        f" {_ends(study['eps'])}, each with delta = {' and '.join(map(str, study['delta_rule'].unique()))}.",
        "If whole reports are shuffled, k-RR has the smallest expected error of these randomizers, or one"
        f" within {100 * _TIE:g} % of the smallest, in {ties.sum()} of {len(ratio)} settings{only}.",
        *lost,
        f"Subset selection with the best m has it in {wins.sum()} of {len(ratio)} settings; with m = 1 it is"
        " k-RR.",
        "For eps up to 1 and k > 2, the total variation error of k-RR is"
        f" {small['ratio'].min():.2f} to {small['ratio'].max():.2f} times that of the central analytic"
        " Gaussian with the same guarantee"
        + (f"; at eps = {largest_eps:g} it is up to {beyond:.2f} times." if largest_eps > 1 else "."),
        "Without the shuffler, the smallest error of these randomizers is at least"
        f" {(local['local_tv'] / local['tv']).min():.1f} times the smallest error with it.",
        f"At n = {most:,} and eps up to 1, the error of OUE and local hashing is at least"
        f" {large[['oue', 'hash']].min():.1f} times that of the Gaussian, that of RAPPOR"
        f" {large['rappor']:.1f} times, and that of Hadamard response {large['hadamard']:.0f} times.",
    ]


def _ends(values: "pd.Series[float]") -> str:
    return " to ".join(f"{end:,}".removesuffix(".0") for end in (values.min(), values.max()))


def _down(error: float) -> str:
    return f"{math.floor(10 * error) / 10:.1f}"


def which_lines(study: pd.DataFrame, which: Mapping[str, Sequence[float]]) -> list[list[str]]:
    """One line of texts, in the order of `HEADER`, per n, k and eps of ``which``, the first rule of delta."""
    rows = study[study["delta_rule"] == study["delta_rule"].iloc[0]]
    for name in ("n", "k", "eps"):
        rows = rows[rows[name].isin(which[name])]
    best = rows.loc[rows.groupby(["eps", "k", "n"])["tv"].idxmin()]
    local = rows.groupby(["eps", "k", "n"])["local_tv"].min()
    lines = []
    for row in best.to_dict("records"):
        name = str(row["name"])
        use = name if ":" in name else LABELS[name]
        use = use if row["tv"] <= USELESS else "more users or fewer values"
        setting = [f"{row['n']:,}", f"{row['k']:,}", f"{row['eps']:g}", use]
        cost = [f"{row['eps0']:.2f}", f"{row['bits']:.0f}"]
        error = [_error(row["tv"]), f"{row['ratio']:.2f}", _error(local[row["eps"], row["k"], row["n"]])]
        lines.append(setting + cost + error)
    return lines


def _error(tv: float) -> str:
    return f"{tv:.2g}" if tv <= 1 else "above 1"


def which_page(study: pd.DataFrame, which: Mapping[str, Sequence[float]]) -> str:
    """The page for the rows of results/study/study.csv."""
    table = markdown_table(HEADER, which_lines(study, which))
    return markdown_page(TITLE, ["\n".join(statement(study)), table])


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; every one of ``lines`` has as many texts as ``header``."""
    ruled = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)


def markdown_page(title: str, paragraphs: Iterable[str]) -> str:
    """A title and paragraphs (texts or tables), blank lines between them."""
    return "\n\n".join([f"# {title}", *paragraphs]) + "\n"


if __name__ == "__main__":
    with job() as snakemake:
        table = pd.read_csv(snakemake.input[0])
        write_bytes(which_page(table, snakemake.params.which).encode(), snakemake.output[0])

"""The figure of the benchmarks: seconds and memory of every accountant over the number of users."""

from matplotlib.ticker import LogLocator, NullFormatter

from tightshuffle.figures import style

# Colour says the family, the marker who it is within.
STYLES = {
    "count-published": ("#0072B2", "s"),
    "count-exact": ("#0072B2", "o"),
    "delta-hat": ("#0072B2", "*"),
    "lower": ("#D55E00", "v"),
    "upper": ("#D55E00", "^"),
    "exact-histogram": ("#D55E00", "x"),
    "clones": ("#009E73", "o"),
    "stronger-clones": ("#009E73", "s"),
    "koskela-strong": ("#CC79A7", "o"),
    "koskela-weak": ("#CC79A7", "s"),
    "koskela-strong, 4 rounds": ("#CC79A7", "^"),
    "girgis": ("#E69F00", "o"),
}
SMALLEST = 0.1  # MB: less is not told apart from nothing


@style.applied()
def draw(table):
    """The figure of a table with the columns accountant, n, seconds and memory_mb."""
    figure = style.new_figure(3.7)
    time, memory = figure.subplots(1, 2, sharex=True)
    handles = []
    for name, curve in table.groupby("accountant", sort=False):
        colour, marker = _look(name)
        look = {"color": colour, "marker": marker, "markersize": 3.2, "linewidth": 0.9, "label": name}
        look |= {"markerfacecolor": "white" if marker in "s^" else colour, "markeredgewidth": 0.8}
        handles += time.loglog(curve["n"], curve["seconds"], **look)
        memory.loglog(curve["n"], curve["memory_mb"].clip(lower=SMALLEST), **look)
    time.set(title="(a) time", xlabel="users n", ylabel="seconds")
    memory.set(title="(b) memory", xlabel="users n", ylabel="MB")
    for axes in (time, memory):
        axes.grid()
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(LogLocator(numticks=12))
            axis.set_minor_formatter(NullFormatter())
    figure.legend(handles=handles, loc="outside lower center", ncols=4)
    return figure


def caption(table, machine):
    """The caption, with the settings and the machine (a dict, as in machine.csv)."""
    k, eps0 = table["k"].iloc[0], table["eps0"].iloc[0]
    return (
        f"The accountants from n = {table['n'].min():,} to {table['n'].max():,} users, k = {k} cells,"
        f" ε₀ = {eps0:g}, at ε for which δ is about 10⁻⁶ (see accountants.csv): (a) median time of one value;"
        " (b) how far one call raises the peak of the resident memory of a fresh process, drawn as at least"
        f" {SMALLEST:g} MB. An accountant that does not reach this δ below ε₀ is left out at that n;"
        " count-published is asked at count-exact's ε, where its δ is far smaller."
        f" {machine['cpu']}, Python {machine['python']}, numpy {machine['numpy']}, scipy {machine['scipy']}."
    )


def _look(name):
    if name not in STYLES:
        raise ValueError(f"accountant {name!r} has no colour; expected one of {', '.join(STYLES)}")
    return STYLES[name]

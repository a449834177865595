"""Figure 1: log10 delta of the count of x0 over eps and eps0, published and exact: surfaces and contours."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from reproduction.figures import style, wording
from reproduction.figures.table_files import reader

# One row per (eps, eps0); log10 delta, -inf for 0.
SETTING = ["n", "k", "count"]
COLUMNS = ["eps", "eps0", *SETTING, "published", "exact"]
PANELS = {"published": "(a) published", "exact": "(b) exact"}
ZERO = "#ececec"  # where delta is 0
Array = NDArray[np.float64]

read = reader(COLUMNS)


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: published and exact side by side, surfaces above and contours below."""
    eps, eps0, surfaces = _surfaces(table)
    limits = _limits(surfaces)
    figure = style.new_figure(5.3)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.15, 1])
    for column, (reading, title) in enumerate(PANELS.items()):
        panel: Any = figure.add_subplot(grid[0, column], projection="3d", computed_zorder=False)
        style.surface(panel, eps, eps0, surfaces[reading], limits=limits)
        panel.set_title(title, y=0.98)
        panel.set(xlabel="ε", ylabel="ε₀")
        panel.set_zlabel("log₁₀ δ", labelpad=2)
        panel.view_init(elev=24, azim=-52)
        panel.set_box_aspect((1, 1, 0.82), zoom=0.94)
        panel.tick_params(pad=0)
        panel.zaxis.set_major_locator(MaxNLocator(5))
        below = figure.add_subplot(grid[1, column])
        style.contours(below, eps, eps0, surfaces[reading], limits=limits)
        below.set(xlabel="ε", ylabel="" if column else "ε₀")
        below.set_facecolor(ZERO)
        below.text(0.97, 0.05, "δ = 0 (ε ≥ ε₀)", transform=below.transAxes, ha="right")
    setting = wording.setting(table, *SETTING).replace("n_x₀", "$n_{x_0}$")
    figure.suptitle(f"δ of the count of x₀: {setting}")
    return figure


def caption(table: pd.DataFrame) -> str:
    """The caption of the figure, with every parameter and what is left out."""
    eps, eps0, surfaces = _surfaces(table)
    both = np.isfinite(surfaces["published"]) & np.isfinite(surfaces["exact"])
    gap = surfaces["exact"][both] - surfaces["published"][both]
    inside = np.subtract.outer(eps0, eps) > 1e-9
    left_out = {name: int(np.isneginf(values[inside]).sum()) for name, values in surfaces.items()}
    missing = "".join(f", and {number} more in {name}" for name, number in left_out.items() if number)
    return (
        "δ of the count of x₀ over ε and ε₀, published (a) and exact (b): surfaces above, contours with their"
        f" log₁₀ δ below. The published δ is too small by up to {gap.max():.0f} orders of magnitude here;"
        " these (ε, ε₀) are not those of Table IV.\n\n"
        f"{wording.setting(table, *SETTING)}; ε: {_range(eps)}; ε₀: {_range(eps0)}."
        " (a) is δ with the terms v_s as Theorem 1 prints them. (b) is the tight δ of the same count. All"
        " panels have the same colours. For ε ≥ ε₀ the exact δ is 0 and has no logarithm (grey):"
        f" these {int((~inside).sum())} of {inside.size} points are left out{missing}."
    )


def _surfaces(table: pd.DataFrame) -> tuple[Array, Array, dict[str, Array]]:
    """Ascending eps (a,), eps0 (b,) and log10 delta (b, a) per reading; ValueError for a gap in the table."""
    if table.duplicated(["eps", "eps0"]).any():
        raise ValueError("delta surface: a pair (eps, eps0) is in the table twice; expected one row each")
    surfaces = {name: table.pivot(index="eps0", columns="eps", values=name) for name in PANELS}
    for name, surface in surfaces.items():
        if surface.isna().to_numpy().any():
            raise ValueError(
                f"delta surface: a {name} value is missing; expected log10 delta, -inf for delta = 0"
            )
    frame = surfaces["exact"]
    return frame.columns.to_numpy(), frame.index.to_numpy(), {k: v.to_numpy() for k, v in surfaces.items()}


def _limits(surfaces: dict[str, Array]) -> tuple[float, float]:
    """One z range for both panels, in whole tens."""
    finite = np.concatenate([values[np.isfinite(values)] for values in surfaces.values()])
    if not finite.size:
        raise ValueError(
            "delta surface: delta is 0 everywhere; widen delta_surface.eps0 beyond delta_surface.eps"
        )
    return float(10 * np.floor(finite.min() / 10)), 0.0


def _range(values: Array) -> str:
    return f"{values[0]:g} to {values[-1]:g} in {len(values)} steps"

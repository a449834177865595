"""Figure 1: log10 delta of the count of x0 over eps and eps0, published and exact: surfaces and contours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator
from matplotlib.tri import Triangulation
from numpy.typing import NDArray

from scripts.shared import style, wording
from scripts.shared.figure_files import write_figure
from scripts.shared.job import job
from scripts.shared.table_files import read_table
from tightshuffle.arguments import Floats

# One row per (eps, eps0); log10 delta, -inf for 0.
SETTING = ["n", "k", "count"]
COLUMNS = ["eps", "eps0", *SETTING, "published", "exact"]
PANELS = {"published": "(a) published", "exact": "(b) exact"}
ZERO = "#ececec"  # where delta is 0


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """Published and exact side by side, surfaces above and contours below."""
    eps, eps0, surfaces = _surfaces(table)
    finite = np.concatenate([values[np.isfinite(values)] for values in surfaces.values()])
    if not finite.size:
        raise ValueError("delta is 0 everywhere; widen delta_surface.eps0 beyond delta_surface.eps")
    low = float(10 * np.floor(finite.min() / 10))  # one z range for both panels, in whole tens
    colours: Any = {"cmap": "viridis", "vmin": low, "vmax": 0.0}
    figure = style.new_figure(5.3)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.15, 1])
    for column, (reading, title) in enumerate(PANELS.items()):
        drawn = np.isfinite(surfaces[reading])
        mesh = _mesh(eps, eps0, drawn)
        heights = np.where(drawn, surfaces[reading], low).ravel()
        panel: Any = figure.add_subplot(grid[0, column], projection="3d", computed_zorder=False)
        panel.plot_trisurf(mesh, heights, linewidth=0.15, edgecolor=style.INK, **colours)
        panel.set(xlim=(eps[0], eps[-1]), ylim=(eps0[0], eps0[-1]), zlim=(low, 0.0), xlabel="ε", ylabel="ε₀")
        panel.set_title(title, y=0.98)
        panel.set_zlabel("log₁₀ δ", labelpad=2)
        panel.view_init(elev=24, azim=-52)
        panel.set_box_aspect((1, 1, 0.82), zoom=0.94)
        panel.tick_params(pad=0)
        panel.zaxis.set_major_locator(MaxNLocator(5))
        below = figure.add_subplot(grid[1, column])
        levels = MaxNLocator(9, steps=[1, 2, 5, 10]).tick_values(low, 0.0)
        _contours(below, mesh, heights, levels, _crossings(eps, eps0, surfaces[reading], levels), colours)
        below.set(xlim=(eps[0], eps[-1]), ylim=(eps0[0], eps0[-1]), xlabel="ε", ylabel="" if column else "ε₀")
        below.set_facecolor(ZERO)
        below.text(0.97, 0.05, "δ = 0 (ε ≥ ε₀)", transform=below.transAxes, ha="right")
    setting = wording.setting(table, *SETTING).replace("n_x₀", "$n_{x_0}$")
    figure.suptitle(f"δ of the count of x₀: {setting}")
    return figure


def _contours(
    axes: Axes, mesh: Triangulation, heights: Floats, levels: Any, places: Any, colours: Any
) -> None:
    filled = axes.tricontourf(mesh, heights, levels, **colours)
    filled.set_edgecolor("face")  # else thin white lines between the colours of a vector file
    lines = axes.tricontour(mesh, heights, levels, colors=style.INK, linewidths=0.5, linestyles="solid")
    names: Any = {"fontsize": 7, "inline": False, "fmt": lambda value: f"{value:g}".replace("-", "−")}
    for label in lines.clabel(manual=places, **names) if places else []:
        label.set_path_effects([withStroke(linewidth=1.6, foreground="white")])


def _crossings(
    eps: Floats, eps0: Floats, values: Floats, levels: Sequence[float]
) -> list[tuple[float, float]]:
    """Where to name each contour: on the highest row below 0.7 of the height that it crosses."""
    places = []
    for level in levels:
        for row in range(int(0.7 * len(eps0)), -1, -1):
            drawn = np.isfinite(values[row])
            falling = values[row][drawn]
            if len(falling) and falling.min() < level < falling.max():
                place = np.interp(-level, -falling, eps[drawn])
                places.append((float(place), float(eps0[row])))
                break
    return places


def _mesh(eps: Floats, eps0: Floats, drawn: NDArray[np.bool_]) -> Triangulation:
    """The triangles whose corners are all ``drawn`` (eps0, eps); ValueError if there is none.

    A grid square with all corners is two triangles, one with three corners is one: so the surface
    ends in a straight line along eps = eps0, not in a staircase.
    """
    index = np.arange(drawn.size).reshape(drawn.shape)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]
    has_a, has_b, has_c, has_d = (drawn.ravel()[corner] for corner in (a, b, c, d))
    corners = (
        (a, d, c, has_a & has_d & has_c),
        (a, b, d, has_a & has_b & has_d),
        (a, b, c, has_a & has_b & has_c & ~has_d),
        (b, d, c, has_b & has_d & has_c & ~has_a),
    )
    triangles = np.concatenate([np.stack([x[keep], y[keep], z[keep]], axis=-1) for x, y, z, keep in corners])
    if not len(triangles):
        raise ValueError("no three neighbouring points with delta > 0: give delta_surface more steps")
    grids = np.meshgrid(eps, eps0)
    return Triangulation(grids[0].ravel(), grids[1].ravel(), triangles)


def caption(table: pd.DataFrame) -> str:
    """With every parameter and what is left out."""
    eps, eps0, surfaces = _surfaces(table)
    both = np.isfinite(surfaces["published"]) & np.isfinite(surfaces["exact"])
    gap = surfaces["exact"][both] - surfaces["published"][both]
    zero = int((np.subtract.outer(eps0, eps) <= 1e-9).sum())
    ends = [f"{name}: {v[0]:g} to {v[-1]:g} in {len(v)} steps" for name, v in (("ε", eps), ("ε₀", eps0))]
    return (
        f"Theorem 1 as printed (a) gives a δ of the count of x₀ that is up to {gap.max():.0f} orders of"
        " magnitude below the exact one (b): surfaces over ε and ε₀, and their contours of log₁₀ δ."
        f" {wording.setting(table, *SETTING)}; {'; '.join(ends)}. Grey: for ε ≥ ε₀, these {zero} of"
        f" {both.size} points, the exact δ is 0."
    )


def _surfaces(table: pd.DataFrame) -> tuple[Floats, Floats, dict[str, Floats]]:
    """Ascending eps (a,), eps0 (b,) and log10 delta (b, a) per reading."""
    surfaces = {name: table.pivot(index="eps0", columns="eps", values=name) for name in PANELS}
    frame = surfaces["exact"]
    return frame.columns.to_numpy(), frame.index.to_numpy(), {k: v.to_numpy() for k, v in surfaces.items()}


if __name__ == "__main__":
    with job() as snakemake:
        table = read_table(snakemake.input[0], COLUMNS)
        write_figure(draw(table), caption(table), snakemake.output)

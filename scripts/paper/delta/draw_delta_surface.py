"""Figure 1: log10 delta of the count of x0 over eps and eps0, published and exact: surfaces and contours."""

from collections.abc import Mapping, Sequence
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
from scripts.shared.figure_files import run_figure_job
from tightshuffle.arguments import Floats

# One row per (eps, eps0); log10 delta, -inf for 0.
SETTING = ["n", "k", "count"]
COLUMNS = ["eps", "eps0", *SETTING, "published", "exact"]
PANELS = {"published": "(a) published", "exact": "(b) exact"}
ZERO = "#ececec"  # where delta is 0


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: log10 delta over eps and eps0, published at the left and exact at the right.

    Each one is shown as a surface above and as contours below. All four panels have one scale of log10 delta,
    from ``low`` to 0. ``table`` has a row for every eps and eps0, with log10 delta in the columns published
    and exact, which is -inf where delta is 0.
    """
    eps, eps0, surfaces = _axes_and_surfaces(table)
    low = _lowest_ten(surfaces)
    levels = MaxNLocator(9, steps=[1, 2, 5, 10]).tick_values(low, 0.0)  # of the contours
    colours: Any = {"cmap": "viridis", "vmin": low, "vmax": 0.0}

    figure = style.new_figure(5.8)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.15, 1])
    contours = []
    for column, (reading, title) in enumerate(PANELS.items()):
        surface = surfaces[reading]
        positive = np.isfinite(surface)
        mesh = _mesh(eps, eps0, positive)
        # The mesh has every point, and each needs a finite height, also those that no triangle uses.
        heights = np.where(positive, surface, low).ravel()

        above: Any = figure.add_subplot(grid[0, column], projection="3d", computed_zorder=False)
        above.set(xlim=(eps[0], eps[-1]), ylim=(eps0[0], eps0[-1]), zlim=(low, 0.0))
        above.set_title(title, y=0.98)
        _draw_surface(above, mesh, heights, colours)

        below = figure.add_subplot(grid[1, column])
        below.set(xlim=(eps[0], eps[-1]), ylim=(eps0[0], eps0[-1]), xlabel="ε")
        places = _places_of_names(eps, eps0, surface, levels)
        image = _draw_contours(below, mesh, heights, levels, places, colours)
        contours.append(below)

    contours[0].set_ylabel("ε₀")
    bar = figure.colorbar(image, ax=contours, location="bottom", aspect=45, shrink=0.7, pad=0.03)
    bar.set_label("log₁₀ δ (numbers at the contours)")
    setting = wording.setting(table, *SETTING).replace("n_x₀", "$n_{x_0}$")
    figure.suptitle(f"δ of the count of x₀: {setting}")
    return figure


def _lowest_ten(surfaces: Mapping[str, Floats]) -> float:
    """The lowest log10 delta of both surfaces, rounded down to a multiple of 10: where their axis begins.

    A surface is -inf where delta is 0, and these points are left out. Raises ValueError if no point is left.
    """
    finite = [values[np.isfinite(values)] for values in surfaces.values()]
    lowest = min((values.min() for values in finite if values.size), default=None)
    if lowest is None:
        raise ValueError("delta is 0 everywhere; widen delta_surface.eps0 beyond delta_surface.eps")
    return float(10 * np.floor(lowest / 10))


def _draw_surface(axes: Any, mesh: Triangulation, heights: Floats, colours: Any) -> None:
    """Draw log10 delta as a surface over eps and eps0: the triangles of ``mesh``, at the points' heights.

    ``colours`` are the colour map and the range of heights that it covers.
    """
    axes.plot_trisurf(mesh, heights, linewidth=0.15, edgecolor=style.INK, **colours)
    axes.set(xlabel="ε", ylabel="ε₀")
    axes.set_zlabel("log₁₀ δ", labelpad=2)
    axes.view_init(elev=24, azim=-52)
    axes.set_box_aspect((1, 1, 0.82), zoom=0.94)
    axes.tick_params(pad=0)
    axes.zaxis.set_major_locator(MaxNLocator(5))


def _draw_contours(
    axes: Axes, mesh: Triangulation, heights: Floats, levels: Any, places: Any, colours: Any
) -> Any:
    """Draw the contours of log10 delta over eps and eps0; returns the filled bands, for a colour bar.

    The bands between two of the ``levels`` are filled, and the lines at the levels are drawn. A line's number
    stands at the one of ``places`` (eps, eps0) that lies on it. ``heights`` has one number for every point of
    ``mesh``. ``colours`` are the colour map and the range of heights that it covers. Where the mesh has no
    triangle, delta is 0.
    """
    filled = axes.tricontourf(mesh, heights, levels, **colours)
    filled.set_edgecolor("face")  # else thin white lines between the colours of a vector file
    axes.set_facecolor(ZERO)
    axes.text(0.97, 0.05, "δ = 0 (ε ≥ ε₀)", transform=axes.transAxes, ha="right")

    lines = axes.tricontour(
        mesh, heights, levels, colors=style.INK, linewidths=0.5, linestyles="solid"
    )
    if places:
        look: Any = {"fontsize": 7, "inline": False, "fmt": _with_minus}
        for label in lines.clabel(manual=places, **look):
            label.set_path_effects([withStroke(linewidth=1.6, foreground="white")])
    return filled


def _with_minus(value: float) -> str:
    """The number with a printed minus sign, which is longer than a hyphen."""
    return f"{value:g}".replace("-", "−")


def _places_of_names(
    eps: Floats, eps0: Floats, surface: Floats, levels: Sequence[float]
) -> list[tuple[float, float]]:
    """The points (eps, eps0) at which the contours are named, one on each contour.

    ``surface`` is log10 delta, shape (eps0, eps), which falls with eps. A contour is the line at one of the
    ``levels``. Its name is at the highest eps0 that the contour reaches in the lower 7 tenths of the panel,
    where there is room. A level that is not reached there has no place.
    """
    places = []
    for level in levels:
        for row in range(int(0.7 * len(eps0)), -1, -1):
            drawn = np.isfinite(surface[row])
            falling = surface[row][drawn]
            if len(falling) and falling.min() < level < falling.max():
                # interp needs rising numbers, which the negative ones are.
                crossing = np.interp(-level, -falling, eps[drawn])
                places.append((float(crossing), float(eps0[row])))
                break
    return places


def _mesh(eps: Floats, eps0: Floats, drawn: NDArray[np.bool_]) -> Triangulation:
    """The triangles between neighbouring points (eps, eps0) of which all three corners are drawn.

    ``drawn``, shape (eps0, eps), says which points are. A square of four drawn points becomes two triangles,
    a square with three drawn points one. So the surface ends in a straight line along eps = eps0, not in a
    staircase. Raises ValueError if there is no triangle.
    """
    # The corners of each square as numbers of points: a and b have the smaller eps0, a and c the smaller eps.
    index = np.arange(drawn.size).reshape(drawn.shape)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]
    has_a, has_b, has_c, has_d = (drawn.ravel()[corner] for corner in (a, b, c, d))
    # Three corners, and in which squares they are a triangle.
    corners = (
        (a, d, c, has_a & has_d & has_c),
        (a, b, d, has_a & has_b & has_d),
        (a, b, c, has_a & has_b & has_c & ~has_d),
        (b, d, c, has_b & has_d & has_c & ~has_a),
    )
    triangles = np.concatenate(
        [np.stack([x[keep], y[keep], z[keep]], axis=-1) for x, y, z, keep in corners]
    )
    if not len(triangles):
        raise ValueError(
            "no three neighbouring points with delta > 0: give delta_surface more steps"
        )
    grids = np.meshgrid(eps, eps0)
    return Triangulation(grids[0].ravel(), grids[1].ravel(), triangles)


def caption(table: pd.DataFrame) -> str:
    """The caption: how far the published delta lies below the exact one, every parameter, and the grey part.

    ``table`` has a row for every eps and eps0, with n, k, the count of x0, and log10 delta in the columns
    published and exact, which is -inf where delta is 0.
    """
    eps, eps0, surfaces = _axes_and_surfaces(table)
    both_positive = np.isfinite(surfaces["published"]) & np.isfinite(surfaces["exact"])
    gap = surfaces["exact"][both_positive] - surfaces["published"][both_positive]
    # The points with eps >= eps0, for numbers that are rounded.
    zeros = int((np.subtract.outer(eps0, eps) <= 1e-9).sum())

    verdict = (
        f"Theorem 1 as printed (a) gives a δ of the count of x₀ that is up to {gap.max():.0f} orders of"
        " magnitude below the exact one (b): surfaces over ε and ε₀, and their contours of log₁₀ δ."
    )
    setting = f"{wording.setting(table, *SETTING)}; {_ends('ε', eps)}; {_ends('ε₀', eps0)}."
    grey = f"Grey: for ε ≥ ε₀, these {zeros} of {both_positive.size} points, the exact δ is 0."
    return f"{verdict} {setting} {grey}"


def _ends(name: str, values: Floats) -> str:
    """The ends of an axis and its number of points, in words: 'ε: 0.1 to 2 in 20 steps'."""
    return f"{name}: {values[0]:g} to {values[-1]:g} in {len(values)} steps"


def _axes_and_surfaces(table: pd.DataFrame) -> tuple[Floats, Floats, dict[str, Floats]]:
    """The rising eps (a,), the rising eps0 (b,), and for each reading its log10 delta, shape (b, a)."""
    surfaces = {name: table.pivot(index="eps0", columns="eps", values=name) for name in PANELS}
    eps, eps0 = surfaces["exact"].columns.to_numpy(), surfaces["exact"].index.to_numpy()
    return eps, eps0, {name: surface.to_numpy() for name, surface in surfaces.items()}


if __name__ == "__main__":
    run_figure_job(COLUMNS, draw, caption)

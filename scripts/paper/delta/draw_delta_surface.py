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

SETTING = [
    "n",
    "k",
    "count",
]  # users, values, and how many other users hold x0: the same in all rows
# One row per (eps, eps0). The readings published and exact are log10 delta, -inf for 0.
COLUMNS = ["eps", "eps0", *SETTING, "published", "exact"]
PANELS = {"published": "(a) published", "exact": "(b) exact"}  # column of log10 delta -> title
ZERO = "#ececec"  # where delta is 0


@style.applied()
def draw(table: pd.DataFrame) -> Figure:
    """The figure: log10 delta of the number of reports of one value x0, over eps and eps0, in four panels.

    At the left is the published delta, by the formula that the paper's Theorem 1 prints. At the right is the
    exact one. Each is shown as a surface above and as contours below. All panels have the same scale.

    ``table`` has a row for every eps and eps0, with log10 delta in the columns published and exact, which is
    -inf where delta is 0, and the parameters n, k and count, which are the same in all rows.
    """
    eps, eps0, surfaces = _axes_and_surfaces(table)
    low = _lowest_log10_delta(surfaces)  # all axes and colours reach from low to 0
    # log10 delta of the contours: round numbers, with at most 9 steps between the first and the last.
    levels = MaxNLocator(9, steps=[1, 2, 5, 10]).tick_values(low, 0.0)
    colours: Any = {"cmap": "viridis", "vmin": low, "vmax": 0.0}

    figure = style.new_figure(5.8)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.15, 1])
    contours = []
    for column, (reading, title) in enumerate(PANELS.items()):
        surface = surfaces[reading]  # (eps0, eps)
        positive = np.isfinite(surface)  # where delta is not 0
        mesh = _triangles(eps, eps0, positive)
        # No triangle has a corner where delta is 0. But matplotlib wants a finite height there too, so the
        # height is set to low, which is not drawn.
        heights = np.where(positive, surface, low).ravel()

        above: Any = figure.add_subplot(grid[0, column], projection="3d", computed_zorder=False)
        above.set(xlim=(eps[0], eps[-1]), ylim=(eps0[0], eps0[-1]), zlim=(low, 0.0))
        above.set_title(title, y=0.98)
        _draw_surface(above, mesh, heights, colours)

        below = figure.add_subplot(grid[1, column])
        below.set(xlim=(eps[0], eps[-1]), ylim=(eps0[0], eps0[-1]), xlabel="ε")
        label_points = _points_on_contours(eps, eps0, surface, levels)
        image = _draw_contours(below, mesh, heights, levels, label_points, colours)
        contours.append(below)

    contours[0].set_ylabel("ε₀")
    bar = figure.colorbar(image, ax=contours, location="bottom", aspect=45, shrink=0.7, pad=0.03)
    bar.set_label("log₁₀ δ (numbers at the contours)")
    setting = wording.setting(table, *SETTING).replace("n_x₀", "$n_{x_0}$")
    figure.suptitle(f"δ of the count of x₀: {setting}")
    return figure


def _lowest_log10_delta(surfaces: Mapping[str, Floats]) -> float:
    """The lowest log10 delta of all surfaces, rounded down to a multiple of 10: where their axis begins.

    A surface is an array of log10 delta. It is -inf where delta is 0, and these points are left out. Raises
    ValueError if no point is left.
    """
    finite = [surface[np.isfinite(surface)] for surface in surfaces.values()]
    lowest = min((values.min() for values in finite if values.size), default=None)
    if lowest is None:
        raise ValueError("delta is 0 everywhere; widen delta_surface.eps0 beyond delta_surface.eps")
    return float(10 * np.floor(lowest / 10))


def _draw_surface(axes: Any, mesh: Triangulation, heights: Floats, colours: Any) -> None:
    """Draw log10 delta as a surface over eps and eps0: the triangles of ``mesh``, at the points' heights.

    ``heights`` is log10 delta of every point of ``mesh``. ``colours`` are the colour map and the range of
    heights that it covers (cmap, vmin and vmax of matplotlib).
    """
    axes.plot_trisurf(mesh, heights, linewidth=0.15, edgecolor=style.INK, **colours)
    axes.set(xlabel="ε", ylabel="ε₀")
    axes.set_zlabel("log₁₀ δ", labelpad=2)
    axes.view_init(elev=24, azim=-52)
    axes.set_box_aspect((1, 1, 0.82), zoom=0.94)
    axes.tick_params(pad=0)
    axes.zaxis.set_major_locator(MaxNLocator(5))


def _draw_contours(
    axes: Axes,
    mesh: Triangulation,
    heights: Floats,
    levels: Sequence[float],
    label_points: list[tuple[float, float]],
    colours: Any,
) -> Any:
    """Draw the contours of log10 delta over eps and eps0; returns the coloured bands, for a colour bar.

    A contour is the line at one of the ``levels``. The band between two contours has one colour. The part of
    the panel without triangles, where delta is 0, is grey.

    Parameters
    ----------
    axes: the panel
    mesh: the triangles between the points (eps, eps0)
    heights: log10 delta of every point of ``mesh``
    levels: log10 delta of the contours
    label_points: at most one (eps, eps0) on each contour, where the contour is labelled with its level
    colours: the colour map and the range of heights that it covers (cmap, vmin and vmax of matplotlib)
    """
    filled = axes.tricontourf(mesh, heights, levels, **colours)
    filled.set_edgecolor("face")  # else thin white lines between the colours of a vector file
    axes.set_facecolor(ZERO)
    axes.text(0.97, 0.05, "δ = 0 (ε ≥ ε₀)", transform=axes.transAxes, ha="right")

    lines = axes.tricontour(
        mesh, heights, levels, colors=style.INK, linewidths=0.5, linestyles="solid"
    )
    if label_points:
        look: Any = {"fontsize": 7, "inline": False, "fmt": _with_minus}
        for label in lines.clabel(manual=label_points, **look):
            # A white border, so that the contour does not cross the number.
            label.set_path_effects([withStroke(linewidth=1.6, foreground="white")])
    return filled


def _with_minus(value: float) -> str:
    """The number with a printed minus sign, which is longer than a hyphen."""
    return f"{value:g}".replace("-", "−")


def _points_on_contours(
    eps: Floats, eps0: Floats, surface: Floats, levels: Sequence[float]
) -> list[tuple[float, float]]:
    """One point (eps, eps0) on each contour of log10 delta, where its level is written.

    ``surface`` is log10 delta, shape (eps0, eps), -inf where delta is 0. It falls with eps. A contour is the
    line on which the surface has one of the ``levels``. Its point has the largest eps0 that the contour
    reaches in the lower 7 tenths of the panel, where there is room. A contour that does not reach this part
    has no point.
    """
    points = []
    for level in levels:
        for row in range(int(0.7 * len(eps0)), -1, -1):
            positive = np.isfinite(surface[row])
            falling = surface[row][positive]
            if len(falling) and falling.min() < level < falling.max():
                # The eps at which this row has the level. interp needs rising numbers, hence the signs.
                crossing = np.interp(-level, -falling, eps[positive])
                points.append((float(crossing), float(eps0[row])))
                break
    return points


def _triangles(eps: Floats, eps0: Floats, drawn: NDArray[np.bool_]) -> Triangulation:
    """The triangles between neighbouring points (eps, eps0) of which all three corners are drawn.

    ``drawn``, shape (eps0, eps), says for each point of the grid whether it is drawn. Four neighbouring
    points are the corners of a square. A square with four drawn corners becomes two triangles, and a square
    with three drawn corners becomes one. So the surface ends in a straight line along eps = eps0, not in a
    staircase. Raises ValueError if there is no triangle.
    """
    # a, b, c and d are the corners of all squares, as indices of points, each of shape (eps0 - 1, eps - 1):
    #     c d    larger eps0
    #     a b    smaller eps0, with eps growing to the right
    index = np.arange(drawn.size).reshape(drawn.shape)
    a, b = index[:-1, :-1], index[:-1, 1:]
    c, d = index[1:, :-1], index[1:, 1:]
    has_a, has_b, has_c, has_d = (drawn.ravel()[corner] for corner in (a, b, c, d))

    # The three corners of a triangle, and the squares that have this triangle. A whole square is cut along
    # its diagonal from a to d. A square without c and one without b then keep one of its halves.
    kinds = (
        (a, d, c, has_a & has_d & has_c),
        (a, b, d, has_a & has_b & has_d),
        (a, b, c, has_a & has_b & has_c & ~has_d),
        (b, d, c, has_b & has_d & has_c & ~has_a),
    )
    triangles = np.concatenate(
        [np.stack([x[squares], y[squares], z[squares]], axis=-1) for x, y, z, squares in kinds]
    )
    if not len(triangles):
        raise ValueError(
            "no three neighbouring points with delta > 0: give delta_surface more steps"
        )
    eps_of_points, eps0_of_points = np.meshgrid(eps, eps0)
    return Triangulation(eps_of_points.ravel(), eps0_of_points.ravel(), triangles)


def caption(table: pd.DataFrame) -> str:
    """The caption: how far the published delta lies below the exact one, every parameter, and the grey part.

    delta is that of releasing only the number of reports of one value x0. ``table`` has a row for every eps
    and eps0. Its columns n, k and count (how many users beside the target user hold x0) are the same in all
    rows. Its columns published (by the formula that the paper's Theorem 1 prints) and exact are log10 delta,
    -inf where delta is 0.
    """
    eps, eps0, surfaces = _axes_and_surfaces(table)
    both_positive = np.isfinite(surfaces["published"]) & np.isfinite(surfaces["exact"])
    # log10 of the exact over the published delta.
    gap = surfaces["exact"][both_positive] - surfaces["published"][both_positive]
    # How many points have eps >= eps0. Numbers that differ by 1e-9 are equal but for their rounding.
    zeros = int((np.subtract.outer(eps0, eps) <= 1e-9).sum())

    verdict = (
        f"Theorem 1 as printed (a) gives a δ of the count of x₀ that is up to {gap.max():.0f} orders of"
        " magnitude below the exact one (b): surfaces over ε and ε₀, and their contours of log₁₀ δ."
    )
    axes = f"{_range_in_words('ε', eps)}; {_range_in_words('ε₀', eps0)}"
    setting = f"{wording.setting(table, *SETTING)}; {axes}."
    grey = f"Grey: for ε ≥ ε₀, these {zeros} of {both_positive.size} points, the exact δ is 0."
    return f"{verdict} {setting} {grey}"


def _range_in_words(name: str, values: Floats) -> str:
    """The ends of an axis and its number of points, in words: 'ε: 0.1 to 2 in 20 steps'."""
    return f"{name}: {values[0]:g} to {values[-1]:g} in {len(values)} steps"


def _axes_and_surfaces(table: pd.DataFrame) -> tuple[Floats, Floats, dict[str, Floats]]:
    """The rising eps (a,), the rising eps0 (b,), and for each reading its log10 delta, shape (b, a).

    The readings are the columns published and exact of ``table``, which has a row for every eps and eps0.
    """
    surfaces = {name: table.pivot(index="eps0", columns="eps", values=name) for name in PANELS}
    exact = surfaces["exact"]
    arrays = {name: surface.to_numpy() for name, surface in surfaces.items()}
    return exact.columns.to_numpy(), exact.index.to_numpy(), arrays


if __name__ == "__main__":
    run_figure_job(COLUMNS, draw, caption)

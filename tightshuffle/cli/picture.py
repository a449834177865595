"""delta over eps by several bounds, for one setting: the picture of `tightshuffle compare`."""

import io
from collections.abc import Mapping

import numpy as np

from tightshuffle.arguments import Floats, check_installed

_BAND = "#0072B2"
_COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C564B", "#7F7F7F", "#BCBD22")


def curves_as_png(eps: Floats, curves: Mapping[str, Floats], title: str) -> bytes:
    """A PNG file: log10 delta of every bound over ``eps`` (points,), lower and upper as a band.

    ``curves`` have the names of methods, lower and upper among them; nan where a theorem does not apply,
    and -inf or nan where delta is 0. ModuleNotFoundError without matplotlib (the extra ``plot``).
    """
    check_installed("plot", "matplotlib")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), dpi=150, layout="constrained")
    axes = figure.subplots()
    upper, lower = curves["upper"], curves["lower"]
    bottom = 1.1 * float(np.min(upper, initial=-1.0, where=np.isfinite(upper)))
    deep = np.full(eps.shape, 2 * bottom)
    low, high = (
        np.fmax(np.nan_to_num(curve, nan=2 * bottom, neginf=2 * bottom), deep) for curve in (lower, upper)
    )
    axes.fill_between(eps, low, high, color=_BAND, alpha=0.3, linewidth=0)
    colours = iter(_COLOURS)
    for name in sorted(curves, key=lambda name: -np.nan_to_num(curves[name][-1], nan=0.0)):
        if name in ("lower", "upper"):
            dashes = "--" if name == "lower" else "-"
            axes.plot(eps, curves[name], dashes, color=_BAND, linewidth=2, label=name)
        elif np.isfinite(curves[name]).any():
            axes.plot(eps, curves[name], color=next(colours), linewidth=1.2, label=name)
    axes.set(xlim=(0, max(eps[-1], 1e-12)), ylim=(bottom, 0), xlabel="eps", ylabel="log10 delta", title=title)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()

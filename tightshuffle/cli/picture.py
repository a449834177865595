"""The figure of `tightshuffle compare`: delta as a function of eps by several bounds."""

import io
from collections.abc import Mapping

import numpy as np

from tightshuffle.arguments import Floats, check_installed
from tightshuffle.methods import METHODS


def curves_as_png(eps: Floats, curves: Mapping[str, Floats], title: str) -> bytes:
    """The bytes of a PNG file: log10 delta of every bound over ``eps``, with a band from lower to upper.

    Parameters: ``eps``, shape (points,); ``curves``, name of a method -> log10 delta (points,), with lower
    and upper; ``title``. A value is nan where a theorem does not apply, and -inf or nan where delta is 0.
    Raises ModuleNotFoundError without matplotlib (the extra ``plot``).
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
    axes.fill_between(eps, low, high, color=METHODS["upper"].colour, alpha=0.3, linewidth=0)
    for name in sorted(curves, key=lambda name: -np.nan_to_num(curves[name][-1], nan=0.0)):
        if np.isfinite(curves[name]).any():
            (line,) = axes.plot(eps, curves[name], color=METHODS[name].colour, label=name)
            line.set(linewidth=2 if name in ("lower", "upper") else 1.2)
            line.set(linestyle=(0, METHODS[name].dashes or None))
    axes.set(xlim=(0, max(eps[-1], 1e-12)), ylim=(bottom, 0), xlabel="eps", ylabel="log10 delta", title=title)
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    file = io.BytesIO()
    figure.savefig(file, format="png", metadata={"Software": None})
    return file.getvalue()

"""Every table that is computed from settings alone: its function, and the section of its settings.

Rules read this module before any job runs, so it imports no library.
"""

from collections.abc import Mapping
from typing import Any

CURVES = {  # of results/privacy: file and function -> module beside this one, section of the config or ""
    "blanket_regions": ("blanket_regions", ""),
    "blanket_tightness": ("blanket_regions", ""),
    "delta_bounds": ("delta_bounds", "delta_bounds"),
    "delta_surface": ("delta_surface", "delta_surface"),
    "gaussian_scale": ("gaussian_scale", ""),
    "girgis_composed": ("girgis_rdp", ""),
    "girgis_rdp": ("girgis_rdp", ""),
    "koskela_fig1a": ("koskela", ""),
    "koskela_fig1b": ("koskela", ""),
    "too_small": ("too_small", "delta_surface"),
}


def settings_of(name: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """The section of the config that a curve is computed from; the other curves have their own axes."""
    return dict(config.get(CURVES[name][1], {}))

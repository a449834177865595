"""What the captions of the paper's trials say about the Gaussian mechanism."""

from collections.abc import Mapping
from typing import Any

from scripts.shared import wording


def calibration_text(protocol: Mapping[str, Any]) -> str:
    """How the Gaussian was calibrated, for a caption; ``protocol`` is that section of the config."""
    form = "" if protocol["delta_form"] == "published" else f" with δ̂ in its {protocol['delta_form']} form"
    return (
        f"The Gaussian noise{form} is what diffprivlib's analytic mechanism adds for ε and δ̂, or for"
        f" {wording.typeset(protocol['delta_floor'])} where δ̂ is smaller, at sensitivity"
        f" {protocol['sensitivity']:g}. The paper states neither of the two numbers, so both are our choice."
    )

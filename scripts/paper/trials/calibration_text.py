"""What the captions of the paper's trials say about the Gaussian mechanism."""

from collections.abc import Mapping
from typing import Any

from scripts.shared import wording


def calibration_text(protocol: Mapping[str, Any]) -> str:
    """How the Gaussian was calibrated, for a caption; ``protocol`` is that section of the config."""
    form = "" if protocol["delta_form"] == "published" else f" with δ̂ in its {protocol['delta_form']} form"
    return (
        f"The Gaussian noise{form} has diffprivlib's analytic scale for ε, δ̂ but at least"
        f" {wording.typeset(protocol['delta_floor'])}, and sensitivity {protocol['sensitivity']:g}; the paper"
        " states neither, so both are our choice."
    )

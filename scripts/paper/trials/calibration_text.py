"""What the captions of the paper's trials say about the Gaussian mechanism."""

from collections.abc import Mapping
from typing import Any

from scripts.shared import wording


def calibration_text(protocol: Mapping[str, Any]) -> str:
    """A caption's sentences on how the Gaussian's noise was chosen.

    ``protocol`` is the config's section of this name: delta_form, the form of delta-hat ("published" or
    "exact"); delta_floor, the delta that stands for a smaller delta-hat; and sensitivity, the Gaussian's.
    """
    # delta-hat, δ̂, is the largest delta of the counts that occur, and "published" the paper's form of it.
    noise = "The Gaussian noise"
    if protocol["delta_form"] != "published":
        noise = f"The Gaussian noise with δ̂ in its {protocol['delta_form']} form"
    floor = wording.typeset(protocol["delta_floor"])
    return (
        f"{noise} is what diffprivlib's analytic mechanism adds for ε and δ̂, or for {floor} where δ̂ is"
        f" smaller, at sensitivity {protocol['sensitivity']:g}. The paper states neither of the two numbers,"
        " so both are our choice."
    )

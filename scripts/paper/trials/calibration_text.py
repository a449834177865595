"""What the captions of the paper's trials say about the Gaussian mechanism."""

from collections.abc import Mapping
from typing import Any

from scripts.shared import wording


def calibration_text(protocol: Mapping[str, Any]) -> str:
    """A caption's two sentences on how the Gaussian's noise was chosen.

    The noise is chosen for eps and delta-hat, δ̂, the delta that the paper gives the Gaussian. ``protocol`` is
    the config's section of this name, with three entries:

    - delta_form: "published", delta-hat by the formula that the paper prints, or "exact", the true one;
    - delta_floor: the delta for which the noise is chosen where delta-hat is smaller;
    - sensitivity: that of the histogram to which the noise is added.
    """
    # Only a form that is not the paper's is named.
    noise = "The Gaussian noise"
    if protocol["delta_form"] != "published":
        noise = f"The Gaussian noise with δ̂ in its {protocol['delta_form']} form"
    floor = wording.typeset(protocol["delta_floor"])
    calibration = (
        f"{noise} is what diffprivlib's analytic mechanism adds for ε and δ̂, or for {floor} where δ̂ is"
        f" smaller, at sensitivity {protocol['sensitivity']:g}: both our choice, as the paper states neither."
    )
    stop = "diffprivlib's search stops near 10⁻¹⁸: a smaller δ gives the same noise."
    return f"{calibration} {stop}"

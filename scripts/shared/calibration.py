"""How titles and captions name the calibration of the Gaussian beside the shuffle model."""

from collections.abc import Mapping
from typing import Any

from scripts.shared.wording import typeset

AS_PUBLISHED = "published protocol"
AT_EQUAL_PRIVACY = "equal (ε, δ)"
EQUAL_PRIVACY = (
    "Equal privacy: δ is fixed. ε is what the rigorous upper bound guarantees for the whole shuffled"
    " histogram, for every dataset. The Gaussian noise has the exact analytic scale for this (ε, δ) and"
    " sensitivity √2. Both estimates are projected onto the simplex."
)


def published(protocol: Mapping[str, Any]) -> str:
    """The paragraph of a caption on the published calibration; ``protocol`` is that section of the config."""
    form = "" if protocol["delta_form"] == "published" else f" with δ̂ in its {protocol['delta_form']} form"
    return (
        f"Published protocol{form}: the Gaussian noise has diffprivlib's analytic scale for ε, δ̂ but at least"
        f" {typeset(protocol['delta_floor'])}, and sensitivity {protocol['sensitivity']:g}. The paper states"
        " neither this floor nor the sensitivity (errata, 7)."
    )

"""How titles and captions name the calibration of the Gaussian beside the shuffle model."""

from collections.abc import Mapping
from typing import Any

from reproduction.figures.wording import typeset

AS_PUBLISHED = "published protocol"
AT_EQUAL_PRIVACY = "equal (ε, δ)"
PROJECTED = "projected onto the simplex: replaced by the nearest shares that are not negative and sum to 1."
EQUAL_PRIVACY = (
    "Equal privacy: δ is fixed. ε is what the rigorous upper bound guarantees for the whole shuffled"
    " histogram of n users with budget ε₀, for every dataset. The Gaussian noise has the exact analytic scale"
    f" for this (ε, δ) and the histogram's L2 sensitivity √2. Both estimates are {PROJECTED}"
)


def published(protocol: Mapping[str, Any]) -> str:
    """The paragraph of a caption on the published calibration; ``protocol`` is that section of the config."""
    form = "" if protocol["delta_form"] == "published" else f" with δ̂ in its {protocol['delta_form']} form"
    return (
        f"Published protocol{form}: the Gaussian noise has diffprivlib's analytic scale for ε, δ and"
        f" sensitivity {protocol['sensitivity']:g}. Here δ is the shuffle model's δ̂, but at least"
        f" {typeset(protocol['delta_floor'])}: δ̂ is 0 for ε ≥ ε₀, and no Gaussian mechanism has δ = 0."
        " Sensitivity and floor are our choice: the paper states neither, and its numbers fit other choices"
        " as well (errata, 7). Below δ ≈ 10⁻¹⁷ diffprivlib's scale stops growing and becomes too small for"
        " (ε, δ)."
    )

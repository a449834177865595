"""How titles and captions say which noise the Gaussian has beside the shuffle model."""

from collections.abc import Mapping
from typing import Any

from tightshuffle.number_text import typeset

AS_PUBLISHED = "published"
AT_EQUAL_PRIVACY = "at equal ε, δ"
EQUAL_PRIVACY = (
    "Equal privacy: δ is fixed. ε is what the rigorous upper bound guarantees for the whole shuffled"
    " histogram of n users with budget ε₀, whatever the remaining users hold. The Gaussian noise has the"
    " exact analytic scale for this (ε, δ) and the histogram's L2 sensitivity √2. Both estimates are"
    " projected to the simplex."
)

WHAT_FOLLOWS = (
    "What follows: both mechanisms promise the same, so at each n the one whose boxes are lower is the better"
    " choice for data like these. Where boxes overlap, one release may go either way; parity_ratio has the"
    " ratio of the means with its interval. Where both lie above the uniform histogram, use neither: the"
    " shuffled histogram without inversion may lie below both there, being nearly uniform itself."
)


def published(protocol: Mapping[str, Any]) -> str:
    """The paragraph of a caption on the published calibration; ``protocol`` is that section of the config."""
    form = "" if protocol["delta_form"] == "published" else f" with δ̂ in its {protocol['delta_form']} form"
    return (
        f"Reading: published{form}. The Gaussian noise has diffprivlib's analytic scale for ε, δ and"
        f" sensitivity {protocol['sensitivity']:g}. Here δ is the shuffle model's δ̂, but at least"
        f" {typeset(protocol['delta_floor'])}: δ̂ is 0 for ε ≥ ε₀, and no Gaussian mechanism has δ = 0."
        " Sensitivity and floor are ours: the paper states neither, and its numbers fit other ones as well"
        " (errata, 7). Below δ ≈ 10⁻¹⁷ the library's scale no longer grows: soon it is too small for (ε, δ)."
    )

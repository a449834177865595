"""What the scripts that draw runs at equal privacy share: the words of the reading, the form of the paper."""

from tightshuffle.figures import wording

READING = "at equal ε, δ"
ESTIMATES = {  # how the paper's figures name (mechanism, estimator); there the Gaussian is not projected
    ("shuffle", "none"): "shuffle",
    ("shuffle", "projection"): "shuffle+INV",
    ("gaussian", "projection"): "gaussian",
}


def reading_words():
    """The paragraph of a caption that says how the Gaussian was calibrated."""
    return (
        "Reading: equal privacy. δ is fixed; ε is what the rigorous upper bound guarantees for the whole"
        " shuffled histogram of n users with budget ε₀, whatever the others hold; the Gaussian noise has the"
        " exact analytic scale for this (ε, δ) and the histogram's L2 sensitivity √2. Both estimates are"
        " projected to the simplex."
    )


def budget_words(eps0, eps, delta):
    """'ε₀ = 4, ε = 0.11 to 1.4, δ = 10⁻⁶' for rows of panels; ``eps``: one or many numbers."""
    low, high = min(eps), max(eps)
    span = f"{low:.2g}" if f"{low:.2g}" == f"{high:.2g}" else f"{low:.2g} to {high:.2g}"
    return f"ε₀ = {eps0:g}, ε = {span}, δ = {wording.scientific(delta)}"

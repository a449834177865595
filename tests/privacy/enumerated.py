"""The true delta of tiny cases of shuffled k-RR: the worst of all datasets."""

from tightshuffle.privacy.enumeration import enumerate_worst_case


def worst_delta(eps, *, n, k, eps0):
    """The true delta of shuffled k-RR: the largest of all datasets of the remaining users."""
    return max(float(value) for value in enumerate_worst_case(eps, n=n, k=k, eps0=eps0).values())

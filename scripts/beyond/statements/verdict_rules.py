"""From numbers to a verdict: signs of single comparisons, and what they say together.

Every comparison ends in a sign: +1 it shows what is claimed, -1 it shows the contrary, 0 it shows neither.
Comparisons of samples are two-sided t-tests, corrected by Holm so that a verdict that rests on any false sign
has at most the probability `LEVEL`. (Ranks cannot do this here: with the paper's 10 repetitions the smallest
two-sided p-value of Wilcoxon's test is 1/512, above LEVEL over the number of settings. The distances are
sums over many cells, hence nearly normal, and the errors of single cells come with 1,000 repetitions.)
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray
from scipy import special  # scipy.stats takes half a second longer to import, in ten jobs

from tightshuffle.number_text import plain, span

LEVEL = 0.01
Signs = NDArray[np.int_]  # one per comparison: +1 for the claim, -1 against it, 0 neither

HOLDS, MOSTLY, UNSETTLED, FAILS = "holds", "mostly holds", "not settled", "fails"
UNTESTABLE = "untestable"
READING_VERDICTS = (HOLDS, MOSTLY, UNSETTLED, FAILS, UNTESTABLE)  # of one reading
ONLY_EXACTLY, ONLY_PUBLISHED = "holds only exactly", "holds only as published"
CLAIM_VERDICTS = (  # of both readings, the most favourable to the paper first
    HOLDS, MOSTLY, ONLY_EXACTLY, ONLY_PUBLISHED, UNSETTLED, UNTESTABLE, FAILS,
)  # fmt: skip
MOSTLY_FOR, MOSTLY_AGAINST = 9 / 10, 1 / 20  # shares of "mostly holds": at least this, at most that


@dataclass(frozen=True)
class Comparisons:
    """What a test of a statement finds: a sign for each comparison, and numbers (any shape) of one unit."""

    signs: Signs
    unit: str = ""
    numbers: npt.ArrayLike = ()

    @property
    def verdict(self) -> str:
        """The verdict of one reading.

        "holds" if every sign is +1. "mostly holds" if at least 90 % are +1 and at most 5 % are -1
        (`MOSTLY_FOR`, `MOSTLY_AGAINST`). Else "fails" if one is -1, and "not settled" if none is. Raises
        ValueError if there is no sign.
        """
        number = len(self.signs)
        if number == 0:
            raise ValueError("a verdict needs at least one comparison")
        number_for = np.sum(self.signs > 0)
        number_against = np.sum(self.signs < 0)
        if number_for == number:
            return HOLDS
        if number_for >= MOSTLY_FOR * number and number_against <= MOSTLY_AGAINST * number:
            return MOSTLY
        return FAILS if number_against > 0 else UNSETTLED

    @property
    def statistic(self) -> str:
        """'true in 17, false in 3 of 20 cases; ratio of a to b 0.5 to 2'; of a single comparison 'true'."""
        outcome = self._counts_in_words()
        numbers = np.ravel(self.numbers)
        if numbers.size == 0:
            return outcome
        return f"{outcome}; {self.unit} {span(numbers, partial(plain, digits=3))}"

    def _counts_in_words(self) -> str:
        """'true in 17, false in 3 of 20 cases'; of a single comparison 'true'."""
        words = {1: "true", -1: "false", 0: "undecided"}
        if len(self.signs) == 1:
            return words[int(np.sign(self.signs[0]))]
        counts = []
        for sign, word in words.items():
            number = np.count_nonzero(np.sign(self.signs) == sign)
            if number > 0:
                counts.append(f"{word} in {number}")
        return f"{', '.join(counts)} of {len(self.signs)} cases"


@dataclass(frozen=True)
class Estimate:
    """An estimated number, its standard error and degrees of freedom (of Student's t)."""

    value: float
    error: float
    freedom: float

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Difference from an independent estimate, degrees of freedom after Welch and Satterthwaite."""
        first = self.error**2
        second = other.error**2
        total = first + second
        if total == 0:
            return Estimate(self.value - other.value, 0.0, min(self.freedom, other.freedom))
        freedom = total**2 / (first**2 / self.freedom + second**2 / other.freedom)
        return Estimate(self.value - other.value, float(np.sqrt(total)), float(freedom))

    def __abs__(self) -> "Estimate":
        return Estimate(abs(self.value), self.error, self.freedom)

    def above(self, threshold: float = 0.0) -> float:
        """One-sided p-value against "the true number is at most ``threshold``"."""
        excess = self.value - threshold
        if self.error == 0:
            return 0.0 if excess > 0 else 1.0
        return float(special.stdtr(self.freedom, -excess / self.error))

    def below(self, threshold: float = 0.0) -> float:
        """One-sided p-value against "the true number is at least ``threshold``"."""
        return Estimate(-self.value, self.error, self.freedom).above(-threshold)


def mean(sample: npt.ArrayLike) -> Estimate:
    """The mean of independent repetitions, shape (repetitions >= 2,), as an `Estimate`."""
    values = np.asarray(sample, dtype=float)
    if values.ndim != 1 or values.size < 2 or not np.all(np.isfinite(values)):
        raise ValueError("a test needs two or more finite repetitions")
    error = float(values.std(ddof=1) / np.sqrt(values.size))
    return Estimate(float(values.mean()), error, float(values.size - 1))


def log_ratio(first: npt.ArrayLike, second: npt.ArrayLike) -> Estimate:
    """The natural log of mean(``first``) / mean(``second``) of two paired samples (repetitions,).

    Both means must be positive, else it raises ValueError. The standard error is that of the mean of
    first / mean(first) - second / mean(second), which is the log's error to first order (delta method).
    """
    first = np.asarray(first, dtype=float)
    second = np.asarray(second, dtype=float)
    first_mean = first.mean()
    second_mean = second.mean()
    if min(first_mean, second_mean) <= 0:
        raise ValueError(
            f"a ratio of errors needs positive means; got {first_mean:g} and {second_mean:g}"
        )
    spread = mean(first / first_mean - second / second_mean)
    return Estimate(float(np.log(first_mean / second_mean)), spread.error, spread.freedom)


def corrected(p_values: npt.ArrayLike) -> NDArray[np.float64]:
    """Holm's corrected p-values, shape (tests,): the family-wise level at which each hypothesis falls."""
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * (p_values.size - np.arange(p_values.size)))
    result = np.empty(p_values.size)
    result[order] = np.minimum(stepped, 1)
    return result


def two_sided_signs(for_it: npt.ArrayLike, against_it: npt.ArrayLike) -> Signs:
    """Signs from one-sided p-values for the claim and for its contrary, half of `LEVEL` each."""
    is_shown = corrected(for_it) <= LEVEL / 2
    is_contrary = corrected(against_it) <= LEVEL / 2
    return np.subtract(is_shown, is_contrary, dtype=int)


def signs_below(estimates: Sequence[Estimate], threshold: float = 0.0) -> Signs:
    """+1 where the true number is below ``threshold``, -1 where above."""
    below = [estimate.below(threshold) for estimate in estimates]
    above = [estimate.above(threshold) for estimate in estimates]
    return two_sided_signs(below, above)


def signs_within(log_ratios: Sequence[Estimate], factor: float) -> Signs:
    """+1 where the true ratio lies between 1 / ``factor`` and ``factor``, -1 where outside.

    ``log_ratios`` are natural logs. Two one-sided tests have to show that a ratio is inside.
    """
    edge = np.log(factor)
    inside = [max(ratio.below(edge), ratio.above(-edge)) for ratio in log_ratios]
    outside = [min(1.0, 2 * min(ratio.above(edge), ratio.below(-edge))) for ratio in log_ratios]
    return two_sided_signs(inside, outside)


def yes_or_no(is_so: npt.ArrayLike) -> Signs:
    """+1 where something is so, -1 where it is not: comparisons that leave nothing open."""
    return np.where(is_so, 1, -1)


def weakest(verdicts: Collection[str]) -> str:
    """The verdict on claims that must hold together: the last of them in `READING_VERDICTS`."""
    return max(verdicts, key=READING_VERDICTS.index)


def combine(published: str, exact: str) -> str:
    """The verdict on a statement from the verdicts of its two readings.

    "Holds" includes "mostly holds". If a statement holds on both readings, it is the weaker verdict. If it
    holds on one, it is "holds only exactly" or "holds only as published", or "untestable" if the other
    reading is. Else it fails if it fails on one reading, is "not settled" if it is so on one, and
    "untestable" if it is so on both.
    """
    published_holds = published in (HOLDS, MOSTLY)
    exact_holds = exact in (HOLDS, MOSTLY)
    verdicts = (published, exact)
    if published_holds and exact_holds:
        return weakest(verdicts)
    if published_holds or exact_holds:
        if UNTESTABLE in verdicts:
            return UNTESTABLE
        return ONLY_PUBLISHED if published_holds else ONLY_EXACTLY
    if FAILS in verdicts:
        return FAILS
    return UNSETTLED if UNSETTLED in verdicts else UNTESTABLE

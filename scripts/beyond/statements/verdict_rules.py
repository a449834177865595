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

LEVEL = 0.01  # family-wise: of all comparisons of one statement on one reading together
Signs = NDArray[np.int_]  # one per comparison: +1 for the claim, -1 against it, 0 neither

HOLDS, MOSTLY, UNSETTLED, FAILS = "holds", "mostly holds", "not settled", "fails"
UNTESTABLE = "untestable"
READING_VERDICTS = (HOLDS, MOSTLY, UNSETTLED, FAILS, UNTESTABLE)  # of one reading
# On the exact reading a statement about delta is tested on the true delta, one about errors in an experiment
# of ours, in which both mechanisms have the same (eps, delta).
ONLY_WITH_EXACT_DELTA = "holds only with the exact delta"
ONLY_AT_EQUAL_PRIVACY = "holds only at equal privacy"
ONLY_PUBLISHED = "holds only as published"
CLAIM_VERDICTS = (  # of both readings, the most favourable to the paper first
    HOLDS, MOSTLY, ONLY_WITH_EXACT_DELTA, ONLY_AT_EQUAL_PRIVACY, ONLY_PUBLISHED, UNSETTLED, UNTESTABLE, FAILS,
)  # fmt: skip
MOSTLY_FOR, MOSTLY_AGAINST = 9 / 10, 1 / 20  # shares of "mostly holds": at least this, at most that


@dataclass(frozen=True)
class Comparisons:
    """What a test of a statement finds: a sign for each comparison, and numbers of one unit.

    ``signs`` (comparisons,) are +1 where a comparison shows the statement, -1 where it shows the contrary, 0
    where it shows neither. ``numbers`` (any shape) are what was measured, of which `statistic` states the
    range. ``unit`` are the words before that range.
    """

    signs: Signs
    unit: str = ""
    numbers: npt.ArrayLike = ()

    @property
    def verdict(self) -> str:
        """The verdict on the statement, by its signs on one reading of the paper.

        A sign is +1 for the statement, -1 against it, 0 undecided. The verdict is "holds" if every sign is
        +1. It is "mostly holds" if at least 90 % are +1 and at most 5 % are -1 (`MOSTLY_FOR`,
        `MOSTLY_AGAINST`). Otherwise it is "fails" if at least one sign is -1, and "not settled" if none is.
        Raises ValueError if there is no sign.
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
        """What the test found, in words: 'true in 17, false in 3 of 20 cases; ratio of a to b 0.5 to 2'.

        The first part counts the signs. The second is the unit and the range of the numbers. It is left out
        if there are no numbers.
        """
        outcome = self._counts_in_words()
        numbers = np.ravel(self.numbers)
        if numbers.size == 0:
            return outcome
        return f"{outcome}; {self.unit} {span(numbers, partial(plain, digits=3))}"

    def _counts_in_words(self) -> str:
        """How many signs are +1, -1 and 0, in words, such as 'true in 17, false in 3 of 20 cases'.

        A word of which there is no sign is left out. Of a single comparison it is the word alone: 'true',
        'false' or 'undecided'.
        """
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
    """An estimated number, its standard error, and the degrees of freedom of its Student's t."""

    value: float
    standard_error: float
    freedom: float

    def __sub__(self, other: "Estimate") -> "Estimate":
        """The difference from an independent estimate, with Welch and Satterthwaite's degrees of freedom."""
        difference = self.value - other.value
        first = self.standard_error**2
        second = other.standard_error**2
        total = first + second
        if total == 0:  # where their formula would divide by 0
            return Estimate(difference, 0.0, min(self.freedom, other.freedom))
        freedom = total**2 / (first**2 / self.freedom + second**2 / other.freedom)
        return Estimate(difference, float(np.sqrt(total)), float(freedom))

    def __abs__(self) -> "Estimate":
        """The estimate of the absolute value, with the same standard error."""
        return Estimate(abs(self.value), self.standard_error, self.freedom)

    def p_value_for_above(self, threshold: float = 0.0) -> float:
        """The one-sided p-value of the t-test: small if the true number is above ``threshold``.

        The null hypothesis is that the true number is at most ``threshold``.
        """
        excess = self.value - threshold
        if self.standard_error == 0:  # without spread, the estimate is the true number
            return 0.0 if excess > 0 else 1.0
        return float(special.stdtr(self.freedom, -excess / self.standard_error))

    def p_value_for_below(self, threshold: float = 0.0) -> float:
        """The one-sided p-value of the t-test: small if the true number is below ``threshold``.

        The null hypothesis is that the true number is at least ``threshold``.
        """
        negated = Estimate(-self.value, self.standard_error, self.freedom)
        return negated.p_value_for_above(-threshold)


def estimated_mean(sample: npt.ArrayLike) -> Estimate:
    """The mean of independent repetitions as an `Estimate`: value, standard error, degrees of freedom.

    ``sample`` has the shape (repetitions,). Raises ValueError if it has less than two repetitions, or one
    that is not finite.
    """
    values = np.asarray(sample, dtype=float)
    if values.ndim != 1 or values.size < 2 or not np.all(np.isfinite(values)):
        raise ValueError("a test needs two or more finite repetitions")
    error = float(values.std(ddof=1) / np.sqrt(values.size))
    return Estimate(float(values.mean()), error, float(values.size - 1))


def ln_ratio_of_means(first: npt.ArrayLike, second: npt.ArrayLike) -> Estimate:
    """ln of mean(``first``) / mean(``second``) of two paired samples, as an `Estimate` with its error.

    Both samples have the shape (repetitions,). The standard error is that of the mean of
    first / mean(first) - second / mean(second). To first order this is the error of the log (delta method).
    Raises ValueError if a mean is not positive.
    """
    first = np.asarray(first, dtype=float)
    second = np.asarray(second, dtype=float)
    first_mean = first.mean()
    second_mean = second.mean()
    if min(first_mean, second_mean) <= 0:
        raise ValueError(
            f"a ratio of errors needs positive means; got {first_mean:g} and {second_mean:g}"
        )
    spread = estimated_mean(first / first_mean - second / second_mean)
    ln_ratio = float(np.log(first_mean / second_mean))
    return Estimate(ln_ratio, spread.standard_error, spread.freedom)


def holm_corrected(p_values: npt.ArrayLike) -> NDArray[np.float64]:
    """Holm's corrected p-values, shape (tests,): the family-wise level at which each hypothesis falls.

    The smallest of m p-values is multiplied by m, the next by m - 1, and so on. None is below the one before
    it, nor above 1.
    """
    p_values = np.asarray(p_values, dtype=float)
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * (p_values.size - np.arange(p_values.size)))
    result = np.empty(p_values.size)
    result[order] = np.minimum(stepped, 1)
    return result


def two_sided_signs(for_it: npt.ArrayLike, against_it: npt.ArrayLike) -> Signs:
    """+1 where a claim is shown, -1 where its contrary is, 0 where neither is: shape (comparisons,).

    ``for_it`` and ``against_it`` are one-sided p-values, small where the claim or its contrary is true. Each
    side is corrected by Holm, and has half of the level `LEVEL`.
    """
    is_shown = holm_corrected(for_it) <= LEVEL / 2
    is_contrary = holm_corrected(against_it) <= LEVEL / 2
    return np.subtract(is_shown, is_contrary, dtype=int)


def signs_below(estimates: Sequence[Estimate], threshold: float = 0.0) -> Signs:
    """+1 where the true number is shown to be below ``threshold``, -1 where above, 0 where neither."""
    below = [estimate.p_value_for_below(threshold) for estimate in estimates]
    above = [estimate.p_value_for_above(threshold) for estimate in estimates]
    return two_sided_signs(below, above)


def signs_within(ln_ratios: Sequence[Estimate], factor: float) -> Signs:
    """+1 where the true ratio is shown to be between 1 / ``factor`` and ``factor``, -1 where outside, else 0.

    ``ln_ratios`` are the natural logs of the ratios. A ratio is inside if two one-sided tests both show it.
    It is outside if one of two shows it, so the smaller p-value is doubled.
    """
    edge = np.log(factor)
    inside = []
    outside = []
    for ratio in ln_ratios:
        inside.append(max(ratio.p_value_for_below(edge), ratio.p_value_for_above(-edge)))
        either_side = min(ratio.p_value_for_above(edge), ratio.p_value_for_below(-edge))
        outside.append(min(1.0, 2 * either_side))
    return two_sided_signs(inside, outside)


def signs_where(is_so: npt.ArrayLike) -> Signs:
    """+1 where ``is_so`` is true, -1 where it is not: the signs of comparisons without randomness."""
    return np.where(is_so, 1, -1)


def weakest_verdict(verdicts: Collection[str]) -> str:
    """The verdict on claims that must hold together: the least favourable one of ``verdicts``.

    From the most to the least favourable: "holds", "mostly holds", "not settled", "fails", "untestable".
    """
    return max(verdicts, key=READING_VERDICTS.index)


def combined_verdict(published: str, exact: str, *, only_exact: str) -> str:
    """The verdict on a statement, from its verdict on the published and on the exact reading.

    A statement holds on a reading whose verdict is "holds" or "mostly holds". ``only_exact`` is the verdict
    if it holds on the exact reading alone: `ONLY_WITH_EXACT_DELTA` or `ONLY_AT_EQUAL_PRIVACY`.

    - It holds on both: the verdict is the weaker one of the two.
    - It holds on one: "holds only as published" or ``only_exact``. But if the other reading is "untestable",
      the verdict is "untestable".
    - It holds on neither: "fails" if it fails on at least one. Else "not settled" if it is not settled on at
      least one. Else both are "untestable", and so is the verdict.
    """
    published_holds = published in (HOLDS, MOSTLY)
    exact_holds = exact in (HOLDS, MOSTLY)
    verdicts = (published, exact)
    if published_holds and exact_holds:
        return weakest_verdict(verdicts)
    if published_holds or exact_holds:
        if UNTESTABLE in verdicts:
            return UNTESTABLE
        return ONLY_PUBLISHED if published_holds else only_exact
    if FAILS in verdicts:
        return FAILS
    return UNSETTLED if UNSETTLED in verdicts else UNTESTABLE

"""How many dummies of a value are added: the laws of that number.

Only the shuffler can add a number with a cut law. Poisson and binomial numbers can also come from users'
devices, each of which adds a share.
"""

import csv
import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tightshuffle.arguments import Floats, check_number, check_path, check_whole

LAWS = "poisson:MEAN, binomial:DEVICES:PROBABILITY, geometric:MEAN:RATIO, gaussian:MEAN:DEVIATION, "
LAWS += "power:MEAN:POWER:DEVIATION, fixed:NUMBER or file:PATH"
_DEEP = 700.0  # e^-700 is about the smallest float
LARGEST_MEAN = 1e9
MOST_NUMBERS = 10**7  # numbers that one law can take
_LEAST_DEVIATION = 1e-3  # a smaller one hides nothing: no other number is as likely as e^-1000
_SUM = 1e-9  # by which a file's probabilities may miss 1, as they are rounded decimals
_ULP = 2.0**-52


@dataclass(frozen=True, eq=False)
class Law:
    """The law of a number of dummies.

    ``name`` is the text that `parse_law` makes it from, and ``first`` the smallest number that is listed.
    ``log_mass`` (m,) are natural logs of the probabilities of first, first + 1, ... ``steps`` (m + 1,) are
    ln P(z) - ln P(z + 1) from z = first - 1 on, -inf or inf where one of the two is 0. They are kept because
    differences of ``log_mass`` would cancel. ``log_outside`` is the natural log of an upper bound on the
    probability of all numbers that are not listed.
    """

    name: str
    first: int
    log_mass: Floats
    steps: Floats
    log_outside: float = -math.inf

    @property
    def mean(self) -> float:
        """How many dummies a value gets on average, without rounding errors where the law is symmetric."""
        if self.symmetric:
            return self.first + (self.log_mass.size - 1) / 2
        return float(self.first + np.exp(self.log_mass) @ np.arange(self.log_mass.size))

    @property
    def symmetric(self) -> bool:
        """Whether mean + x is as likely as mean - x: then gaining one and losing one are alike."""
        return bool(
            np.array_equal(self.log_mass, self.log_mass[::-1])
            and np.array_equal(self.steps, -self.steps[::-1])
        )

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return math.sqrt(float(np.exp(self.log_mass) @ self._distances() ** 2))

    @property
    def absolute_error(self) -> float:
        """The mean absolute error of a value's count, from which the mean number of dummies is subtracted."""
        return float(np.exp(self.log_mass) @ np.abs(self._distances()))

    def _distances(self) -> Floats:
        """By how much each listed number is larger than the mean, (m,)."""
        return self.first - self.mean + np.arange(self.log_mass.size)


def expected_tv(law: Law, *, n: int, k: int) -> float:
    """Expected total variation error of the shares of k values of n users, before projection.

    Only the dummies' numbers are random: half the sum of the mean absolute errors of the k counts, over n.
    """
    k = check_whole("k", k, 2)
    sum_of_errors = k * law.absolute_error
    return sum_of_errors / (2 * check_whole("n", n, 1))


def poisson(mean: float) -> Law:
    """A Poisson number. The sum of independent ones is one, so devices can add it together."""
    limits = f"above 0 and at most {LARGEST_MEAN:g}"
    check_number("mean", mean, limits, lambda x: 0 < x <= LARGEST_MEAN)
    first, last = _range_of_numbers(mean, mean)
    z = np.arange(first - 1, last + 1, dtype=float)
    with np.errstate(divide="ignore"):
        steps = np.log((z + 1) / mean)
    return _law_of_steps(f"poisson:{mean!r}", first, steps, is_cut=True)


def binomial(devices: int, probability: float) -> Law:
    """The number of devices that add one, each with this probability."""
    devices = check_whole("devices", devices, 1)
    check_number("probability", probability, "between 0 and 1, both excluded", lambda x: 0 < x < 1)
    mean = devices * probability
    limit = f"at most {LARGEST_MEAN:g}"
    check_number("devices * probability", mean, limit, lambda x: x <= LARGEST_MEAN)

    first, last = _range_of_numbers(mean, mean * (1 - probability))
    last = min(last, devices)
    z = np.arange(first - 1, last + 1, dtype=float)
    with np.errstate(divide="ignore"):
        steps = np.log((z + 1) / (devices - z)) + math.log1p(-probability) - math.log(probability)
    name = f"binomial:{devices}:{probability!r}"
    return _law_of_steps(name, first, steps, is_cut=first > 0 or last < devices)


def cut_power(mean: float, power: float, deviation: float) -> Law:
    """P(z) in proportion to exp(-|z - mean|^power / s), s = power * deviation^power, for z = 0, ..., 2 mean.

    2 ``mean`` has to be a whole number. For the ``power`` 2 the law is a discrete Gaussian with this
    ``deviation``, cut, and for 1 the `geometric` law with the ratio e^(-1 / deviation). Devices cannot add
    such a number together, so only the shuffler can.
    """
    check_number("power", power, "from 1 to 10", lambda x: 1 <= x <= 10)
    checked_mean = check_number("mean", mean, "above 0", lambda x: x > 0)
    largest = check_whole("2 * mean", 2 * checked_mean, 1, MOST_NUMBERS)
    limits = f"finite and >= {_LEAST_DEVIATION:g}"
    check_number("deviation", deviation, limits, lambda x: _LEAST_DEVIATION <= x < math.inf)

    # -ln P(z), but for a constant, and its steps from each z to the next; P is 0 beside the range.
    distances = np.abs(np.arange(largest + 1) - largest / 2)
    exponents = (distances / deviation) ** power / power
    steps = np.concatenate([[-np.inf], np.diff(exponents), [np.inf]])
    name = f"power:{mean!r}:{power!r}:{deviation!r}"
    return Law(name, first=0, log_mass=_ln_normalised(-exponents), steps=steps)


def geometric(mean: float, ratio: float) -> Law:
    """A two-sided geometric number, cut to 0, 1, ..., 2 mean: each step from the mean costs ``ratio`` < 1."""
    check_number("ratio", ratio, "between 0 and 1, both excluded", lambda x: 0 < x < 1)
    return cut_power(mean, 1.0, -1 / math.log(ratio))


def fixed(number: int) -> Law:
    """Always the same number. It hides nothing: everybody can subtract it."""
    number = check_whole("number", number, 0)
    return Law(f"fixed:{number}", number, np.zeros(1), np.array([-np.inf, np.inf]))


def read_law(path: str) -> Law:
    """The law in a CSV file without a header: in each row a number of dummies and its probability.

    Numbers that are not listed have the probability 0. A ValueError is one line that names the file, the row
    (if the fault is in one row) and the fault.
    """
    path = check_path("path", path)
    masses = _read_masses(path)
    total = math.fsum(masses.values())
    if not abs(total - 1) <= _SUM:
        raise ValueError(f"{path}: the probabilities must sum to 1; they sum to {total:.12g}")

    numbers = sorted(number for number, probability in masses.items() if probability > 0)
    first = numbers[0]
    probabilities = np.zeros(numbers[-1] - first + 1)
    for number in numbers:
        probabilities[number - first] = masses[number] / total
    with np.errstate(divide="ignore", invalid="ignore"):
        log_mass = np.log(probabilities)
        steps = -np.diff(np.concatenate([[-np.inf], log_mass, [-np.inf]]))  # nan between two gaps
    return Law(f"file:{path}", first, log_mass, steps)


def _read_masses(path: str) -> dict[int, float]:
    """The probability of each number in the file."""
    masses: dict[int, float] = {}
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            for row, fields in enumerate(csv.reader(file), 1):
                number, probability = _read_row(fields, f"{path}: row {row}")
                if number in masses:
                    raise ValueError(f"{path}: row {row}: the number {number} is given twice")
                masses[number] = probability
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"{path}: not a readable CSV file") from None
    return masses


def parse_law(text: str) -> Law:
    """The law that a text such as ``geometric:27:0.608`` names. ValueError names what is wrong."""
    if not isinstance(text, str):
        raise ValueError(f"law must be {LAWS}; got {reprlib.repr(text)}")
    name, *parameters = text.split(":")
    if name == "file" and parameters:
        return read_law(":".join(parameters))
    makers: dict[str, tuple[Callable[..., Law], int]] = {
        "poisson": (poisson, 1),
        "binomial": (binomial, 2),
        "geometric": (geometric, 2),
        "gaussian": (lambda mean, deviation: cut_power(mean, 2.0, deviation), 2),
        "power": (cut_power, 3),
        "fixed": (fixed, 1),
    }
    try:
        maker, count = makers[name]
        numbers = [float(parameter) for parameter in parameters]
        if len(numbers) != count:
            raise ValueError
    except (KeyError, ValueError):
        raise ValueError(f"law must be {LAWS}; got {text[:80]!r}") from None
    try:
        return maker(*numbers)
    except ValueError as error:
        raise ValueError(f"law {text[:80]!r}: {error}") from None


def _range_of_numbers(mean: float, variance: float) -> tuple[int, int]:
    """Two numbers between which a Poisson or binomial number lies with probability 1 - 2 e^-_DEEP or more.

    By Bernstein's bound.
    """
    reach = _DEEP / 3 + math.hypot(_DEEP / 3, math.sqrt(2 * variance * _DEEP))
    return max(0, math.floor(mean - reach)), math.ceil(mean + reach)


def _law_of_steps(name: str, first: int, steps: Floats, is_cut: bool) -> Law:
    """The law with these steps, which grow. They are summed from the likeliest number on: small errors."""
    likeliest = int(np.count_nonzero(steps[1:-1] < 0))
    ln_above = -np.cumsum(steps[likeliest + 1 : -1])
    ln_below = np.cumsum(steps[likeliest:0:-1])[::-1]
    log_mass = _ln_normalised(np.concatenate([ln_below, [0.0], ln_above]))
    log_outside = math.log(2) - _DEEP if is_cut else -math.inf
    return Law(name, first, log_mass, steps, log_outside)


def _ln_normalised(ln_weights: Floats) -> Floats:
    """Natural logs of the probabilities in proportion to these weights."""
    shifted = ln_weights - ln_weights.max()
    return np.asarray(shifted - math.log(np.exp(shifted).sum()))


def _read_row(fields: list[str], location: str) -> tuple[int, float]:
    """The number and the probability of a row. ``location`` is the file and the row, for the error."""
    try:
        number, probability = int(fields[0]), float(fields[1])
        if len(fields) != 2 or not 0 <= number <= MOST_NUMBERS or not 0 <= probability <= 1:
            raise ValueError
    except (ValueError, IndexError):
        expected = f"a whole number from 0 to {MOST_NUMBERS} and a probability, separated by a comma"
        row = ",".join(fields)[:80]
        raise ValueError(f"{location}: expected {expected}; got {row!r}") from None
    return number, probability

"""How many dummies of a value are added: the laws of that number.

Only the shuffler can add a number with a cut law. Poisson and binomial numbers can also come from users'
devices, each of which adds a share. `noise` can be negative: it is for aggregators, who add it to sums.
"""

import csv
import math
import reprlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy

from tightshuffle.arguments import (
    Floats,
    Integers,
    check_number,
    check_path,
    check_regular_file,
    check_whole,
)

LAWS = "poisson:MEAN, binomial:DEVICES:PROBABILITY, geometric:MEAN:RATIO, gaussian:MEAN:DEVIATION, "
LAWS += "power:MEAN:POWER:DEVIATION, noise:POWER:DEVIATION, fixed:NUMBER, file:PATH, or PARTIES*LAW for a sum"
MOST_PARTIES = 100
_DEPTH = 700.0  # numbers that are rarer than e^-700, about the smallest float, are not listed
# Sums rarer than e^-650 are not listed: they lack the numbers that are too rare to be listed in one law.
_DEPTH_OF_SUM = 650.0
MOST_NUMBERS_OF_SUM = 10**5  # their convolution takes a second
LARGEST_MEAN = 1e9
MOST_NUMBERS = 10**7  # numbers that one law can take
_MOST_BYTES = 500_000_000  # of a file: `MOST_NUMBERS` rows take less
_LEAST_DEVIATION = 1e-3  # a smaller one hides nothing: no other number is as likely as e^-1000
# A file's probabilities are rounded decimals: their sum may miss 1 by this.
_SUM_TOLERANCE = 1e-9
_ULP = 2.0**-52


@dataclass(frozen=True, eq=False)
class Law:
    """The law of a number of dummies.

    ``name`` is the text that `parse_law` makes it from, and ``first`` the smallest number that is listed.
    ``log_mass`` (m,) are natural logs of the probabilities of first, first + 1, ... ``steps`` (m + 1,) are
    ln P(z) - ln P(z + 1) from z = first - 1 on, -inf or inf where one of the two is 0. They are kept because
    differences of ``log_mass`` would cancel. ``log_outside`` is the natural log of an upper bound on the
    probability of all numbers that are not listed. ``error`` is by how much rounding may change a step, or
    the log of a probability, beyond what every law's rounding does. ``outside`` is what the numbers that are
    not listed add to the mean distance from the mean, and to that of its square.
    """

    name: str
    first: int
    log_mass: Floats
    steps: Floats
    log_outside: float = -math.inf
    error: float = 0.0
    outside: tuple[float, float] = (0.0, 0.0)

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
        return math.sqrt(float(np.exp(self.log_mass) @ self.distances() ** 2) + self.outside[1])

    @property
    def absolute_error(self) -> float:
        """The mean absolute error of a value's count, from which the mean number of dummies is subtracted."""
        return float(np.exp(self.log_mass) @ np.abs(self.distances())) + self.outside[0]

    def distances(self) -> Floats:
        """By how much each listed number is larger than the mean, (m,)."""
        return self.first - self.mean + np.arange(self.log_mass.size)


def check_law(law: object) -> Law:
    """``law``, unchanged. ValueError unless it is a `Law`."""
    if not isinstance(law, Law):
        raise ValueError(f"law must be a Law, such as poisson(50.0); got {reprlib.repr(law)}")
    return law


def expected_tv(law: Law, *, n: int, k: int, parties: int = 1) -> float:
    """Expected total variation error of the shares of k values of n users, before projection.

    Only the dummies' numbers are random, of which each party adds one with this law to every count: half the
    sum of the mean absolute errors of the k counts, over n.
    """
    k = check_whole("k", k, 2)
    sum_of_errors = k * error_of_parties(law, parties)
    return sum_of_errors / (2 * check_whole("n", n, 1))


def error_of_parties(law: Law, parties: int) -> float:
    """The mean absolute error of a count to which each of the ``parties`` adds a number with this law.

    The result is in users. The expected sum is subtracted from the count. The distribution of the sum has the
    Fourier transform of the law, to the power ``parties``. Of several parties, numbers that the law does not
    list are left out.
    """
    check_law(law)
    if check_whole("parties", parties, 1, MOST_PARTIES) == 1:
        return law.absolute_error
    size = parties * (law.log_mass.size - 1) + 1
    length = scipy.fft.next_fast_len(size, real=True)
    transform = scipy.fft.rfft(np.exp(law.log_mass), length)
    masses = scipy.fft.irfft(transform**parties, length)[:size]
    numbers = parties * law.first + np.arange(size)
    return float(masses @ np.abs(numbers - parties * law.mean))


def sum_of_parties(law: Law, parties: int) -> Law:
    """The law of the sum of the numbers that so many parties add, each with this ``law``, independently.

    One law after the other is convolved, as Fourier transforms would lose the rare sums. The probability of a
    sum adds up positive terms, which do not cancel. So its relative error, the ``error`` of the result, is at
    most ``parties`` times that of the law's probabilities and an ulp per term. ValueError where the sum can
    take more than 100,000 numbers.
    """
    check_law(law)
    if check_whole("parties", parties, 1, MOST_PARTIES) == 1:
        return law
    size = parties * (law.log_mass.size - 1) + 1
    if size > MOST_NUMBERS_OF_SUM:
        limit = f"at most {MOST_NUMBERS_OF_SUM} numbers"
        raise ValueError(
            f"the sum of {parties} parties must take {limit}; got {size}, for {law.name}"
        )

    # Probabilities times e^middle are in the middle of a float's range: numbers near its lower end are slow.
    middle = _DEPTH / 2
    masses_of_one = np.exp(law.log_mass + middle)
    masses = masses_of_one
    for _ in range(parties - 1):
        masses = np.convolve(masses, masses_of_one) * math.exp(-middle)
    if law.symmetric:
        masses = (masses + masses[::-1]) / 2

    # The steps are taken before rare numbers are left out: the first and the last step lead to such numbers,
    # whose probability may be above 0.
    with np.errstate(divide="ignore"):
        log_mass = np.log(masses) - middle
    steps = _steps_of_ln_mass(log_mass)
    listed = np.flatnonzero(log_mass >= -_DEPTH_OF_SUM)
    first, last = int(listed[0]), int(listed[-1])
    # At most ``size`` numbers are left out, each with at most e^-650.
    ln_rare = math.log(size) - _DEPTH_OF_SUM if listed.size < size else -math.inf
    return Law(
        f"{parties}*{law.name}",
        parties * law.first + first,
        log_mass[first : last + 1],
        steps[first : last + 2],
        log_outside=float(np.logaddexp(ln_rare, math.log(parties) + law.log_outside)),
        # Units in the last place of terms and of the law, whose logs are up to 700, with something to spare.
        error=4 * _DEPTH * _ULP * (size + 8 * parties),
    )


def poisson(mean: float) -> Law:
    """The law of a Poisson number with this ``mean``.

    The sum of independent Poisson numbers is a Poisson number, so devices can add it together.
    """
    limits = f"above 0 and at most {LARGEST_MEAN:g}"
    mean = check_number("mean", mean, limits, lambda x: 0 < x <= LARGEST_MEAN)
    # The steps are ln P(z) - ln P(z + 1) from z = first - 1 on.
    first, last = _likely_range(mean, variance=mean)
    z = np.arange(first - 1, last + 1, dtype=float)
    with np.errstate(divide="ignore"):
        steps = np.log((z + 1) / mean)
    return _law_from_steps(f"poisson:{mean!r}", first, steps, is_cut=True)


def binomial(devices: int, probability: float) -> Law:
    """The law of how many of the devices add a dummy, if each does with this probability: binomial."""
    devices = check_whole("devices", devices, 1)
    probability = check_number(
        "probability", probability, "between 0 and 1, both excluded", lambda x: 0 < x < 1
    )
    mean = devices * probability
    limit = f"at most {LARGEST_MEAN:g}"
    check_number("devices * probability", mean, limit, lambda x: x <= LARGEST_MEAN)

    # The steps are ln P(z) - ln P(z + 1) from z = first - 1 on.
    first, last = _likely_range(mean, variance=mean * (1 - probability))
    last = min(last, devices)
    z = np.arange(first - 1, last + 1, dtype=float)
    with np.errstate(divide="ignore"):
        steps = np.log((z + 1) / (devices - z)) + math.log1p(-probability) - math.log(probability)
    name = f"binomial:{devices}:{probability!r}"
    return _law_from_steps(name, first, steps, is_cut=first > 0 or last < devices)


def cut_power(mean: float, power: float, deviation: float) -> Law:
    """The law with P(z) in proportion to exp(-|z - mean|^power / s), for z = 0, ..., 2 mean.

    Here s = power * deviation^power. 2 ``mean`` has to be a whole number. For the ``power`` 2 the law is a
    discrete Gaussian with this ``deviation``, cut, and for 1 the `geometric` law with the ratio e^(-1 /
    deviation). Devices cannot add such a number together, so only the shuffler can.
    """
    mean = check_number("mean", mean, "above 0", lambda x: x > 0)
    largest = check_whole("2 * mean", 2 * mean, 1, MOST_NUMBERS)
    power, deviation = _check_power_law(power, deviation)

    # ln P is minus the exponent, but for a constant. P is 0 beside the range, so that the first step, from
    # z = -1, is -inf, and the last is inf.
    exponents = _power_law_exponents(np.arange(largest + 1) - largest / 2, power, deviation)
    steps = np.concatenate([[-np.inf], np.diff(exponents), [np.inf]])
    text = repr(mean).removesuffix(".0")
    name = f"power:{text}:{power!r}:{deviation!r}"
    return Law(name, first=0, log_mass=_normalised_ln_mass(-exponents), steps=steps)


def noise(power: float, deviation: float, reach: int | None = None) -> Law:
    """The law with P(z) in proportion to exp(-|z|^power / s), s = power * deviation^power, for all whole z.

    Aggregators can add it to sums, but nobody can send a negative number of dummies. The numbers from
    -``reach`` >= 1 to ``reach`` are listed, by default those down to a probability of about e^-700. What lies
    beyond has at most the probability e^``log_outside``.
    """
    power, deviation = _check_power_law(power, deviation)
    if reach is None:
        deviations_of_reach = (power * _DEPTH) ** (1 / power)  # where |z|^power / s is 700
        largest = MOST_NUMBERS / 2 / deviations_of_reach
        check_number("deviation", deviation, f"at most {largest:.6g}", lambda x: x <= largest)
        reach = math.ceil(deviation * deviations_of_reach)
    else:
        reach = check_whole("reach", reach, 1, MOST_NUMBERS // 2)

    # One number more on each side, for the first and the last step ln P(z) - ln P(z + 1).
    exponents = _power_law_exponents(np.arange(-reach - 1, reach + 2), power, deviation)
    steps = np.diff(exponents)
    # The numbers beyond the reach count, too, down to e^-40 of the likeliest of them.
    farthest = deviation * (power * (float(exponents[-1]) + 40)) ** (1 / power)
    if farthest > 4 * MOST_NUMBERS:
        raise ValueError(f"deviation must be smaller for this reach; got {deviation:g}")
    beyond = np.arange(reach + 1, math.ceil(farthest) + 1)
    exponents_beyond = _power_law_exponents(beyond, power, deviation)
    weight_beyond = 2 * float(np.exp(-exponents_beyond).sum())
    log_mass = _normalised_ln_mass(-exponents[1:-1], weight_beyond)
    mass_beyond = 2 * np.exp(log_mass[reach] - exponents_beyond)
    outside = (float(mass_beyond @ beyond), float(mass_beyond @ beyond.astype(float) ** 2))
    # Beyond the reach, ln P falls at each step by at least as much as at the last one listed. So the sums of
    # P(z) on both sides are at most geometric series: 2 P(reach) e^-step / (1 - e^-step).
    step = float(steps[-1])
    log_outside = math.log(2) + float(log_mass[-1]) - step - math.log(-math.expm1(-step))
    name = f"noise:{power!r}:{deviation!r}"
    return Law(name, -reach, log_mass, steps, log_outside, outside=outside)


def _check_power_law(power: float, deviation: float) -> tuple[float, float]:
    """Both parameters of a power law as floats. ValueError names a bad one."""
    limits = f"finite and >= {_LEAST_DEVIATION:g}"
    return (
        check_number("power", power, "from 1 to 10", lambda x: 1 <= x <= 10),
        check_number("deviation", deviation, limits, lambda x: _LEAST_DEVIATION <= x < math.inf),
    )


def _power_law_exponents(z: Floats | Integers, power: float, deviation: float) -> Floats:
    """The exponents |z|^power / (power * deviation^power) of the power law around 0, one for each ``z``.

    P(z) is in proportion to e^-exponent.
    """
    return np.asarray((np.abs(z) / deviation) ** power / power)


def geometric(mean: float, ratio: float) -> Law:
    """The law of a two-sided geometric number, cut to z = 0, 1, ..., 2 mean.

    P(z) is in proportion to ratio^|z - mean|, with ``ratio`` between 0 and 1.
    """
    ratio = check_number("ratio", ratio, "between 0 and 1, both excluded", lambda x: 0 < x < 1)
    return cut_power(mean, 1.0, -1 / math.log(ratio))


def fixed(number: int) -> Law:
    """The law of a number that is always the same. It hides nothing: everybody can subtract it."""
    number = check_whole("number", number, 0)
    return Law(f"fixed:{number}", number, np.zeros(1), np.array([-np.inf, np.inf]))


def read_law(path: str) -> Law:
    """The law in a CSV file without a header: in each row a number of dummies and its probability.

    Numbers that are not listed have the probability 0. A ValueError is one line that names the file, the row
    (if the fault is in one row) and the fault.
    """
    path = check_path("path", path)
    masses = _probability_by_number(path)
    total = math.fsum(masses.values())
    if not abs(total - 1) <= _SUM_TOLERANCE:
        raise ValueError(f"{path}: the probabilities must sum to 1; they sum to {total:.12g}")

    # The probabilities of all numbers from the first to the last: 0 for those between them that the file
    # does not list.
    numbers = sorted(number for number, probability in masses.items() if probability > 0)
    first = numbers[0]
    probabilities = np.zeros(numbers[-1] - first + 1)
    for number in numbers:
        probabilities[number - first] = masses[number] / total
    with np.errstate(divide="ignore"):
        log_mass = np.log(probabilities)
    return Law(f"file:{path}", first, log_mass, _steps_of_ln_mass(log_mass))


def _steps_of_ln_mass(log_mass: Floats) -> Floats:
    """The steps ln P(z) - ln P(z + 1), (m + 1,), of a law with the natural logs ``log_mass`` (m,) of P.

    Numbers before the first and after the last have the probability 0. The step between two numbers with the
    probability 0 is nan.
    """
    with np.errstate(invalid="ignore"):
        return -np.diff(np.concatenate([[-np.inf], log_mass, [-np.inf]]))


def _probability_by_number(path: str) -> dict[int, float]:
    """The probability of each number of dummies in a CSV file of such pairs. Errors as for `read_law`."""
    masses: dict[int, float] = {}
    try:
        check_regular_file(path, _MOST_BYTES)
        with open(path, encoding="utf-8-sig", newline="") as file:
            for row, fields in enumerate(csv.reader(file), 1):
                number, probability = _number_and_probability(fields, f"{path}: row {row}")
                if number in masses:
                    raise ValueError(f"{path}: row {row}: the number {number} is given twice")
                masses[number] = probability
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"{path}: not a readable CSV file") from None
    return masses


def parse_law(text: str) -> Law:
    """The law that a text such as ``geometric:27:0.608`` names. ValueError names what is wrong.

    ``2*geometric:27:0.608`` is the sum of the numbers of two parties, each with this law.
    """
    if not isinstance(text, str):
        raise ValueError(f"law must be {LAWS}; got {reprlib.repr(text)}")
    parties, star, text_of_one = text.partition("*")
    if not (star and parties.isdecimal()):
        return _parse_law_of_one(text)
    law = _parse_law_of_one(text_of_one)
    try:
        return sum_of_parties(law, int(parties))
    except ValueError as error:
        raise ValueError(f"law {text[:80]!r}: {error}") from None


def _parse_law_of_one(text: str) -> Law:
    """The law of one party that a text such as ``geometric:27:0.608`` names. Errors as for `parse_law`."""
    name, *parameters = text.split(":")
    if name == "file" and parameters:
        return read_law(":".join(parameters))
    # By name, the function that makes the law, and how many parameters it takes.
    makers: dict[str, tuple[Callable[..., Law], int]] = {
        "poisson": (poisson, 1),
        "binomial": (binomial, 2),
        "geometric": (geometric, 2),
        "gaussian": (lambda mean, deviation: cut_power(mean, 2.0, deviation), 2),
        "power": (cut_power, 3),
        "noise": (noise, 2),
        "fixed": (fixed, 1),
    }
    # An unknown name, a parameter that is no number and a wrong count of parameters have the same error.
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


def _likely_range(mean: float, variance: float) -> tuple[int, int]:
    """Two numbers between which a Poisson or binomial number lies with probability 1 - 2 e^-700 or more.

    By Bernstein's inequality, a deviation of x from the mean or more, on one side, has at most the
    probability exp(-x^2 / (2 (variance + x / 3))). The returned numbers are at the x where that is e^-700.
    """
    reach = _DEPTH / 3 + math.hypot(_DEPTH / 3, math.sqrt(2 * variance * _DEPTH))
    return max(0, math.floor(mean - reach)), math.ceil(mean + reach)


def _law_from_steps(name: str, first: int, steps: Floats, is_cut: bool) -> Law:
    """The law with these ``steps`` ln P(z) - ln P(z + 1), from z = first - 1 on, which grow with z.

    The logs of the probabilities are sums of steps. These begin at the likeliest number, so that errors are
    small. Of a law that ``is_cut``, numbers that are not listed have a probability of up to 2 e^-700.
    """
    # The first and the last step lead to numbers that are not listed. P grows while steps are negative.
    likeliest = int(np.count_nonzero(steps[1:-1] < 0))
    ln_above = -np.cumsum(steps[likeliest + 1 : -1])
    ln_below = np.cumsum(steps[likeliest:0:-1])[::-1]
    log_mass = _normalised_ln_mass(np.concatenate([ln_below, [0.0], ln_above]))
    log_outside = math.log(2) - _DEPTH if is_cut else -math.inf
    return Law(name, first, log_mass, steps, log_outside)


def _normalised_ln_mass(ln_weights: Floats, others: float = 0.0) -> Floats:
    """Natural logs of the probabilities that are in proportion to the weights with these natural logs.

    ``others`` is the weight of all other numbers together, over the largest weight.
    """
    shifted = ln_weights - ln_weights.max()
    return np.asarray(shifted - math.log(np.exp(shifted).sum() + others))


def _number_and_probability(fields: list[str], location: str) -> tuple[int, float]:
    """The number of dummies and its probability, from the ``fields`` of one row of a CSV file.

    ``location`` names the file and the row, for the ValueError about a bad row.
    """
    # Too few fields, too many, no numbers and numbers out of range have the same error.
    try:
        number, probability = int(fields[0]), float(fields[1])
        if len(fields) != 2 or not 0 <= number <= MOST_NUMBERS or not 0 <= probability <= 1:
            raise ValueError
    except (ValueError, IndexError):
        expected = (
            f"a whole number from 0 to {MOST_NUMBERS} and a probability, separated by a comma"
        )
        row = ",".join(fields)[:80]
        raise ValueError(f"{location}: expected {expected}; got {row!r}") from None
    return number, probability

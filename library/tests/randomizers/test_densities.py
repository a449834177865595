"""The bins of densities against mpmath, and what is refused."""

import itertools
import math

import mpmath
import numpy as np
import pytest

from tests.cli.calls import json_answer, refusal, text_answer
from tightshuffle import delta
from tightshuffle.randomizers import Gaussian, Laplace, PiecewiseLinear, parse
from tightshuffle.randomizers.density import ULP, _normal_masses

TENT = PiecewiseLinear([0, 0.3, 2.05], [0.6, 0.4, 0])


def exact_masses(density, y, x):
    """The probability of the reports from ``y[1]`` to ``y[0]`` for the input ``x``, in mpmath's digits."""
    high, low = (mpmath.mpf(end) - x for end in y)
    if isinstance(density, Laplace):
        scale = mpmath.mpf(density.scale)
        below = [
            mpmath.exp(z / scale) / 2 if z <= 0 else 1 - mpmath.exp(-z / scale) / 2
            for z in (low, high)
        ]
        return below[1] - below[0]
    return mpmath.ncdf(high / mpmath.mpf(density.sigma)) - mpmath.ncdf(
        low / mpmath.mpf(density.sigma)
    )


@pytest.mark.parametrize(
    "density",
    [Laplace(0.02), Laplace(1), Laplace(1000), Gaussian(0.3), Gaussian(1), Gaussian(1000)],
)
@mpmath.workdps(60)
def test_masses_and_losses_are_within_their_errors(density):
    """The ends follow from the losses: y = (1 - loss * scale) / 2, or with 2 sigma^2; some bins of each."""
    bins = density.bins
    unit = density.scale if isinstance(density, Laplace) else 2 * density.sigma**2
    if isinstance(density, Laplace):
        # The last bin has all y < 0; the ends of the others are these floats.
        ends = np.linspace(0.5, 0.0, len(bins.low))
        assert float(bins.of_0[-1]) == 0.5
    else:
        ends = None
    for number in range(0, len(bins.low) - 2, 7):
        low, high = bins.low[number], bins.high[number]
        if ends is None:
            y = [(1 - mpmath.mpf(loss) * unit) / 2 for loss in (low, high)]
            # A loss is rounded, which moves an end by so much of its distance to 1/2.
            allowance = mpmath.mpf(2) ** -48 * (1 + abs(y[1])) / (y[0] - y[1])
        else:
            y = [mpmath.mpf(float(end)) for end in ends[number : number + 2]]
            allowance = 0
            assert abs(mpmath.mpf(high) * density.scale - (1 - 2 * y[1])) < 1e-15
        for x, masses, errors in (
            (0, bins.of_0, bins.error_of_0),
            (1, bins.of_1, bins.error_of_1),
        ):
            exact = exact_masses(density, y, x)
            slope = 1 + abs(y[1] - x) / unit * 40 * (y[0] - y[1])
            assert abs(float(masses[number]) / exact - 1) <= errors[number] + allowance * slope


@pytest.mark.parametrize("scale", [0.02, 1, 30])
def test_no_gain_and_no_probability_is_on_the_wrong_side_of_the_exact_one(scale):
    """Of the losses at the ends of bins. The ends y of Laplace reports are floats, which count as exact.

    Rounding is allowed for: without that about half of all numbers would be on the wrong side.
    """
    density = Laplace(scale)
    bins = density.bins
    y = [mpmath.mpf(float(end)) for end in np.linspace(0.5, 0.0, len(bins.low))]
    likelihood_ratios = [mpmath.exp((1 - 2 * end) / mpmath.mpf(scale)) for end in y]

    # Each bin moves its probability for the input 1 to both ends, so that it keeps that for the input 0.
    exact = [mpmath.mpf(0) for _ in y]
    for number, (low, high) in enumerate(itertools.pairwise(likelihood_ratios)):
        of_0, of_1 = (exact_masses(density, y[number : number + 2], x) for x in (0, 1))
        at_high = (of_0 - of_1 * low) / (high - low)
        exact[number] += of_1 - at_high
        exact[number + 1] += at_high
    exact[-1] += mpmath.exp(-1 / mpmath.mpf(scale)) / 2  # all reports below 0 have the largest loss

    _, least, most, identifies = bins._ends
    assert identifies == 0
    for low, probability, high in zip(least, exact, most, strict=True):
        assert low <= probability <= high

    for eps in (0.0, 0.3 / scale, 0.9 / scale * (1 + 1e-6)):  # the last two are next to losses
        values = bins.upper(eps).values
        values += 16 * ULP * np.abs(values)  # the units that `bounds.densities` adds to every value
        e_eps = mpmath.exp(mpmath.mpf(eps))
        gains = [ratio - e_eps for ratio in likelihood_ratios]
        gains += [1 - e_eps * ratio for ratio in likelihood_ratios]  # of mirror images
        for value, gain in zip(values, gains, strict=True):
            assert 0 <= value - gain <= 1e-10 * (abs(gain) + e_eps)


@mpmath.workdps(40)
def test_normal_masses_are_within_their_errors():
    """Of the ends, which count as exact here: 400 intervals down to 36 deviations."""
    z = -np.concatenate([np.linspace(0, 9, 300), np.geomspace(9.1, 36, 100)])
    masses, errors = _normal_masses(z)
    below = [mpmath.ncdf(mpmath.mpf(float(end))) for end in z] + [mpmath.mpf(0)]
    for number in range(len(z)):
        exact = below[number] - below[number + 1]
        assert abs(float(masses[number]) / exact - 1) <= errors[number] / 2


def test_a_density_of_points_has_the_probabilities_of_its_trapezoids():
    """By a sum of cells that know nothing of the bins; a bin's losses are those of its reports."""
    bins = TENT.bins
    assert bins.of_0.sum() + bins.of_1.sum() == pytest.approx(1, rel=1e-12)
    y = (np.arange(-205_000, 50_000) + 0.5) / 100_000

    def f(z):
        return np.interp(np.abs(z), TENT.distances, TENT.densities, right=0.0)

    assert bins.of_0.sum() == pytest.approx(f(y).sum() / 100_000, rel=1e-9)
    assert bins.of_1.sum() == pytest.approx(f(1 - y).sum() / 100_000, rel=1e-9)
    finite = np.isfinite(bins.high)
    ratio = np.log(bins.of_0[finite] / bins.of_1[finite])
    assert np.all((bins.low[finite] - 1e-12 <= ratio) & (ratio <= bins.high[finite] + 1e-12))
    # Of the inputs 0 and 1, only 0 can cause the reports below -1.05.
    assert bins.of_0[bins.of_1 == 0].sum() == pytest.approx(
        f(y[y < -1.05]).sum() / 100_000, rel=1e-9
    )


def test_the_blankets_mass_and_eps0():
    assert Laplace(1).gamma == pytest.approx(math.exp(-0.5), rel=1e-9)
    assert Gaussian(1).gamma == pytest.approx(float(2 * mpmath.ncdf(-0.5)), rel=1e-9)
    assert (Laplace(1).eps0, Gaussian(1).eps0, TENT.eps0) == (1, math.inf, math.inf)
    assert Laplace(3).eps0 >= mpmath.mpf(1) / 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("laplace:0", "scale must be finite and > 0; got 0.0"),
        ("laplace:0.01", "scale must be from 0.02 to 1000; got 0.01"),
        ("laplace:x", "scale must be a number; got 'x'"),
        ("gaussian:-1", "sigma must be finite and > 0; got -1.0"),
        ("gaussian:nan", "sigma must be finite and > 0; got nan"),
        ("gaussian:1e4", "sigma must be from 0.3 to 1000; got 10000"),
        ("gaussian", "sigma must be a number; got ''"),
        (
            "cauchy:1",
            "randomizer must be density:laplace:SCALE, density:gaussian:SIGMA or density:file",
        ),
        ("file:/no.csv", "/no.csv: No such file or directory"),
        ("file:", "path must be the name of a file; got ''"),
    ],
)
def test_a_bad_density_is_named_in_one_line(name, message):
    assert refusal(f"delta upper --n 9 --eps 0.1 --randomizer density:{name}").startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1\n1,x\n", "row 2: expected a number; got 'x'"),
        ("0,1,2\n1,0,2\n", "expected two columns, a distance and the density there"),
        ("", "expected two columns, a distance and the density there"),
        ("0,0.5\n", "expected 2 to 1000 rows"),
        ("-1,0\n0,1\n1,0\n", "row 1: the first distance must be 0; got -1, 0"),
        ("0,1\n0.5,0\n0.5,0\n", "row 3: distances must rise"),
        ("0,1\n1e4,0\n", "row 2: distances must be at most 1000"),
        ("0,1\n1,-1\n", "row 2: densities must be >= 0; got 1, -1"),
        ("0,0.2\n1,0.4\n2,0\n", "row 2: densities must not rise with the distance; got 1, 0.4"),
        ("0,1\n2,0\n", "the density must have the integral 1 over both sides; it has 2"),
        ("0,1\n1,inf\n", "densities must be finite"),
    ],
)
def test_a_bad_file_of_a_density_is_named_with_its_row(tmp_path, text, message):
    path = tmp_path / "own.csv"
    path.write_text(text)
    refused = refusal("delta upper --n 9 --eps 0.1 --randomizer", f"density:file:{path}")
    assert refused.startswith(f"{path}: {message}")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("delta upper --n 9 --eps 0.1 --k 4", "leave out k = 4"),
        ("delta upper --n 9 --eps 0.1 --eps0 1", "leave out eps0 = 1"),
        (
            "delta upper --n 9 --eps 0.1 --participation 0.5",
            "randomizer must be a name, and no file or",
        ),
        ("delta upper --n 9 --eps 0.1 --release sums", "randomizer must be rappor, oue or"),
        ("delta single-value --n 9 --eps 0.1", "randomizer must be no density for single-value"),
        ("delta clones --n 9 --eps 0.1", "randomizer must be grr for clones"),
        (
            "plan --n 9 --k 4 --eps 0.1 --delta 1e-6",
            "randomizer must be a name; a plan cannot change",
        ),
    ],
)
def test_what_takes_no_density(call, message):
    assert refusal(f"{call} --randomizer density:laplace:1").startswith(message)


def test_the_answer_names_the_inputs_for_which_the_guarantee_is(tmp_path):
    found = json_answer("delta upper --n 1000 --eps 0.01 --randomizer density:laplace:10")
    assert (found["inputs"], found["eps0"], "k" in found) == ("[0, 1]", 0.1, False)
    assert found["log10_delta"] == delta(0.01, n=1000, randomizer=Laplace(10), log10=True)
    assert "inputs = [0, 1]" in text_answer(
        "epsilon upper,lower --n 1000 --delta 1e-3 --randomizer density:gaussian:2"
    )
    path = tmp_path / "own.csv"
    path.write_text("0,0.6\n0.3,0.4\n2.05,0\n")
    own = json_answer("delta upper --n 1000 --eps 0.5 --randomizer", f"density:file:{path}")
    assert own["randomizer"] == "density:file"
    assert "eps0" not in own


def test_a_name_and_an_object_are_the_same():
    assert parse("density:laplace:0.5") == Laplace(0.5)
    assert parse("density:gaussian:2").name == "density:gaussian:2"
    with pytest.raises(ValueError, match="has no values whose shares"):
        Laplace(1).variance([0.5, 0.5], 10)
    with pytest.raises(ValueError, match=r"^pair must be"):
        Laplace(1).gains(0.1, "blanket", (0, 2))
    with pytest.raises(ValueError, match=r"^eps must be at most 350"):
        Gaussian(1).gains(400.0)

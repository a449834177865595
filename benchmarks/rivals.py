"""Other ways of bounding shuffled k-RR, beside `upper` and `lower`; and what the engine itself takes.

Each function measures one n and gives one line of a table; nan means "not run".

* The *variation-ratio* reduction (Wang et al., arXiv 2304.05007) looks at two counts: each of the n - 1
  remaining users reports x0 or x1 with probability 2 q, half of the time either. For k >= 4 it can be below
  the delta of a dataset, so it is not always an upper bound (docs/letters/variation_ratio.md).
* *FFT of the blanket*: the distribution of G_1 + ... + G_n on a grid, as other accountants compute it. Each
  value is split between its two neighbours on the grid, which keeps the mean. Rounding leaves noise.
* *dp-accounting*: the privacy loss distribution of the variation-ratio pair, from its outcomes.

Su et al., the code of Wang et al., and Takagi and Liew (arXiv 2601.19154, whose abstract announces an FFT of
controlled relative error) were not run.
"""

from unittest import mock

import numpy as np
from dp_accounting.pld import privacy_loss_distribution
from scipy import fft, stats

from benchmarks.cases import EPS0, K, eps_of
from benchmarks.measure import timed
from tightshuffle.bounds import histogram
from tightshuffle.bounds.inverse import epsilon
from tightshuffle.numerics import positive_part
from tightshuffle.randomizers import KRandomizedResponse
from tightshuffle.randomizers.krr import lie_probability, truth_probability

SIZES = tuple(10**power for power in range(3, 10))
ENGINE_SIZES = tuple(10**power for power in range(2, 13))
DEEP = 1e-18  # a second delta, below what sums of doubles resolve
VIOLATED = ({"n": 6, "k": 4, "eps0": 1.0, "eps": 0.6}, {"n": 1000, "k": 15, "eps0": 4.0, "eps": 2.0})
SPACING = 1e-4  # of the privacy loss distribution
LARGEST_GRID = 2**23  # points of the FFT
MOST_OUTCOMES = 300_000  # of the pair, for dp-accounting
REACH = 10.0  # standard deviations that sums look at


def variation_ratio(eps, *, n, k, eps0):
    """delta of the variation-ratio pair of k-RR, a float: a binomial tail per number of reports x0 or x1."""
    p, q = float(truth_probability(eps0, k)), float(lie_probability(eps0, k))
    total = _window(n, 2 * q)
    with_user, without = stats.binom.pmf([total - 1, total], n - 1, 2 * q)
    grown = np.exp(eps)
    # P - e^eps Q of (a, total - a), over Bin(total, 1/2) at a: rising in a.
    slope = with_user * 2 / np.maximum(total, 1) * (p - q) * (1 + grown)
    start = with_user * 2 * (q - grown * p) - (grown - 1) * (1 - p - q) * without
    start = np.where(total > 0, start, (1 - grown) * (1 - p - q) * without)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(slope > 0, np.floor(-start / slope) + 1, total + 1)
    tail = stats.binom.sf(first - 1, total, 0.5)
    mean = total / 2 * stats.binom.sf(first - 2, np.maximum(total - 1, 0), 0.5)
    return float(np.maximum(start * tail + slope * mean, 0).sum())


def fft_of_blanket(eps, *, n, k, eps0):
    """E[(G_1 + ... + G_n)_+] / n for the blanket of k-RR, from the distribution of the sum on a grid."""
    values, probabilities = KRandomizedResponse(k, eps0).gains(eps)
    mean, spread = probabilities @ values, np.sqrt(probabilities @ values**2)
    reach = max(REACH * spread * np.sqrt(n), 2 * np.abs(values).max()) + n * abs(mean)
    step = spread / 50
    size = min(LARGEST_GRID, 2 ** int(np.ceil(np.log2(2 * reach / step))))
    step = 2 * reach / size
    distribution = np.zeros(size)
    places, kept = np.append(values, 0.0) / step, np.append(probabilities, 1 - probabilities.sum())
    below = np.floor(places).astype(int)
    np.add.at(distribution, below % size, kept * (1 - places + below))
    np.add.at(distribution, (below + 1) % size, kept * (places - below))
    of_sum = fft.irfft(fft.rfft(distribution) ** n, size)
    return float(of_sum[1 : size // 2] @ np.arange(1, size // 2) * step / n)


def loss_distribution(eps, *, n, k, eps0):
    """delta of the variation-ratio pair by dp-accounting, which takes its outcomes one by one."""
    p, q = float(truth_probability(eps0, k)), float(lie_probability(eps0, k))
    total = _window(n, 2 * q)
    with_user, without = stats.binom.pmf([total - 1, total], n - 1, 2 * q)
    first, second = {}, {}
    for count, one, none in zip(total.tolist(), with_user, without, strict=True):
        at_x0 = np.arange(count + 1)
        half = stats.binom.pmf(at_x0, count, 0.5)
        share = at_x0 / max(count, 1)
        distribution = half * (one * 2 * (p * share + q * (1 - share)) + (1 - p - q) * none)
        for a in np.flatnonzero((distribution > 1e-16) & (distribution[::-1] > 1e-16)).tolist():
            first[count, a], second[count, a] = np.log(distribution[a]), np.log(distribution[count - a])
    loss = privacy_loss_distribution.from_two_probability_mass_functions(
        second, first, value_discretization_interval=SPACING
    )
    return float(loss.get_delta_for_epsilon(eps))


def _window(n, probability):
    centre, spread = n * probability, np.sqrt(n * probability)
    first = max(0, int(centre - REACH * spread))
    return np.arange(first, min(n, int(centre + REACH * spread + 30)) + 1)


def compare(n, k=K, eps0=EPS0):
    """One row: times in seconds at the eps of `upper`'s delta `DELTA`, and what each method's delta is."""
    setting = {"n": n, "k": k, "eps0": eps0}
    eps = eps_of("upper", n, k, eps0)
    deep = float(epsilon(histogram.upper, DEEP, **setting))
    row = {"n": n, "eps": eps}
    row["upper"], bound = timed(lambda: 10 ** histogram.upper(eps, **setting))
    row["lower"], least = timed(lambda: 10 ** histogram.lower(eps, **setting))
    row["excess"] = bound / least - 1
    row["variation_ratio"], two_counts = timed(lambda: variation_ratio(eps, **setting))
    row["variation_ratio_over_lower"] = two_counts / least
    row["fft"], of_sum = timed(lambda: fft_of_blanket(eps, **setting))
    row["fft_error"] = abs(of_sum / bound - 1)
    row["fft_floor"] = fft_of_blanket(deep, **setting)
    outcomes = (REACH**2 / 2) * n * float(lie_probability(eps0, k))
    row["dp_accounting"] = row["dp_accounting_error"] = np.nan
    if outcomes <= MOST_OUTCOMES:
        row["dp_accounting"], losses = timed(lambda: loss_distribution(eps, **setting), least=1, most=1)
        row["dp_accounting_error"] = abs(losses / two_counts - 1)
    return row


def violations():
    """Rows: settings in which the variation-ratio pair is below `lower`, with `lower` and `upper`."""
    rows = []
    for setting in VIOLATED:
        least, bound = (float(10 ** way(**setting)) for way in (histogram.lower, histogram.upper))
        rows.append(
            {**setting, "variation_ratio": variation_ratio(**setting), "lower": least, "upper": bound}
        )
    return rows


def engine_cost(n, k=K, eps0=EPS0):
    """One row: seconds and terms of one bracket, and of `upper`, at the eps of delta `DELTA`; n to 10^12."""
    setting = {"n": n, "k": k, "eps0": eps0}
    eps = eps_of("upper", n, k, eps0)
    values, probabilities = KRandomizedResponse(k, eps0).gains(eps)
    row = {"n": n, "eps": eps, "nodes": 0.0, "atoms": 0.0}
    nodes, box = positive_part._sum_nodes, positive_part._sum_box

    def counted_nodes(points, tau, h, last, distance, half, windows):
        row["nodes"] += float(np.minimum(windows * (2 * half / h + 1), last + 1).sum())
        return nodes(points, tau, h, last, distance, half, windows)

    def counted_atoms(point, boxes):
        row["atoms"] += float(boxes.atoms)
        return box(point, boxes)

    with mock.patch.multiple(positive_part, _sum_nodes=counted_nodes, _sum_box=counted_atoms):
        low, high = positive_part.log_positive_part(values, probabilities, n)
    row["width"] = float(np.expm1(high - low))
    row["engine"], _ = timed(lambda: positive_part.log_positive_part(values, probabilities, n))
    row["upper"], _ = timed(lambda: histogram.upper(eps, **setting))
    many = np.linspace(0, 2 * eps, 100)
    row["upper_per_eps_of_100"] = timed(lambda: histogram.upper(many, **setting))[0] / 100
    return row

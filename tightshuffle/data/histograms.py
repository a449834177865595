"""Histograms to experiment on: cells of a normal distribution, and counts of the user's own."""

import numpy as np
import pandas as pd
from scipy import special

USER_BY_USER = 10**7  # populations up to this are drawn one by one, larger ones cell by cell: the same law
_BLOCK = 10**6  # users drawn at a time: memory does not grow with the population


def draw_normal(*, mean, spread, spread_is, range, cells, population, rng):
    """Draw a population from a normal distribution and count it in equal cells.

    Parameters
    ----------
    spread, spread_is : 2 and "standard deviation" or "variance": the paper's N(0, 2) says not which
    range : (low, high), cut into ``cells`` equal cells; who lies outside belongs to the outermost cell
    population : number of users; rng : numpy.random.Generator

    Returns
    -------
    DataFrame: cell (from 1), count, low, high; the outermost limits are infinite. Beyond `USER_BY_USER`
    users the counts are drawn as the multinomial that they are: time and memory depend on ``cells`` alone.
    """
    deviation = spread if spread_is == "standard deviation" else np.sqrt(spread)
    edges = np.linspace(*range, cells + 1)
    edges[0], edges[-1] = -np.inf, np.inf
    if population > USER_BY_USER:
        counts = rng.multinomial(population, _cell_probabilities((edges - mean) / deviation))
    else:
        counts = np.zeros(cells, dtype=np.int64)
        for start in np.arange(0, population, _BLOCK):
            values = rng.normal(mean, deviation, min(_BLOCK, population - start))
            counts += np.bincount(np.searchsorted(edges, values, side="right") - 1, minlength=cells)
    return pd.DataFrame(
        {"cell": np.arange(1, cells + 1), "count": counts, "low": edges[:-1], "high": edges[1:]}
    )


def _cell_probabilities(edges):
    """Standard normal probabilities between neighbouring edges (k + 1,): shape (k,), each to 1e-12 or so.

    Above 0 they are differences of upper tails, so that no digits are lost there either.
    """
    low, high = edges[:-1], edges[1:]
    mirrored = low > 0
    low, high = np.where(mirrored, -high, low), np.where(mirrored, -low, high)
    probabilities = special.ndtr(high) - special.ndtr(low)
    return probabilities / probabilities.sum()


def check_counts(frame, path):
    """A user's table of counts, checked: columns ``cell`` (1, 2, ... k) and ``count``, others kept.

    Parameters: ``frame`` as read with every value as text; ``path`` for messages. Returns the frame with
    whole numbers in both columns. Raises ValueError naming file, row (the header is row 1) and column.
    """
    missing = [name for name in ("cell", "count") if name not in frame.columns]
    if missing:
        raise ValueError(
            f"{path}: row 1: the column {missing[0]!r} is missing; expected a header with cell,count "
            f"(comma separated); got {','.join(map(str, frame.columns))[:80]!r}"
        )
    if len(frame) < 2:
        raise ValueError(f"{path}: expected at least 2 cells (rows below the header); got {len(frame)}")
    checked = frame.copy()
    for name in ("cell", "count"):
        numbers = pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=float)
        with np.errstate(invalid="ignore"):
            bad = ~(
                np.isfinite(numbers) & (numbers >= 0) & (numbers == np.floor(numbers)) & (numbers < 2**53)
            )
        if bad.any():
            _refuse(path, bad, name, frame[name], "a whole number >= 0")
        checked[name] = numbers.astype(np.int64)
    wrong = checked["cell"].to_numpy() != np.arange(1, len(frame) + 1)
    if wrong.any():
        _refuse(path, wrong, "cell", frame["cell"], "the cells numbered 1, 2, 3, ... in this order")
    users = sum(checked["count"].tolist())  # exact, however large
    if not 1 <= users < 2**53:
        wanted = "at least one user" if users == 0 else "fewer than 2^53 users in all"
        raise ValueError(
            f"{path}: {'every count is 0' if not users else f'{users:,} users'}; expected {wanted}"
        )
    return checked


def _refuse(path, bad, column, values, wanted):
    row = int(np.flatnonzero(bad)[0])
    value = values.iloc[row]
    raise ValueError(f"{path}: row {row + 2}: {column} must be {wanted}; got {value[:80]!r}")

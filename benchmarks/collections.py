"""Time of a collection of five groups, beside `upper` for as many users who are all alike.

    python -m benchmarks.collections results/bench

Each line is measured in a fresh process; a time is the median of several calls after a first one.
"""

import sys
from pathlib import Path

import pandas as pd

import tightshuffle
from benchmarks.cases import DELTA, K
from benchmarks.measure import fresh_processes, timed
from reproduction.jobs.job import write_csv
from tightshuffle import Collection, Group

EPS0 = (1.5, 2.0, 2.5, 3.0, 3.5)  # of the groups, which have equally many users
ALIKE = EPS0[0]  # of the first group, whose user is the user in question; of all users of `upper`
WEEKS = 52


def measure(what, users):
    """One row: seconds of a new `Collection`, and of `upper` where it has the same question."""

    def collection(rounds=1):
        groups = (Group(f"{eps0:g}", users // len(EPS0), eps0) for eps0 in EPS0)
        return Collection(K, tuple(groups), rounds=rounds)

    eps = collection().epsilon(DELTA)
    ours, alike = {
        "delta": (
            lambda: collection().log10_delta(eps),
            lambda: tightshuffle.upper(eps, n=users, k=K, eps0=ALIKE, log10=True),
        ),
        "eps": (
            lambda: collection().epsilon(DELTA),
            lambda: tightshuffle.epsilon(DELTA, n=users, k=K, eps0=ALIKE),
        ),
        f"eps of {WEEKS} rounds": (lambda: collection(WEEKS).epsilon(DELTA), None),
    }[what]
    ours()
    row = {"what": what, "users": users, "seconds": timed(ours)[0]}
    if alike:
        alike()
        row["seconds_alike"] = timed(alike)[0]
        row["ratio"] = row["seconds"] / row["seconds_alike"]
    return row


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with fresh_processes(("pandas", "scipy.stats")) as executor:
        lines = ("delta", "eps", f"eps of {WEEKS} rounds")
        table = pd.DataFrame([executor.submit(measure, what, 10**9).result() for what in lines])
    write_csv(table, folder / "collections.csv")
    print(table.to_string(index=False))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m benchmarks.collections FOLDER")
    main(Path(sys.argv[1]))

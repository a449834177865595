"""The same numbers, bit for bit, whatever Python hashes with and however many threads the libraries take.

Snakemake gives every job one thread (its OMP_NUM_THREADS and the like); a notebook takes what it finds. The
pipeline's own bytes are compared in tests/workflow/test_pipeline.py.
"""

import os
import subprocess
import sys

import pytest

from tests import ROOT

PROGRAM = """
import hashlib
import numpy as np
import tightshuffle
from scripts.trials.run_trials import Protocol, run_point
from tightshuffle.bounds import histogram
from tightshuffle.literature import count

counts = np.random.default_rng(1).integers(0, 900, 408)
protocol = Protocol(delta_form="published", delta_floor=1e-30, sensitivity=1)
trials = run_point(counts, dataset="x", eps0=4.0, eps=4.0, n=20_000, repetitions=20, cells=[1, 40],
                   protocol=protocol, seed=1)
values = [trials["value"].to_numpy(), trials["seed"].to_numpy()]
for bound in (histogram.lower, histogram.upper):
    values.append(bound(np.array([0.5, 1.0]), n=1000, k=15, eps0=4.0))
values.append(count.delta(np.linspace(0.1, 3, 9), n=100_000, k=10, eps0=4.0, count=80))
rounds = {"method": "koskela-strong", "compositions": 4, "log10": True}
values.append(tightshuffle.delta([0.5, 1.0], n=1000, k=4, eps0=2.0, **rounds))
print(hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in values)).hexdigest())
"""
SETTINGS = [("0", "1"), ("77", "2")]  # PYTHONHASHSEED, threads


@pytest.mark.slow
def test_hash_seeds_and_threads():
    digests = set()
    for seed, threads in SETTINGS:
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
        environment = os.environ | dict.fromkeys(names, threads) | {"PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        digests.add(done.stdout)
    assert len(digests) == 1

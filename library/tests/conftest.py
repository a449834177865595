"""The profile of hypothesis, and mpmath's digits."""

import os

import mpmath
from hypothesis import settings

# Numpy is not loaded yet; the tests' processes fill the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("tests", deadline=None)  # a slow machine is no error
settings.load_profile("tests")
mpmath.mp.dps = 60  # digits, where a test does not ask for others

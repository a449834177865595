"""The order of the tests, the profile of hypothesis, and mpmath's digits."""

import os

import mpmath
import pytest
from hypothesis import settings

# Numpy is not loaded yet; the tests' processes fill the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("tests", deadline=None)  # a slow machine is no error
settings.load_profile("tests")
mpmath.mp.dps = 60  # digits, where a test does not ask for others


@pytest.hookimpl(trylast=True)  # after -m has left items out
def pytest_collection_modifyitems(items):
    """The order of the files when several processes take one each: the longest, with pipelines, first."""
    items.sort(key=lambda item: not item.get_closest_marker("pipeline"))

"""The tests of the reproduction and of its workflow; the library has its own, in library/tests."""

from pathlib import Path

ROOT = Path(__file__).parents[1]

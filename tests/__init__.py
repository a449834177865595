"""The two houses each have their tests, and so has the workflow that joins them."""

from pathlib import Path

ROOT = Path(__file__).parents[1]

"""The numbers that speak for the paper."""

import pandas as pd
import pytest

from scripts.verdicts.fairness import (
    gaussian_eps,
    own_ratios,
    unequal_privacy,
)

POINTS = [  # dataset, eps0, n, ratio with both projected, ratio with shuffle+INV projected only, eps
    ("synthetic", 4.0, 1000, 1.4, 0.9, 1.4),
    ("synthetic", 4.0, 100000, 1.2, 1.1, 0.1),
    ("synthetic", 6.0, 1000, 2.4, 2.0, 2.0),
    ("paris", 6.0, 1000, 1.1, 0.5, 0.8),
    ("somewhere", 4.0, 1000, 9.0, 9.0, 0.5),
]
RATIOS = pd.DataFrame(
    {"dataset": name, "eps0": eps0, "n": n, "metric": "tv", "bound": bound, "comparison": comparison}
    | {"ratio": ratio if bound == "upper" else 99.0, "eps": eps, "delta": 1e-6}
    for name, eps0, n, projected, paired, eps in POINTS
    for comparison, ratio in (("projected", projected), ("the paper's pairing", paired))
    for bound in ("lower", "upper")
)


def test_own_settings_are_those_that_the_paper_ran():
    assert own_ratios(RATIOS) == {
        "of": 3,
        "low": 1.1,
        "high": 1.4,
        "paired": {"low": 0.5, "high": 1.1, "better": 2},
        "elsewhere": {"of": 2, "low": 2.4, "high": 9.0},
    }
    with pytest.raises(LookupError, match=r"parity_ratio\.csv"):
        own_ratios(RATIOS[RATIOS["dataset"] == "somewhere"])


def test_unequal_privacy_is_in_the_disfavour_of_shuffling():
    found = unequal_privacy(RATIOS, scale=2.1516910722174307)
    assert found["gaussian"] == pytest.approx(3.04907, abs=1e-5)
    assert found["shuffled"] == [{"n": 1000, "eps": 1.4}, {"n": 100000, "eps": 0.1}]
    assert gaussian_eps(1000, 1e-2) == 0  # so much noise that delta is smaller even at eps = 0

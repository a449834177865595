"""What is asked of a bound, checked once."""

import dataclasses

import numpy as np
import pytest

from tightshuffle.randomizers import Finite
from tightshuffle.setting import make_setting

OWN = Finite([[0.7, 0.4], [0.3, 0.6]])


def test_a_setting_is_checked_numbers_and_frozen():
    setting = make_setting(n=[100, 200], k=8.0, eps0=1, colluding=0.1, count=80)
    np.testing.assert_array_equal(setting.hidden, [90, 180])
    assert (setting.k.dtype, setting.eps0.dtype, setting.count) == (int, float, 80)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setting.n = 3


@pytest.mark.parametrize("as_file", [False, True])
def test_a_matrix_brings_its_k_and_eps0(as_file, tmp_path):
    (tmp_path / "own.csv").write_text("0.7,0.4\n0.3,0.6\n")
    setting = make_setting(n=9, randomizer=f"file:{tmp_path}/own.csv" if as_file else OWN, colluding=2)
    users, randomizer = setting.one()
    assert (users, randomizer.k, randomizer.eps0) == (7, 2, OWN.eps0) == (7, setting.k, setting.eps0)

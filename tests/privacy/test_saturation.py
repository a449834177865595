"""Where diffprivlib's scale stops following delta."""

import math

import pandas as pd

from scripts.privacy.saturation import Saturation, saturation


def test_saturation_takes_the_last_depth_from_which_on_the_scale_is_short():
    depths = [-2.0, -5.0, -10.0, -20.0, -40.0]
    curves = {
        1.0: (
            [1.0, 2.0, 3.0, 4.0, 5.0],
            [1.0, 1.9, 3.0, 3.94, 3.5],
        ),  # short at -5, not at -10, from -20 on (1.5 %)
        4.0: ([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 4.96]),  # within 1 %
    }
    table = pd.concat(
        pd.DataFrame({"eps": eps, "log10_delta": depths, "exact": exact, "published": published})
        for eps, (exact, published) in curves.items()
    ).assign(published_log10_delta=-17.0)
    one, four = saturation(table.sample(frac=1, random_state=3))
    assert one == Saturation(eps=1.0, stays=3.5, gives=-17.0, asked=-40.0, needed=5.0, short_from=-20.0)
    assert math.isnan(four.short_from)

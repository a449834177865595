"""Simulated rounds of users with local noise."""

import numpy as np


def simulated_error(users, rng, dummies, mean_dummies=0.0):
    """The total variation distance between the estimated and the true shares of k values in one run.

    Each item of ``users`` is (number, participation, p, q). As many hold each value. A user who takes part
    supports the own value with probability p, and each other one with q. So a value with the share x has
    offset + slope x reports on average, beside the ``mean_dummies``. Slope is the sum of p - q over all users
    who take part on average, and offset that of q. ``dummies`` (k,) are those of this run.
    """
    k = len(dummies)
    counts = dummies
    slope, offset = 0.0, mean_dummies
    for number, participation, p, q in users:
        slope += number * participation * (p - q)
        offset += number * participation * q
        holders = rng.binomial(number // k, participation, k)
        counts = counts + rng.binomial(holders, p) + rng.binomial(holders.sum() - holders, q)
    estimate = (counts - offset) / slope
    return np.abs(estimate - 1 / k).sum() / 2

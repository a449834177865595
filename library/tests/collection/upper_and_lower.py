"""Both bounds of a collection at once."""


def delta_bounds(collection, eps):
    """(upper, lower): the bounds on delta of one round, each with the shape of ``eps``."""
    log10_upper = collection.one_round(eps, bound="upper")
    log10_lower = collection.one_round(eps, bound="lower")
    return 10**log10_upper, 10**log10_lower


def epsilon_bounds(collection, delta, **target):
    """(upper, lower): the bounds on the eps of all rounds at this ``delta``.

    ``target`` may name the target user's ``group``.
    """
    upper = collection.epsilon(delta, bound="upper", **target)
    lower = collection.epsilon(delta, bound="lower", **target)
    return upper, lower

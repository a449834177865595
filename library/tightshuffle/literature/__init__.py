"""Bounds on delta from the literature.

Unless it says otherwise, a function takes ``eps``, ``n`` users, ``k`` values and ``eps0``, numbers or arrays,
which broadcast, and returns the natural logarithm of an upper bound on delta, of the broadcast shape (a
float for scalars), -inf where delta is 0. A ``k`` that does not matter is checked. A ValueError names a bad
argument.
"""

"""Accountants: one module per family, all with the signature ``bound(eps, *, n, k, eps0) -> log10 delta``."""

"""The public names. Whoever removes or renames one breaks programs: say so in CHANGELOG.md."""

import tightshuffle
from tightshuffle import methods, randomizers
from tightshuffle.cli.commands import ANSWERS


def test_the_public_names():
    assert tightshuffle.__all__ == sorted(
        ["Collection", "Dummies", "Group", "delta", "epsilon", "lower", "plan", "to_pld", "tradeoff", "upper"]
    )
    assert sorted(methods.METHODS) == [
        "balle-bennett",
        "balle-hoeffding",
        "blanket",
        "clones",
        "count-exact",
        "erlingsson",
        "feldman",
        "girgis",
        "koskela-strong",
        "lower",
        "single-value",
        "stronger-clones",
        "upper",
    ]
    assert (
        *("grr", "subset:M", "oue", "hash:G", "rappor", "hadamard", "file:MATRIX.csv"),
    ) == randomizers.NAMES
    assert sorted(ANSWERS) == [
        "audit",
        "collection",
        "compare",
        "delta",
        "design",
        "epsilon",
        "methods",
        "plan",
        "sigma",
    ]

"""The public names. Whoever removes or renames one breaks programs: say so in CHANGELOG.md."""

import tightshuffle
from tightshuffle import methods, randomizers
from tightshuffle.cli.commands import ANSWERS

PUBLIC = """
Collection Dummies Group bracket delta epsilon fewest_users plan to_pld tradeoff
balle-bennett balle-hoeffding blanket clones count-exact erlingsson feldman girgis koskela-strong lower
privacy-blanket single-value stronger-clones upper
grr subset:M oue hash:G rappor hadamard unary:P:Q support:ALPHA:BETA file:MATRIX.csv
density:laplace:SCALE density:gaussian:SIGMA density:file:FILE.csv
collection compare delta design dummies epsilon methods plan users
"""


def test_the_public_names():
    of_the_command = sorted(ANSWERS)
    names = [*tightshuffle.__all__, *sorted(methods.METHODS), *randomizers.NAMES, *of_the_command]
    assert names == PUBLIC.split()

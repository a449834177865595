"""The list of the tests of the paper's statements: one function per statement, registered with its id.

The ids are those of data/published/claims.csv, which has the quotes. A test takes a `Reading` and returns
`Comparisons`, or several where a statement has parts that must hold together. On a reading on which a
statement cannot be tested, its test raises `UntestableError` with the reason.
"""

from collections.abc import Callable

from scripts.beyond.statements.evidence import Reading
from scripts.beyond.statements.verdict_rules import Comparisons

Test = Callable[[Reading], Comparisons | list[Comparisons]]
TESTS: dict[str, Test] = {}  # id of a statement -> its test


class UntestableError(ValueError):
    """There is no test of a statement on a reading, whatever the config is: the message says why."""


def statement(name: str) -> Callable[[Test], Test]:
    """A decorator that makes a function the test of the statement whose id in claims.csv is ``name``.

    It raises ValueError if the statement has a test already.
    """

    def register(test: Test) -> Test:
        if name in TESTS:
            raise ValueError(
                f"statement {name!r} has two tests: {TESTS[name].__name__}, {test.__name__}"
            )
        TESTS[name] = test
        return test

    return register

"""What a release promises: the names and parameters of `interface.txt`."""

from tests.library import interface


def test_the_public_interface_is_the_recorded_one():
    recorded = interface.FILE.read_text(encoding="utf-8").splitlines()
    assert list(interface.lines()) == recorded, (
        "if the change is meant: python -m tests.library.interface, and a line in CHANGELOG.md"
    )

"""The order of the tests, and the profile of hypothesis. The library's tests need it: test tools only."""

import pytest
from hypothesis import settings

settings.register_profile("tests", deadline=None)  # a slow machine is no error
settings.load_profile("tests")


@pytest.hookimpl(trylast=True)  # after -m has left items out
def pytest_collection_modifyitems(items):
    """The order of the files when several processes take one each.

    One file makes the pipeline's shared run, and all that needs it too comes last: it would only wait. The
    long files without it come second.
    """
    sharing = {item.path for item in items if {"finished", "full"}.intersection(item.fixturenames)}
    first = min(sharing, default=None)

    def rank(item):
        if item.path in sharing:
            return 0 if item.path == first else 3
        return 1 if item.get_closest_marker("pipeline") else 2

    items.sort(key=rank)

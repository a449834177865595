"""Comparisons that take seconds are made once for all tests that ask the same question."""

import functools
import inspect
import math


def compared_once(compare):
    """The function ``compare``, which is called only once for each question, however it is spelled.

    With it in the place of the command's own, a question to the command is the same question.
    """
    kept = functools.cache(compare)

    def compare_once(*arguments, **asked):
        if "delta" in asked:
            asked["log10_delta"] = math.log10(asked.pop("delta"))
        call = inspect.signature(compare).bind(*arguments, **asked)
        call.apply_defaults()
        return kept(*call.args, **call.kwargs)

    return compare_once

"""Numbers that the documents quote: each is computed, and carries the words for where it comes from."""

import functools
from dataclasses import dataclass
from decimal import Decimal

from tightshuffle.judgement.printed import decimal_from_log10


@dataclass(frozen=True)
class Number:
    """``text`` is what the document says, ``value`` what that was rounded from."""

    name: str
    text: str
    value: str
    source: str


class Numbers:
    """The numbers of one document: their names begin with its file name, in small letters."""

    def __init__(self, document):
        self.document = document
        self.rows = []

    def add(self, name, value, form, source):
        """State ``value``, a number or text, as the document writes it: by a format string or a function.

        Raises ValueError if the name is taken: names are what a reader looks for.
        """
        name = f"{self.document}.{name}"
        if any(row.name == name for row in self.rows):
            raise ValueError(f"{name} is stated twice; give one of the two another name")
        text = form(value) if callable(form) else form.format(value)
        full = repr(float(value)) if isinstance(value, float) else str(value)
        self.rows.append(Number(name, text, full, source))

    def add_call(self, name, form, function, *arguments, **settings):
        """State what ``function(*arguments, **settings)`` returns."""
        self.add(name, function(*arguments, **settings), form, written(function, *arguments, **settings))

    def add_delta(self, name, digits, function, *arguments, **settings):
        """State the delta whose log10 the function returns, with so many significant digits."""
        value = decimal_from_log10(float(function(*arguments, **settings)))
        form = functools.partial(scientific, digits=digits)
        self.add(name, value, form, f"10 ** {written(function, *arguments, **settings)}")


def scientific(value, digits):
    """A Decimal >= 0 as C writes it: 2.48e-05, 1.57e-40; and 0 as 0."""
    value = Decimal(value)
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"


def written(function, *arguments, **settings):
    """The call as one would write it in Python."""
    words = [_name(x) if callable(x) else repr(x) for x in arguments]
    words += [f"{name}={value!r}" for name, value in settings.items()]
    return f"{_name(function)}({', '.join(words)})"


def _name(function):
    module = function.__module__
    where = module if module.startswith("tightshuffle") else f"scripts/{module}.py "
    return f"{where.rstrip()}{' ' if where.endswith(' ') else '.'}{function.__name__}"

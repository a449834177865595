"""Functions for all pages: templates that escape text from data, the paper's symbols, versions."""

import base64
import hashlib
import platform
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from importlib import metadata
from typing import Any

import jinja2
from markupsafe import Markup, escape

import tightshuffle
from reproduction.report.verdict_layout import like, position, shares
from reproduction.verification.verdicts import orders
from tightshuffle.number_text import from_log10, typeset, with_powers

LIBRARIES = (
    "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "diffprivlib", "scikit-learn",
    "snakemake", "jinja2", "markdown-it-py", "latex2mathml",
)  # fmt: skip
SYMBOLS = {
    "delta": Markup("<i>δ</i>"),
    "eps": Markup("<i>ε</i>"),
    "eps0": Markup("<i>ε</i><sub>0</sub>"),
    "k": Markup("<i>k</i>"),
    "n": Markup("<i>n</i>"),
    "n_x0": Markup("<i>n</i><sub><i>x</i>₀</sub>"),
    "x0": Markup("<i>x</i><sub>0</sub>"),
}


def render(name: str, parts: Mapping[str, str], values: Mapping[str, Any]) -> str:
    """The page that template ``name`` makes of ``values``; ``parts``: file name of each part -> its text.

    Style sheets and scripts go in as they are, one after the other; everything else is escaped. The page's
    policy allows no script but these, which it names by their hash.
    """
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(parts), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters["like"] = lambda value, printed, digits=4: like(printed, value, digits)
    environment.filters.update(
        symbols=symbols,
        brief=brief,
        typeset=with_powers,
        ten_to_the=lambda log10: typeset(from_log10(float(log10)), 3),
        rounded_down=lambda value: typeset(value, 2, round_up=False),
    )
    environment.globals.update(orders=orders, shares=shares, position=position)
    style, script = (
        "".join(text for part, text in parts.items() if part.endswith(kind)).strip()
        for kind in (".css", ".js")
    )
    digest = hashlib.sha256(script.encode()).digest()
    return environment.get_template(name).render(
        style=Markup(style),
        script=Markup(script),
        script_hash=base64.b64encode(digest).decode("ascii"),
        **values,
    )


def symbols(text: object) -> Markup:
    """``text`` escaped, the names of the paper's symbols as symbols, its numbers with powers of ten."""
    return named(Markup(with_powers(str(escape(text)))))


def named(text: object) -> Markup:
    """``text`` escaped, the names of the paper's symbols as symbols, its numbers as they are."""
    names = "|".join(sorted(SYMBOLS, key=len, reverse=True))
    return Markup(re.sub(rf"\b({names})\b", lambda match: SYMBOLS[match[0]], str(escape(text))))


def brief(value: float | str, digits: int = 4) -> str:
    """A number or its decimal text as `typeset` writes it: 1,000; 0.02235; 10⁻⁶. Other texts as they are."""
    try:
        return typeset(Decimal(str(value)), digits)
    except InvalidOperation:
        return str(value)


def versions() -> list[tuple[str, str]]:
    """Name and version of Python, this package and the installed libraries that computed the page."""
    installed = [("Python", platform.python_version()), ("tightshuffle", tightshuffle.__version__)]
    for library in LIBRARIES:
        try:
            installed.append((library, metadata.version(library)))
        except metadata.PackageNotFoundError:
            continue
    return installed

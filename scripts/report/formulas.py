"""LaTeX formulas as MathML, which a browser shows without the net: for the errata and the site."""

import re
import unicodedata

from latex2mathml.converter import convert


def mathml(latex: str, display: str = "inline") -> str:
    """A LaTeX formula as a MathML element, in a form that browsers show as part of an HTML page.

    ``display`` is "inline" for a formula within a line, or "block" for one that stands alone.
    """
    # HTML needs no namespace, and knows no element that ends itself: <mspace/> becomes <mspace></mspace>.
    formula = convert(latex, display=display).replace(
        ' xmlns="http://www.w3.org/1998/Math/MathML"', "", 1
    )
    formula = re.sub(r"<(\w+)([^<>]*?) ?/>", r"<\1\2></\1>", formula)

    # Letters with a style, such as a double-struck R, become characters of Unicode, since browsers do not
    # know MathML's attribute for the style. found[1] is the style, and found[2] the letter.
    return re.sub(
        '<mi mathvariant="(double-struck|script)">([A-Z])</mi>',
        lambda found: f"<mi>{_unicode_letter(found[1].upper(), found[2])}</mi>",
        formula,
    )


def _unicode_letter(style: str, letter: str) -> str:
    """The Unicode character for a capital ``letter`` in a ``style`` (DOUBLE-STRUCK or SCRIPT).

    It is ``letter`` itself if Unicode has none.
    """
    # Some were in Unicode before the block of mathematical alphabets.
    for block in ("MATHEMATICAL ", ""):
        try:
            return unicodedata.lookup(f"{block}{style} CAPITAL {letter}")
        except KeyError:
            continue
    return letter

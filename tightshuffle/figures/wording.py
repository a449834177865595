"""Numbers and long lines as titles, axes and captions write them."""

import textwrap


def short_number(value):
    """A count for an axis: 500, 10k, 2.5M."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= unit:
            return f"{value / unit:.4g}{name}"
    return f"{value:.4g}"


def scientific(value, digits=2):
    """A positive number with a typeset exponent: 10⁻³⁰, 2.5×10⁻⁷; 0 stays 0, and 0.01 to 9,999 stay plain."""
    if value == 0 or 1e-2 <= abs(value) < 1e4:
        return f"{value:,.{digits}g}" if abs(value) < 100 else f"{value:,.0f}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return power if float(mantissa) == 1 else f"{float(mantissa):g}×{power}"


def listing(values, *, at_most=12):
    """Numbers for a caption: '1,000, 2,000 and 5,000'; a long list is its ends and its length."""
    values = [f"{value:,}" for value in values]
    if len(values) > at_most:
        return f"{values[0]} to {values[-1]} ({len(values)} values)"
    return " and ".join([", ".join(values[:-1]), values[-1]] if len(values) > 1 else values)


def plain(text):
    """A name of the user's for a title: matplotlib takes what stands between dollar signs for a formula."""
    return text.replace("$", r"\$")


def folded(text, inches, *, size=8):
    """``text`` in lines that fit into a width, for a title of ``size`` points in the figures' font."""
    mean_width = 0.52 * size / 72  # inches; a little more than DejaVu Sans needs for common text
    return textwrap.fill(text, max(12, int(inches / mean_width)))

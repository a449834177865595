"""What the report page shows of the verdicts: counts, gaps between the readings, rows laid out by table.

Everything here takes and returns plain values. Numbers stay decimal strings until they are shown, because
printed and computed deltas go below the smallest float (1e-308).
"""

import math
import struct
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

VERDICTS = ("exact", "close", "consistent", "differs", "inconsistent", "not comparable")
REPRODUCED = ("exact", "close", "consistent")

PARAMETERS = ("quantity", "dataset", "mechanism", "n", "k", "eps0", "eps", "count", "x0")
NUMBERS = ("reproduced", "exact", "quantile", "low", "high")
COLUMNS = (*PARAMETERS, *NUMBERS, "item", "printed", "source", "kind", "tolerance", "note", "verdict")

# The parameter that runs down a small table; the others tell the small tables of one item apart.
RUNNING = {"Table II": "eps", "Table 1": "eps", "Table IV": "eps", "Table V": "x0", "Table VI": "x0"}


@dataclass(frozen=True)
class Tally:
    """How many of ``total`` printed values got each verdict (``counts``: verdict -> number, all six)."""

    total: int
    counts: dict[str, int]

    @property
    def reproduced(self):
        """Values whose verdict is exact, close or consistent."""
        return sum(self.counts[verdict] for verdict in REPRODUCED)


@dataclass(frozen=True)
class Gap:
    """``orders`` = log10(exact / published) of one row, and that row."""

    orders: float
    row: dict[str, str]


def check(rows, name="verdicts"):
    """Return ``rows`` (a list of dicts of strings) if the page can show them.

    Raises ValueError that names the row (counted from 1, the header not counted) and the column: a column
    is missing, a verdict is unknown, or a number is no finite decimal number.
    """
    for number, row in enumerate(rows, start=1):
        where = f"{name}, row {number}"
        missing = [column for column in COLUMNS if row.get(column) is None]
        if missing:
            raise ValueError(f"{where}: column {missing[0]} is missing; make the file again")
        if row["verdict"] not in VERDICTS:
            raise ValueError(f"{where}: verdict is {row['verdict']!r}, expected one of {', '.join(VERDICTS)}")
        for column in NUMBERS:
            if row[column] and not _is_number(row[column]):
                raise ValueError(f"{where}: {column} is {row[column]!r}, expected a finite number or nothing")
    return rows


def _is_number(text):
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False


def tally(rows):
    """Count the verdicts of ``rows``."""
    counts = dict.fromkeys(VERDICTS, 0)
    for row in rows:
        counts[row["verdict"]] += 1
    return Tally(len(rows), counts)


def items(rows):
    """The rows of each item, items in order of their first row: item -> list of rows."""
    found = {}
    for row in rows:
        found.setdefault(row["item"], []).append(row)
    return found


def orders(published, exact):
    """log10(exact / published) of two decimal strings; None where one of them is blank or not positive."""
    if not published or not exact:
        return None
    published, exact = Decimal(published), Decimal(exact)
    if published <= 0 or exact <= 0:
        return None
    return float(exact.log10() - published.log10())


def gaps(rows):
    """The ``Gap`` of every row that has a positive value in both readings."""
    found = ((orders(row["reproduced"], row["exact"]), row) for row in rows)
    return [Gap(gap, row) for gap, row in found if gap is not None]


def like(printed, value, digits=4):
    """``value`` (decimal string) with ``digits`` significant digits, written the way ``printed`` is.

    Whole numbers keep all their digits; a blank stays blank.
    """
    if not value:
        return ""
    number = Decimal(value)
    if number == 0:
        return "0"
    if number == number.to_integral_value() and "." not in value and "e" not in value.lower():
        return f"{int(number):,}" if "," in printed else str(int(number))
    if "e" in printed.lower() or abs(number) < Decimal("0.001"):
        return f"{number:.{digits - 1}E}"
    # Rounded first, so that 0.99996 becomes 1.000 and not 1.0000; then never an exponent.
    rounded = Decimal(f"{number:.{digits - 1}e}")
    return f"{rounded:.{max(0, digits - 1 - rounded.adjusted())}f}"


def common(rows):
    """The parameters with one and the same value in all ``rows``: name -> value (blank ones left out)."""
    values = {name: {row[name] for row in rows} for name in PARAMETERS}
    return {name: next(iter(found)) for name, found in values.items() if len(found) == 1 and found != {""}}


def small_tables(rows, running=None):
    """Cut the rows of one item into small tables that differ in one parameter from row to row.

    Rows belong together when all parameters but ``running`` agree; a running value that comes back starts a
    new small table (Table IV prints one setting three times). Without ``running`` there is one table.

    Returns a list of dicts: ``heading`` (name -> value: what tells this table apart), ``columns`` (names of
    the parameters that change inside it), ``rows`` and ``tally``.
    """
    shared = common(rows)
    tables = []
    latest = {}
    for row in rows:
        key = tuple(row[name] for name in PARAMETERS if name != running) if running else ()
        table = latest.get(key)
        if table is None or (running and any(row[running] == other[running] for other in table)):
            table = latest[key] = []
            tables.append(table)
        table.append(row)
    return [_small_table(table, shared, running) for table in tables]


def _small_table(rows, shared, running):
    own = {name: value for name, value in common(rows).items() if name not in shared and name != running}
    changing = [name for name in PARAMETERS if name == running or len({row[name] for row in rows}) > 1]
    return {"heading": own, "columns": changing, "rows": rows, "tally": tally(rows)}


def notes(rows):
    """The distinct notes of ``rows``, in order; a note's mark is its place in this list, counted from 1."""
    return list(dict.fromkeys(row["note"] for row in rows if row["note"]))


def png_size(data):
    """Width and height in pixels of a PNG file's bytes; ValueError if they are no PNG file."""
    if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
        raise ValueError("expected a PNG file; draw the figure again")
    return struct.unpack(">II", data[16:24])


def position(quantile):
    """A quantile (decimal string) as percent of a scale from 0 to 1, two decimals; None if blank."""
    return None if not quantile else f"{100 * min(1.0, max(0.0, float(quantile))):.2f}"


def shares(counts):
    """Percent of each positive count, three decimals: list of (verdict, percent text)."""
    total = math.fsum(counts.values())
    return [(verdict, f"{100 * count / total:.3f}") for verdict, count in counts.items() if count]

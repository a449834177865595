"""What the calculator shows, computed: brackets, curves, errors, tables of groups.

A table is a list of rows. A row maps the titles of the columns to the texts of its cells.
"""

import math
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import tightshuffle
from tightshuffle.arguments import Floats, OutsideRange, check_colluding
from tightshuffle.cli.design_command import HEADER, design_cells, remarks
from tightshuffle.cli.layout import delta_text, what_is_left
from tightshuffle.collection import Collection, Group, read_collection
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.methods import LOWER, METHODS, UPPER, Method
from tightshuffle.number_text import plain
from tightshuffle.planning.designs import compare_designs
from tightshuffle.planning.plan import expected_tv_gaussian
from tightshuffle.randomizers import Randomizer, parse
from tightshuffle.randomizers.expected_errors import errors
from tightshuffle.randomizers.matrix_file import read_matrix
from tightshuffle.side import Side

POINTS = 33  # eps at which a curve is computed
LOG10_DELTA_BELOW = -12.0  # a picture shows log10 delta down to here, or further for a deeper dot
MARGIN = 1.2  # a picture reaches beyond its dot by this factor, in eps and in log10 delta
Rows = list[dict[str, str]]  # of a table: column -> text
T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """``n`` users of one randomizer, who report one of ``k`` values in each of the ``rounds``.

    ``randomizer`` is a name, or the object of a matrix, whose own k and eps0 are then repeated here. ``eps0``
    is the local budget of one report. ``colluding`` users reveal their reports to the adversary. A number
    below 1 is a share of the users.
    """

    randomizer: str | Randomizer
    n: int
    k: int
    eps0: float
    rounds: int = 1
    colluding: float = 0

    def arguments(self, method: str) -> dict[str, Any]:
        """The keyword arguments of this setting for `tightshuffle.delta` and `epsilon`, with this ``method``.

        ``method`` is the name of a bound, such as "upper". The caller adds the argument for eps or delta. k
        and eps0 are left out for the object of a matrix, which has its own. The randomizer is left out if the
        method is only for k-RR, and the rounds are left out if the method is only for one.
        """
        arguments: dict[str, Any] = {"method": method, "n": self.n, "colluding": self.colluding}
        if isinstance(self.randomizer, str):
            arguments["k"] = self.k
            arguments["eps0"] = self.eps0
        if METHODS[method].takes_any_randomizer:
            arguments["randomizer"] = self.randomizer
        if METHODS[method].composes:
            arguments["rounds"] = self.rounds
        return arguments

    def randomizer_object(self) -> Randomizer:
        """The randomizer as an object, also if the setting has its name."""
        if isinstance(self.randomizer, str):
            return parse(self.randomizer, k=self.k, eps0=self.eps0)
        return self.randomizer

    def methods(self) -> list[str]:
        """The names of the bounds on delta of all rounds that may apply in this setting.

        With one round these are upper bounds and `lower`. With several rounds, they are those upper bounds
        that compose rounds.
        """
        return [name for name, method in METHODS.items() if self._fits(method)]

    def _fits(self, method: Method) -> bool:
        """Whether the ``method`` bounds delta, and takes this setting's randomizer, rounds, n and eps0."""
        is_bound = method.kind in (UPPER, LOWER)
        takes_randomizer = self.randomizer == "grr" or method.takes_any_randomizer
        takes_rounds = self.rounds == 1 or method.composes
        takes_size = self.n <= method.largest_n and self.eps0 <= method.largest_eps0
        return is_bound and takes_randomizer and takes_rounds and takes_size


def uploaded_matrix(content: bytes) -> Randomizer:
    """The randomizer of a matrix, from the bytes of its file. ValueError names the row that is wrong."""
    return _read_upload(read_matrix, content, "matrix.csv")


def typed_collection(text: str) -> Collection:
    """The collection that the YAML ``text`` describes. ValueError names the key that is wrong."""
    return _read_upload(read_collection, text.encode(), "collection.yaml")


def _read_upload(read: Callable[[str], T], content: bytes, name: str) -> T:
    """What the function ``read`` returns for a file of this ``content``. Its errors call it ``name``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            return read(str(path))
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), name)) from None


def bracket(setting: Setting, log10_delta: float) -> tuple[float, float]:
    """A lower and an upper bound on the eps of all rounds together, at delta = 10^``log10_delta``.

    The reports of every dataset are (eps, delta)-private at the upper bound. Those of some dataset are not at
    any eps below the lower bound. With several rounds of k-RR, the lower bound is that of a collection of one
    group, which considers a dataset that is the same in all rounds. With several rounds of another
    randomizer, it is that of a single round, since all rounds together reveal at least as much.
    """
    high = tightshuffle.epsilon(log10_delta=log10_delta, **setting.arguments("upper"))

    if setting.rounds > 1 and setting.randomizer == "grr":
        hidden_users = setting.n - int(check_colluding(setting.colluding, setting.n))
        group = Group("all", hidden_users, setting.eps0)
        all_rounds = Collection(setting.k, (group,), rounds=setting.rounds)
        return all_rounds.epsilon(log10_delta=log10_delta, bound="lower"), high

    # The method `lower` takes no rounds.
    low = tightshuffle.epsilon(log10_delta=log10_delta, **setting.arguments("lower"))
    return low, high


def curves(setting: Setting, log10_delta: float, eps: float) -> tuple[Floats, dict[str, Floats]]:
    """The curves of a picture with a dot at (``eps``, ``log10_delta``): its eps, and log10 delta by method.

    The first result are `POINTS` eps, evenly spaced from 0. They end where the bound `upper` is at the lower
    end of the picture, or a little beyond the dot. The second result maps the name of each method that
    applies at one of these eps to its log10 delta at all of them, (POINTS,), nan where it does not apply.
    """
    end_of_log10_delta = min(LOG10_DELTA_BELOW, MARGIN * log10_delta)
    end_of_upper = tightshuffle.epsilon(
        log10_delta=end_of_log10_delta, **setting.arguments("upper")
    )
    eps_of_curves = np.linspace(0, max(end_of_upper, MARGIN * eps), POINTS)

    curves_by_method = {}
    for method in setting.methods():
        log10_deltas = _log10_delta_by(method, eps_of_curves, setting)
        if not np.isnan(log10_deltas).all():
            curves_by_method[method] = log10_deltas
    return eps_of_curves, curves_by_method


def method_rows(setting: Setting, eps: float) -> Rows:
    """The rows of a table: delta at this ``eps``, as text, by every method that may apply in the setting.

    The delta of an upper bound is rounded up, and that of a lower bound down. A sentence takes its place if
    the method's theorem does not apply at this eps.
    """
    rows = []
    for method in setting.methods():
        kind = METHODS[method].kind
        log10_delta = float(_log10_delta_by(method, np.array(eps), setting))
        if math.isnan(log10_delta):
            delta = "does not apply here"
        else:
            delta = delta_text(log10_delta, Side.UPPER if kind == UPPER else Side.LOWER)
        rows.append({"method": method, "delta": delta, "kind": kind})
    return rows


def error_rows(setting: Setting, eps: float, log10_delta: float) -> Rows:
    """The rows of a table: expected total variation errors of one round's estimates, for uniform data.

    The error is half the sum of the expected absolute errors of the k estimated shares of users. The first
    row has that of the shuffled reports. The second has that of a trusted curator, who adds Gaussian noise to
    the count of each value. The noise makes all rounds together (eps, 10^``log10_delta``)-private.
    """
    randomizer = setting.randomizer_object()
    k = randomizer.k
    share = 1 / k
    # With a named randomizer all values have the same error, so that one of them is enough.
    shares = share if isinstance(setting.randomizer, str) else np.full(k, share)
    errors_of_shares = errors(randomizer, shares, n=setting.n)
    shuffled = k / 2 * float(np.mean(errors_of_shares))
    rows = [{"estimate": "these reports, shuffled", "error": plain(shuffled, digits=4)}]

    if 0 < eps < math.inf:
        # The counts of all rounds are one query, which is sqrt(rounds) as sensitive as those of one.
        sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(setting.rounds)
        sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))
        gaussian = float(expected_tv_gaussian(setting.n, k, sigma))
        rows.append(
            {"estimate": "a trusted curator's Gaussian noise", "error": plain(gaussian, digits=4)}
        )
    return rows


def group_rows(collection: Collection, log10_delta: float) -> Rows:
    """The rows of a table: for each group, bounds on the eps of all rounds at delta = 10^``log10_delta``.

    The bounds are for a user of the group who takes part in every round. Lower bounds are rounded down and
    upper bounds up. A group of whom not everybody takes part gets a further upper bound, for the case that
    nobody can know who does. The last column is what is left of the guarantee if the shuffler fails.
    """
    rows = []
    for group in collection.groups:
        question: dict[str, Any] = {"log10_delta": log10_delta, "group": group.name}
        low = collection.epsilon(**question, bound="lower")
        high = collection.epsilon(**question, bound="upper")
        row = {
            "group": group.name,
            "users": f"{group.users:,}",
            "at least": plain(low, side=Side.LOWER),
            "at most": plain(high, side=Side.UPPER),
        }
        if group.participation < 1:
            unseen = collection.epsilon(**question, unseen=True)
            row["at most, if nobody can know who takes part"] = plain(unseen, side=Side.UPPER)
        eps_without_shuffler = collection.if_the_shuffler_fails(group.name)
        row["left if the shuffler fails"] = what_is_left(eps_without_shuffler)
        rows.append(row)
    return _with_all_columns(rows)


def _with_all_columns(rows: Rows) -> Rows:
    """The rows, each with every column that any of them has. A cell that was missing is empty.

    The columns are in the order of their first occurrence.
    """
    columns: dict[str, None] = {}
    for row in rows:
        columns.update(dict.fromkeys(row))

    filled_rows = []
    for row in rows:
        filled_rows.append({column: row.get(column, "") for column in columns})
    return filled_rows


def design_rows(n: int, k: float, eps: float, rounds: int, **target: Any) -> tuple[Rows, list[str]]:
    """The rows of a table with every design for a guarantee, the most accurate first, and sentences about it.

    All ``rounds`` of ``n`` users with ``k`` values have the guarantee together. ``target`` are the other
    arguments of `compare_designs`, among them its delta.
    """
    comparison = compare_designs(n, k, eps, rounds=rounds, **target)
    rows = [dict(zip(HEADER, design_cells(design), strict=True)) for design in comparison.designs]
    return rows, remarks(comparison, n, rounds, target["participation"], target["share"])


def _log10_delta_by(method: str, eps: Floats, setting: Setting) -> Floats:
    """log10 delta by the method of this name, in the shape of ``eps``; nan where it does not apply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)  # the nan already says it to the caller
        arguments = setting.arguments(method)
        return np.asarray(tightshuffle.delta(eps, log10=True, **arguments))

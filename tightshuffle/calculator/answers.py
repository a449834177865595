"""What the calculator shows, computed: brackets, curves, errors, tables of groups."""

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
from tightshuffle.cli.design_command import HEADER, remarks, row
from tightshuffle.cli.layout import what_is_left
from tightshuffle.collection import Collection, Group, read_collection
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.methods import LOWER, METHODS, UPPER, Method
from tightshuffle.number_text import e_notation, from_log10, plain
from tightshuffle.planning.designs import compare_designs
from tightshuffle.planning.plan import expected_tv_gaussian
from tightshuffle.randomizers import Randomizer, parse
from tightshuffle.randomizers.expected_errors import errors
from tightshuffle.randomizers.matrix_file import read_matrix
from tightshuffle.side import Side

POINTS = 33  # of a curve
DEEPEST = -12.0  # log10 delta, where a picture ends at the latest
Rows = list[dict[str, str]]
T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """Users who are all alike.

    ``randomizer`` is a name, or a matrix, from which ``k`` and ``eps0`` follow.
    """

    randomizer: str | Randomizer
    n: int
    k: int
    eps0: float
    rounds: int = 1
    colluding: float = 0

    def arguments(self, method: str) -> dict[str, Any]:
        """The keywords of `tightshuffle.delta` and `epsilon` for a method, apart from eps or delta.

        It has the randomizer and the rounds only if the method takes them.
        """
        arguments: dict[str, Any] = {"method": method, "n": self.n, "colluding": self.colluding}
        if isinstance(self.randomizer, str):
            arguments["k"] = self.k
            arguments["eps0"] = self.eps0
        if METHODS[method].randomizers:
            arguments["randomizer"] = self.randomizer
        if METHODS[method].composes:
            arguments["rounds"] = self.rounds
        return arguments

    def made(self) -> Randomizer:
        """The randomizer as an object."""
        if isinstance(self.randomizer, str):
            return parse(self.randomizer, k=self.k, eps0=self.eps0)
        return self.randomizer

    def methods(self) -> list[str]:
        """The upper bounds that this setting has, and the lower bound of one round."""
        return [name for name, method in METHODS.items() if self._has(method)]

    def _has(self, method: Method) -> bool:
        is_bound = method.kind in (UPPER, LOWER)
        takes_randomizer = self.randomizer == "grr" or method.randomizers
        takes_rounds = self.rounds == 1 or method.composes
        takes_size = self.n <= method.largest_n and self.eps0 <= method.largest_eps0
        return is_bound and takes_randomizer and takes_rounds and takes_size


def matrix(content: bytes) -> Randomizer:
    """The randomizer of an uploaded matrix. ValueError names the row that is wrong."""
    return _read_upload(read_matrix, content, "matrix.csv")


def collection(text: str) -> Collection:
    """The collection that the text describes. ValueError names the key that is wrong."""
    return _read_upload(read_collection, text.encode(), "collection.yaml")


def _read_upload(read: Callable[[str], T], content: bytes, name: str) -> T:
    """What ``read`` makes of a file with this content. Its errors call the file ``name``."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            return read(str(path))
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), name)) from None


def bracket(setting: Setting, log10_delta: float) -> tuple[float, float]:
    """Two eps at this delta: some dataset has at least the first, and every dataset at most the second.

    For several rounds of k-RR the first is that of a dataset in all rounds, else of one round alone.
    """
    high = tightshuffle.epsilon(log10_delta=log10_delta, **setting.arguments("upper"))

    if setting.rounds > 1 and setting.randomizer == "grr":
        hidden_users = setting.n - int(check_colluding(setting.colluding, setting.n))
        group = Group("all", hidden_users, setting.eps0)
        all_rounds = Collection(setting.k, (group,), rounds=setting.rounds)
        return all_rounds.epsilon(log10_delta=log10_delta, bound="lower"), high

    # For other randomizers: one of the rounds alone.
    low = tightshuffle.epsilon(log10_delta=log10_delta, **setting.arguments("lower"))
    return low, high


def curves(setting: Setting, log10_delta: float, eps: float) -> tuple[Floats, dict[str, Floats]]:
    """The eps of a picture, and log10 delta there by every method that applies somewhere; all (points,).

    The eps go from 0 to where `upper` is tiny, or a little beyond ``eps``.
    """
    deepest = min(DEEPEST, 1.2 * log10_delta)
    eps_of_deepest = tightshuffle.epsilon(log10_delta=deepest, **setting.arguments("upper"))
    points = np.linspace(0, max(eps_of_deepest, 1.2 * eps), POINTS)
    curves_of_methods = {}
    for name in setting.methods():
        log10_deltas = _log10_delta(name, points, setting)
        if not np.isnan(log10_deltas).all():
            curves_of_methods[name] = log10_deltas
    return points, curves_of_methods


def by_every_method(setting: Setting, eps: float) -> Rows:
    """The rows of a table: delta at this eps by every method. One that does not apply has no number."""
    rows = []
    for name in setting.methods():
        kind = METHODS[name].kind
        log10_delta = float(_log10_delta(name, np.array(eps), setting))
        if math.isnan(log10_delta):
            delta = "does not apply here"
        else:
            delta = written(log10_delta, Side.UPPER if kind == UPPER else Side.LOWER)
        rows.append({"method": name, "delta": delta, "kind": kind})
    return rows


def expected_errors(setting: Setting, eps: float, log10_delta: float) -> Rows:
    """The rows of a table: expected total variation errors of one round, for uniform data.

    They are that of the shuffled reports, and of a trusted curator's Gaussian with this (eps, delta) for all
    rounds.
    """
    randomizer = setting.made()
    k = randomizer.k
    share = 1 / k
    # By name, every value has the same error, so that one is enough. A matrix is asked for all k.
    shares = share if isinstance(setting.randomizer, str) else np.full(k, share)
    shuffled = k / 2 * float(np.mean(errors(randomizer, shares, n=setting.n)))
    rows = [{"estimate": "these reports, shuffled", "error": plain(shuffled, 4)}]

    if 0 < eps < math.inf:
        sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(setting.rounds)
        sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))
        gaussian = float(expected_tv_gaussian(setting.n, k, sigma))
        rows.append({"estimate": "a trusted curator's Gaussian noise", "error": plain(gaussian, 4)})
    return rows


def of_groups(described: Collection, log10_delta: float) -> Rows:
    """The rows of a table: bounds on eps at this delta for every group, for all rounds together."""
    rows = []
    for group in described.groups:
        question: dict[str, Any] = {"log10_delta": log10_delta, "group": group.name}
        low = described.epsilon(**question, bound="lower")
        high = described.epsilon(**question, bound="upper")
        row = {
            "group": group.name,
            "users": f"{group.users:,}",
            "at least": plain(low, side=Side.LOWER),
            "at most": plain(high, side=Side.UPPER),
        }
        if group.participation < 1:
            unseen = described.epsilon(**question, unseen=True)
            row["at most, if nobody can know who takes part"] = plain(unseen, side=Side.UPPER)
        eps_without_shuffler = described.if_the_shuffler_fails(group.name)
        row["left if the shuffler fails"] = what_is_left(eps_without_shuffler)
        rows.append(row)
    return _same_columns(rows)


def _same_columns(rows: Rows) -> Rows:
    """The rows, each with all columns that one of them has, in the order of their first occurrence."""
    names: dict[str, None] = {}
    for record in rows:
        names.update(dict.fromkeys(record))

    filled_rows = []
    for record in rows:
        filled_rows.append({name: record.get(name, "") for name in names})
    return filled_rows


def designs(n: int, k: float, eps: float, rounds: int, **target: Any) -> tuple[Rows, list[str]]:
    """Every design for this guarantee, the most accurate first, and sentences about the table.

    ``target`` are the other arguments of `compare_designs`.
    """
    comparison = compare_designs(n, k, eps, rounds=rounds, **target)
    rows = [dict(zip(HEADER, row(design), strict=True)) for design in comparison.designs]
    return rows, remarks(comparison, n, rounds, target["participation"], target["share"])


def written(log10_delta: float, side: Side) -> str:
    """A delta as text."""
    return e_notation(from_log10(log10_delta), 4, side=side)


def _log10_delta(name: str, eps: Floats, setting: Setting) -> Floats:
    """log10 delta by a method, nan where it does not apply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)  # nan says it in the table
        return np.asarray(tightshuffle.delta(eps, log10=True, **setting.arguments(name)))

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
from tightshuffle import methods
from tightshuffle.arguments import Floats, OutsideRange, check_colluding
from tightshuffle.cli.design_command import HEADER, cautions, row
from tightshuffle.cli.layout import what_is_left
from tightshuffle.collection import Collection, Group, read_collection
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.number_text import e_notation, from_log10, plain
from tightshuffle.planning.designs import compare_designs
from tightshuffle.planning.plan import expected_tv_gaussian
from tightshuffle.randomizers import Randomizer, parse
from tightshuffle.randomizers.expected_errors import errors
from tightshuffle.randomizers.matrix_file import read_matrix

POINTS = 33  # of a curve
DEEPEST = -12.0  # log10 delta, where a picture ends at the latest
Rows = list[dict[str, str]]
T = TypeVar("T")


@dataclass(frozen=True)
class Setting:
    """Users who are all alike. ``randomizer``: a name, or a matrix, from which ``k`` and ``eps0`` follow."""

    randomizer: str | Randomizer
    n: int
    k: int
    eps0: float
    rounds: int = 1
    colluding: float = 0

    def arguments(self, method: str) -> dict[str, Any]:
        """Those of `tightshuffle.delta` and `tightshuffle.epsilon`."""
        given: dict[str, Any] = {"method": method, "n": self.n, "colluding": self.colluding}
        if isinstance(self.randomizer, str):
            given |= {"k": self.k, "eps0": self.eps0}
        if methods.METHODS[method].randomizers:
            given["randomizer"] = self.randomizer
        return given | ({"rounds": self.rounds} if methods.METHODS[method].composes else {})

    def made(self) -> Randomizer:
        """The randomizer as an object."""
        if isinstance(self.randomizer, str):
            return parse(self.randomizer, k=self.k, eps0=self.eps0)
        return self.randomizer

    def methods(self) -> list[str]:
        """The upper bounds that this setting has, and the lower bound of one round."""
        krr = self.randomizer == "grr"
        return [
            name
            for name, method in methods.METHODS.items()
            if method.kind in (methods.UPPER, methods.LOWER)
            and (krr or method.randomizers)
            and (self.rounds == 1 or method.composes)
            and self.n <= method.largest_n
            and self.eps0 <= method.largest_eps0
        ]


def matrix(content: bytes) -> Randomizer:
    """The randomizer of an uploaded matrix; ValueError that names the row that is wrong."""
    return _read(read_matrix, content, "matrix.csv")


def collection(text: str) -> Collection:
    """The collection that the text describes; ValueError that names the key that is wrong."""
    return _read(read_collection, text.encode(), "collection.yaml")


def _read(read: Callable[[str], T], content: bytes, name: str) -> T:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            return read(str(path))
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), name)) from None


def bracket(setting: Setting, log10_delta: float) -> tuple[float, float]:
    """eps at this delta: some dataset has at least the first, every dataset at most the second."""
    high = tightshuffle.epsilon(log10_delta=log10_delta, **setting.arguments("upper"))
    if setting.rounds > 1 and setting.randomizer == "grr":
        hidden = setting.n - int(check_colluding(setting.colluding, setting.n))
        together = Collection(setting.k, (Group("all", hidden, setting.eps0),), rounds=setting.rounds)
        return together.epsilon(log10_delta=log10_delta, bound="lower"), high
    # For other randomizers: one of the rounds alone.
    low = tightshuffle.epsilon(log10_delta=log10_delta, **setting.arguments("lower"))
    return low, high


def curves(setting: Setting, log10_delta: float, eps: float) -> tuple[Floats, dict[str, Floats]]:
    """log10 delta by every method, from eps = 0 to where `upper` is tiny, or a little beyond ``eps``."""
    deepest = min(DEEPEST, 1.2 * log10_delta)
    end = tightshuffle.epsilon(log10_delta=deepest, **setting.arguments("upper"))
    points = np.linspace(0, max(end, 1.2 * eps), POINTS)
    found = {name: _delta(name, points, setting) for name in setting.methods()}
    return points, {name: logs for name, logs in found.items() if not np.isnan(logs).all()}


def by_every_method(setting: Setting, eps: float) -> Rows:
    """delta at this eps; a method that does not apply there has no number."""
    rows = []
    for name in setting.methods():
        method, log10 = methods.METHODS[name], float(_delta(name, np.array(eps), setting))
        shown = "does not apply here" if math.isnan(log10) else written(log10, method.kind == methods.UPPER)
        rows.append({"method": name, "delta": shown, "kind": method.kind})
    return rows


def expected_errors(setting: Setting, eps: float, log10_delta: float) -> Rows:
    """Expected total variation error of one round for uniform data, and of a Gaussian with this guarantee."""
    own = setting.made()
    shares = 1 / own.k if isinstance(setting.randomizer, str) else np.full(own.k, 1 / own.k)
    shuffled = own.k / 2 * float(np.mean(errors(own, shares, n=setting.n)))
    rows = [{"estimate": "these reports, shuffled", "error": plain(shuffled, 4)}]
    if 0 < eps < math.inf:
        sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(setting.rounds)
        sigma = float(exact_scale(eps, log10_delta=log10_delta, sensitivity=sensitivity))
        gaussian = float(expected_tv_gaussian(setting.n, own.k, sigma))
        rows.append({"estimate": "a trusted curator's Gaussian noise", "error": plain(gaussian, 4)})
    return rows


def of_groups(described: Collection, log10_delta: float) -> Rows:
    """eps of every group of a collection, for all rounds together."""
    rows = []
    for group in described.groups:
        asked: dict[str, Any] = {"log10_delta": log10_delta, "group": group.name}
        low, high = (described.epsilon(**asked, bound=bound) for bound in ("lower", "upper"))
        row = {"group": group.name, "users": f"{group.users:,}", "at least": plain(low, round_up=False)}
        row |= {"at most": plain(high, round_up=True)}
        if group.participation < 1:
            unseen = described.epsilon(**asked, unseen=True)
            row["at most, if nobody can know who takes part"] = plain(unseen, round_up=True)
        left = what_is_left(described.if_the_shuffler_fails(group.name))
        rows.append({**row, "left if the shuffler fails": left})
    names = dict.fromkeys(name for row in rows for name in row)
    return [{name: row.get(name, "") for name in names} for row in rows]


def designs(
    n: float, k: float, eps: float, log10_delta: float, rounds: int, colluding: float
) -> tuple[Rows, list[str]]:
    """Every design for this guarantee, the most accurate first; and what to beware of, in sentences."""
    given: dict[str, Any] = {"rounds": rounds, "colluding": colluding}
    compared = compare_designs(n, k, eps, log10_delta=log10_delta, **given)
    rows = [dict(zip(HEADER, row(design, n / k), strict=True)) for design in compared.designs]
    return rows, cautions(compared, rounds)


def written(log10_delta: float, round_up: bool) -> str:
    """A delta as text."""
    return e_notation(from_log10(log10_delta), 4, round_up=round_up)


def _delta(name: str, eps: Floats, setting: Setting) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)  # nan says it in the table
        return np.asarray(tightshuffle.delta(eps, log10=True, **setting.arguments(name)))

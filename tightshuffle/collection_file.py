"""A `Collection` from a YAML or JSON file."""

import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from tightshuffle.arguments import check_installed
from tightshuffle.collection import NESTED, Collection, Dummies, Group

_TEXTS = ("randomizer", "name")
_WHOLE = ("k", "rounds", "users", "number")


def read_collection(path: str) -> Collection:
    """The collection that the file describes; docs/collections.md has the keys.

    YAML needs PyYAML (the extra ``yaml``), a file that ends in .json does not. Raises ValueError that names
    the file and the key that is wrong.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    try:
        return make_collection(_parsed(text, path))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _parsed(text: str, path: str) -> Any:
    if path.endswith(".json"):
        return json.loads(text)
    check_installed("yaml", "yaml")
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def make_collection(described: Any) -> Collection:
    """The collection that a mapping describes, with lists of mappings for ``groups`` and ``then``.

    A collection in ``then`` has the keys of the first one where it does not give its own. Raises ValueError
    naming the key that is wrong.
    """
    given = _checked(described, Collection, "the file")
    later = given.pop("then", [])
    if not isinstance(later, list):
        raise ValueError(f"then must be a list of collections; got {later!r}")
    then = []
    for place, changes in enumerate(later, 1):
        changed = _checked(changes, Collection, f"then, item {place}")
        if "then" in changed:
            raise ValueError(f"then, item {place}: {NESTED}")
        then.append(_one({**{key: value for key, value in given.items() if key != "rounds"}, **changed}))
    return _one(given, tuple(then))


def _one(given: Mapping[str, Any], then: tuple[Collection, ...] = ()) -> Collection:
    if "groups" not in given:
        raise ValueError("groups must be given: a list with name, users and eps0 of each group")
    groups = given["groups"]
    if not isinstance(groups, list):
        raise ValueError(f"groups must be a list; got {groups!r}")
    made = []
    for place, about in enumerate(groups, 1):
        group = _checked(about, Group, f"groups, item {place}")
        group["name"] = str(group.get("name", f"group {place}"))
        if "users" not in group:
            raise ValueError(f"group {group['name']!r}: users must be given")
        made.append(Group(**_numbers(group, f"group {group['name']!r}")))
    dummies = _numbers(_checked(given.get("dummies", {}), Dummies, "dummies"), "dummies")
    plain = _numbers({key: given[key] for key in ("randomizer", "k", "rounds") if key in given}, "")
    return Collection(**{"k": None, **plain}, groups=tuple(made), dummies=Dummies(**dummies), then=then)


def _checked(described: Any, kind: Any, where: str) -> dict[str, Any]:
    """A copy of the mapping; ValueError for anything else and for unknown keys."""
    known = [one.name for one in fields(kind) if not one.name.startswith("_")]
    if not isinstance(described, Mapping):
        raise ValueError(f"{where} must have keys, such as {known[0]} and {known[1]}; got {described!r}")
    for key in described:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; the keys are {', '.join(known)}"
            raise ValueError(f"{where}: unknown key {key!r}{hint}")
    return dict(described)


def _numbers(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values as numbers, and names as text: YAML reads 1e6 as text, and 2024 as a number."""
    return {key: str(value) if key in _TEXTS else _number(key, value, where) for key, value in given.items()}


def _number(key: str, value: Any, where: str) -> Any:
    prefix = f"{where}: " if where else ""
    try:
        if isinstance(value, bool):
            raise ValueError
        number = float(str(value).replace("_", ""))
    except ValueError:
        raise ValueError(f"{prefix}{key} must be a number; got {value!r}") from None
    if math.isnan(number) or (key in _WHOLE and not number.is_integer()):
        raise ValueError(
            f"{prefix}{key} must be {'a whole number' if key in _WHOLE else 'a number'}; got {value!r}"
        )
    return int(number) if key in _WHOLE else number

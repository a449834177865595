"""A `Collection` from a YAML or JSON file."""

import difflib
import json
import math
import reprlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from tightshuffle.arguments import check_installed, check_path
from tightshuffle.collection.collection import Collection
from tightshuffle.collection.data import NESTED, Dummies, Group

_TEXTS = ("randomizer", "name", "release")
_WHOLE = ("k", "rounds", "users", "number")
_MOST_CHARACTERS = 1_000_000


def read_collection(path: str) -> Collection:
    """The collection that the file describes; docs/collections.md has the keys.

    YAML needs PyYAML (the extra ``yaml``), a file that ends in .json does not. Raises ValueError that names
    the file and the key that is wrong.
    """
    path = check_path("path", path)
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(_MOST_CHARACTERS + 1)
        if len(text) > _MOST_CHARACTERS:
            raise ValueError(f"{path}: must have at most {_MOST_CHARACTERS:,} characters")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {getattr(error, 'strerror', None) or 'not a text file'}") from None
    try:
        json_ = path.endswith(".json")
        return make_collection(json.loads(text, object_pairs_hook=_once) if json_ else _of_yaml(text))
    except RecursionError:
        raise ValueError(f"{path}: lists and keys are nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _of_yaml(text: str) -> Any:
    """The lists, mappings and texts in ``text``: every scalar is a text, so 010 is ten and 1:30 no number."""
    check_installed("yaml", "yaml")
    import yaml

    class Reader(yaml.BaseLoader):  # type: ignore[misc]  # PyYAML has no type hints
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            return _once(self.construct_pairs(node, deep=True))

    try:
        return yaml.load(text, Reader)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def _once(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """The mapping with these keys and values; ValueError for a key that is given twice, or is no text."""
    mapping: dict[Any, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str):
            raise ValueError(f"keys must be words; got {reprlib.repr(key)}")
        if key in mapping:
            raise ValueError(f"key {key!r} is given twice; keep one of them")
        mapping[key] = value
    return mapping


def make_collection(described: Any) -> Collection:
    """The collection that a mapping describes, with lists of mappings for ``groups`` and ``then``.

    A collection in ``then`` has the keys of the first one where it does not give its own. Raises ValueError
    naming the key that is wrong.
    """
    given = _checked(described, Collection, "the file")
    later = given.pop("then", [])
    if not isinstance(later, list):
        raise ValueError(f"then must be a list of collections; got {reprlib.repr(later)}")
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
        raise ValueError(f"groups must be a list; got {reprlib.repr(groups)}")
    made = []
    for place, about in enumerate(groups, 1):
        group = _checked(about, Group, f"groups, item {place}")
        group["name"] = _text(f"groups, item {place}: name", group.get("name", f"group {place}"))
        if "users" not in group:
            raise ValueError(f"group {group['name']!r}: users must be given")
        made.append(Group(**_numbers(group, f"group {group['name']!r}")))
    dummies = _numbers(_checked(given.get("dummies", {}), Dummies, "dummies"), "dummies")
    plain = _numbers(
        {key: given[key] for key in ("randomizer", "k", "rounds", "release", "deletion") if key in given}, ""
    )
    return Collection(**{"k": None, **plain}, groups=tuple(made), dummies=Dummies(**dummies), then=then)


def _checked(described: Any, kind: Any, where: str) -> dict[str, Any]:
    """A copy of the mapping; ValueError for anything else and for unknown keys."""
    known = [one.name for one in fields(kind) if not one.name.startswith("_")]
    if not isinstance(described, Mapping):
        raise ValueError(
            f"{where} must have keys, such as {known[0]} and {known[1]}; got {reprlib.repr(described)}"
        )
    for key in described:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; the keys are {', '.join(known)}"
            raise ValueError(f"{where}: unknown key {reprlib.repr(key)}{hint}")
    return dict(described)


def _numbers(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The values as numbers, and names as text."""
    prefix = f"{where}: " if where else ""
    return {
        key: _text(prefix + key, value)
        if key in _TEXTS
        else _yes_or_no(prefix + key, value)
        if key == "deletion"
        else _number(prefix + key, value, key in _WHOLE)
        for key, value in given.items()
    }


def _yes_or_no(name: str, value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"{name} must be true or false; got {reprlib.repr(value)}")
    return str(value).lower() == "true"


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name} must be a text; got {reprlib.repr(value)}")
    return str(value)


def _number(name: str, value: Any, whole: bool) -> Any:
    wanted = "a whole number" if whole else "a number"
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        number = float({".inf": "inf", "+.inf": "inf"}.get(str(value).lower(), str(value).replace("_", "")))
        if math.isnan(number) or (whole and not number.is_integer()):
            raise ValueError
    except (ValueError, OverflowError):
        raise ValueError(f"{name} must be {wanted}; got {reprlib.repr(value)}") from None
    return int(number) if whole else number

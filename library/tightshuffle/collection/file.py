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
from tightshuffle.collection.setup import NESTED, Dummies, Group

_TEXT_KEYS = ("randomizer", "name", "release", "neighbours", "law")
_WHOLE_KEYS = ("k", "rounds", "users", "number")
_MOST_CHARACTERS = 1_000_000  # of a file
_INFINITIES = (".inf", "+.inf")  # as YAML writes them


def read_collection(path: str) -> Collection:
    """The collection that the file describes; docs/collections.md has the keys.

    A file whose name ends in .json is read as JSON, any other one as YAML, which needs PyYAML (the extra
    ``yaml``). Raises ValueError that names the file and the key that is wrong.
    """
    path = check_path("path", path)
    text = _read_text(path)
    try:
        if path.endswith(".json"):
            return make_collection(json.loads(text, object_pairs_hook=_mapping_of_unique_keys))
        return make_collection(_parse_yaml(text))
    except RecursionError:
        raise ValueError(f"{path}: lists and keys are nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _read_text(path: str) -> str:
    """The text of the file. ValueError if it cannot be read, is no text or is too long."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read(_MOST_CHARACTERS + 1)
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file") from None
    except OSError as error:
        reason = error.strerror or "not a text file"
        raise ValueError(f"{path}: {reason}") from None
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"{path}: must have at most {_MOST_CHARACTERS:,} characters")
    return text


def _parse_yaml(text: str) -> Any:
    """The lists, mappings and texts that ``text``, a YAML file, has; every scalar is a text.

    YAML itself would read 010 as eight and 1:30 as a number. ValueError for a text that is not YAML.
    """
    check_installed("yaml", "yaml")
    import yaml

    class Reader(yaml.BaseLoader):  # type: ignore[misc]  # PyYAML has no type hints
        def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
            return _mapping_of_unique_keys(self.construct_pairs(node, deep=True))

    try:
        return yaml.load(text, Reader)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def _mapping_of_unique_keys(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """The mapping with these keys and values. ValueError for a key that is given twice, or is no text."""
    mapping: dict[Any, Any] = {}
    for key, value in pairs:
        if not isinstance(key, str):
            raise ValueError(f"keys must be words; got {reprlib.repr(key)}")
        if key in mapping:
            raise ValueError(f"key {key!r} is given twice; keep one of them")
        mapping[key] = value
    return mapping


def make_collection(described: Any) -> Collection:
    """The collection that a mapping describes, with lists of mappings for the keys ``groups`` and ``then``.

    A collection in ``then`` has the keys of the first one where it does not give its own. Raises ValueError
    naming the key that is wrong.
    """
    first = _mapping_of_fields(described, Collection, "the file")
    descriptions_of_later = first.pop("then", [])
    if not isinstance(descriptions_of_later, list):
        raise ValueError(
            f"then must be a list of collections; got {reprlib.repr(descriptions_of_later)}"
        )

    then = []
    for number, description in enumerate(descriptions_of_later, 1):
        changes = _mapping_of_fields(description, Collection, f"then, item {number}")
        if "then" in changes:
            raise ValueError(f"then, item {number}: {NESTED}")
        later = first.copy()
        later.pop("rounds", None)
        later.update(changes)
        then.append(_make_stage(later))
    return _make_stage(first, tuple(then))


def _make_stage(settings: Mapping[str, Any], then: tuple[Collection, ...] = ()) -> Collection:
    """The collection with these ``settings`` of a file, by key, and the collections ``then`` after it.

    ``settings`` must have the key ``groups``. A missing key has the default of `Collection`, but k, which has
    none there, is None. ValueError names a bad key.
    """
    if "groups" not in settings:
        raise ValueError("groups must be given: a list with name, users and eps0 of each group")
    descriptions = settings["groups"]
    if not isinstance(descriptions, list):
        raise ValueError(f"groups must be a list; got {reprlib.repr(descriptions)}")
    groups = [
        _make_group(number, description) for number, description in enumerate(descriptions, 1)
    ]

    dummies = _mapping_of_fields(settings.get("dummies", {}), Dummies, "dummies")
    dummies = _parse_scalars(dummies, "dummies: ")
    scalars: dict[str, Any] = {"k": None}
    for key in ("randomizer", "k", "rounds", "release", "neighbours"):
        if key in settings:
            scalars[key] = _parse_scalar(key, settings[key], key)
    return Collection(**scalars, groups=tuple(groups), dummies=Dummies(**dummies), then=then)


def _make_group(number: int, description: Any) -> Group:
    """The group that ``description``, item ``number`` of the list under ``groups``, describes."""
    where = f"groups, item {number}"
    settings = _mapping_of_fields(description, Group, where)
    settings["name"] = _parse_text(f"{where}: name", settings.get("name", f"group {number}"))
    prefix = f"group {settings['name']!r}: "
    if "users" not in settings:
        raise ValueError(f"{prefix}users must be given")
    return Group(**_parse_scalars(settings, prefix))


def _mapping_of_fields(described: Any, kind: Any, where: str) -> dict[str, Any]:
    """A copy of the mapping ``described``. ValueError, which says ``where``, for anything else.

    Its keys must be fields of the dataclass ``kind``. For an unknown key the error names the closest field.
    """
    field_names = [field.name for field in fields(kind) if not field.name.startswith("_")]
    if not isinstance(described, Mapping):
        raise ValueError(
            f"{where} must have keys, such as {field_names[0]} and {field_names[1]};"
            f" got {reprlib.repr(described)}"
        )
    for key in described:
        if key not in field_names:
            close_matches = difflib.get_close_matches(str(key), field_names, 1)
            hint = f"the keys are {', '.join(field_names)}"
            if close_matches:
                hint = f"did you mean {close_matches[0]}?"
            raise ValueError(f"{where}: unknown key {reprlib.repr(key)}; {hint}")
    return dict(described)


def _parse_scalars(texts: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The values of these keys, as `_parse_scalar` reads them. An error calls each ``prefix`` and its key."""
    return {key: _parse_scalar(key, text, prefix + key) for key, text in texts.items()}


def _parse_scalar(key: str, text: Any, name: str) -> Any:
    """The value of ``key``: a text or a number, as the key needs. An error calls it ``name``."""
    if key in _TEXT_KEYS:
        return _parse_text(name, text)
    return _parse_number(name, text, whole=key in _WHOLE_KEYS)


def _parse_text(name: str, text: Any) -> str:
    """A text or number of the file as text. ValueError, which calls it ``name``, for anything else."""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise ValueError(f"{name} must be a text; got {reprlib.repr(text)}")
    return str(text)


def _parse_number(name: str, text: Any, *, whole: bool) -> Any:
    """The number that ``text`` stands for: an int if it has to be ``whole``, else a float.

    A file's text may be a number already. ValueError for anything else, which calls it ``name``.
    """
    kind = "a whole number" if whole else "a number"
    try:
        word = _parse_text(name, text).lower()
        number = math.inf if word in _INFINITIES else float(word.replace("_", ""))
        if math.isnan(number) or (whole and not number.is_integer()):
            raise ValueError  # with the text below, as for a word that is no number
    except (ValueError, OverflowError):
        raise ValueError(f"{name} must be {kind}; got {reprlib.repr(text)}") from None
    return int(number) if whole else number

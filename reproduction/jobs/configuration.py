"""What is wrong with a configuration, in one line that names the key and what it may be.

    python -m reproduction.jobs.configuration config/mine.yaml

checks a file before Snakemake reads it, and prints the folder of its results. Snakemake would run the code in
a stranger's file; here nothing in it is run.
"""

import contextlib
import csv
import difflib
import functools
import hashlib
import json
import math
import os
import re
import reprlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from reproduction.jobs.code import ROOT

PAPERS = ROOT / "config/config.yaml"
SCHEMA = ROOT / "workflow/schemas/config.schema.yaml"
TAKEN = {  # the folders in results/
    "article", "audit", "bench", "benchmarks", "checkins", "estimates", "figures", "histograms", "logs",
    "parity", "privacy", "report", "site", "study", "tables", "trials",
}  # fmt: skip
JUDGED = ("gowalla", "datasets", "protocol", "parity", "delta_surface")  # what the papers' verdicts rest on,
UNJUDGED = {  # but for these keys in it
    "source", "bad_rows_at_most", "download", "title", "figures", "bootstrap", "confidence", "plan",
}  # fmt: skip
DELIVERED = "206d6c5cd3fd2c1d"  # `fingerprint` of what is `judged` in config/config.yaml
MOST_CELLS = 1_000_000
MOST_VALUES = 20_000_000  # parity's repetitions x cells: a job holds a few arrays of this size


def check(config: Mapping[str, Any], files: Iterable[str | os.PathLike[str]] = ()) -> None:
    """ValueError, in one line, for the first mistake in ``files`` or in ``config``, their settings."""
    for path in files:
        read(path)
    if problem := config_error(config) or _missing_file(config):
        raise ValueError(problem)


def config_error(config: Mapping[str, Any]) -> str | None:
    """The first thing wrong with the settings themselves, as one line, or None."""
    if error := best_match(_validator().iter_errors(config)):
        return _one_line(_explain(error))
    return _not_finite(config) or _contradiction(config)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings of a configuration file (YAML or JSON). Nothing in it is run.

    Raises ValueError, one line with file and line, for what is no plain YAML, a key that is there twice (YAML
    would silently keep the last one), and a template: Snakemake runs the Python in a file that says
    ``__use_yte__``.
    """
    try:
        settings = yaml.load(Path(path).read_text(encoding="utf-8-sig"), _Strict)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", "no text")
        if not isinstance(error, _Refused):
            problem = f"not valid YAML: {problem}"
        raise ValueError(_one_line(f"{path}{where}: {problem}")) from None
    if not isinstance(settings, dict | None):
        raise ValueError(f"{path}: must be a mapping (key: value) at its top")
    return settings or {}


class _Refused(yaml.MarkedYAMLError):  # type: ignore[misc]  # PyYAML has no type hints
    pass


# Every start of Snakemake reads several files, and libyaml does it five times as fast; not all have it.
_Reader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Strict(yaml.composer.Composer, _Reader):  # type: ignore[misc]
    def __init__(self, text: str) -> None:
        _Reader.__init__(self, text)
        yaml.composer.Composer.__init__(self)

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key in [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
            problem = None
            if key.value == "__use_yte__":
                problem = "'__use_yte__' makes a config a program; remove it"
            if key.value in lines:
                problem = f"the key {key.value!r} is in line {lines[key.value]} already; keep one of them"
            if problem:
                raise _Refused(problem=problem, problem_mark=key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return node


def merge(config: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """``config`` with ``overlay`` over it, as Snakemake merges: mappings key by key, all else is replaced."""
    merged = dict(config)
    for key, value in overlay.items():
        nested = isinstance(value, dict) and isinstance(config.get(key), dict)
        merged[key] = merge(config[key], value) if nested else value
    return merged


def merged(files: Iterable[str | os.PathLike[str]]) -> dict[str, Any]:
    """The settings of several files, the later ones over the earlier ones; errors as `read`."""
    config: dict[str, Any] = functools.reduce(merge, [read(path) for path in files], {})
    leave_out(config)
    return config


def leave_out(config: dict[str, Any]) -> None:
    """Remove, in place, those of the papers' datasets that an overlay sets to null (``paris: null``)."""
    if isinstance(datasets := config.get("datasets"), dict):
        papers = read(PAPERS)["datasets"]
        left_out = [name for name in papers if name in datasets and datasets[name] is None]
        for name in left_out:
            del datasets[name]


def overlays(files: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files over config/config.yaml, named from here: a moved folder is the same folder."""
    return [os.path.relpath(path) for path in files if Path(path).resolve() != PAPERS]


def of_the_papers(datasets: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the datasets that config/config.yaml has: all that the papers' statements can be about."""
    papers = read(PAPERS)["datasets"]
    return {name: dataset for name, dataset in datasets.items() if name in papers}


def differences(config: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(key, its value in config/config.yaml, its value in ``config``) of what makes it another experiment.

    These are the keys of `JUDGED` that differ: with them no result of the run is a verdict on the papers.
    Your own datasets are none of the papers', and more of your own about one of theirs changes no verdict.
    If config/config.yaml itself has been edited, it is the first key.
    """
    papers = judged(read(PAPERS))
    found = [] if fingerprint(papers) == DELIVERED else [("config/config.yaml", "as delivered", "edited")]
    return [*found, *_differences(papers, config, "")]


def judged(config: Mapping[str, Any]) -> dict[str, Any]:
    """Those settings that the verdicts on the papers rest on."""

    def part(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: part(inner) for name, inner in value.items() if name not in UNJUDGED}

    return {name: part(config[name]) for name in JUDGED}


def fingerprint(settings: Mapping[str, Any]) -> str:
    """The same for the same settings, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def _differences(papers: Any, ours: Any, key: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(papers, dict) and isinstance(ours, dict):
        for name in papers:
            yield from _differences(papers[name], ours.get(name), _join(key, name))
    elif papers != ours:
        yield key, _plain(papers), _plain(ours)


def _plain(value: Any) -> str:
    """A value as one line of text."""
    if value is None or isinstance(value, dict):
        return "there" if value else "left out"
    return json.dumps(value, ensure_ascii=False).replace('"', "")


def results_folder(config: Mapping[str, Any], over: Iterable[str | os.PathLike[str]]) -> str:
    """Where the results of a configuration go: a folder of its own for all but the papers' experiments.

    ``results`` for config/config.yaml alone; ``results/quick`` with config/quick.yaml over it;
    ``results/custom`` with settings from the command line, ``results/quick_custom`` with both.

    Parameters: ``config``, the settings of the run; ``over``, the files over config/config.yaml.
    Raises ValueError if the folder is taken.
    """
    paths = [Path(path) for path in over]
    names = [re.sub(r"[^\w.-]", "_", path.stem) for path in paths]
    if merged([PAPERS, *paths]) != config:
        names.append("custom")
    name = "_".join(names)
    if name in TAKEN:
        raise ValueError(
            f"{paths[0]}: its results would go to results/{name}, which is taken: give it another name"
        )
    return f"results/{name}" if name else "results"


@functools.cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(yaml.load(SCHEMA.read_text(encoding="utf-8"), _Reader))


def _one_line(text: str) -> str:
    """Control characters from the user's text as escapes, so that they cannot break or forge lines."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda match: repr(match[0])[1:-1], text)


def _not_finite(value: object, path: tuple[str | int, ...] = ()) -> str | None:
    if isinstance(value, float) and not math.isfinite(value):
        return f"config: {_dotted(path)} must be a finite number; got {value}"
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return next((problem for key, part in parts if (problem := _not_finite(part, (*path, key)))), None)


def _explain(error: ValidationError) -> str:
    key = _dotted(error.absolute_path)
    if "propertyNames" in error.absolute_schema_path:
        key = f"a name in {key}"
    value, wanted = error.instance, error.validator_value
    match error.validator:
        case "additionalProperties":
            allowed = sorted(error.schema["properties"])
            unknown = sorted(set(value) - set(allowed))[0]
            near = difflib.get_close_matches(str(unknown), allowed, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            return f"config: unknown key {_join(key, unknown)!r}{hint} Allowed: {', '.join(allowed)}"
        case "required":
            missing = next(name for name in wanted if name not in value)
            return f"config: the key {_join(key, missing)!r} is missing"
        case "enum":
            problem = f"must be one of: {', '.join(map(str, wanted))}"
        case "type":
            problem = f"must be {_ARTICLE.get(wanted, wanted)}"
        case "minimum":
            problem = f"must be at least {wanted}"
        case "maximum":
            problem = f"must be at most {wanted}"
        case "exclusiveMinimum":
            problem = f"must be greater than {wanted}"
        case "exclusiveMaximum":
            problem = f"must be less than {wanted}"
        case "anyOf" | "const":
            problem = "must be a whole number >= 1, or all"
        case "pattern":
            problem = f"must be {error.schema['description']}"
        case "uniqueItems":
            problem = "must not name anything twice"
        case "minItems" | "minProperties" | "minLength":
            problem = f"must have at least {wanted} entries"
        case "maxItems" | "maxLength":
            problem = f"must have at most {wanted} entries"
        case _:
            problem = error.message
    hint = ""
    if error.validator == "type" and wanted in ("number", "integer") and _is_number(value):
        hint = " (it is text: write it without quotes, 1e-30 as 1.0e-30, and in a file, not in --config)"
    return f"config: {key or 'the file'!s} {problem}; got {_SHORT.repr(value)}{hint}"


_SHORT = reprlib.Repr()  # a mistake may be megabytes long
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_ARTICLE = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "object": "a mapping (key: value)",
    "array": "a list",
}


def _missing_file(config: Mapping[str, Any]) -> str | None:
    """A file of the user, or a city's bundled counts, that is not there."""
    gowalla = config["gowalla"]
    for name, dataset in config["datasets"].items():
        if dataset["kind"] == "counts" and not Path(dataset["file"]).is_file():
            return f"datasets.{name}.file: no file {dataset['file']!r}; expected a CSV file with cell,count"
        bundled = dataset["kind"] == "gowalla" and gowalla["source"] == "bundled"
        if bundled and not (ROOT / f"data/gowalla/{name}_counts.csv").is_file():
            return f"datasets.{name}: no bundled counts; set gowalla.source to snap or file"
    if gowalla["source"] == "file" and not Path(gowalla["file"]).is_file():
        return f"gowalla.file: no file {gowalla['file']!r}; expected check-ins in SNAP's format"
    return _too_many_users(config)


def _too_many_users(config: Mapping[str, Any]) -> str | None:
    """An n above the number of users in a file of counts; what is wrong with the file itself its job says."""
    for name, dataset in config["datasets"].items():
        path = Path(dataset.get("file", ROOT / f"data/gowalla/{name}_counts.csv"))
        bundled = dataset["kind"] == "gowalla" and config["gowalla"]["source"] == "bundled"
        if bundled or dataset["kind"] == "counts":
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, csv.Error):
                with path.open(encoding="utf-8-sig", newline="") as file:
                    rows = csv.DictReader(file)
                    rows.fieldnames = [field.strip().lower() for field in rows.fieldnames or ()]
                    users = sum(int(row["count"]) for row in rows)
                if users and (problem := _above(dataset, users)):
                    return f"datasets.{name}.{problem}"
    return None


def _above(dataset: Mapping[str, Any], population: int) -> str | None:
    """The first n of a dataset's experiments that is above its number of users."""
    for experiment in ("tv", "estimates", "individual", "grid"):
        users = dataset.get(experiment, {}).get("n", [])
        for n in users if isinstance(users, list) else [users]:
            if n != "all" and n > population:
                return f"{experiment}.n must be at most the population ({population}); got {n}"
    return None


def _contradiction(config: Mapping[str, Any]) -> str | None:
    """What a schema cannot say: values that do not fit each other."""
    gowalla = config["gowalla"]
    if gowalla["source"] == "file" and not gowalla["file"]:
        return "config: gowalla.source is 'file', so gowalla.file must name a file in SNAP's format; got ''"
    for line in (*_counts_against_users(config), *_axes(config)):
        return f"config: {line}"
    if problem := _audit_contradiction(config["audit"]):
        return f"config: audit.settings{problem}"
    cities = [name for name, dataset in config["datasets"].items() if dataset["kind"] == "gowalla"]
    if (city := config["study"]["grids"]["city"]) not in cities:
        named = ", ".join(cities) or "none"
        return f"config: study.grids.city must be one of the cities in datasets ({named}); got {city!r}"
    if not of_the_papers(config["datasets"]):
        return "config: datasets must keep one of the papers' datasets: synthetic needs no file"
    for name, dataset in config["datasets"].items():
        if dataset["kind"] == "gowalla" and gowalla["grid"] not in dataset:
            return f"config: the key 'datasets.{name}.{gowalla['grid']}' is missing; gowalla.grid asks for it"
        if problem := _dataset_contradiction(dataset, config["parity"]["repetitions"]):
            return f"config: datasets.{name}.{problem}"
    return None


def _audit_contradiction(audit: Mapping[str, Any]) -> str | None:
    met: dict[tuple[float, ...], int] = {}
    for number, setting in enumerate(audit["settings"]):
        if setting["count"] >= setting["n"]:
            return f"[{number}].count must be less than n ({setting['n']}); got {setting['count']}"
        if setting["k"] == 2 and audit["remaining"] == "x2":
            return f"[{number}].k must be at least 3 with audit.remaining x2, a third cell; got 2"
        first = met.setdefault(tuple(setting[name] for name in ("n", "k", "eps0", "count")), number)
        if first != number:
            return f"[{number}] repeats [{first}]: n, k, eps0 and count must differ; give it all runs at once"
    return None


def _counts_against_users(config: Mapping[str, Any]) -> Iterator[str]:
    counted = {"delta_surface": config["delta_surface"]}
    counted |= {
        f"delta_bounds.settings[{i}]": setting for i, setting in enumerate(config["delta_bounds"]["settings"])
    }
    for key, setting in counted.items():
        if setting["count"] >= setting["n"]:
            yield f"{key}.count must be less than {key}.n ({setting['n']}); got {setting['count']}"


def _axes(config: Mapping[str, Any]) -> Iterator[str]:
    """Every axis (a mapping with start and stop) rises, except the one that falls on purpose."""
    for key, axis in _mappings(config):
        falls = key == "gaussian_scale.log10_delta"
        if {"start", "stop"} <= axis.keys() and (
            axis["start"] <= axis["stop"] if falls else axis["start"] >= axis["stop"]
        ):
            wanted = "greater" if falls else "less"
            yield f"{key}.start must be {wanted} than stop ({axis['stop']}); got {axis['start']}"
    for i, setting in enumerate(config["delta_bounds"]["settings"]):
        if setting["eps"]["stop"] >= setting["eps0"]:
            key = f"delta_bounds.settings[{i}]"
            stop, eps0 = setting["eps"]["stop"], setting["eps0"]
            yield f"{key}.eps.stop must be less than {key}.eps0 ({eps0}); got {stop}"


def _mappings(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(dotted key, mapping) of every mapping in a configuration."""
    if isinstance(value, dict):
        yield _dotted(path), value
        for key, part in value.items():
            yield from _mappings(part, (*path, key))


def _dataset_contradiction(dataset: Mapping[str, Any], repetitions: int) -> str | None:
    if box := dataset.get("box"):
        for low, high in (("south", "north"), ("west", "east")):
            if box[low] >= box[high]:
                return f"box.{low} must be less than box.{high} ({box[high]}); got {box[low]}"
    if dataset["kind"] == "gowalla" and (problem := _grid_contradiction(dataset)):
        return problem
    if (limits := dataset.get("range")) and limits[0] >= limits[1]:
        return f"range must be [low, high] with low < high; got {limits}"
    if (grid := dataset.get("grid")) and min(grid["eps"]) > max(grid["eps0"]):
        return f"grid.eps: none is at most the largest eps0 ({max(grid['eps0'])}); got {grid['eps']}"
    cells = dataset.get("cells", MOST_CELLS)
    if dataset["kind"] == "gowalla":
        cells = _cells(dataset)["uniform"]
    asked = dataset.get("individual", {}).get("cells", [])
    if dataset["kind"] != "counts" and max(asked, default=0) > cells:
        return f"individual.cells must be at most the number of cells ({cells}); got {max(asked)}"
    if "tv" in dataset and dataset["kind"] != "counts" and repetitions * cells > MOST_VALUES:
        return (
            f"cells ({cells:,}) times parity.repetitions ({repetitions:,}) must be at most {MOST_VALUES:,}, "
            "or memory runs out: take fewer of either"
        )
    if population := dataset.get("population"):
        return _above(dataset, population)
    return None


def _cells(dataset: Mapping[str, Any]) -> dict[str, float]:
    """Number of cells of each kind of grid that a city has."""
    box, uniform, stepped = dataset["box"], dataset["uniform"], dataset.get("stepped")
    cells = {"uniform": uniform["columns"] * uniform["rows"]}
    if stepped:
        across = (box["north"] - box["south"]) / stepped["latitude_step"]
        cells["stepped"] = across * (box["east"] - box["west"]) / stepped["longitude_step"]
    return cells


def _grid_contradiction(dataset: Mapping[str, Any]) -> str | None:
    for name, cells in _cells(dataset).items():
        if not 2 <= cells <= MOST_CELLS:
            return f"{name} must cut the box into 2 to {MOST_CELLS:,} cells; got {cells:,.0f}"
    return None


def _dotted(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text = f"{text}[{part}]" if isinstance(part, int) else _join(text, part)
    return text


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else str(name)


def _is_number(text: object) -> bool:
    try:
        float(str(text))
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    try:
        settings = merged([PAPERS, *sys.argv[1:]])
        check(settings)
        print(results_folder(settings, overlays(sys.argv[1:])))
    except IsADirectoryError as error:
        sys.exit(f"error: {error.filename}: a folder; name a file in it, such as config/quick.yaml")
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")

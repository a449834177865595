"""What is wrong with a configuration, in one line that names the key and what it may be."""

import difflib

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match


def config_error(config, schema):
    """The first thing wrong with ``config``, as one line, or None.

    Parameters: ``config`` and ``schema`` (JSON Schema, draft 2020-12), nested dicts and lists.
    """
    error = best_match(Draft202012Validator(schema).iter_errors(config))
    return _explain(error) if error else _contradiction(config)


def _explain(error):
    key = _dotted(error.absolute_path)
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
            problem = f"must match {wanted}"
        case "uniqueItems":
            problem = "must not name anything twice"
        case "minItems" | "minProperties" | "minLength":
            problem = f"must have at least {wanted} entries"
        case "maxItems" | "maxLength":
            problem = f"must have at most {wanted} entries"
        case _:
            problem = error.message
    hint = ""
    if error.validator == "type" and wanted == "number" and isinstance(value, str) and _is_number(value):
        hint = " (YAML reads it as text; write 1.0e-30 with a dot, and no quotes)"
    return f"config: {key or 'the file'!s} {problem}; got {value!r}{hint}"


_ARTICLE = {
    "integer": "a whole number",
    "number": "a number",
    "string": "text",
    "object": "a mapping (key: value)",
    "array": "a list",
}


def _contradiction(config):
    """What a schema cannot say: values that do not fit each other."""
    gowalla = config["gowalla"]
    if gowalla["source"] == "file" and not gowalla["file"]:
        return "config: gowalla.source is 'file', so gowalla.file must name a file in SNAP's format; got ''"
    surface = config["delta_surface"]
    if surface["count"] >= surface["n"]:
        return (
            f"config: delta_surface.count must be less than delta_surface.n ({surface['n']}); "
            f"got {surface['count']}"
        )
    for name in ("eps", "eps0"):
        axis = surface[name]
        if axis["start"] >= axis["stop"]:
            return (
                f"config: delta_surface.{name}.start must be less than stop ({axis['stop']}); "
                f"got {axis['start']}"
            )
    if problem := _audit_contradiction(config["audit"]):
        return f"config: audit.settings{problem}"
    for name, dataset in config["datasets"].items():
        if problem := _dataset_contradiction(dataset):
            return f"config: datasets.{name}.{problem}"
    return None


def _audit_contradiction(audit):
    met = {}
    for number, setting in enumerate(audit["settings"]):
        if setting["count"] >= setting["n"]:
            return f"[{number}].count must be less than n ({setting['n']}); got {setting['count']}"
        if setting["k"] == 2 and audit["rest"] == "x2":
            return f"[{number}].k must be at least 3 with audit.rest x2, a third cell; got 2"
        first = met.setdefault(tuple(setting[name] for name in ("n", "k", "eps0", "count")), number)
        if first != number:
            return f"[{number}] repeats [{first}]: n, k, eps0 and count must differ; give it all runs at once"
    return None


def _dataset_contradiction(dataset):
    if box := dataset.get("box"):
        for low, high in (("south", "north"), ("west", "east")):
            if box[low] >= box[high]:
                return f"box.{low} must be less than box.{high} ({box[high]}); got {box[low]}"
    if (limits := dataset.get("range")) and limits[0] >= limits[1]:
        return f"range must be [low, high] with low < high; got {limits}"
    if population := dataset.get("population"):
        for experiment in ("tv", "estimates", "individual"):
            users = dataset.get(experiment, {}).get("n", [])
            for n in users if isinstance(users, list) else [users]:
                if n != "all" and n > population:
                    return f"{experiment}.n must be at most the population ({population}); got {n}"
    return None


def _dotted(path):
    text = ""
    for part in path:
        text = f"{text}[{part}]" if isinstance(part, int) else _join(text, part)
    return text


def _join(key, name):
    return f"{key}.{name}" if key else str(name)


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True

"""The public interface as lines of text: names, parameters with their defaults, and the command's options.

`interface.txt` has these lines, and a test compares them, so a review sees every change of the interface.
Renew the file:  python -m tests.library.interface
"""

import argparse
import inspect
from collections.abc import Iterator
from pathlib import Path

import tightshuffle
from tightshuffle import methods, randomizers
from tightshuffle.cli.parser import make_parser
from tightshuffle.planning import Plan

FILE = Path(__file__).with_name("interface.txt")


def _signature(function: object) -> str:
    """The parameters and defaults; types are left out, because Python's versions write them differently."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    bare = [each.replace(annotation=each.empty) for each in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


def _lines_of(name: str, thing: object) -> Iterator[str]:
    """A function, or a class with its public methods and attributes.

    Of a randomizer only the constructor: the abstract class lists what all randomizers have.
    """
    if not isinstance(thing, type):
        yield f"{name}{_signature(thing)}" if callable(thing) else name
        return
    abstract = inspect.isabstract(thing)
    yield f"class {name}{'' if abstract else _signature(thing)}"
    if issubclass(thing, randomizers.Randomizer) and not abstract:
        return
    declared = inspect.get_annotations(thing) if abstract else {}
    given = () if abstract else inspect.signature(thing).parameters
    for attribute in sorted({*vars(thing), *declared} - {*given}):
        if not attribute.startswith("_"):
            value = vars(thing).get(attribute)
            yield f"    {attribute}{_signature(value) if inspect.isfunction(value) else ''}"


def _lines_of_command(command: argparse.ArgumentParser) -> Iterator[str]:
    yield command.prog
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name in sorted(action.choices):
                yield from _lines_of_command(action.choices[name])
        elif action.help != argparse.SUPPRESS:
            needed = " (required)" if action.required and action.option_strings else ""
            yield f"    {', '.join(action.option_strings) or action.dest.upper()}{needed}"


def lines() -> Iterator[str]:
    for name in sorted(tightshuffle.__all__):
        yield from _lines_of(f"tightshuffle.{name}", getattr(tightshuffle, name))
    yield from _lines_of("tightshuffle.planning.Plan", Plan)
    for name in sorted(randomizers.__all__):
        yield from _lines_of(f"tightshuffle.randomizers.{name}", getattr(randomizers, name))
    yield f"methods: {' '.join(sorted(methods.METHODS))}"
    yield f"randomizers: {' '.join(sorted(randomizers.NAMES))}"
    yield from _lines_of_command(make_parser())


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", encoding="utf-8")

"""The command line's arguments and help texts; main.py answers them."""

import argparse
import math
import re
from collections.abc import Callable
from typing import Any, NoReturn

import tightshuffle
from tightshuffle import methods, randomizers
from tightshuffle.cli import values
from tightshuffle.setting import DIRECTIONS

_ANY_DELTA = "between 0 and 1, however small"
_ROUNDS = "rounds of the same users with fresh randomness, whether or not their data change"

_ABOUT = """\
How private is the shuffle model?

Each of n users holds one of k cells and reports it through a randomizer with local budget eps0, by default
k-randomized response; a shuffler removes who said what. What is left, the histogram of the answers, is
(eps, delta)-differentially private with an eps far below eps0. This command says how far below.
"""
_EXAMPLES = """\
examples:
  tightshuffle delta upper --n 100000 --k 408 --eps0 4 --eps 0.05 0.1
  tightshuffle delta count-exact --n 100 --k 10 --eps0 2 --eps 0.5 --count 80
  tightshuffle epsilon upper --n 100000 --k 408 --eps0 4 --delta 1e-6
  tightshuffle plan --n 100000 --k 408 --eps 0.5 --delta 1e-6

`tightshuffle methods` says what each METHOD is; `tightshuffle COMMAND --help` explains a command.

The exit code is 0, or 2 after an error, or 3 where no method that you asked promises anything (nan).
"""
_DELTA = """\
delta at one or several eps, by one or several methods.

For a guarantee take `upper`: it holds whatever the users' data are. `lower` shows how far from tight it is.
"""
_DELTA_EXAMPLES = """\
examples:
  tightshuffle delta upper --n 100000 --k 408 --eps0 4 --eps 0.05 0.1
  tightshuffle delta upper,lower,clones --n 1e4 --k 10 --eps0 4 --eps 0:1:5
  tightshuffle delta upper --randomizer oue --n 1e5 --k 408 --eps0 4 --eps 0.1 --colluding 5000
  tightshuffle delta stronger-clones --n 1e4 --k 10 --eps0 4 --eps 0.5 --compositions 4 --json

Values are rounded to the safe side: upper bounds up, lower bounds down. --json has all digits, as
log10_delta, and null where delta is 0 or a theorem does not apply; `note` says which of the two it is. With
several methods, one that does not apply to what you ask says why below the table, and in its note.
"""
_EPSILON = """\
The smallest eps at one or several delta, by one method.

It is nan where the method promises delta at no eps up to eps0 (times the rounds), which holds without any
shuffling.
"""
_EPSILON_EXAMPLES = """\
examples:
  tightshuffle epsilon upper --n 100000 --k 408 --eps0 4 --delta 1e-6
  tightshuffle epsilon clones --n 1e3 --k 10 --eps0 1 --delta 1e-6 --compositions 8
  tightshuffle epsilon upper,clones --n 1e4 --k 10 --eps0 2 --delta 1e-9:1e-3:4 --csv
"""
_SIGMA = """\
The noise of the analytic Gaussian mechanism (Balle and Wang 2018): the smallest standard deviation that is
(eps, delta)-private, for a delta of any size. The query is a histogram in which one user changes cell, unless
you say how sensitive it is.
"""
_SIGMA_EXAMPLES = """\
examples:
  tightshuffle sigma --eps 1 --delta 1e-500
  tightshuffle sigma --eps 0.5 --delta 1e-6 --sensitivity 1
"""
_PLAN = """\
The largest eps0 that guarantees (eps, delta), by the method `upper`, and the accuracy that it leaves.

For comparison: the analytic Gaussian at the same guarantee (for a histogram in which one user changes cell,
sensitivity sqrt2), and the local model, the randomizer with eps0 = eps and no shuffler. The errors are
expected total variation distances before any projection, if the n users are spread evenly over the k cells.
Several eps or delta give a table: a row for each pair.

With --error instead of --n, the plan is for the fewest users who meet the guarantee with at most this error.
With --data, n, k and the errors are those of a histogram of your own; the guarantee holds for every histogram
all the same.
"""
_PLAN_EXAMPLES = """\
examples:
  tightshuffle plan --n 100000 --k 408 --eps 0.5 --delta 1e-6
  tightshuffle plan --n 100000 --k 408 --eps 0.1 0.5 1 --delta 1e-6 1e-9 --randomizer hadamard
  tightshuffle plan --error 0.05 --k 408 --eps 0.5 --delta 1e-6
  tightshuffle plan --n 1e3 --k 10 --eps 1 --delta 1e-6 --compositions 2
  tightshuffle plan --data counts.csv --eps 1 --delta 1e-6
"""
_COMPARE = """\
delta over eps by upper, lower and every other valid bound: a table, CSV, or a picture.
"""
_COMPARE_EXAMPLES = """\
examples:
  tightshuffle compare --n 100000 --k 408 --eps0 4
  tightshuffle compare --n 1e4 --k 16 --eps0 2 --eps 0:1:50 --png curves.png

Without --eps: from 0 to where upper is 1e-12. Randomizers other than grr: upper and lower only.
"""
_AUDIT = """\
Play the game against the real protocol and report a lower confidence bound on delta.

Every run draws all n answers and shuffles them, once with a user who holds x0 and once with one who holds x1.
One half of the runs chooses the event that tells the two apart best, the other half gives the bound. A
claimed delta below the bound is refuted. A bound of 0 refutes nothing: more runs are needed.
"""
_AUDIT_EXAMPLES = """\
example:
  tightshuffle audit --n 100 --k 10 --eps0 2 --eps 0.1 --count 80

The observer sees the count of x0 alone (published, exact: its delta) or the whole histogram (upper: its
delta, for every dataset). --runs 1e7 with 100 users takes about 15 seconds on two cores. The same seed gives
the same answer on any number of cores.
"""


class _Parser(argparse.ArgumentParser):
    """Errors are ValueErrors, for the caller to report."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, but a misspelt option is named before what is missing because of it."""
        known = self._option_string_actions
        for word in [] if self._subparsers else args:
            option = word.partition("=")[0]
            if option.startswith("--") and len(option) > 2 and option not in known:
                self.error(f"unrecognized option {option}{values.suggestion(option, known)}")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"^argument (\S+): ", r"\1 ", message)
        if found := re.search(r"invalid choice: '([^']*)'(?= \(choose from (.*)\)$)", message):
            hint = values.suggestion(found[1], re.findall(r"'([^']*)'", found[2]))
            message = message[: found.end()] + hint + message[found.end() :]
        raise ValueError(message)


class _Flat(argparse.Action):
    """Puts the lists that its words stand for into one."""

    def __call__(self, parser: Any, namespace: Any, lists: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, [value for words in lists for value in words])


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; its errors are ValueErrors."""
    # Nothing is abbreviated: --eps must never stand for --eps0.
    style: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    parser = _Parser(prog="tightshuffle", description=_ABOUT, epilog=_EXAMPLES, **style)
    parser.add_argument("--version", action="version", version=f"tightshuffle {tightshuffle.__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)

    def add(name: str, summary: str, about: str, examples: str | None = None) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=summary, description=about, epilog=examples, **style)

    delta = add("delta", "delta at given eps, by any method", _DELTA, _DELTA_EXAMPLES)
    _add_method(delta)
    _add_several_eps(delta)
    _add_setting(delta)

    epsilon = add("epsilon", "eps at given delta, by any method", _EPSILON, _EPSILON_EXAMPLES)
    _add_method(epsilon)
    epsilon.add_argument(
        "--delta",
        metavar="D",
        nargs="+",
        required=True,
        action=_Flat,
        type=values.some(values.common_delta, by_factors=True),
        help="one or several, between 0 and 1, such as 1e-6, or from:to:how many, with even factors between",
    )
    _add_setting(epsilon)

    about = "What each METHOD is, what it holds for, and the paper and theorem it comes from."
    listing = add("methods", "what each method is, and whether it is valid", about)

    sigma = add("sigma", "the analytic Gaussian's noise at (eps, delta)", _SIGMA, _SIGMA_EXAMPLES)
    sigma.add_argument("--eps", metavar="E", required=True, type=values.at_least_zero, help=">= 0")
    sigma.add_argument(
        "--delta", metavar="D", required=True, type=values.log10_delta, help=_ANY_DELTA + ", such as 1e-6"
    )
    sigma.add_argument(
        "--sensitivity",
        metavar="S",
        type=values.length,
        default=math.sqrt(2),
        help="L2 sensitivity of the query (default sqrt2: a histogram in which one user changes cell)",
    )

    plan = add("plan", "the largest eps0 for (eps, delta), and its accuracy", _PLAN, _PLAN_EXAMPLES)
    _add_users(plan, required=False)
    plan.add_argument(
        "--error",
        metavar="TV",
        type=values.positive,
        help="instead of --n: find the fewest users whose expected total variation distance is at most this",
    )
    plan.add_argument(
        "--data",
        metavar="FILE",
        help="a histogram of your own instead of --n and --k: a CSV file with the columns cell and count",
    )
    _add_several_eps(plan, values.positive, "of the guarantee, one or several, > 0")
    plan.add_argument(
        "--delta",
        metavar="D",
        nargs="+",
        required=True,
        type=values.log10_delta,
        help=f"of the guarantee, one or several, {_ANY_DELTA}, such as 1e-6 or 1e-500",
    )
    _add_randomizer(plan, *randomizers.NAMES[:-1])
    _add_compositions(plan, f"{_ROUNDS}, that meet the guarantee together (default 1)")

    audit = add("audit", "refute a delta by playing the game", _AUDIT, _AUDIT_EXAMPLES)
    _add_several_eps(audit)
    _add_users(audit)
    _add_eps0(audit, required=True)
    _add_game(audit)

    compare = add("compare", "delta over eps, by all valid bounds", _COMPARE, _COMPARE_EXAMPLES)
    _add_users(compare)
    _add_eps0(compare, required=True)
    _add_several_eps(compare, required=False)
    _add_randomizer(compare, *randomizers.NAMES[:-1])
    compare.add_argument("--png", metavar="FILE", help="draw the curves into this file, too")
    compare.set_defaults(count=None, direction=None, compositions=1)
    for command in (delta, epsilon, listing, sigma, plan, audit, compare):
        form = command.add_mutually_exclusive_group()
        for name, what in (("json", "one JSON object"), ("csv", "CSV with all digits")):
            form.add_argument(
                f"--{name}",
                dest="form",
                action="store_const",
                const=name,
                default="text",
                help=f"{what} instead of a table",
            )
    return parser


def _add_method(command: argparse.ArgumentParser) -> None:
    names = ", ".join(methods.METHODS)
    method: Any = command.add_argument(
        "method",
        metavar="METHOD",
        type=values.method_names,
        help=f"one of these, several with commas between, or all: {names}",
    )
    method.completer = lambda **_: [*methods.METHODS, "all"]


def _add_several_eps(
    command: argparse.ArgumentParser,
    number: Callable[[str], float] = values.at_least_zero,
    what: str = "one or several, >= 0",
    *,
    required: bool = True,
) -> None:
    command.add_argument(
        "--eps",
        metavar="E",
        nargs="+",
        required=required,
        action=_Flat,
        type=values.some(number),
        help=f"{what}; or from:to:how many, such as 0.1:2:50",
    )


def _add_users(command: argparse.ArgumentParser, *, required: bool = True, cells: bool = True) -> None:
    users = "users: 100000, 1e5 or 100_000"
    command.add_argument("--n", metavar="N", required=required, type=values.whole_number(1), help=users)
    cells = required and cells
    command.add_argument("--k", metavar="K", required=cells, type=values.whole_number(2), help="cells, >= 2")


def _add_eps0(command: argparse.ArgumentParser, *, required: bool) -> None:
    command.add_argument(
        "--eps0",
        metavar="E0",
        required=required,
        type=values.positive,
        help="local budget of one answer, > 0",
    )


def _add_randomizer(command: argparse.ArgumentParser, *names: str) -> None:
    own = "; the matrix in a file has a row per report and a column per cell, and its own k and eps0"
    randomizer: Any = command.add_argument(
        "--randomizer",
        metavar="R",
        default="grr",
        help=f"what users run: {', '.join(names)} (default grr, k-randomized response"
        f"{own * any(name.startswith('file') for name in names)})",
    )
    randomizer.completer = lambda **_: names
    command.add_argument(
        "--colluding",
        metavar="C",
        type=values.users_or_share,
        default=0,
        help="how many of the N users tell the adversary their reports, or send none: 1000, or a share: 1%%"
        " or 0.01 (default 0)",
    )


def _add_compositions(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--compositions", metavar="C", type=values.whole_number(1), default=1, help=what)


def _add_game(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--count",
        metavar="M",
        required=True,
        type=values.whole_number(0),
        help="how many of the remaining N - 1 users hold x0",
    )
    command.add_argument(
        "--remaining",
        choices=("x1", "x2"),
        help="the cell of the remaining users who do not hold x0: x1, or x2, a third one (default: x2; x1 for"
        " k = 2)",
    )
    command.add_argument(
        "--runs",
        metavar="R",
        type=values.whole_number(2),
        default=10**6,
        help="with either user; half of them give the bound (default 1e6)",
    )
    command.add_argument(
        "--confidence", metavar="C", type=values.probability, default=0.999, help="of a bound (default 0.999)"
    )
    command.add_argument(
        "--seed",
        metavar="S",
        type=values.whole_number(0),
        default=0,
        help="of all random numbers (default 0)",
    )
    command.add_argument(
        "--cores",
        metavar="C",
        type=values.whole_number(1),
        help="threads (default: as many as there are cores)",
    )


def _add_setting(command: argparse.ArgumentParser) -> None:
    _add_users(command, cells=False)
    _add_eps0(command, required=False)
    _add_randomizer(command, *randomizers.NAMES)
    command.add_argument(
        "--count",
        metavar="M",
        type=values.whole_number(0),
        help="for count-exact: how many of the remaining N - 1 users hold x0",
    )
    command.add_argument(
        "--direction",
        choices=DIRECTIONS,
        help="for count-exact: the law with x0 against the law without (forward), the reverse, or the larger"
        " of both (default)",
    )
    _add_compositions(
        command,
        f"{_ROUNDS} (default 1); for "
        + ", ".join(name for name, method in methods.METHODS.items() if method.composes),
    )

"""The arguments of the command line, and the help texts."""

import argparse
import re
import sys
from typing import Any, NoReturn

from tightshuffle import methods, randomizers
from tightshuffle.arguments import DIRECTIONS
from tightshuffle.cli import values
from tightshuffle.cli.layout import print_out
from tightshuffle.dummies.laws import LAWS
from tightshuffle.points import RELEASES, Neighbours

_ABOUT = """\
How private is the shuffle model?

Each of n users holds one of k values. A randomizer with local budget eps0, by default k-randomized response
(k-RR), turns the value into a report. A shuffler removes who sent which report. With many users, the shuffled
reports are (eps, delta)-differentially private with an eps far below eps0. This command computes eps and
delta.
"""
_EXAMPLES = """\
examples:
  tightshuffle delta upper --n 100000 --k 408 --eps0 4 --eps 0.05 0.1
  tightshuffle epsilon upper --n 100000 --k 408 --eps0 4 --delta 1e-6
  tightshuffle plan --n 100000 --k 408 --eps 0.5 --delta 1e-6

`tightshuffle methods` describes each METHOD; `tightshuffle COMMAND --help` explains a command.

The exit code is 0 after a result and 2 after an error. It is 3 if no method that you asked for gives a
guarantee in your setting; the result is then nan.
"""
_DELTA = """\
delta at one or several eps, by one or several methods.

For a guarantee use `upper`: it holds for every dataset. `lower` shows how tight `upper` is: for some dataset,
delta is at least `lower`. delta compares two datasets that differ in the value of one user, the target user:
x0 or x1. The other N - 1 users hold the same values in both.
"""
_DELTA_EXAMPLES = """\
examples:
  tightshuffle delta upper,lower,clones --n 1e4 --k 10 --eps0 4 --eps 0:1:5
  tightshuffle delta upper --randomizer oue --n 1e5 --k 408 --eps0 4 --eps 0.1 --colluding 5%
  tightshuffle delta stronger-clones --n 1e4 --k 10 --eps0 4 --eps 0.5 --rounds 4 --json
  tightshuffle delta count-exact --n 100 --k 10 --eps0 2 --eps 0.5 --count 80

Upper bounds are rounded up, lower bounds down. --json gives all digits of log10 delta, as log10_delta. It is
null if delta is 0 or if a theorem does not apply; `note` says which of the two.
"""
_EPSILON = """\
The smallest eps at one or several delta, by one or several methods.

Without shuffling, eps0 times the number of rounds holds anyway, with delta = 0. The output is nan if the
method does not guarantee this delta at any eps up to that value.
"""
_EPSILON_EXAMPLES = """\
examples:
  tightshuffle epsilon clones --n 1e3 --k 10 --eps0 1 --delta 1e-6 --rounds 8
  tightshuffle epsilon upper,clones --n 1e4 --k 10 --eps0 2 --delta 1e-9:1e-3:4 --json
"""
_PLAN = """\
The largest eps0 that guarantees (eps, delta), by the method `upper`, and the error of the estimates.

It also prints the errors of the analytic Gaussian mechanism with the same guarantee (sensitivity sqrt2, as
one user's value changes), and of the randomizer with eps0 = eps and no shuffler. An error is the expected
total variation error, for uniform data and before projection. Several eps or delta give several plans.

With --error instead of --n, the plan finds the fewest users for this guarantee and this error. With --data,
n, k and the errors are those of your own histogram; the guarantee still holds for every dataset.

For the randomizers subset and hash without a number, the plan finds the M or G with the smallest error for
uniform data. grr is subset with M = 1.
"""
_PLAN_EXAMPLES = """\
examples:
  tightshuffle plan --n 100000 --k 408 --eps 0.5 1 --delta 1e-6 1e-9
  tightshuffle plan --error 0.05 --k 408 --eps 0.5 --delta 1e-6
  tightshuffle plan --data counts.csv --eps 1 --delta 1e-6 --randomizer subset
"""
_USERS = """\
The fewest users with whom reports of this eps0 are (eps, delta)-private: the least size of a batch.

The guarantee then holds for more users, too. The number is at most 0.01 % too large, or one user.
"""
_USERS_EXAMPLES = """\
examples:
  tightshuffle users --k 100 --eps0 4 --eps 0.5 --delta 1e-9
  tightshuffle users --k 100 --eps0 10 --randomizer rappor --release sums --eps 0.317 --delta 1e-9
"""
_DESIGN = """\
Which design to run: every one at its best parameters for (eps, delta), the most accurate first.

Reports of k-RR that a shuffler mixes, with and without dummies; sums of RAPPOR or OUE reports; sums to which
aggregators add noise; values sent as they are, hidden by dummies; and for comparison two mechanisms of a
curator who sees all values. The first one has the smallest error of a value that many users hold.

With --mean, users have numbers instead of one of k values, and the table has every design for their mean.
"""
_DESIGN_EXAMPLES = """\
examples:
  tightshuffle design --n 100000 --k 256 --eps 1 --delta 1e-6
  tightshuffle design --n 2e6 --k 408 --eps 1 --delta 1e-8 --rounds 52 --participation 80%
  tightshuffle design --n 100000 --k 256 --eps 1 --delta 1e-6 --plot designs.pdf
  tightshuffle design --mean --n 100000 --eps 1 --delta 1e-6 --range 0:120
  tightshuffle design --mean --deviation 0.001 --eps 1 --delta 1e-6

In JSON, a null stands for infinity. `tightshuffle plan` and `tightshuffle dummies` say more of one design.
"""
_DUMMIES = """\
Values sent as they are, hidden by dummies alone: the laws of their number for (eps, delta), and the error.

Every value gets a random number of dummies, independently. A cut law has the smallest error, and only the
shuffler can add it. Devices can add Poisson numbers together. --law asks for the eps of a law of your own.

The shuffler sees the values, unless users encrypt them for the analyst, with whom it must not collude.
"""
_DUMMIES_EXAMPLES = """\
examples:
  tightshuffle dummies --n 100000 --k 256 --eps 1 --delta 1e-6
  tightshuffle dummies --n 100000 --k 256 --delta 1e-6 --law geometric:27:0.608 --rounds 4
  tightshuffle dummies --n 100000 --k 256 --eps 1 --delta 1e-6 --parties 2 --honest 1
"""
_COMPARE = """\
delta as a function of eps by every bound that holds for all datasets, and by `lower`.

Without --eps, eps runs from 0 to where upper is 1e-12. The picture of one --eps runs from 0 to twice it.
"""
_COMPARE_EXAMPLES = """\
examples:
  tightshuffle compare --n 1e4 --k 16 --eps0 2 --eps 0:1:50
  tightshuffle compare --n 1e5 --k 408 --eps0 4 --plot bounds.png
"""
_COLLECTION = """\
eps or delta of a real collection: groups with different eps0, partial participation, dummies, rounds.

The bounds are for each group of users and for every dataset. A YAML or JSON file describes the collection.
Its keys are the parameters of the Python classes Collection, Group and Dummies; help(tightshuffle.Collection)
explains them.
"""
_COLLECTION_EXAMPLES = """\
examples:
  tightshuffle collection mine.yaml --delta 1e-6

where mine.yaml is

  k: 50
  rounds: 52
  groups:
    - {name: version 1, users: 300000, eps0: 3}
    - {name: version 2, users: 100000, eps0: 2, participation: 0.8}
"""


class _Parser(argparse.ArgumentParser):
    """A parser that raises ValueError, for the caller to report, instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise ValueError(re.sub(r"^argument (\S+): ", r"\1 ", message))

    def _print_message(self, message: str, file: Any = None) -> None:
        """Print help or the version; `error` is all that argparse would print to standard error."""
        print_out(message, end="")


class _Flat(argparse.Action):
    """Join the lists from all words of one option: ``--eps 0:1:3 2`` gives one list."""

    def __call__(self, parser: Any, namespace: Any, lists: Any, option_string: Any = None) -> None:
        setattr(namespace, self.dest, [value for words in lists for value in words])


_ROUNDS = (
    "rounds in which every user reports with fresh randomness; values may depend on earlier results"
)
_RANGE = "or from:to:how many, such as 0.1:2:50"
_OPTIONS: dict[str, dict[str, Any]] = {
    "--n": {
        "metavar": "N",
        "type": values.whole,
        "help": "users who report in each round: 1e5 or 100_000",
    },
    "--k": {"metavar": "K", "type": values.whole, "help": "number of values, >= 2"},
    "--eps0": {"metavar": "E0", "type": values.number, "help": "local budget of one report, > 0"},
    "--eps": {
        "metavar": "E",
        "type": values.range_parser(),
        "nargs": "+",
        "action": _Flat,
        "help": f"one or several, >= 0; {_RANGE}",
    },
    "--delta": {
        "metavar": "D",
        "type": values.log10_delta,
        "required": True,
        "help": "between 0 and 1, however small, such as 1e-6 or 1e-500",
    },
    "--randomizer": {
        "metavar": "R",
        "default": "grr",
        "help": f"{', '.join(randomizers.NAMES)} (default grr, k-randomized response); a matrix file has a"
        " row per report and a column per value, and k and eps0 follow from it; a density is that of noise"
        " added to inputs from 0 to 1, and its file has rows of a distance and the density there",
    },
    "--colluding": {
        "metavar": "C",
        "type": values.users_or_share,
        "default": 0,
        "help": "how many of the N users reveal their reports to the adversary, or send none: 1000, or a"
        " share: 1%% or 0.01 (default 0)",
    },
    "--count": {
        "metavar": "M",
        "type": values.whole,
        "help": "for count-exact: how many of the other N - 1 users hold x0",
    },
    "--direction": {
        "choices": DIRECTIONS,
        "help": "for count-exact: delta of the count of x0 if the target user holds x0, against the count if"
        " not (forward); the opposite (reverse); or the larger of the two (both, the default)",
    },
    "--rounds": {
        "metavar": "T",
        "type": values.whole,
        "default": 1,
        "help": f"{_ROUNDS} (default 1); the guarantee is for all rounds together",
    },
    "--values-per-user": {
        "metavar": "L",
        "type": values.whole,
        "default": 1,
        "help": "how many different values a user reports per round, at most (default 1)",
    },
    "--participation": {
        "metavar": "A",
        "type": values.share,
        "default": 1,
        "help": "the probability that a user reports in a round, such as 80%% or 0.8 (default 1); N is then"
        " how many could report",
    },
    "--parties": {
        "metavar": "P",
        "type": values.whole,
        "default": 1,
        "help": "how many parties add numbers of the same law (default 1)",
    },
    "--honest": {
        "metavar": "H",
        "type": values.whole,
        "default": 1,
        "help": "how many of them, at least, tell nobody their numbers (default 1): theirs alone guarantee"
        " (eps, delta)",
    },
    "--release": {
        "choices": RELEASES,
        "default": "reports",
        "help": "what the analyst sees: all reports, shuffled (the default); or only their sums, as from Prio"
        " or secure aggregation, for rappor, oue and unary",
    },
    "--neighbours": {
        "choices": [neighbours.value for neighbours in Neighbours],
        "default": Neighbours.REPLACEMENT.value,
        "help": "what the guarantee protects: which value a user has (the default); or, for sums, whether a"
        " user has one",
    },
    "--plot": {
        "metavar": "FILE",
        "help": "draw a picture, too: a file that ends in .png, .svg or .pdf (needs matplotlib)",
    },
    "--data": {
        "metavar": "FILE",
        "help": "a histogram of your own: a CSV file with the columns cell and count",
    },
}
_SETTING = ("--k", "--eps0", "--randomizer", "--colluding")
_GUARANTEE = ("--rounds", "--release", "--neighbours")


class _Version(argparse.Action):
    """Prints the version of the installed package; an installation is not needed for anything else."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version  # here, as no other answer needs this slow import

        parser._print_message(f"tightshuffle {version('tightshuffle')}\n", sys.stdout)
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line. Its errors are ValueErrors."""
    # Nothing is abbreviated: --eps must never stand for --eps0.
    style: dict[str, Any] = {
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }
    parser = _Parser(prog="tightshuffle", description=_ABOUT, epilog=_EXAMPLES, **style)
    parser.add_argument("--version", action=_Version, nargs=0)
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True
    )

    def add(
        name: str, summary: str, about: str, examples: str | None = None
    ) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=summary, description=about, epilog=examples, **style)

    names = ", ".join(methods.METHODS)
    delta = add("delta", "delta at a given eps, by any method", _DELTA, _DELTA_EXAMPLES)
    epsilon = add("epsilon", "eps at a given delta, by any method", _EPSILON, _EPSILON_EXAMPLES)
    for command in (delta, epsilon):
        method = f"one of these, several with commas between, or all: {names}"
        command.add_argument("method", metavar="METHOD", help=method)
        _add(command, "--n", required=True)
        _add(command, *_SETTING, "--participation", "--count", "--direction", *_GUARANTEE)
    _add(delta, "--eps", required=True)
    deltas = "one or several, such as 1e-6 or 1e-500, or from:to:how many, with equal ratios"
    _add(
        epsilon,
        "--delta",
        type=values.deltas,
        nargs="+",
        action=_Flat,
        help=deltas,
    )

    description = (
        "What each METHOD is, in which settings it is valid, and its source: paper and theorem."
    )
    listing = add("methods", "what each method is, and where it is valid", description)

    plan = add("plan", "the largest eps0 for (eps, delta), and the error", _PLAN, _PLAN_EXAMPLES)
    users = plan.add_mutually_exclusive_group(required=True)
    _add(users, "--n", "--data")
    error = "find the fewest users whose expected total variation error is at most this"
    users.add_argument("--error", metavar="TV", type=values.number, help=error)
    _add(plan, "--k", "--randomizer", "--colluding", "--participation", *_GUARANTEE)
    _add(plan, "--eps", required=True)
    _add(plan, "--delta", nargs="+")

    batch = add(
        "users", "the fewest users for (eps, delta): the least batch", _USERS, _USERS_EXAMPLES
    )
    _add(batch, *_SETTING, "--participation", *_GUARANTEE, "--delta")
    batch.add_argument(
        "--eps", metavar="E", type=values.number, required=True, help="one number, >= 0"
    )

    design = add(
        "design", "which design to run for a histogram or a mean", _DESIGN, _DESIGN_EXAMPLES
    )
    question = design.add_mutually_exclusive_group(required=True)
    _add(question, "--n")
    deviation = (
        "with --mean: find the fewest users for whom privacy adds at most this standard deviation to the"
        " mean, in the unit of the values"
    )
    question.add_argument("--deviation", metavar="SD", type=values.number, help=deviation)
    _add(design, "--k")
    mean = "compare the designs for the mean of numbers; without --k, --share, --plot"
    design.add_argument("--mean", action="store_true", help=mean)
    ends = "with --mean: the smallest and the largest value (default 0:1), as in --range=-40:50"
    design.add_argument(
        "--range", metavar="A:B", type=values.interval, default=(0.0, 1.0), help=ends
    )
    _add(design, "--delta", "--rounds", "--values-per-user", "--colluding", "--participation")
    aggregators = "how many aggregators add noise to the sums (default 2)"
    _add(design, "--parties", default=2, help=aggregators)
    _add(design, "--honest", "--plot")
    share = "the share of the users who hold the popular value, such as 10%% (default) or 0"
    design.add_argument("--share", metavar="F", type=values.share, default=0.1, help=share)
    design.add_argument(
        "--eps", metavar="E", type=values.number, required=True, help="one number, > 0"
    )

    dummies = add(
        "dummies", "dummies alone for (eps, delta), of any law", _DUMMIES, _DUMMIES_EXAMPLES
    )
    _add(dummies, "--n", "--k", required=True)
    _add(
        dummies, "--delta", "--colluding", "--rounds", "--values-per-user", "--parties", "--honest"
    )
    eps_or_law = dummies.add_mutually_exclusive_group(required=True)
    eps_or_law.add_argument("--eps", metavar="E", type=values.number, help="one number, > 0")
    eps_or_law.add_argument("--law", metavar="LAW", help=LAWS)

    collection = add(
        "collection",
        "eps or delta of groups, dummies and rounds",
        _COLLECTION,
        _COLLECTION_EXAMPLES,
    )
    collection.add_argument("file", metavar="FILE", help="a YAML or JSON file")
    eps_or_delta = collection.add_mutually_exclusive_group(required=True)
    eps_or_delta.add_argument(
        "--eps", metavar="E", type=values.number, help="one number: delta is computed"
    )
    _add(eps_or_delta, "--delta", required=False, help="one number: eps is computed")
    _add(collection, "--data")

    compare = add(
        "compare", "delta as a function of eps, by all valid bounds", _COMPARE, _COMPARE_EXAMPLES
    )
    _add(compare, "--n", required=True)
    _add(compare, *_SETTING, "--participation", "--eps", "--plot")
    compare.set_defaults(count=None, direction=None, rounds=1)
    compare.set_defaults(release="reports", neighbours=Neighbours.REPLACEMENT)

    for command in (delta, epsilon, listing, plan, batch, design, dummies, collection, compare):
        command.add_argument(
            "--json", action="store_true", help="one JSON object instead of a table"
        )
    return parser


def _add(command: argparse._ActionsContainer, *names: str, **changes: Any) -> None:
    """Add the options, with the ``changes`` to what `_OPTIONS` says."""
    for name in names:
        command.add_argument(name, **{**_OPTIONS[name], **changes})

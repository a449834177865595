"""`tightshuffle design`: every design for one guarantee, in one table."""

from argparse import Namespace
from typing import Any

from tightshuffle.arguments import check_colluding
from tightshuffle.cli.layout import (
    ERROR_OF_REPORTS,
    USELESS_EPS,
    USELESS_ERROR,
    Answer,
    delta_text,
    setting_in_words,
    setting_text,
    table,
    what_is_left,
    who_is_protected,
    with_plot,
)
from tightshuffle.cli.means_command import WHOLE_RANGE, answer_means
from tightshuffle.cli.plot_file import check_plot_file, format_of, write_plot_file
from tightshuffle.number_text import plain
from tightshuffle.planning.designs import Comparison, Design, compare_designs
from tightshuffle.planning.plan import expected_reports

_HEADER = (
    "design",
    "popular value",
    "rare value",
    "error",
    "messages",
    "bits",
    "left if it fails",
    "who is trusted",
    "parameters",
)
# The columns with numbers are the first ones. The last ones, with texts, are a table of their own.
_NUMBER_COLUMNS = _HEADER.index("who is trusted")
DEFAULTS = {
    "rounds": 1,
    "values_per_user": 1,
    "colluding": 0,
    "participation": 1,
    "share": 0.1,
    "parties": 2,
    "honest": 1,
}
_LEGEND = (
    "rare value: the same of a value that nobody holds.",
    "error: expected total variation error of one round, for uniform data and before projection.",
    "messages, bits: per user and round; a report for sums is one message of k bits.",
    "left if it fails: total eps over all rounds, with delta = 0, if the trusted party fails.",
    "With dummies alone, the shuffler sees all values unless users encrypt them for the analyst.",
    "The shuffler and the analyst must not collude.",
    "A curator of a central mechanism gets the values themselves: these rows are for comparison.",
)


def answer_design(arguments: Namespace) -> Answer:
    """The answer of `tightshuffle design`: every design for one guarantee, with its errors and its costs.

    With --mean it is that of `means_command`.

    The text has two tables, each with a line per design: one of numbers, and one of texts. Sentences that
    explain them follow. Of the arguments, it shows those that the user changed. With ``--plot`` there is a
    picture, too.
    """
    if arguments.mean and arguments.plot is not None:
        raise ValueError("--plot is not for --mean: it draws the errors of counts")
    if arguments.mean:
        return answer_means(arguments)
    for name in ("deviation", "range"):
        if getattr(arguments, name) not in (None, WHOLE_RANGE):
            raise ValueError(f"--{name} is only for --mean")
    if arguments.k is None:
        raise ValueError("k must be given, unless --mean is")

    if arguments.plot is not None:
        check_plot_file(arguments.plot)
    setting = {"n": arguments.n, "k": arguments.k}
    for name, default in DEFAULTS.items():
        value = getattr(arguments, name)
        if value != default:
            setting[name] = value
    eps = arguments.eps
    log10_delta = arguments.delta  # the parser has taken the logarithm
    comparison = compare_designs(eps=eps, log10_delta=log10_delta, **setting)
    if "colluding" in setting:  # a share of the users is shown as their number
        setting["colluding"] = int(check_colluding(setting["colluding"], setting["n"]))

    left_out = [f"Left out: {name} ({why})." for name, why in comparison.left_out.items()]
    if left_out:
        left_out.append("")
    rows = [_HEADER, *map(_design_cells, comparison.designs)]
    lines = [
        f"(eps = {eps:.15g}, delta = {delta_text(log10_delta)}) for every dataset, {setting_text(setting)}",
        "",
        table([line[:_NUMBER_COLUMNS] for line in rows]),
        "",
        # With the name of the design again, its first cell.
        table([(line[0], *line[_NUMBER_COLUMNS:]) for line in rows]),
        "",
        *left_out,
        *_remarks(
            comparison, arguments.n, arguments.rounds, arguments.participation, arguments.share
        ),
    ]
    record: dict[str, Any] = {
        **setting,
        "eps": eps,
        "log10_delta": log10_delta,
        "designs": [vars(design) for design in comparison.designs],
        "left_out": comparison.left_out,
    }
    answer = Answer("\n".join(lines), record)
    if arguments.plot is None:
        return answer

    from tightshuffle.cli.pictures import draw_designs, encoded

    guarantee = f"eps = {eps:.15g}, delta = {delta_text(log10_delta)}"
    title = f"every design for {guarantee}: {setting_in_words(setting)}"
    figure = draw_designs(comparison.designs, title=title, share=arguments.share)
    write_plot_file(encoded(figure, format_of(arguments.plot)), arguments.plot)
    return with_plot(answer, arguments.plot)


def _design_cells(design: Design) -> tuple[str, ...]:
    """The cells of a design in the tables, as texts, in the order of `_HEADER`."""
    return (
        design.name,
        _number_of_users(design.popular_error),
        _number_of_users(design.rare_error),
        f"{design.error:.3g}",
        f"{design.messages_per_user:.4g}",
        f"{design.bits_per_user:.4g}",
        what_is_left(design.eps_if_it_fails),
        design.trust,
        design.parameters,
    )


def _remarks(
    compared: Comparison, n: int, rounds: int, participation: float, share: float
) -> list[str]:
    """Sentences that say what the columns are, and what a reader of the table must not overlook.

    The designs are for ``n`` users, each of whom reports with probability ``participation`` in each of the
    ``rounds``. The ``share`` of the users hold the popular value.
    """
    holders = _number_of_users(share * expected_reports(n, participation))
    sentences = [
        "popular value: mean error, in users, of the count of a value that a share of"
        f" {share:g} of the users hold ({holders}).",
        *_LEGEND,
        *who_is_protected(participation),
    ]
    if participation < 1:
        sentences.append(ERROR_OF_REPORTS)
    if min(design.eps_if_it_fails for design in compared.designs) >= USELESS_EPS:
        none = f"For {rounds} rounds, none" if rounds > 1 else "None"
        sentences.append(
            f"{none} of these designs protects anybody if the shuffler or the aggregators fail."
        )
    if max(design.error for design in compared.designs) > 1:
        sentences.append(USELESS_ERROR)
    return sentences


def _number_of_users(number: float) -> str:
    """A number of users as text: whole from 100 on, else with three digits."""
    return f"{number:,.0f}" if number >= 100 else plain(number, 3)

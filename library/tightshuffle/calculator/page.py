"""The calculator's page, an app of marimo: `tightshuffle calculator` runs it.

Each cell is a function. Its parameters are names that other cells return, so the names say which cells it
needs. A cell shows its last expression, or nothing if that is a statement.
"""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="How private is the shuffle model?")


@app.cell
def _():
    import argparse

    import marimo as mo

    import tightshuffle
    from tightshuffle.calculator import answers, picture
    from tightshuffle.cli import values
    from tightshuffle.cli.layout import what_is_left
    from tightshuffle.number_text import plain
    from tightshuffle.randomizers import BY_KEY
    from tightshuffle.side import Side

    return (
        BY_KEY,
        Side,
        answers,
        argparse,
        mo,
        picture,
        plain,
        tightshuffle,
        values,
        what_is_left,
    )


@app.cell
def _(mo):
    mo.md("""
    # How private is the shuffle model?

    Each of **n** users holds one of **k** values and sends a randomized report of it. The local budget
    **eps0** is the privacy of one report. A shuffler removes the names. This page computes how private the
    shuffled reports are: their **(eps, delta)**, proven for every dataset. Smaller numbers mean more privacy.
    """)
    return


@app.cell
def _(BY_KEY, mo):
    # The three choices that decide which fields the page shows: ``question``, one of the values of QUESTIONS,
    # ``kind`` of randomizer, a key of BY_KEY (key -> class of a randomizer) or "file", and ``rounds``.
    QUESTIONS = {
        "eps, from eps0 and delta": "eps",
        "the largest eps0, from a target (eps, delta)": "eps0",
        "the fewest users, from a target (eps, delta) and error": "n",
        "the fewest users, from eps0 and a target (eps, delta)": "batch",
    }
    question = mo.ui.radio(QUESTIONS, value=next(iter(QUESTIONS)), label="What to compute")
    kinds = {kind.title: key for key, kind in BY_KEY.items()}
    kinds["a matrix of your own"] = "file"
    kind = mo.ui.dropdown(kinds, value=next(iter(kinds)), label="Randomizer")
    rounds = mo.ui.slider(1, 60, value=1, label="Rounds", debounce=True, include_input=True)
    return kind, question, rounds


@app.cell
def _(kind, mo, question):
    # The fields that this question and this kind of randomizer need, each with an example. ``fields.value``
    # maps their names to what was typed.
    def text(label, value):
        return mo.ui.text(value=value, label=label)

    needed_fields = {}
    if kind.value == "file":
        title = "Matrix: a row per report, a column per value"
        needed_fields["matrix"] = mo.ui.file([".csv"], label=title)
    if kind.value == "subset":
        needed_fields["size"] = text("Parameter m", "40")
    if kind.value == "hash":
        needed_fields["size"] = text("Parameter g", "4")

    if question.value in ("eps", "eps0"):
        needed_fields["n"] = text("Users, n", "100000")
    if kind.value != "file":
        needed_fields["k"] = text("Values, k", "408")
        if question.value in ("eps", "batch"):
            needed_fields["eps0"] = text("Local budget, eps0", "4")
    if question.value != "eps":
        needed_fields["eps"] = text("Target eps", "0.5")
    if question.value == "n":
        needed_fields["error"] = text("Target error", "0.05")
    needed_fields["delta"] = text("delta", "1e-6")
    needed_fields["colluding"] = text("Users whose report the attacker knows", "0")
    fields = mo.ui.dictionary(needed_fields)
    return (fields,)


@app.cell
def _(argparse, fields, mo, values):
    # Four functions for all parts of the page: ``parsed`` and ``read_field`` turn texts into numbers,
    # ``markdown_table`` shows rows, and ``attempt`` shows an answer or an error. The parsers of `values`
    # return an int for a whole number. That of delta returns its log10.
    PARSERS = {
        "size": values.whole,
        "n": values.whole,
        "k": values.whole,
        "eps0": values.number,
        "eps": values.number,
        "error": values.number,
        "delta": values.log10_delta,
        "colluding": values.users_or_share,
        "participation": values.users_or_share,
        "share": values.users_or_share,
    }

    def parsed(name, text):
        """The number that the ``text`` of the field ``name`` stands for. ValueError names the field."""
        try:
            return PARSERS[name](text.strip())
        except argparse.ArgumentTypeError as error:
            raise ValueError(f"{name} {error}") from None

    def read_field(name):
        """The number in the field with this ``name``."""
        return parsed(name, fields.value[name])

    def markdown_table(rows):
        """A table to show. ``rows`` are dictionaries, column -> text, all with the same columns."""
        lines = [list(rows[0]), ["---"] * len(rows[0])]
        lines += [list(row.values()) for row in rows]
        return mo.md("\n".join("| " + " | ".join(line) + " |" for line in lines))

    def attempt(compute):
        """The parts that ``compute`` returns, one below the other, or the line of its error."""
        try:
            return mo.vstack(compute())
        except (ValueError, OverflowError) as error:
            return mo.callout(str(error), kind="danger")
        except MemoryError:
            return mo.callout("n or k is too large for this machine's memory", kind="danger")

    return attempt, markdown_table, parsed, read_field


@app.cell
def _(
    Side,
    answers,
    attempt,
    fields,
    kind,
    markdown_table,
    mo,
    picture,
    plain,
    question,
    read_field,
    rounds,
    tightshuffle,
    what_is_left,
):
    # The content of the first tab: the choices, the fields, and the answer to the question.
    def command(name, *options):
        """Text to show: the same question on the command line, by the command ``name``.

        ``options`` are the names of the fields that are options of this command.
        """
        arguments = {
            option: fields.value[option].strip() for option in options if option in fields.value
        }
        if kind.value != "grr":
            arguments["randomizer"] = randomizer()
        if rounds.value > 1:
            arguments["rounds"] = rounds.value
        if arguments["colluding"] == "0":
            del arguments["colluding"]
        words = " ".join(f"--{option} {value}" for option, value in arguments.items())
        return mo.md(f"### The same on the command line\n\n```\ntightshuffle {name} {words}\n```")

    def randomizer():
        """The text that names the chosen randomizer for --randomizer, with its parameter if it has one."""
        if kind.value == "file":
            return "file:MATRIX.csv"
        return f"{kind.value}:{read_field('size')}" if "size" in fields.value else kind.value

    def guarantee(setting, log10_delta, start=""):
        """The parts to show for a setting at a delta: eps in a sentence, the picture, and two tables.

        ``start`` is the beginning of the heading.
        """
        low, high = answers.bracket(setting, log10_delta)
        low_text, high_text = plain(low, side=Side.LOWER), plain(high, side=Side.UPPER)
        heading = f"## {start}eps is between {low_text} and {high_text}"
        if setting.rounds > 1:
            heading += f" for all {setting.rounds} rounds together"
        return [
            mo.md(
                f"{heading}\n\nat delta = {fields.value['delta'].strip()}. Every dataset has at most the"
                " larger number, and some dataset has at least the smaller one. Left, with delta = 0, if the"
                f" shuffler fails: {what_is_left(setting.rounds * setting.eps0)}."
            ),
            picture.draw(setting, log10_delta, high),
            mo.md(f"### delta at eps = {high_text}, by every method that applies"),
            markdown_table(answers.method_rows(setting, high)),
            mo.md(
                "### Expected total variation error of one round\n\nHalf the sum of the absolute errors of"
                " all k shares, if every value is held equally often. The estimates are not projected, so an"
                " error can exceed 1."
            ),
            markdown_table(answers.error_rows(setting, high, log10_delta)),
        ]

    options = ("n", "error", "k", "eps0", "eps", "delta", "colluding")

    def make_setting(randomizer, n, k, eps0):
        """The setting with these arguments, and with the rounds and colluding users of the page."""
        return answers.Setting(
            randomizer, n, k, eps0, rounds=rounds.value, colluding=read_field("colluding")
        )

    def answer():
        """The parts to show: the answer to the question, and the command that gives it, too."""
        log10_delta, colluding = read_field("delta"), read_field("colluding")
        epsilon = "epsilon upper" if rounds.value > 1 else "epsilon upper,lower"
        if kind.value == "file":
            if question.value != "eps":
                raise ValueError("a matrix has one fixed eps0: choose eps, from eps0 and delta")
            if not fields.value["matrix"]:
                raise ValueError("choose a file with the matrix")
            matrix = answers.uploaded_matrix(fields.value["matrix"][0].contents)
            setting = make_setting(matrix, read_field("n"), matrix.k, matrix.eps0)
            return [*guarantee(setting, log10_delta), command(epsilon, *options)]

        name, k = randomizer(), read_field("k")
        if question.value == "eps":
            setting = make_setting(name, read_field("n"), k, read_field("eps0"))
            return [*guarantee(setting, log10_delta), command(epsilon, *options)]

        target = {
            "log10_delta": log10_delta,
            "randomizer": name,
            "colluding": colluding,
            "k": k,
            "eps": read_field("eps"),
            "rounds": rounds.value,
        }
        if question.value == "batch":
            eps0 = read_field("eps0")
            n = tightshuffle.fewest_users(eps0=eps0, **target)
            setting = make_setting(name, n, k, eps0)
            return [*guarantee(setting, log10_delta, f"{n:,} users: "), command("users", *options)]

        # Else a plan finds the eps0, and also the users if the question is for them.
        if question.value == "n":
            plan = tightshuffle.plan(error=read_field("error"), **target)
            start = f"{plan.n:,} users, "
        else:
            plan = tightshuffle.plan(n=read_field("n"), **target)
            start = ""
        start += f"eps0 = {plain(plan.eps0, side=Side.LOWER)}: "
        setting = make_setting(name, plan.n, k, plan.eps0)
        return [*guarantee(setting, log10_delta, start), command("plan", *options)]

    tab_of_alike_users = mo.vstack(
        [
            mo.hstack([question, mo.vstack([kind, rounds])], wrap=True, justify="start", gap=4),
            mo.hstack(list(fields.elements.values()), wrap=True, justify="start", gap=1),
            attempt(answer),
        ]
    )
    return (tab_of_alike_users,)


@app.cell
def _(mo):
    # The fields of the tab for groups: the text that describes a collection, and delta.
    EXAMPLE = """k: 100
rounds: 4
groups:
  - {name: old app, users: 60000, eps0: 2}
  - {name: new app, users: 40000, eps0: 4, participation: 0.3}
dummies: {poisson_per_value: 5}
"""
    label = "A collection, written as for the command tightshuffle collection"
    collection_field = mo.ui.text_area(EXAMPLE, rows=10, full_width=True, label=label)
    delta_of_groups = mo.ui.text("1e-6", label="delta")
    return collection_field, delta_of_groups


@app.cell
def _(mo):
    # The fields of the tab that compares designs: name -> label and example.
    examples = {
        "n": ("Users who could report, n", "100000"),
        "k": ("Values, k", "256"),
        "eps": ("Target eps", "1"),
        "delta": ("delta", "1e-6"),
        "colluding": ("Users whose report the attacker knows", "0"),
        "participation": ("The probability that a user reports in a round", "1"),
        "share": ("The share of the users who hold the popular value", "0.1"),
    }
    target_fields = mo.ui.dictionary(
        {name: mo.ui.text(text, label=label) for name, (label, text) in examples.items()}
    )
    target_rounds = mo.ui.slider(1, 60, value=1, label="Rounds", debounce=True, include_input=True)
    return target_fields, target_rounds


@app.cell
def _(
    answers,
    attempt,
    collection_field,
    delta_of_groups,
    markdown_table,
    mo,
    parsed,
    tab_of_alike_users,
    target_fields,
    target_rounds,
):
    # The three tabs, of which ``tab_of_alike_users`` is the content of the first. ``parsed`` returns the
    # number in a field's text, log10 delta for delta. ``attempt`` shows what a function gives, or its error.

    def designs():
        """The parts to show: a table with every design for the guarantee, and sentences about it."""
        target = {name: parsed(name, text) for name, text in target_fields.value.items()}
        log10_delta = target.pop("delta")
        rows, remarks = answers.design_rows(
            log10_delta=log10_delta, rounds=target_rounds.value, **target
        )
        title = "## Every design with this guarantee for all rounds, the most accurate first"
        return [
            mo.md(title),
            markdown_table(rows),
            mo.md("\n".join(f"- {line}" for line in remarks)),
        ]

    def groups():
        """The parts to show: a table with the eps of each group that was typed, and the expected error."""
        log10_delta = parsed("delta", delta_of_groups.value)
        collection = answers.typed_collection(collection_field.value)
        error = collection.expected_error()
        return [
            mo.md(
                f"## eps of each group\n\nat delta = {delta_of_groups.value.strip()}, for every dataset."
            ),
            markdown_table(answers.group_rows(collection, log10_delta)),
            mo.md(
                f"Expected total variation error of one round: {error:.4g}, if in every group each value is"
                " held equally often. The estimate is not projected."
            ),
        ]

    # Computed only when the tab is opened: some collections take seconds.
    lazy_groups = mo.lazy(lambda: attempt(groups), show_loading_indicator=True)
    lazy_designs = mo.lazy(lambda: attempt(designs), show_loading_indicator=True)
    fields_of_designs = [*target_fields.elements.values(), target_rounds]
    mo.ui.tabs(
        {
            "Users who are all alike": tab_of_alike_users,
            "Which design?": mo.vstack(
                [mo.hstack(fields_of_designs, wrap=True, justify="start", gap=1), lazy_designs]
            ),
            "Groups, participation, dummies": mo.vstack(
                [collection_field, delta_of_groups, lazy_groups]
            ),
        }
    )
    return


if __name__ == "__main__":
    app.run()

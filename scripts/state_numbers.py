"""Every number that README.md and docs/ quote as a result, computed and written as it stands there.

A test finds the numbers in the documents and looks for each among those of the same document here. To quote
another one, add a line to the function of its document below, with the value's source; nothing is typed.
"""

import math
from dataclasses import asdict
from decimal import ROUND_FLOOR, Decimal

import pandas as pd

from tightshuffle.mechanisms import gaussian
from tightshuffle.pipeline.job import job, write_csv
from tightshuffle.privacy import amplification, clones, count, histogram
from tightshuffle.report import findings
from tightshuffle.report import verdicts as report
from tightshuffle.report.numbers import Numbers, scientific, written
from tightshuffle.report.quoted import (
    TINY,
    band,
    end_of_search,
    excess_of_shuffle,
    expected_tv,
    largest_shortfall,
    reverse_over_forward,
    two_counts,
    where_phi_is_0,
    worst_count,
    worst_delta,
)
from tightshuffle.report.tables import read_rows

VERDICTS, TOTALS = "results/report/verdicts.csv", "results/checkins/totals.csv"
CLAIMS, AUDIT, RATIOS = "results/report/claims.csv", "results/audit.csv", "results/parity_ratio.csv"
TABLE_IV = {"n": 100, "k": 10, "eps0": 2.0}  # the paper's default setting, with 80 holders of x0


def of_readme(verdicts, claims, audit, ratios):
    """The findings, the table of deltas, and what is not reproduced."""
    numbers = Numbers("readme")
    add_tally(numbers, verdicts)
    add_claims(numbers, claims)
    add_largest_gap(numbers, verdicts)
    add_audit(numbers, audit)
    numbers.add_call("diffprivlib", "{:.2f}", gaussian.published_scale, 4.0, 1e-30, 1.0)
    for name, sensitivity in (("needed", 1.0), ("needed_for_histograms", math.sqrt(2))):
        numbers.add_call(name, "{:.2f}", gaussian.exact_scale, 4.0, 1e-30, sensitivity=sensitivity)
    add_parity(numbers, ratios)
    for eps in (0.1, 0.5, 1.0):
        for form in count.FORMS:
            numbers.add_delta(
                f"{form}_at_{eps}", 3, count.delta, eps, **TABLE_IV, count=80, form=form, direction="forward"
            )
        numbers.add_delta(f"lower_at_{eps}", 3, histogram.lower, eps, **TABLE_IV)
        numbers.add_delta(f"upper_at_{eps}", 3, histogram.upper, eps, **TABLE_IV)
    printed = [log10(row) for row in chosen(verdicts, item="Table II", mechanism="this paper", n="1000")]
    source = f"{VERDICTS}: printed, Table II, this paper, n = 1000, largest over smallest"
    numbers.add("orders_of_table_II", max(printed) - min(printed), "{:.0f} orders", source)
    return numbers.rows


def of_worst_case():
    """Tiny cases in full, and how wide the band is."""
    numbers = Numbers("worst_case")
    for setting, budgets in ((TINY[0], (0.4, 0.6, 0.8)), (TINY[2], (0.4, 0.8))):
        for eps in budgets:
            numbers.add_call(f"worst_of_{setting['n']}_at_{eps}", "{:.6g}", worst_delta, eps, **setting)
    numbers.add_call("two_counts", "{:.5f}", two_counts, 0.6, **TINY[0])
    numbers.add_call("whole_histogram", "{:.5f}", worst_delta, 0.6, **TINY[0])
    for eps in (1.0, 2.0):
        numbers.add_call(f"band_at_{eps:g}", percent, band, eps, n=1000, k=15, eps0=4.0)
    for bound in (histogram.lower, histogram.upper):
        numbers.add_call(f"shortfall_of_{bound.__name__}", "{:.2f} times", largest_shortfall, bound)
    return numbers.rows


def of_errata(verdicts, totals, audit, ratios):
    """The numbers of docs/errata.md, section by section."""
    numbers = Numbers("errata")
    add_tally(numbers, verdicts)
    add_largest_gap(numbers, verdicts)
    line = chosen(verdicts, item="Table IV", n="100", k="10", eps0="2")
    add_printed(numbers, "IV", line[: len(line) // 3])  # the paper prints this line three times
    for eps in (0.1, 0.5, 1.0):  # sections 2 and 3
        numbers.add_delta(
            f"corrected_at_{eps}", 3, count.delta, eps, **TABLE_IV, count=80, direction="forward"
        )
        numbers.add_delta(f"worst_count_at_{eps}", 3, worst_count, eps, **TABLE_IV)
        numbers.add_delta(f"lower_at_{eps}", 3, histogram.lower, eps, **TABLE_IV)
        numbers.add_delta(f"upper_at_{eps}", 3, histogram.upper, eps, **TABLE_IV)
    numbers.add_call("reverse_over_forward", "{:.1f} times", reverse_over_forward, 0.5, **TABLE_IV, count=0)
    add_audit(numbers, audit)
    add_gaussian(numbers, verdicts)  # sections 5 to 7
    for eps0, (_, most) in parity_spans(ratios, "projected").items():
        if eps0 != 2:
            numbers.add(f"parity_eps0_{eps0:g}", most, "{:.2f} times", f"{RATIOS}: projected, largest")
    add_literature(numbers, verdicts)  # section 8
    add_grids(numbers, totals, verdicts)  # section 9
    add_printed(numbers, "n_150", chosen(verdicts, item="Table IV", n="150"))  # section 10
    add_unexplained(numbers, verdicts)  # section 11
    return numbers.rows


def add_gaussian(numbers, verdicts):
    """Distances and scales of the Gaussian: what is printed, what diffprivlib makes of it, what is exact."""
    add_printed(numbers, "tv", chosen(verdicts, item="text", mechanism="gaussian"))
    for name, sensitivity in (("1", 1.0), ("sqrt2", math.sqrt(2))):
        for n, form in ((1000, "{:.4f}"), (100_000, "{:.6f}")):
            setting = {"n": n, "k": 15, "eps": 4.0, "delta": 1e-30, "sensitivity": sensitivity}
            numbers.add_call(f"tv_{n}_sensitivity_{name}", form, expected_tv, **setting)
    numbers.add_call("where_phi_is_0", "{:.2f}", where_phi_is_0)
    for eps in (4.0, 6.0):
        numbers.add_call(f"end_of_search_{eps:g}", "{:.4f}", end_of_search, eps)
        numbers.add_call(f"diffprivlib_{eps:g}", "{:.4f}", gaussian.published_scale, eps, 1e-30, 1.0)
        numbers.add_call(f"exact_{eps:g}", "{:.4f}", gaussian.exact_scale, eps, 1e-30)
    wanted = {"n": 100_000, "k": 408, "eps": 0.5, "log10_delta": -6.0}
    numbers.add_call("shuffle_over_gaussian", percent, excess_of_shuffle, **wanted)


def add_literature(numbers, verdicts):
    """Table 1's first line and what the cited bounds are worth there."""
    setting = {"n": 100, "k": 10, "eps0": 0.5}
    add_printed(numbers, "1", chosen(verdicts, item="Table 1", eps="0.1"))
    bounds = (amplification.balle_bennett, clones.clones, clones.stronger_clones)
    for bound in (*bounds, histogram.upper, histogram.lower):
        numbers.add_delta(f"{bound.__name__}_of_table_1", 3, bound, 0.1, **setting)
    numbers.add_delta("count_of_table_1", 3, count.delta, 0.1, **setting, count=80, direction="forward")
    times = amplification.balle_bennett(0.1, **setting) - histogram.upper(0.1, **setting)
    source = written(amplification.balle_bennett, 0.1, **setting) + " against privacy.histogram.upper"
    numbers.add("balle_over_upper", 10**times, "{:.0f} times", source)
    numbers.add_call("band", percent, band, 0.1, **setting)
    cell = chosen(verdicts, item="Table II", mechanism="feldman", n="1000", eps="0.4")
    add_printed(numbers, "feldman", cell)
    numbers.add_delta("feldman_at_0.4", 3, clones.clones, 0.4, n=1000, k=10, eps0=0.5)


def add_grids(numbers, totals, verdicts):
    """Check-ins of both cities under both cuttings."""
    found = {(row["dataset"], row["grid"]): int(row["checkins"]) for row in totals}
    add_printed(numbers, "checkins", chosen(verdicts, item="data"))
    for grid in ("published", "stepped"):
        numbers.add(f"paris_{grid}", found["paris", grid], "{:,}", TOTALS)
    lost = found["paris", "published"] - found["paris", "stepped"]
    numbers.add("paris_lost", lost, "{}", f"{TOTALS}: paris, published less stepped")
    printed = chosen(verdicts, dataset="san_francisco", item="data")[0]["printed"]
    missing = int(printed.replace(",", "")) - found["san_francisco", "published"]
    numbers.add("san_francisco_missing", missing, "{}", f"{VERDICTS}: printed, less {TOTALS}")


def add_unexplained(numbers, verdicts):
    """The printed values that are not reproduced, and what is nearest to them."""
    missed = [row for row in verdicts if row["verdict"] not in report.REPRODUCED]
    numbers.add(
        "missed", len(missed), "{} values", f"{VERDICTS}: verdict differs, inconsistent, not comparable"
    )
    ours = chosen(missed, item="Table II", mechanism="this paper")
    for row in (ours[0], ours[-1]):
        orders = abs(report.orders(row["reproduced"], row["printed"]))
        numbers.add(
            f"orders_at_{row['eps']}", orders, "{:.0f} orders", f"{VERDICTS}: Table II, printed, reproduced"
        )
    ratios = [
        10 ** (count.delta(float(row["eps"]), n=1000, k=2, eps0=0.5, count=1, form="published") - log10(row))
        for row in ours
    ]
    source = "privacy.count.delta(..., n=1000, k=2, eps0=0.5, count=1, form='published') over the printed"
    numbers.add("nearest_lowest", min(ratios), "{:.2f}", source)
    numbers.add("nearest_highest", max(ratios), "{:.2f}", source)
    cells = chosen(missed, item="Table II", mechanism="balle") + chosen(missed, item="Table IV")
    for i, row in enumerate(cells):
        add_printed(numbers, f"missed_{i}", [row])
        numbers.add(f"missed_{i}_ours", row["reproduced"], three_digits, f"{VERDICTS}: reproduced")
    error = chosen(verdicts, item="Table V", mechanism="shuffle+INV", n="100000", x0="1")[0]
    add_printed(numbers, "error", [error])
    numbers.add("error_level", error["tolerance"], central, f"{VERDICTS}: tolerance, Table V")
    numbers.add("error_highest", error["high"], three_digits, f"{VERDICTS}: high, Table V")
    numbers.add("error_median", error["reproduced"], three_digits, f"{VERDICTS}: reproduced, Table V")


def add_tally(numbers, verdicts):
    """How many of the printed values are reproduced."""
    tally = report.tally(verdicts)
    text = f"{tally.reproduced} of {tally.total}"
    numbers.add("reproduced", text, "{}", f"{VERDICTS}: verdict {', '.join(report.REPRODUCED)}")


def add_claims(numbers, claims):
    """How many of the paper's statements got each verdict."""
    tally = findings.claims(claims, CLAIMS)
    text = f"{tally.pop('holds')} of {len(claims)}"
    numbers.add("claims", text, "{}", f"{CLAIMS}: verdict holds")
    for verdict, many in tally.items():
        form = {"fails": "{} fail", "holds only as published": "{} hold only as published"}
        words = form.get(verdict, "{} are " + verdict)
        numbers.add(verdict.replace(" ", "_"), many, words, f"{CLAIMS}: verdict {verdict}")


def add_audit(numbers, audit):
    """What the privacy game shows of the count in the README's setting, and of all rows together."""
    found = [
        float(row["audited_delta"])
        for row in audit
        if all(float(row[name]) == value for name, value in (*TABLE_IV.items(), ("eps", 0.1), ("count", 80)))
        and row["observes"] == "count"
    ]
    if found and numbers.document == "readme":
        source = f"{AUDIT}: audited_delta, observes count, eps = 0.1, rounded down"
        numbers.add("audited", max(found), rounded_down, source)
    numbers.add("audit_confidence", 100 * float(audit[0]["confidence"]), "{:g} %", f"{AUDIT}: confidence")
    tally = findings.audit(audit)
    text = f"{tally['published']} of {tally['of']}"
    numbers.add("audit_over_published", text, "{}", f"{AUDIT}: joint_delta over published_log10_delta")
    words = "none exceeds" if tally["upper"] == 0 else f"{tally['upper']} exceed"
    numbers.add("audit_over_upper", words, "{}", f"{AUDIT}: audited_delta over upper_log10_delta")


def add_parity(numbers, ratios):
    """Ranges of the ratio of errors at equal privacy for each eps0, and the largest one as published."""
    for eps0, span in parity_spans(ratios, "projected").items():
        for name, value in zip(("least", "most"), span, strict=True):
            source = f"{RATIOS}: ratio of tv, projected, bound upper, eps0 = {eps0:g}, {name}"
            numbers.add(f"parity_eps0_{eps0:g}_{name}", value, "{:.2f}", source)
    for _, most in parity_spans(ratios, "published", by_eps0=False).values():
        numbers.add("parity_published", most, "{:.0f} times", f"{RATIOS}: ratio of tv, published, largest")


def parity_spans(ratios, comparison, by_eps0=True):
    """eps0 (or 0 for all together) -> (least, most) ratio of the TV errors, with eps from `upper`."""
    spans = {}
    for row in ratios:
        if (row["metric"], row["comparison"]) == ("tv", comparison) and row["bound"] in ("upper", ""):
            ratio, place = float(row["ratio"]), float(row["eps0"]) if by_eps0 else 0.0
            low, high = spans.get(place, (ratio, ratio))
            spans[place] = min(low, ratio), max(high, ratio)
    return spans


def rounded_down(value):
    """Two digits of a positive lower bound, which stays one."""
    value = Decimal(value)
    digit = Decimal(1).scaleb(value.adjusted() - 1)
    return scientific(value.quantize(digit, rounding=ROUND_FLOOR), digits=2)


def add_largest_gap(numbers, verdicts):
    """How far Table IV is from the exact deltas, at most."""
    largest = max(gap.orders for gap in report.gaps(chosen(verdicts, item="Table IV")))
    numbers.add(
        "largest_gap", largest, "{:.1f} orders", f"{VERDICTS}: exact over reproduced, Table IV, largest"
    )


def add_printed(numbers, name, rows):
    """The characters that the papers print, one number per row; zeros say nothing and are left out."""
    for i, row in enumerate(rows):
        if row["printed"] != "0":
            numbers.add(f"printed_{name}_{i}", row["printed"], "{}", f"{VERDICTS}: printed, {row['source']}")


def chosen(rows, **wanted):
    """The rows with these values, in order; ValueError if there are none."""
    found = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    if not found:
        words = ", ".join(f"{name} = {value}" for name, value in wanted.items())
        raise ValueError(f"no row with {words}, which a document quotes; change the document and this script")
    return found


def log10(row):
    """log10 of what is printed, however small."""
    return float(Decimal(row["printed"]).log10())


def three_digits(text):
    """A decimal string as the documents have it; a config other than the paper's may leave it empty."""
    return scientific(text, digits=3) if text else "not comparable"


def percent(share):
    return f"{100 * share:.2g} %"


def central(tolerance):
    """ "99 %" of "central 99 %"."""
    return tolerance.removeprefix("central ")


def main(snakemake):
    """Read the results that are quoted, write all numbers."""
    given = snakemake.input
    with job(snakemake):
        verdicts = report.check(read_rows(given.verdicts), given.verdicts)
        audit, ratios = read_rows(given.audit), read_rows(given.ratios) if given.get("ratios") else []
        rows = [
            *of_readme(verdicts, read_rows(given.claims), audit, ratios),
            *of_worst_case(),
            *of_errata(verdicts, read_rows(given.totals), audit, ratios),
        ]
        write_csv(pd.DataFrame([asdict(row) for row in rows]), snakemake.output[0])


if __name__ == "__main__":
    main(snakemake)

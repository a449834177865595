# delta of one value's count: the printed formulas, Figure 1, and the delta behind every printed one.
VALUES = "data/published/values.csv"  # what the paper prints
DELTA_FIGURES = {  # name: section of the page, title
    "fig1_delta_surface": ("figures", "δ over ε and ε₀"),
}


rule compute_printed_deltas:
    "log10 delta behind every printed delta, by the published formula and exactly; and Corollary 1."
    input:
        values=source(VALUES),
    output:
        deltas="<results>/delta/printed_deltas.csv",
        corollary="<results>/bounds/corollary_1.csv",
    log:
        "<results>/logs/compute_printed_deltas.log",
    localrule: True
    params:
        contents=digests([source(VALUES)]),
    script:
        "../../../scripts/paper/delta/compute_printed_deltas.py"


rule compute_delta_surface:
    output:
        "<results>/delta/delta_surface.csv",
    log:
        "<results>/logs/compute_delta_surface.log",
    params:
        surface=config["delta_surface"],
    script:
        "../../../scripts/paper/delta/compute_delta_surface.py"


# A short job whose output is no result, for `make cluster-check`.
use rule compute_delta_surface as check_cluster with:
    output:
        "<results>/logs/check_cluster.csv",
    log:
        "<results>/logs/check_cluster.log",


rule draw_delta_surface:
    "Figure 1."
    input:
        "<results>/delta/delta_surface.csv",
    output:
        **drawn("fig1_delta_surface"),
    log:
        "<results>/logs/draw_delta_surface.log",
    localrule: True
    script:
        "../../../scripts/paper/delta/draw_delta_surface.py"


rule delta:
    "delta of one value's count, as printed and exact, and Figure 1."
    input:
        rules.compute_printed_deltas.output,
        rules.compute_delta_surface.output,
        files_of(DELTA_FIGURES),
    localrule: True

# Bounds on delta of the whole histogram beside the paper's; and Corollary 1.
BOUNDS_FIGURES = {  # name: section of the page, title
    "too_small": ("overview", "δ by the paper's formula and its true value"),
    "delta_bounds": ("experts", "δ over ε: published, exact and all bounds"),
}


rule compute_cited_bounds:
    "log10 of the bounds that the columns of Tables II and 1 name."
    input:
        values=source(VALUES),
    output:
        shown(
            "<results>/bounds/cited_bounds.csv",
            "cited bounds",
            "what the cited bounds of Tables II and 1 give",
        ),
    log:
        "<results>/logs/compute_cited_bounds.log",
    localrule: True
    params:
        contents=digests([source(VALUES)]),
    script:
        "../../../scripts/beyond/bounds/compute_cited_bounds.py"


rule compute_corollary_1:
    "Corollary 1, read literally, at Table IV's default setting."
    output:
        "<results>/bounds/corollary_1.csv",
    log:
        "<results>/logs/compute_corollary_1.log",
    localrule: True
    script:
        "../../../scripts/beyond/bounds/compute_corollary_1.py"


rule compute_too_small:
    output:
        "<results>/bounds/too_small.csv",
    log:
        "<results>/logs/compute_too_small.log",
    params:
        surface=config["delta_surface"],
    script:
        "../../../scripts/beyond/bounds/compute_too_small.py"


rule draw_too_small:
    input:
        "<results>/bounds/too_small.csv",
    output:
        **drawn("too_small"),
    log:
        "<results>/logs/draw_too_small.log",
    localrule: True
    script:
        "../../../scripts/beyond/bounds/draw_too_small.py"


rule compute_delta_bounds:
    output:
        "<results>/bounds/delta_bounds.csv",
    log:
        "<results>/logs/compute_delta_bounds.log",
    params:
        steps=config["delta_bounds"]["steps"],
        settings=config["delta_bounds"]["settings"],
    script:
        "../../../scripts/beyond/bounds/compute_delta_bounds.py"


rule draw_delta_bounds:
    input:
        "<results>/bounds/delta_bounds.csv",
    output:
        **drawn("delta_bounds"),
    log:
        "<results>/logs/draw_delta_bounds.log",
    localrule: True
    script:
        "../../../scripts/beyond/bounds/draw_delta_bounds.py"


rule bounds:
    "Bounds on delta of the whole histogram beside the paper's formula, and their figures."
    input:
        rules.compute_cited_bounds.output,
        rules.compute_corollary_1.output,
        rules.compute_too_small.output,
        rules.compute_delta_bounds.output,
        files_of(BOUNDS_FIGURES),
    localrule: True

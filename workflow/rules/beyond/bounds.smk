# Bounds on delta of the whole histogram beside the paper's; and Corollary 1.


localrules:
    compute_cited_bounds,
    compute_corollary_1,
    compute_delta_hat_bound,
    draw_too_small,
    draw_delta_bounds,
    draw_delta_hat_bound,


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
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/bounds/compute_cited_bounds.py"),
        *settings(contents=digests([source(VALUES)])),
    script:
        "../../../scripts/beyond/bounds/compute_cited_bounds.py"


rule compute_corollary_1:
    "Corollary 1, read literally, at Table IV's default setting."
    output:
        "<results>/bounds/corollary_1.csv",
    log:
        "<results>/logs/compute_corollary_1.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/bounds/compute_corollary_1.py"),
    script:
        "../../../scripts/beyond/bounds/compute_corollary_1.py"


rule compute_too_small:
    output:
        "<results>/bounds/too_small.csv",
    log:
        "<results>/logs/compute_too_small.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/bounds/compute_too_small.py"),
        *settings(surface=config["delta_surface"]),
    script:
        "../../../scripts/beyond/bounds/compute_too_small.py"


rule draw_too_small:
    input:
        "<results>/bounds/too_small.csv",
    output:
        **drawn("too_small"),
    log:
        "<results>/logs/draw_too_small.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/bounds/draw_too_small.py"),
    script:
        "../../../scripts/beyond/bounds/draw_too_small.py"


rule compute_delta_bounds:
    output:
        "<results>/bounds/delta_bounds.csv",
    log:
        "<results>/logs/compute_delta_bounds.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/bounds/compute_delta_bounds.py"),
        *settings(
            steps=config["delta_bounds"]["steps"],
            settings=config["delta_bounds"]["settings"],
        ),
    script:
        "../../../scripts/beyond/bounds/compute_delta_bounds.py"


rule draw_delta_bounds:
    input:
        "<results>/bounds/delta_bounds.csv",
    output:
        **drawn("delta_bounds"),
    log:
        "<results>/logs/draw_delta_bounds.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/bounds/draw_delta_bounds.py"),
    script:
        "../../../scripts/beyond/bounds/draw_delta_bounds.py"


rule compute_delta_hat_bound:
    "A proven bound on delta of the whole histogram beside delta-hat, for eps < eps0."
    input:
        "<results>/delta/delta_hat_{dataset}.csv",
    output:
        shown(
            "<results>/bounds/delta_hat_bound_{dataset}.csv",
            "delta-hat bound",
            "delta-hat beside a proven bound",
        ),
    log:
        "<results>/logs/compute_delta_hat_bound/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(DELTA_HAT),
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/bounds/compute_delta_hat_bound.py"),
    script:
        "../../../scripts/beyond/bounds/compute_delta_hat_bound.py"


rule draw_delta_hat_bound:
    input:
        expand(rules.compute_delta_hat_bound.output, dataset=DELTA_HAT),
    output:
        **drawn("delta_hat_bound"),
    log:
        "<results>/logs/draw_delta_hat_bound.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/bounds/draw_delta_hat_bound.py"),
        *settings(titles=TITLES),
    script:
        "../../../scripts/beyond/bounds/draw_delta_hat_bound.py"


rule bounds:
    "Bounds on delta of the whole histogram beside the paper's formula, and their figures."
    input:
        rules.compute_cited_bounds.output,
        rules.compute_corollary_1.output,
        rules.compute_too_small.output,
        rules.compute_delta_bounds.output,
        expand(rules.compute_delta_hat_bound.output, dataset=DELTA_HAT),
        figures_of_stage("bounds"),

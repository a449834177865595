# The audit: the game of differential privacy, played against the real protocol.


rule run_audit:
    "Draw and shuffle every message of both worlds at one setting; tallies of the counts of x0 and x1."
    output:
        "<results>/audit/{setting}.parquet",
    log:
        "<results>/logs/run_audit/{setting}.log",
    benchmark:
        "<results>/benchmarks/run_audit/{setting}.tsv"
    wildcard_constraints:
        setting="|".join(map(re.escape, AUDITS)),
    group:
        "trials"
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(180),
        runtime=minutes(60),
    params:
        code=code_of("scripts/run_audit.py"),
        setting=lambda wildcards: {**AUDITS[wildcards.setting], "rest": config["audit"]["rest"]},
        seed=config["seed"],
    script:
        "../../scripts/run_audit.py"


rule collect_audit:
    "Lower confidence bounds on delta from all tallies, beside the published, the exact and the upper delta."
    input:
        tallies=expand("<results>/audit/{setting}.parquet", setting=AUDITS),
    output:
        report(
            "<results>/audit.csv",
            caption="../report/audit_table.rst",
            category="Tables",
            labels={"table": "audit", "shows": "lower confidence bounds on delta"},
        ),
    log:
        "<results>/logs/collect_audit.log",
    benchmark:
        "<results>/benchmarks/collect_audit.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(190),
        runtime=minutes(3),
    params:
        code=code_of("scripts/collect_audit.py"),
        eps=config["audit"]["eps"],
        confidence=config["audit"]["confidence"],
    script:
        "../../scripts/collect_audit.py"


rule draw_audit:
    "The audit's lower bounds over eps, with the published, the exact and the upper delta."
    input:
        audit="<results>/audit.csv",
    output:
        png=report(
            "<results>/figures/audit.png",
            caption="../report/audit.rst",
            category="Figures",
            labels={"figure": "audit", "shows": "what an observer of the real protocol sees"},
        ),
        pdf="<results>/figures/audit.pdf",
        txt="<results>/figures/audit.txt",
    log:
        "<results>/logs/draw_audit.log",
    benchmark:
        "<results>/benchmarks/draw_audit.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(240),
        runtime=minutes(5),
    params:
        code=code_of("scripts/draw_audit.py", FIGURE_STYLE),
    script:
        "../../scripts/draw_audit.py"

# A simulated attack on k-RR behind a shuffler, against the published and the exact delta.
AUDITS = {
    configuration.label(**{name: setting[name] for name in ("n", "k", "eps0", "count")}): setting
    for setting in config["audit"]["settings"]
}


localrules:
    collect_audit,
    draw_audit,


rule run_audit:
    "Simulate the attack at one setting: draw every report of both datasets, and count x0 and x1."
    output:
        "<results>/attack/{setting}.parquet",
    log:
        "<results>/logs/run_audit/{setting}.log",
    wildcard_constraints:
        setting="|".join(map(re.escape, AUDITS)),
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/attack/run_audit.py"),
        *settings(
            setting=lambda wildcards: AUDITS[wildcards.setting],
            remaining=config["audit"]["remaining"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/beyond/attack/run_audit.py"


rule collect_audit:
    "Lower confidence bounds on delta from all counts, with the published, the exact and the upper delta."
    input:
        tallies=expand("<results>/attack/{setting}.parquet", setting=AUDITS),
    output:
        shown(
            "<results>/attack/audit.csv",
            "audit",
            "lower confidence bounds on delta",
            "audit_table",
        ),
    log:
        "<results>/logs/collect_audit.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/attack/collect_audit.py"),
        *settings(
            order=list(AUDITS),
            eps=config["audit"]["eps"],
            confidence=config["audit"]["confidence"],
        ),
    script:
        "../../../scripts/beyond/attack/collect_audit.py"


rule draw_audit:
    input:
        "<results>/attack/audit.csv",
    output:
        **drawn("audit"),
    log:
        "<results>/logs/draw_audit.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/attack/draw_audit.py"),
    script:
        "../../../scripts/beyond/attack/draw_audit.py"


rule attack:
    "The simulated attack: lower bounds on delta, and their figure."
    input:
        expand(rules.run_audit.output, setting=AUDITS),
        rules.collect_audit.output,
        figures_of_stage("attack"),

# Several rounds of the shuffle model: both panels of Koskela et al., Figure 1.


rule compute_koskela:
    "delta of several rounds against eps: strong and weak adversary, clones."
    output:
        fig1a="<results>/privacy/koskela_fig1a.csv",
        fig1b="<results>/privacy/koskela_fig1b.csv",
    log:
        "<results>/logs/compute_koskela.log",
    benchmark:
        "<results>/benchmarks/compute_koskela.tsv"
    group:
        "accountants"
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(290),
        runtime=minutes(10),
    params:
        code=code_of("scripts/compute_koskela.py"),
        plan=config["koskela"],
    script:
        "../../scripts/compute_koskela.py"


rule draw_koskela:
    "A panel of Koskela et al., Figure 1: delta of several rounds over eps."
    input:
        curves="<results>/privacy/koskela_{panel}.csv",
    output:
        png=report(
            "<results>/figures/koskela_{panel}.png",
            caption="../report/koskela.rst",
            category="Figures",
            labels={"figure": "koskela_{panel}", "shows": "delta of several rounds over eps"},
        ),
        pdf="<results>/figures/koskela_{panel}.pdf",
        txt="<results>/figures/koskela_{panel}.txt",
    log:
        "<results>/logs/draw_koskela_{panel}.log",
    benchmark:
        "<results>/benchmarks/draw_koskela_{panel}.tsv"
    wildcard_constraints:
        panel="fig1a|fig1b",
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(210),
        runtime=minutes(5),
    params:
        code=code_of("scripts/draw_koskela.py", FIGURE_STYLE),
        lowest=lambda wildcards: config["koskela"][wildcards.panel]["lowest"],
    script:
        "../../scripts/draw_koskela.py"

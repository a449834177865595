# The curves of the three companion papers.


localrules:
    draw_blanket,
    draw_girgis,
    draw_koskela,


rule compute_blanket:
    "The authors' blanket paper: eq. (3) beside the bounds."
    output:
        "<results>/companions/blanket_tightness.csv",
    log:
        "<results>/logs/compute_blanket.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/companions/compute_blanket.py"),
    script:
        "../../../scripts/beyond/companions/compute_blanket.py"


rule draw_blanket:
    input:
        "<results>/companions/blanket_tightness.csv",
    output:
        **drawn("blanket"),
    log:
        "<results>/logs/draw_blanket.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/companions/draw_blanket.py"),
    script:
        "../../../scripts/beyond/companions/draw_blanket.py"


rule compute_girgis:
    "Girgis et al.: the bound on Renyi divergences, and delta after several rounds."
    output:
        divergences="<results>/companions/girgis_rdp.csv",
        composed="<results>/companions/girgis_composed.csv",
    log:
        "<results>/logs/compute_girgis.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/companions/compute_girgis.py"),
    script:
        "../../../scripts/beyond/companions/compute_girgis.py"


rule draw_girgis:
    input:
        divergences="<results>/companions/girgis_rdp.csv",
        composed="<results>/companions/girgis_composed.csv",
    output:
        **drawn("girgis_rdp"),
    log:
        "<results>/logs/draw_girgis.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/companions/draw_girgis.py"),
    script:
        "../../../scripts/beyond/companions/draw_girgis.py"


rule compute_koskela:
    "Koskela et al., Figure 1: both panels."
    output:
        fig1a="<results>/companions/koskela_fig1a.csv",
        fig1b="<results>/companions/koskela_fig1b.csv",
    log:
        "<results>/logs/compute_koskela.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/companions/compute_koskela.py"),
    script:
        "../../../scripts/beyond/companions/compute_koskela.py"


rule draw_koskela:
    input:
        "<results>/companions/koskela_{panel}.csv",
    output:
        **drawn("koskela_{panel}"),
    log:
        "<results>/logs/draw_koskela/{panel}.log",
    wildcard_constraints:
        panel="fig1[ab]",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/companions/draw_koskela.py"),
    script:
        "../../../scripts/beyond/companions/draw_koskela.py"


rule companions:
    "The companion papers: Koskela et al., Girgis et al., and the authors' blanket paper."
    input:
        rules.compute_blanket.output,
        rules.compute_girgis.output,
        rules.compute_koskela.output,
        figures_of_stage("companions"),

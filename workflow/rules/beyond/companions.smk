# The curves of the three companion papers.
COMPANION_FIGURES = {  # name: section of the page, title
    "blanket": ("companion", "Eq. (3) of the authors' blanket paper"),
    "girgis_rdp": ("companion", "Girgis et al.: Rényi differential privacy"),
    "koskela_fig1a": ("companion", "Koskela et al., Figure 1a: strong and weak adversary"),
    "koskela_fig1b": ("companion", "Koskela et al., Figure 1b: clones"),
}


rule compute_blanket:
    "The authors' blanket paper: where its theorems apply, and eq. (3) beside the bounds."
    output:
        regions="<results>/companions/blanket_regions.csv",
        tightness="<results>/companions/blanket_tightness.csv",
    log:
        "<results>/logs/compute_blanket.log",
    script:
        "../../../scripts/beyond/companions/compute_blanket.py"


rule draw_blanket:
    input:
        "<results>/companions/blanket_tightness.csv",
    output:
        **drawn("blanket"),
    log:
        "<results>/logs/draw_blanket.log",
    localrule: True
    script:
        "../../../scripts/beyond/companions/draw_blanket.py"


rule compute_girgis:
    "Girgis et al.: the bound on Renyi divergences, and delta after several rounds."
    output:
        divergences="<results>/companions/girgis_rdp.csv",
        composed="<results>/companions/girgis_composed.csv",
    log:
        "<results>/logs/compute_girgis.log",
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
    localrule: True
    script:
        "../../../scripts/beyond/companions/draw_girgis.py"


rule compute_koskela:
    "Koskela et al., Figure 1: both panels."
    output:
        fig1a="<results>/companions/koskela_fig1a.csv",
        fig1b="<results>/companions/koskela_fig1b.csv",
    log:
        "<results>/logs/compute_koskela.log",
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
    localrule: True
    script:
        "../../../scripts/beyond/companions/draw_koskela.py"


rule companions:
    "The companion papers: Koskela et al., Girgis et al., and the authors' blanket paper."
    input:
        rules.compute_blanket.output,
        rules.compute_girgis.output,
        rules.compute_koskela.output,
        files_of(COMPANION_FIGURES),
    localrule: True

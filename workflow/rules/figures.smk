# The paper's figures, and the same figures for datasets of your own. A row of the catalogue has the input files, the
# module of reproduction/figures and the settings of each figure.
CODE_OF_FIGURES = {name: code_of(*figure.code) for name, figure in FIGURES.items()}


rule draw_figure:
    "A figure as PNG, PDF and SVG, and its caption."
    input:
        unpack(lambda wildcards: FIGURES[wildcards.figure].inputs),
    output:
        **{kind: f"<results>/figures/{{figure}}.{kind}" for kind in KINDS[1:]},
        png=report(
            "<results>/figures/{figure}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels=lambda wildcards: {"figure": wildcards.figure, "shows": FIGURES[wildcards.figure].title},
        ),
    log:
        "<results>/logs/draw_figure/{figure}.log",
    wildcard_constraints:
        figure="|".join(FIGURES),
    localrule: True
    params:
        code=lambda wildcards: CODE_OF_FIGURES[wildcards.figure],
        module=lambda wildcards: FIGURES[wildcards.figure].module,
        settings=lambda wildcards: FIGURES[wildcards.figure].settings,
    script:
        "../../scripts/draw_figure.py"

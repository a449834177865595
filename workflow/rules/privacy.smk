# Curves of the bounds: the data of the figures on privacy.
from reproduction.experiments.curves.tables import CURVES, settings_of

CODE_OF_CURVES = {
    name: code_of("scripts/compute_table.py", f"reproduction/experiments/curves/{module}.py")
    for name, (module, _) in CURVES.items()
}


rule compute_curve:
    "A table of delta, of bounds or of noise, computed from one section of the configuration."
    output:
        "<results>/privacy/{curve}.csv",
    log:
        "<results>/logs/compute_curve/{curve}.log",
    wildcard_constraints:
        curve="|".join(CURVES),
    params:
        code=lambda wildcards: CODE_OF_CURVES[wildcards.curve],
        module=lambda wildcards: f"curves.{CURVES[wildcards.curve][0]}",
        function=lambda wildcards: wildcards.curve,
        settings=lambda wildcards: settings_of(wildcards.curve, config),
    script:
        "../../scripts/compute_table.py"


EVERYTHING += expand(rules.compute_curve.output, curve=CURVES)

"""Put the graph of all rules, as Snakemake builds it, into README.md as a mermaid diagram.

    python workflow/rule_graph.py README.md              (make docs)

Rules stand in one box per file of workflow/rules. Edges that follow from others are left out (a transitive
reduction), so is ``all``.
"""

import sys
from pathlib import Path

from dag_of import planned, rule_edges

START, END = "<!-- rule graph: made by make docs -->", "<!-- end of the rule graph -->"


def reduced(edges):
    """The edges (needed, needing) that do not follow from a longer way; sorted."""

    def reaches(start, goal, seen):
        for needed in edges[start]:
            if needed == goal or (needed not in seen and reaches(needed, goal, seen | {needed})):
                return True
        return False

    return sorted(
        (needed, rule)
        for rule in edges
        for needed in edges[rule]
        if not any(other != needed and reaches(other, needed, set()) for other in edges[rule])
    )


def mermaid(edges, files):
    """The diagram; ``edges`` rule -> rules that it needs, ``files`` rule -> name of the file it stands in."""
    lines = ["```mermaid", "flowchart LR"]
    for file in sorted(set(files.values())):
        lines.append(f"  subgraph {file}_smk [{file}]")
        lines += [f"    {rule}" for rule in sorted(rule for rule in edges if files[rule] == file)]
        lines.append("  end")
    lines += [f"  {needed} --> {rule}" for needed, rule in reduced(edges)]
    return "\n".join([*lines, "```"])


def with_graph(text, graph):
    """``text`` with the graph between the two markers; ValueError where they are missing."""
    if text.count(START) != 1 or text.count(END) != 1:
        raise ValueError(f"README.md: expected the lines {START!r} and {END!r} once each")
    before, rest = text.split(START)
    return f"{before}{START}\n\n{graph}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    with planned() as workflow:
        names = {name: needed for name, needed in rule_edges(workflow).items() if name != "all"}
        places = {rule.name: Path(str(rule.snakefile)).stem for rule in workflow.rules if rule.name in names}
    readme = Path(sys.argv[1])
    readme.write_text(with_graph(readme.read_text("utf-8"), mermaid(names, places)), "utf-8")

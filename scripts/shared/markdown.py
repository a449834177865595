"""Markdown tables and pages."""

from collections.abc import Iterable, Sequence


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A Markdown table; every one of ``lines`` has as many texts as ``header``."""
    ruled = [header, ["---"] * len(header), *lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in ruled)


def markdown_page(title: str, paragraphs: Iterable[str]) -> str:
    """A title and paragraphs (texts or tables), blank lines between them."""
    return "\n\n".join([f"# {title}", *paragraphs]) + "\n"

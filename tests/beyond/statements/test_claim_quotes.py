"""The quotes of claims.csv are the papers' words. Needs the papers' text, which the project does not hold."""

import os
import re
import unicodedata
from pathlib import Path

import pytest

from scripts.beyond.statements.judge_claims import read_claims
from tests import ROOT

PAPERS = Path(os.environ.get("TIGHTSHUFFLE_PAPERS") or ROOT.parent / "shared" / "papers")
CLAIMS = read_claims(ROOT / "data/published/claims.csv")
TITLE = "Tight Differential Privacy Guarantees for the Shuffle Model with"

# The long version's text has a formula as characters, as spoken markup and as LaTeX, one after the other.
SYMBOLS = {
    "δ𝛿\\delta": "δ", "ϵ0subscriptitalic-ϵ0\\epsilon_{0}": "ϵ0", "ϵitalic-ϵ\\epsilon": "ϵ",
    "n𝑛n": "n", "k𝑘k": "k", "×\\times": "×",
    # And symbols that are LaTeX alone.
    "\\delta": "δ", "\\epsilon": "ϵ", "\\pi": "π",
}  # fmt: skip
# Other LaTeX commands (their arguments stay), HTML tags.
SILENT = re.compile(r"\\[a-z]+|</?[a-z]+>")


def letters(text: str) -> str:
    """Letters and digits alone: no spaces, hyphens, brackets; ligatures resolved, accents and markup gone."""
    for markup, symbol in SYMBOLS.items():
        text = text.replace(markup, symbol)
    plain = unicodedata.normalize("NFKD", SILENT.sub("", text))
    return "".join(character for character in plain if character.isalnum())


def papers() -> dict[str, str]:
    """Version -> the letters of its text, of those that are at hand."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(PAPERS.glob("*.txt"))]
    ours = [text for text in texts if TITLE in text[:300]]
    return {"SV" if "LNCS 14551" in text else "LV": letters(text) for text in ours}


def test_every_quote_is_what_the_paper_says():
    found = papers()
    if set(found) != {"LV", "SV"}:
        pytest.skip(
            f"QUOTES UNCHECKED: {PAPERS} lacks the papers' text; TIGHTSHUFFLE_PAPERS names a folder"
        )
    wrong = [row["id"] for row in CLAIMS if letters(row["quote"]) not in found[row["where"][:2]]]
    assert not wrong

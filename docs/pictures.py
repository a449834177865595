"""Copy the pictures of docs/ from a run, small enough to commit: `make pictures`."""

import shutil
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
WIDTH, COLOURS = 800, 256  # fewer turn a rare colour grey

if __name__ == "__main__":
    texts = [
        path.read_text(encoding="utf-8") for path in (HERE.parent / "README.md", *HERE.glob("*.md"))
    ]
    for drawn in sorted((RESULTS / "figures").glob("*.png")):
        if any(f"images/{drawn.name})" in text for text in texts):
            picture = Image.open(drawn).convert("RGB")
            height = round(WIDTH * picture.height / picture.width)
            small = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
            small.convert("P", palette=Image.Palette.ADAPTIVE, colors=COLOURS).save(
                HERE / "images" / drawn.name, optimize=True
            )
    shutil.copy(RESULTS / "report/article.pdf", HERE)

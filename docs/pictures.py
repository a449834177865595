"""Copy the pictures of docs/ from a run, small enough to commit: `make pictures`."""

from pathlib import Path

import pikepdf
from PIL import Image

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
WIDTH, COLOURS = 720, 256  # fewer turn a rare colour grey

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
    with pikepdf.open(RESULTS / "report/article.pdf") as article:
        article.save(
            HERE / "article.pdf",
            object_stream_mode=pikepdf.ObjectStreamMode.generate,
            recompress_flate=True,
            deterministic_id=True,  # the same file from every run
        )

"""Copy the pictures of docs/ from a run, small enough to commit: `make pictures`."""

from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results"
WIDTH = 720


def small_picture(picture: Image.Image) -> Image.Image:
    """The picture with `WIDTH` pixels per row and 256 colours; with fewer colours a rare one turns grey.

    The octree makes files that are 40 % smaller than Pillow's default, but a background that is nearly white.
    The corner of a picture is background, so its colour becomes white.
    """
    height = round(WIDTH * picture.height / picture.width)
    small = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
    indexed = small.quantize(256, method=Image.Quantize.FASTOCTREE)
    palette = indexed.getpalette()
    background = indexed.getpixel((0, 0))
    palette[3 * background : 3 * background + 3] = [255, 255, 255]
    indexed.putpalette(palette)
    return indexed


if __name__ == "__main__":
    texts = [
        path.read_text(encoding="utf-8") for path in (HERE.parent / "README.md", *HERE.glob("*.md"))
    ]
    for drawn in sorted((RESULTS / "figures").glob("*.png")):
        if any(f"images/{drawn.name})" in text for text in texts):
            picture = Image.open(drawn).convert("RGB")
            small_picture(picture).save(HERE / "images" / drawn.name, optimize=True)

"""How the pictures of the documentation are stored: PNG of few colours, which GitHub and PyPI show and git can keep."""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from PIL import Image

from fasthdmr._support.output_file import drawn, write_files

MOST_BYTES = 60_000
COLOURS = 128

mpl.use("Agg")
mpl.rcParams.update({"font.size": 9})


def save(figure: Any, name: str, dpi: int = 100) -> None:
    """Write ``docs/<name>.png``; a figure that needs more than `MOST_BYTES` is refused."""
    picture = Image.open(io.BytesIO(drawn(figure, "png", dpi=dpi))).convert("RGB")
    content = io.BytesIO()
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(content, format="png", optimize=True)
    size = content.tell()
    if size > MOST_BYTES:
        raise ValueError(f"{name}.png takes {size:,} bytes, more than {MOST_BYTES:,}: draw less, or with fewer dots")
    write_files({Path(__file__).with_name(f"{name}.png"): content.getvalue()})
    print(f"{name}.png: {size:,} bytes")

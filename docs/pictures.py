"""The pictures of pages, drawn by the Python blocks of the pages when Sphinx builds them.

A picture ``![what it shows](generated/NAME.png)`` right below a block of Python, or below its output, is the last
figure that the block leaves. The blocks of a page run in order, in one namespace, as in ``tests/test_docs.py``.
"""

import re
import warnings
from contextlib import chdir, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib as mpl
from matplotlib import pyplot

# A block; the text block that follows it with nothing but white space between: what it prints; and its picture.
# "```python needs=shap" runs only if that package is installed.
BLOCK = re.compile(
    r"^```python(?: needs=(?P<needs>\w+))?\n(?P<code>.*?)^```$(?:\s*^```text\n(?P<output>.*?)^```$)?"
    r"(?:\s*^!\[[^\]]*\]\(generated/(?P<picture>[\w-]+)\.png\)$)?",
    re.MULTILINE | re.DOTALL,
)
DPI = 90


def draw_page(page: Path, folder: Path) -> list[str]:
    """Run the blocks of a page up to the last picture, and write the pictures into a folder; return their names."""
    blocks = list(BLOCK.finditer(page.read_text(encoding="utf-8")))
    while blocks and blocks[-1]["picture"] is None:
        blocks.pop()
    names: dict[str, object] = {}
    for block in blocks:
        if block["needs"] and find_spec(block["needs"]) is None:
            continue
        with redirect_stdout(StringIO()):
            exec(compile(block["code"], page, "exec"), names)
        if block["picture"] is not None:
            pyplot.gcf().savefig(folder / f"{block['picture']}.png", dpi=DPI)
            pyplot.close("all")
    return [block["picture"] for block in blocks if block["picture"] is not None]


def draw(docs: Path, folder: Path) -> None:
    """Draw the pictures of all pages of a folder. Files that blocks write go to a temporary folder."""
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory() as place, chdir(place), mpl.rc_context({"backend": "Agg", "font.size": 9}):
        for page in sorted(docs.glob("*.md")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # pages speak of the warnings of their examples
                draw_page(page, folder)

"""The Python blocks of each page of the documentation run in order, and print the output on the page."""

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

ROOT = Path(__file__).parents[1]
# A block, and the text block that follows it with nothing but white space between: what it prints.
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```$(?:\s*^```text\n(?P<output>.*?)^```$)?", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
TOLERANCE = 0.02  # trees grow a little differently with other versions of scikit-learn and on other processors

PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
    if BLOCK.search(page.read_text(encoding="utf-8"))
]


def in_words(text: str) -> tuple[list[str], list[float]]:
    """Return the words of a text without spaces and rulers, and its numbers."""
    words = " ".join(word for word in text.split() if word.strip("-"))
    return NUMBER.sub("#", words).split(), [float(number) for number in NUMBER.findall(words)]


def test_there_are_pages():
    assert {"README.md", "CONTRIBUTING.md", "quick-start.md", "the-trap.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda: None)
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in BLOCK.finditer(text):
        # Empty lines in front, so that an error names the line of the page.
        code = "\n" * text.count("\n", 0, block.start("code")) + block["code"]
        exec(compile(code, page, "exec"), names)
        printed = capsys.readouterr().out
        if block["output"] is not None:
            words, numbers = in_words(printed)
            said_words, said_numbers = in_words(block["output"])
            assert words == said_words, printed
            np.testing.assert_allclose(numbers, said_numbers, rtol=0, atol=TOLERANCE, err_msg=printed)
    pyplot.close("all")

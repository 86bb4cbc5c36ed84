"""The Python blocks of each page of the documentation run in order, and print the output on the page."""

import re
import sys
import warnings
from codeop import CommandCompiler
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))
from pictures import BLOCK, draw_page  # noqa: E402

PICTURE = re.compile(r"!\[[^\]]*\]\(generated/([\w-]+)\.png\)")
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


def test_every_python_block_is_found():
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(BLOCK.findall(text)) == len(re.findall(r"^```py", text, re.MULTILINE)), page


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_blocks_can_be_pasted(page):
    """Up to Python 3.12, the interactive interpreter ends a loop or a function at an empty line, and only there."""
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        compiled, statement = CommandCompiler(), []
        for line in [*block["code"].splitlines(), ""]:
            statement.append(line)
            if compiled("\n".join(statement), str(page), "single") is not None:
                statement = []
        assert not statement


def test_there_are_pages():
    assert {"README.md", "CONTRIBUTING.md", "quick-start.md", "the-trap.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pyplot, "show", lambda: None)
    text = page.read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in BLOCK.finditer(text):
        if block["needs"] and find_spec(block["needs"]) is None:
            continue
        # Empty lines in front, so that an error names the line of the page.
        code = "\n" * text.count("\n", 0, block.start("code")) + block["code"]
        with warnings.catch_warnings():
            if block["needs"]:
                warnings.simplefilter("ignore")  # of the other package
            exec(compile(code, page, "exec"), names)
        printed = capsys.readouterr().out
        if block["output"] is not None:
            words, numbers = in_words(printed)
            said_words, said_numbers = in_words(block["output"])
            assert words == said_words, printed
            np.testing.assert_allclose(numbers, said_numbers, rtol=0, atol=TOLERANCE, err_msg=printed)
        assert block["picture"] is None or pyplot.get_fignums(), "the block above a picture draws nothing"
    pyplot.close("all")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_generated_picture_is_below_a_block(page):
    text = page.read_text(encoding="utf-8")
    drawn = [block["picture"] for block in BLOCK.finditer(text) if block["picture"]]
    assert drawn == PICTURE.findall(text)


def test_names_of_pictures_are_distinct():
    names = [name for page in PAGES for name in PICTURE.findall(page.read_text(encoding="utf-8"))]
    assert len(names) == len(set(names)) > 10


TEACHING = (
    "quick-start reading-an-hdmr how-much-can-i-believe-this correlated-inputs the-trap categories kernel-machines"
)


@pytest.mark.parametrize("name", TEACHING.split())
def test_teaching_pages_have_pictures(name):
    assert "![" in (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def test_the_last_figure_of_a_block_is_its_picture(tmp_path):
    page = tmp_path / "page.md"
    blocks = ["from matplotlib import pyplot\nprint(1)", "figure = pyplot.figure(figsize=(1, 2))", "1 / 0"]
    first, second, last = (f"```python\n{code}\n```\n" for code in blocks)
    page.write_text(f"{first}{second}\n![one](generated/one.png)\n\n{last}")
    assert draw_page(page, tmp_path) == ["one"]
    height, width, _ = pyplot.imread(tmp_path / "one.png").shape
    assert height == 2 * width

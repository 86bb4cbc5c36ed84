"""The commands on the page about the command line print what stands below them."""

import io
import re
import shlex
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from test_cli import run
from test_docs import in_words

PAGE = (Path(__file__).parents[1] / "docs" / "command-line.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```bash\n(?P<commands>.*?)^```$(?:\s*^```text\n(?P<output>.*?)^```$)?", re.MULTILINE | re.DOTALL)

mpl.use("Agg")


def test_commands_print_what_the_page_says(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow", reason="pyarrow is optional (extra arrow)")
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[1], {})
    blocks = list(BLOCK.finditer(PAGE))
    assert len(blocks) >= 6
    for block in blocks:
        for command in block["commands"].splitlines():
            program, *argv = shlex.split(command)
            if "<" in argv:
                *argv, _, name = argv
                monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(name).read_bytes())))
            assert program == "fasthdmr"
            status, printed, err = run(capsys, *argv)
            assert status == 0 and "error" not in err
        if block["output"] is not None:
            words, numbers = in_words(printed)
            said_words, said_numbers = in_words(block["output"])
            assert words == said_words, printed
            # Trees grow a little differently with other versions of scikit-learn.
            np.testing.assert_allclose(numbers, said_numbers, rtol=0.02, atol=0.02, err_msg=printed)
    names = {path.name for path in Path("results").iterdir()}
    assert {"indices.json", "explanations.parquet", "row_1.png", "row_2.png"} <= names and Path("report.html").is_file()

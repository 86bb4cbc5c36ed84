"""Commit messages: a subject that fits, then why."""

import commit_message
import pytest

WHY = "\n\nBecause it helps.\n"


@pytest.mark.parametrize(
    "message",
    [
        "x" * 72 + WHY,
        "Subject" + WHY + "# On branch main",
        "# a template\nSubject" + WHY,
        "Merge branch 'main'",
        'Revert "' + "x" * 72,
        "fixup! " + "x" * 72,
    ],
)
def test_good_messages(message, tmp_path, capsys):
    (tmp_path / "message").write_text(message)
    assert commit_message.main(str(tmp_path / "message")) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("x" * 73 + WHY, "73 characters"),
        ("Subject\nBecause", "an empty line"),
        ("Subject\n", "say why"),
        ("Subject\n\n# comment\n", "say why"),
        ("Subject\n# ------------------------ >8 ---\n\ndiff --git a b\n", "say why"),
        ("", "say why"),
    ],
)
def test_bad_messages(message, words, tmp_path, capsys):
    (tmp_path / "message").write_text(message)
    assert commit_message.main(str(tmp_path / "message")) == 1
    assert words in capsys.readouterr().err

"""Check a commit message: ``python tools/commit_message.py FILE``; pre-commit calls it for every commit.

A subject of at most 72 characters, an empty line, then why. Git's own merges, reverts and fix-ups are not checked.
"""

import sys
from pathlib import Path

LONGEST = 72
BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")


def fault(message: str) -> str:
    """Return the fault of a message, "" if there is none."""
    kept = message.partition("# ------------------------ >8")[0]
    subject, *body = [line.rstrip() for line in kept.strip().splitlines() if not line.startswith("#")] or [""]
    if subject.startswith(BY_GIT):
        return ""
    if len(subject) > LONGEST:
        return f"the subject has {len(subject)} characters, at most {LONGEST} fit on a line of git log: {subject}"
    if body and body[0]:
        return "an empty line must follow the subject, which git takes to end there"
    if not any(body):
        return "say why after the subject and an empty line: what changed is in the diff"
    return ""


def main(path: str) -> int:
    """Print the fault and return 1; return 0 if there is none."""
    found = fault(Path(path).read_text(encoding="utf-8"))
    if found:
        print(found, file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

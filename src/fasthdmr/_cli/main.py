"""The ``fasthdmr`` command."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import TypeGuard

from fasthdmr._cli import decompose, demo, explain
from fasthdmr._cli.arguments import Parser
from fasthdmr._cli.console import one_line, say, warning_lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; default: those of the process.

    Returns
    -------
    status : int
        0, or 2 after an invalid input, which one line on standard error names.

    Examples
    --------
    >>> main(["decompose", "no-such-model.skops", "data.csv"])
    2
    """
    try:
        arguments = _parser().parse_args(argv)
        with warnings.catch_warnings(record=True) as caught:
            for category in (UserWarning, RuntimeWarning):
                warnings.simplefilter("always", category)
            arguments.caught = caught
            arguments.run(arguments)
        for message in warning_lines(caught):
            say(f"fasthdmr: warning: {message}", error=True)
    except BrokenPipeError:
        return 0  # an output file that is a closed pipe
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        message = f"{error.filename}: {error.strerror}" if _is_about_a_file(error) else str(error) or repr(error)
        with contextlib.suppress(OSError):
            say(f"fasthdmr: error: {one_line(message)}", error=True)
        return 2
    return 0


def _is_about_a_file(error: Exception) -> TypeGuard[OSError]:
    return isinstance(error, OSError) and error.filename is not None


def _parser() -> Parser:
    parser = Parser(
        prog="fasthdmr",
        description="What each variable and interaction does in a tree ensemble.",
        epilog="fasthdmr COMMAND --help explains the options, with examples.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('fasthdmr')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (demo, decompose, explain):
        module.add(commands)
    return parser

"""The command `meantime`, one file a verb. Only this package prints, exits, or reads the
environment.
"""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit.

    Exit codes: 0 done, 1 bad input, 2 bad usage, 130 interrupted.
    """
    from meantime.cli.app import run

    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        # Files and pipes hold UTF-8 wherever we are; a terminal shows what it can.
        terminal = sys.stdout.isatty()
        sys.stdout.reconfigure(encoding=None if terminal else "utf-8", errors="replace")
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))

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

    sys.exit(run(sys.argv[1:] if arguments is None else arguments))

"""`python -m meantime` is the command `meantime`."""

from meantime.cli import main

main()

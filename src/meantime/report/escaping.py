"""Text from the data in formats that give marks a meaning."""

from __future__ import annotations


def one_line(text: str) -> str:
    """Text on one line: a tab or line break in a name would break the row."""
    return " ".join(text.split()) if any(mark in text for mark in "\t\n\r") else text


def escape_tex(text: str) -> str:
    """Text with LaTeX's special characters made ordinary."""
    special = {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
    written = "".join(special.get(mark, mark) for mark in one_line(text) if mark.isprintable())
    # A bracket at the start of a row would be read as an argument of the line break above.
    return f"{{[}}{written[1:]}" if written.startswith("[") else written

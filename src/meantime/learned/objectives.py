"""What weights are fitted for; apart from the fitting, so that naming it loads nothing heavy."""

from __future__ import annotations

from enum import StrEnum


class Objective(StrEnum):
    """What the scores should agree with people by."""

    KENDALL = "kendall"
    PEARSON = "pearson"

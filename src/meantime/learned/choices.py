"""What a learner can be asked for, as names: light, for the command line."""

from __future__ import annotations

from enum import StrEnum


class Scaling(StrEnum):
    """What is done to each feature before it is learned from."""

    STANDARD = "standard"
    """Mean 0 and deviation 1 in the training examples."""
    UNIT = "unit"
    """From 0 to 1 in the training examples."""
    NONE = "none"


class Learner(StrEnum):
    """What is fitted to human scores."""

    RIDGE = "ridge"
    SVM = "svm"
    BOTH = "both"


class Stemming(StrEnum):
    """Which words are compared by their stem."""

    NONE = "none"
    ALL = "all"
    NOUNS_VERBS = "nouns-verbs"

"""What can go wrong, by kind.

Every message names the thing, the place and the remedy. `InputError` and its children
are the user's data (exit code 1 of the command); `UsageError` and its children are how
the user called us (exit code 2).
"""

from __future__ import annotations


class MeantimeError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(MeantimeError):
    """The data cannot be used as they are."""


class FormatError(InputError):
    """A file is not what its format says."""


class LengthMismatch(InputError):
    """Two things that must have the same number of segments do not."""


class UsageError(MeantimeError):
    """The call cannot be carried out as it was made."""


class UnknownMetric(UsageError):
    """No metric has this name."""


class OptionError(UsageError):
    """A metric's option has a value it cannot take."""


class UnsupportedLanguage(UsageError):
    """A metric cannot treat this language."""


class MissingPart(UsageError):
    """Something optional that this call needs is not installed."""


class NotPrepared(UsageError):
    """A metric that depends on the whole reference set was not prepared."""

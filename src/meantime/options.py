"""Options of a metric: declared once as fields, then read, checked, listed and signed.

A metric is a frozen dataclass whose fields are made with `option(...)`. From that one
declaration come the constructor's keywords, the `name:option=value` of the command line,
the listing of `meantime metrics`, and the signature.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from meantime.errors import OptionError

_META = "meantime.option"


@dataclass(frozen=True, slots=True)
class _Rules:
    help: str
    choices: tuple[Any, ...] | None
    minimum: float | None
    maximum: float | None


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a metric, as declared."""

    name: str
    kind: type
    default: Any
    help: str
    choices: tuple[Any, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    nullable: bool = False

    def values(self) -> str:
        """What may be given, in words."""
        if self.choices is not None:
            return ", ".join(as_text(choice) for choice in self.choices)
        if self.kind is bool:
            return "yes, no"
        words = {int: "a whole number", float: "a number"}.get(self.kind, "text")
        if self.minimum is not None and self.maximum is not None:
            words += f" from {as_text(self.minimum)} to {as_text(self.maximum)}"
        elif self.minimum is not None:
            words += f", at least {as_text(self.minimum)}"
        elif self.maximum is not None:
            words += f", at most {as_text(self.maximum)}"
        return f"{words}, or none" if self.nullable else words


def option(
    default: Any,
    help: str,
    *,
    choices: Sequence[Any] | None = None,
    minimum: float | None = None,
    maximum: float | None = None,
) -> Any:
    """Declare an option as a dataclass field."""
    rules = _Rules(help, tuple(choices) if choices is not None else None, minimum, maximum)
    return dataclasses.field(default=default, metadata={_META: rules})


def as_text(value: Any) -> str:
    """A value as it is written in a specification and in a signature."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def specify(metric: Any) -> str:
    """The specification of a metric: its name, and the options that are not at their default."""
    changed = [
        f"{item.name}={as_text(getattr(metric, item.name))}"
        for item in describe(metric)
        if getattr(metric, item.name) != item.default
    ]
    return f"{metric.name}:{','.join(changed)}" if changed else str(metric.name)


def describe(metric: Any) -> tuple[Option, ...]:
    """The options of a metric or its class, in the order they were declared."""
    cls = metric if isinstance(metric, type) else type(metric)
    if not dataclasses.is_dataclass(cls):
        return ()
    hints = get_type_hints(cls)
    found = []
    for item in dataclasses.fields(cls):
        rules: _Rules | None = item.metadata.get(_META)
        if rules is None:
            continue
        kind, nullable = _kind(hints[item.name])
        found.append(
            Option(
                item.name,
                kind,
                item.default,
                rules.help,
                rules.choices,
                rules.minimum,
                rules.maximum,
                nullable,
            )
        )
    return tuple(found)


def _kind(hint: Any) -> tuple[type, bool]:
    """The plain type behind `T` or `T | None`."""
    if get_origin(hint) in (Union, UnionType):
        members = [member for member in get_args(hint) if member is not NoneType]
        return members[0], len(members) < len(get_args(hint))
    return hint, False


def convert(metric: str, option: Option, text: str) -> Any:
    """Read a value from the text of a specification."""
    if option.nullable and text.lower() == "none":
        return None
    if option.kind is bool:
        known = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
        if text.lower() in known:
            return known[text.lower()]
        raise OptionError(f"{metric}: {option.name}={text!r}; give yes or no")
    if option.kind in (int, float):
        try:
            return option.kind(text)
        except ValueError:
            raise OptionError(f"{metric}: {option.name}={text!r}; give {option.values()}") from None
    return text


def validate(metric: Any) -> None:
    """Check every option of a built metric against its declaration."""
    for item in describe(metric):
        value = getattr(metric, item.name)
        if value is None and item.nullable:
            continue
        accepted = (int, float) if item.kind is float else item.kind
        right_type = isinstance(value, accepted) and (
            item.kind is bool or not isinstance(value, bool)
        )
        in_choices = item.choices is None or value in item.choices
        if (
            not right_type
            or (item.kind is float and not math.isfinite(value))
            or not in_choices
            or (item.minimum is not None and not value >= item.minimum)
            or (item.maximum is not None and not value <= item.maximum)
        ):
            raise OptionError(
                f"{metric.name}: {item.name}={as_text(value)!r}; give {item.values()}"
            )


def build(
    cls: type[Any],
    name: str,
    texts: Mapping[str, str],
    options: Mapping[str, Any],
    lang: str | None,
) -> Any:
    """Make a metric from options as text, options by keyword, and a language."""
    declared = {item.name: item for item in describe(cls)}
    values: dict[str, Any] = {}
    if lang is not None and hasattr(cls, "language_defaults"):
        values.update(cls.language_defaults(lang))
    for key in (*texts, *options):
        if dataclasses.is_dataclass(cls) and key not in declared:
            near = difflib.get_close_matches(key, declared, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(declared) or 'none'}"
            raise OptionError(f"{name} has no option {key!r}; {hint} ('meantime metrics {name}')")
    for key, text in texts.items():
        values[key] = convert(name, declared[key], text) if key in declared else text
    values.update(options)
    metric = cls(**values)
    if lang is not None and hasattr(metric, "check_language"):
        metric.check_language(lang)
    return metric

"""Error annotations of MQM: one row an error, with its category and severity.

    system doc seg rater category severity          and, if known, lp domain source target ref

A translation without an error has one row of severity `no-error`. A judge's score of a translation
is minus the sum of the weights of the errors the judge marked, so 0 is the best and higher is
better.

The weights are rules, of which the first that fits counts (Freitag and others 2021):

    any severity     Non-translation        25
    major            any category            5
    minor            Fluency/Punctuation     0.1
    minor            any category            1
    neutral          any category            0
    no-error         any category            0

A severity for which there is no rule is an error, not a 0. Marks of the error's place, `<v>` and
`</v>`, are taken out of the texts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from meantime.errors import FormatError, OptionError
from meantime.metaeval.human import Rating, Ratings, is_human_name
from meantime.metaeval.reading.table import Row, Table
from meantime.metaeval.reading.wmt import references

_MARKS = re.compile(r"</?v>")
_PUNCTUATION = re.compile(r"[-_ !]+")


@dataclass(frozen=True, slots=True)
class Weight:
    """What an error of this severity and category costs; empty means any.

    A category also stands for those below it: `fluency` for `fluency/punctuation`.
    """

    severity: str
    category: str
    penalty: float

    def fits(self, severity: str, category: str) -> bool:
        """Whether the rule speaks of this error; both are given as `plain` writes them."""
        wanted = plain(self.category)
        return (not self.severity or plain(self.severity) == severity) and (
            not wanted or category == wanted or category.startswith(f"{wanted}/")
        )


WEIGHTS = (
    Weight("", "Non-translation", 25),
    Weight("major", "", 5),
    Weight("minor", "Fluency/Punctuation", 0.1),
    Weight("minor", "", 1),
    Weight("neutral", "", 0),
    Weight("no-error", "", 0),
)
"""The weights of Freitag and others (2021), with which WMT's MQM scores are made."""


def plain(text: str) -> str:
    """A severity or category without case, blanks, hyphens and exclamation marks."""
    return _PUNCTUATION.sub("", text.strip().casefold())


def parse_weight(text: str) -> Weight:
    """Read `major=5` or `minor/Fluency/Punctuation=0.1`; `*/Non-translation=25` for any severity.

    Raises:
        OptionError: It is no such thing.
    """
    rule, equals, number = text.rpartition("=")
    severity, _, category = rule.partition("/")
    try:
        penalty = float(number)
    except ValueError:
        penalty = -1.0
    if not equals or not severity.strip() or not 0 <= penalty < float("inf"):
        raise OptionError(
            f"{text!r} is no weight of an error; write severity=number or "
            "severity/category=number, with * for any severity, and a number that is not negative"
        )
    return Weight("" if severity.strip() == "*" else severity, category, penalty)


def parse_errors(
    table: Table, *, weights: Sequence[Weight] = WEIGHTS, worst: float | None = None
) -> Ratings:
    """Each judge's score of each translation, from the errors marked in it.

    Args:
        table: One row an error.
        weights: Rules of what an error costs; the first that fits counts.
        worst: A judge's penalties of one translation add up to this at most; without, to whatever
            they do.

    Raises:
        FormatError: A column is missing, or an error has a severity without a weight.
    """
    table.require("judge", "seg", "system", "category", "severity")
    first: dict[tuple[str, ...], Row] = {}
    penalties: dict[tuple[str, ...], float] = {}
    for row in table:
        columns = ("judge", "lp", "domain", "doc", "seg", "system")
        key = tuple(row.text(column) for column in columns)
        first.setdefault(key, row)
        penalties[key] = penalties.get(key, 0.0) + _penalty(row, weights)
    rows = []
    for key, row in first.items():
        judge, lp, domain, document, segment, system = key
        penalty = penalties[key] if worst is None else min(penalties[key], worst)
        hypothesis, source = row.given("hyp"), row.given("src")
        rows.append(
            Rating(
                judge=judge,
                system=system,
                segment=segment,
                # Not minus zero, which would be printed as such.
                score=-penalty if penalty else 0.0,
                lp=lp,
                domain=domain,
                document=document,
                source=None if source is None else _MARKS.sub("", source),
                references=references(row),
                hypothesis=None if hypothesis is None else _MARKS.sub("", hypothesis),
                is_human=is_human_name(system),
                line=row.line,
            )
        )
    return Ratings(table.name, tuple(rows), "mqm")


def _penalty(row: Row, weights: Sequence[Weight]) -> float:
    severity, category = plain(row.text("severity")), plain(row.text("category"))
    # Google's tables write "No-error" into both columns or into the category alone.
    if not severity and category == "noerror":
        severity = category
    for weight in weights:
        if weight.fits(severity, category):
            return weight.penalty
    known = ", ".join(dict.fromkeys(weight.severity for weight in weights if weight.severity))
    raise FormatError(
        f"{row.table.name}:{row.line}: no weight for severity {row.text('severity')!r} "
        f"(category {row.text('category')!r}); there are weights for {known or 'none'}: give one, "
        f"such as --weight {row.text('severity') or 'severity'}=5"
    )

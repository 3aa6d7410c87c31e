"""What the metric may be trained on, and nothing else.

Judged and unjudged machine translations of WMT from ../shared/data/wmt. Every row whose
hypothesis or reference stands in a test file, on either side, is dropped: compared lower-cased and
without anything but letters and digits, so that another space or quotation mark hides nothing.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

WMT = Path(__file__).resolve().parents[3] / "shared" / "data" / "wmt"

JUDGED = ("wmt15-da-toen", "wmt16-da-toen")
"""Averages of many judges: what the score is fitted to."""
NOISY = ("wmt21-da-toen", "wmt22-da-toen")
"""One or two judges a translation."""
UNJUDGED = ("mt-outputs-toen",)
TEST = (
    "wmt17-da-toen",
    "wmt21-news-zhen-mqm",
    "wmt22-general-zhen-mqm",
    "wmt22-general-zhen-dasqm",
    "wmt22-general-zhen-da",
)
CHOOSING = ("wmt19-darr-toen", "wmt20-news-zhen-mqm-sample")
"""For choosing between models: never trained on either, and kept out like the tests."""

REFERENCES = "wmt21-22-multiref"
"""Its Chinese-English rows are the references of test files."""

_SIDES = ("ref", "hyp", "better", "worse", "ref1", "ref2")
_OTHER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Row:
    """A machine translation of a training file."""

    source: str
    """The file and what tells test sets apart in it, `wmt16-da-toen/cs-en`."""
    segment: str
    system: str
    reference: str
    hypothesis: str
    score: float | None = None
    """The human score, where there is one."""
    judges: int = 1


def fold(text: str) -> str:
    """What two texts have in common that are the same for our purpose."""
    return _OTHER.sub(" ", text.lower()).strip()


def read_rows(name: str, folder: Path = WMT) -> Iterator[dict[str, str]]:
    """The rows of a file by column."""
    path = folder / f"{name}.tsv.gz"
    if not path.is_file():
        raise SystemExit(f"{path}: no such file; the judgements must lie beside the repository")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        head = file.readline().rstrip("\n").split("\t")
        for line in file:
            yield dict(zip(head, line.rstrip("\n").split("\t"), strict=True))


def held_out(folder: Path = WMT) -> frozenset[str]:
    """Every text of the files that tell how good a model is, folded."""
    return frozenset(
        fold(row[side])
        for name in (*TEST, *CHOOSING, REFERENCES)
        for row in read_rows(name, folder)
        if name != REFERENCES or row["lp"] == "zh-en"
        for side in _SIDES
        if row.get(side)
    ) - {""}


def read_training(name: str, unseen: frozenset[str], folder: Path = WMT) -> list[Row]:
    """The rows of a training file whose texts stand in no file of `held_out`."""
    if name not in (*JUDGED, *NOISY, *UNJUDGED):
        raise SystemExit(f"{name}: not a training file; take one of {JUDGED + NOISY + UNJUDGED}")
    found = []
    for row in read_rows(name, folder):
        if row.get("is_human") == "1" or not row["hyp"].strip() or not row["ref"].strip():
            continue
        if fold(row["hyp"]) in unseen or fold(row["ref"]) in unseen:
            continue
        found.append(
            Row(
                f"{name}/{row['set']}/{row['lp']}" if "set" in row else f"{name}/{row['lp']}",
                row["seg"],
                row.get("system", ""),
                row["ref"],
                row["hyp"],
                float(row["score"]) if row.get("score") else None,
                int(row.get("n") or 1),
            )
        )
    return found

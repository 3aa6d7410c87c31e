"""JSONL: one JSON object a line, with the keys of `columns`.

Several references are a list, `"references": ["…", "…"]`; several systems an object,
`"hypotheses": {"name": "…"}`, or one row each with `"system"`. A key that is absent or `null` is
missing, an empty string is an empty text: this format holds every corpus whose segments have
ids of their own and whose references and hypotheses are in one language.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from meantime.errors import FormatError
from meantime.formats import holding
from meantime.formats.columns import (
    Row,
    gather,
    missing_column,
    recognise,
    reference_number,
)
from meantime.formats.opening import Text
from meantime.formats.table import UNNAMED, Part, Request, Table
from meantime.types import Corpus

_LABELS = ("id", "document")


def parse(text: Text, request: Request) -> Table:
    """Read a JSONL file.

    Raises:
        FormatError: A line is no object, a value has the wrong type, or rows contradict
            each other.
    """
    return gather(text, request, _rows(text, request.part))


def _rows(text: Text, part: Part) -> Iterator[Row]:
    for number, line in enumerate(text.content.split("\n"), start=1):
        if line.strip():
            yield _Object(text, number, line).row(part)


class _Object:
    """One line: a JSON object whose values are checked as they are asked for."""

    def __init__(self, text: Text, line: int, content: str) -> None:
        self._text = text
        self._line = line
        pairs = self._load(content)
        names = [name for name, _ in pairs]
        places = recognise(names, f"{text.name}:{line}")
        self._names = names
        self._values = {column: pairs[place][1] for column, place in places.items()}
        for name, value in pairs:
            if (plural := name.strip().casefold()) in ("references", "hypotheses"):
                if plural in self._values:
                    self._refuse(f"{plural} is there twice; keep one")
                self._values[plural] = value

    def _load(self, content: str) -> list[tuple[str, Any]]:
        try:
            pairs = json.loads(content, object_pairs_hook=_Pairs)
            if "\\u" in content:
                # A lone surrogate is legal in JSON and in no UTF-8 file.
                json.dumps(pairs, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError:
            self._refuse("half a character (a lone surrogate); repair the text")
        except (ValueError, RecursionError) as error:
            self._refuse(f"not JSON ({error}); write one object a line")
        if not isinstance(pairs, _Pairs):
            self._refuse("not a JSON object; write one object in braces a line")
        return pairs

    def _refuse(self, what: str) -> NoReturn:
        raise FormatError(f"{self._text.name}:{self._line}: {what}")

    def row(self, part: Part) -> Row:
        references = self._references()
        hypotheses = self._hypotheses()
        source = self._get("source")
        found = {
            Part.SOURCE: source is not None,
            Part.REFERENCE: bool(references) or "references" in self._values,
            Part.HYPOTHESIS: bool(hypotheses),
        }
        if not found.get(part, any(found.values())):
            raise missing_column(self._text, self._line, part, self._names)
        return Row(
            line=self._line,
            id=self._get("id"),
            document=self._get("document"),
            lang=self._get("lang") or None,
            source_lang=self._get("source_lang") or None,
            source=source,
            references=references,
            hypotheses=hypotheses,
        )

    def _get(self, column: str) -> str | None:
        value = self._values.get(column)
        if column in _LABELS and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return None if value is None else self._string(column, value)

    def _string(self, column: str, value: object) -> str:
        if not isinstance(value, str):
            self._refuse(f"{column} is not a text; put it between quotes")
        return value

    def _references(self) -> dict[int, str]:
        single = {
            number: text
            for column in self._values
            if (number := reference_number(column)) is not None
            and (text := self._get(column)) is not None
        }
        several = self._values.get("references")
        if several is None:
            return dict(sorted(single.items()))
        if single or isinstance(several, _Pairs) or not isinstance(several, list):
            self._refuse("references is not a list, or stands beside reference; use one of them")
        return {
            number: self._string("a reference", text)
            for number, text in enumerate(several, start=1)
        }

    def _hypotheses(self) -> dict[str, str]:
        single = self._get("hypothesis")
        several = self._values.get("hypotheses")
        system = self._get("system")
        if several is None and single is None:
            return {}
        if several is None and system == "":
            self._refuse("the system has no name; fill it or leave the key out")
        if several is None:
            return {system or UNNAMED: self._string("hypothesis", single)}
        if single is not None or system is not None or not isinstance(several, _Pairs):
            self._refuse(
                "hypotheses is not an object of systems, or stands beside hypothesis or system; "
                "use one of them"
            )
        texts = {name: self._string(f"the hypothesis of {name!r}", text) for name, text in several}
        if len(texts) != len(several) or "" in texts:
            self._refuse("hypotheses has a system twice or without a name; keep one, name it")
        return texts


class _Pairs(list[tuple[str, Any]]):
    """An object's members in order, repeated ones included."""


def render(corpus: Corpus, name: str, format: str) -> str:
    """Write a JSONL file, one segment a line.

    Raises:
        InputError: Segments share an id, or the languages are mixed.
    """
    holding.check_keys(corpus, name, empty_document=True)
    languages = holding.languages(corpus, name)
    rows = []
    for number, segment in enumerate(corpus.segments):
        row: dict[str, Any] = {"id": segment.id}
        if segment.document is not None:
            row["document"] = segment.document
        if languages.target is not None:
            row["lang"] = languages.target
        if segment.source is not None:
            row |= {"source_lang": segment.source.lang, "source": segment.source.text}
        row["references"] = [reference.text for reference in segment.references]
        if corpus.outputs:
            row["hypotheses"] = {
                system: sentences[number].text for system, sentences in corpus.outputs.items()
            }
        rows.append(json.dumps(row, ensure_ascii=False))
    return "".join(f"{row}\n" for row in rows)

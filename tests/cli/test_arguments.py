"""Options that take one value are refused when they are given twice, in every verb."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typer

from meantime.cli.app import app, run
from meantime.cli.arguments import Verb


def _commands(application: typer.Typer, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for command in application.registered_commands:
        assert command.cls is Verb, command.name
        yield (*path, str(command.name))
    for group in application.registered_groups:
        assert group.typer_instance is not None
        yield from _commands(group.typer_instance, (*path, str(group.name)))


def test_every_verb_refuses_repeats() -> None:
    found = list(_commands(app))
    assert ("score",) in found
    assert ("annotate", "serve") in found
    assert len(found) > 20


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["score", "a", "-r", "b", "-s", "c", "--source", "d"], "--source/-s"),
        (["compare", "a", "b", "-r", "c", "-o", "d", "-o", "d"], "--output/-o"),
        (["metaeval", "a", "--seed", "1", "--seed=2"], "--seed"),
        (["mbr", "a", "-u", "bleu", "-u", "chrf"], "--utility/-u"),
        (["tune", "a", "-r", "b", "-m", "bleu", "-m", "chrf"], "--metric/-m"),
        (["annotate", "serve", "--port", "1", "--port", "2"], "--port"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_second_value_is_an_error(arguments, name, capsys) -> None:
    assert run(arguments) == 2
    said = capsys.readouterr().err
    assert f"{name} is given twice and takes one value; leave one of them out" in said


def test_lists_and_switches_may_be_repeated(tmp_path, capsys) -> None:
    for name in ("a", "r", "s"):
        (tmp_path / name).write_text("one two three four .\n")
    files = [str(tmp_path / name) for name in ("a", "r", "s")]
    arguments = ["score", files[0], "-r", files[1], "-r", files[2], "-m", "bleu", "-m", "bleu"]
    assert run([*arguments, "-q", "-q"]) == 0
    assert float(capsys.readouterr().out) == pytest.approx(100)

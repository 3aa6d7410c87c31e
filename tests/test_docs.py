"""Documentation that cannot rot: everything is named, every link leads somewhere, code runs."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from itertools import chain
from pathlib import Path

import pytest
from typer.main import get_command

import meantime
from meantime import Level, Pair, Segment, Sentence, registry
from meantime.cli.analyse import AnalysisFormat
from meantime.cli.annotate import ExportFormat
from meantime.cli.app import INTERRUPTED, app
from meantime.cli.candidates import NbestFormat, ReportFormat
from meantime.cli.compare import (
    BucketFeature,
    ComparisonFormat,
    CorrectionChoice,
    DecisiveTest,
)
from meantime.cli.meaning import MeaningFormat
from meantime.cli.metrics import ListFormat
from meantime.cli.rerank import Choice, LearnerName
from meantime.cli.score import InputFormat, OutputFormat
from meantime.cli.smt import Case
from meantime.cli.tune import OnFailure
from meantime.formats import FORMATS, detecting
from meantime.formats.columns import ALIASES
from meantime.learned.choices import Learner, Scaling, Stemming
from meantime.options import as_text, describe

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
METRICS = DOCS / "metrics"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _blocks(path: Path, language: str) -> list[str]:
    return [content for name, content in _FENCE.findall(_text(path)) if name == language]


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


# Metrics


@pytest.mark.parametrize("metric", registry.BUILT_IN)
def test_every_metric_has_a_page_with_every_option(metric: str) -> None:
    page = METRICS / f"{metric}.md"
    assert page.is_file(), f"write docs/metrics/{metric}.md"
    text = _text(page)
    assert text.startswith(f"# {metric}\n")
    for option in describe(registry.find(metric)):
        row = re.search(rf"^\| `{option.name}` \| (.*?) \| ", text, re.MULTILINE)
        assert row, f"docs/metrics/{metric}.md does not name the option {option.name}"
        assert row[1].strip("`") == as_text(option.default), f"{metric}: {option.name}"


@pytest.mark.parametrize("metric", registry.BUILT_IN)
def test_every_metric_is_listed(metric: str) -> None:
    assert f"[{metric}]({metric}.md)" in _text(METRICS / "index.md")
    assert f"[`{metric}`](docs/metrics/{metric}.md)" in _text(ROOT / "README.md")


def test_no_page_for_a_metric_that_is_not_there() -> None:
    pages = {path.stem for path in METRICS.glob("*.md")} - {"index"}
    assert pages == set(registry.BUILT_IN)


def _prepared(specification: str, pairs: list[tuple[str, str]]):
    segments = [Segment(str(n), (Sentence(reference),)) for n, (_, reference) in enumerate(pairs)]
    metric = meantime.create(specification).prepare(segments)
    measured = metric.measure(
        [Pair(Sentence(text), segment) for (text, _), segment in zip(pairs, segments, strict=True)]
    )
    return metric, measured


WALK = ("he walked the dog", "he took the dog for a walk")
STORE = ("he went to the store", "to the store he went")
CAT = ("the cat", "the cat sat on the mat")
LETTERS = ("ab cd", "abcde")
MAT = ("the cat sat on the mat", "the dog sat on the mat")


@pytest.mark.parametrize(
    ("specification", "pair", "shown"),
    [
        ("bleu:max_order=2,brevity_penalty=no", WALK, "50"),
        ("bleu:max_order=2", WALK, "23.62"),
        ("bleu", WALK, "16.70"),
        ("bleu:smooth=none", WALK, "0"),
        ("chrf:char_order=2", LETTERS, "81.15"),
        ("chrf:char_order=2,beta=1", LETTERS, "87.32"),
        ("nist:max_order=1,brevity_penalty=no", CAT, "2.085"),
        ("nist:max_order=2,brevity_penalty=no", CAT, "3.085"),
        ("nist:max_order=2,brevity_penalty=no,average=yes", CAT, "1.542"),
        ("nist:max_order=1", CAT, "0.0129"),
        ("wer:unit=count", WALK, "4"),
        ("wer", WALK, "0.5714"),
        ("wer", STORE, "0.8"),
        ("per:unit=count", WALK, "4"),
        ("per", WALK, "0.5714"),
        ("per", STORE, "0"),
        ("per", MAT, "0.1667"),
        ("cder:unit=count", STORE, "3"),
        ("cder", STORE, "0.6"),
        ("cder:unit=count", WALK, "4"),
        ("cder", WALK, "0.5714"),
        ("gtm", WALK, "0.5455"),
        ("gtm:exponent=2", WALK, "0.4066"),
        ("gtm:exponent=2", STORE, "0.7211"),
        ("gtm", STORE, "1"),
    ],
)
def test_worked_examples(specification: str, pair: tuple[str, str], shown: str) -> None:
    """The bold numbers of the metrics' pages, as rounded there."""
    metric, rows = _prepared(specification, [pair])
    value = metric.score(rows[0], Level.SEGMENT).value
    decimals = len(shown.partition(".")[2])
    assert f"{value:.{decimals}f}" == shown
    text = _text(METRICS / f"{metric.name}.md")
    assert f"**{shown}**" in text
    assert all(f"`{side}`" in text for side in pair)


@pytest.mark.parametrize(("pool", "shown"), [("yes", "0.3333"), ("no", "0.6667")])
def test_worked_example_of_a_pooled_corpus(pool: str, shown: str) -> None:
    metric, rows = _prepared(f"per:pool={pool}", [("a b c x y", "a b c"), ("a", "a b c")])
    assert f"{metric.score(rows.sum(axis=0), Level.CORPUS).value:.4f}" == shown
    assert f"**{shown}**" in _text(METRICS / "per.md")


@pytest.mark.parametrize(
    ("specification", "no_hypothesis", "no_reference", "neither"),
    [
        ("bleu", 0, 0, 0),
        ("chrf", 0, 0, 0),
        ("nist", 0, 0, 0),
        ("wer", 1, 1, 0),
        ("wer:unit=count", 3, 3, 0),
        ("per", 1, 1, 0),
        ("per:unit=count", 3, 3, 0),
        ("cder", 1, 1, 0),
        ("cder:unit=count", 3, 1, 0),
        ("gtm", 0, 0, 1),
    ],
)
def test_empty_input(
    specification: str, no_hypothesis: float, no_reference: float, neither: float
) -> None:
    """The row "Empty input" of the metrics' pages."""
    for pair, expected in (
        (("", "a b c"), no_hypothesis),
        (("a b c", ""), no_reference),
        (("", ""), neither),
    ):
        metric, rows = _prepared(specification, [pair])
        assert metric.score(rows[0], Level.SEGMENT).value == expected


# The command line


def _walk(command, name: str) -> Iterator[tuple[str, object]]:
    yield name, command
    for child, inner in getattr(command, "commands", {}).items():
        yield from _walk(inner, f"{name} {child}")


def _section(name: str) -> str:
    """A section of docs/cli.md."""
    text = _text(DOCS / "cli.md")
    assert f"\n## {name}\n" in text, f"docs/cli.md has no section {name}"
    return re.split(r"^## ", text.partition(f"\n## {name}\n")[2], flags=re.MULTILINE)[0]


COMMANDS = dict(_walk(get_command(app), "meantime"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name: str) -> None:
    section = _text(DOCS / "cli.md") if name == "meantime" else _section(name)
    for parameter in COMMANDS[name].params:
        for option in (*parameter.opts, *parameter.secondary_opts):
            if option.startswith("-"):
                assert f"`{option}`" in section, f"docs/cli.md: {name} does not name {option}"
        if parameter.param_type_name == "argument":
            assert str(parameter.metavar) in section
    for option in ("-h", "--help"):
        assert f"`{option}`" in _text(DOCS / "cli.md")


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("meantime score", OutputFormat),
        ("meantime score", InputFormat),
        ("meantime compare", ComparisonFormat),
        ("meantime compare", DecisiveTest),
        ("meantime compare", CorrectionChoice),
        ("meantime compare", InputFormat),
        ("meantime compare", BucketFeature),
        ("meantime metrics", ListFormat),
        ("meantime models", ListFormat),
        ("meantime analyse", AnalysisFormat),
        ("meantime cache info", ListFormat),
        ("meantime meaning-test", MeaningFormat),
        ("meantime tune", OnFailure),
        ("meantime tune", LearnerName),
        ("meantime tune", NbestFormat),
        ("meantime tune", ReportFormat),
        ("meantime smt train", Case),
        ("meantime smt info", ListFormat),
        ("meantime rerank", Choice),
        ("meantime rerank", LearnerName),
        ("meantime rerank", NbestFormat),
        ("meantime rerank", ReportFormat),
        ("meantime mbr", NbestFormat),
        ("meantime mbr", ReportFormat),
        ("meantime annotate export", ExportFormat),
        ("meantime learn human-or-machine", Scaling),
        ("meantime learn pairs", Scaling),
        ("meantime learn pairs", Stemming),
        ("meantime learn metric", Learner),
    ],
)
def test_every_choice_is_documented(name: str, choices: type[StrEnum]) -> None:
    for choice in choices:
        assert f"`{choice}`" in _section(name), f"docs/cli.md: {name} does not name {choice}"


def test_every_exit_code_is_documented() -> None:
    text = _section("Exit codes")
    assert re.findall(r"^\| (\d+) \|", text, re.MULTILINE) == ["0", "1", "2", str(INTERRUPTED)]


def test_the_command_takes_every_format() -> None:
    assert [choice.value for choice in InputFormat] == ["auto", *FORMATS]


# Formats

_EXAMPLES = [name for name in FORMATS if name != "plain"]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_documented(name: str) -> None:
    text = _text(DOCS / "formats.md")
    assert f"## {name}\n" in text
    assert f"[{name}](#{name})" in text


@pytest.mark.parametrize("name", _EXAMPLES)
def test_every_example_of_a_format_can_be_read(name: str) -> None:
    [example] = _blocks(DOCS / "formats.md", name)
    corpus = meantime.read(input="-", stdin=io.BytesIO(example.encode()))
    assert len(corpus.segments) == 2
    assert all(segment.references for segment in corpus.segments)
    assert detecting.detect("-", example.encode()) == name


def test_names_of_files_and_columns_are_documented() -> None:
    text = _text(DOCS / "formats.md")
    for extension in detecting._EXTENSIONS:
        assert f"`{extension}`" in text
    for column in ALIASES:
        assert f"`{column}`" in text


def test_the_examples_are_a_folder_of_plain_text() -> None:
    corpus = meantime.read(input=ROOT / "examples")
    assert list(corpus.outputs) == ["faithful", "fluent", "literal"]
    assert all(segment.source is not None for segment in corpus.segments)


# Links


def _slug(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def _links(path: Path) -> list[str]:
    prose = _INLINE.sub("", _FENCE.sub("", _text(path)))
    # A link may have code for its text; that is gone by now, its target is not.
    return [link for link in _LINK.findall(prose) if not re.match(r"[a-z]+:", link)]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{_name(page)}: {link} is not there"
        assert target.is_relative_to(ROOT), f"{_name(page)}: {link} leaves the repository"
        if anchor:
            headings = _HEADING.findall(_FENCE.sub("", _text(target)))
            assert anchor in map(_slug, headings), f"{_name(page)}: no heading for {link}"


def test_every_page_is_reachable() -> None:
    seen: set[Path] = set()
    waiting = [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or page.suffix != ".md":
            continue
        seen.add(page)
        if page.is_relative_to(DOCS):
            found = (link.partition("#")[0] for link in _links(page))
            waiting += [(page.parent / path).resolve() for path in found if path]
    unreached = [_name(page) for page in PAGES if page.is_relative_to(DOCS) and page not in seen]
    assert not unreached, f"not reachable from docs/index.md: {unreached}"


# Code


@pytest.mark.parametrize(
    "program", _blocks(DOCS / "python.md", "python"), ids=lambda text: text.splitlines()[-1][:40]
)
def test_python_page_runs(program: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        check=True,
        stdout=subprocess.DEVNULL,
        timeout=120,
    )


def test_contributed_metric(tmp_path: Path) -> None:
    """The metric of CONTRIBUTING, as an outside package, passes the tests shown there."""
    page = ROOT / "CONTRIBUTING.md"
    module, by_hand, conformance = _blocks(page, "python")
    [project] = map(tomllib.loads, _blocks(page, "toml"))
    [group] = project["project"]["entry-points"].items()
    assert group == (registry.GROUP, {"overlap": "overlap:Overlap"})
    (tmp_path / "overlap.py").write_text(module, encoding="utf-8")
    (tmp_path / "test_overlap.py").write_text(by_hand, encoding="utf-8")
    (tmp_path / "test_conformance.py").write_text(conformance, encoding="utf-8")
    # What an installer would write.
    information = tmp_path / "meantime_overlap-1.0.dist-info"
    information.mkdir()
    name, version = project["project"]["name"], project["project"]["version"]
    (information / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )
    (information / "entry_points.txt").write_text(
        f"[{group[0]}]\noverlap = {group[1]['overlap']}\n", encoding="utf-8"
    )
    program = f"import sys, pytest; sys.path.insert(0, {str(tmp_path)!r}); sys.exit(pytest.main())"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\b2[0-9] passed", done.stdout), done.stdout


def test_contributed_registration_is_of_the_kind_the_registry_holds() -> None:
    text = _text(ROOT / "CONTRIBUTING.md")
    entry = '"overlap": "meantime.metrics.overlap:Overlap",'
    assert entry in text
    assert entry.replace("overlap", "gtm").replace("Overlap", "Gtm") in _text(
        ROOT / "src" / "meantime" / "registry.py"
    )


# Files beside the pages


def test_constraints_pin_what_the_project_asks_for() -> None:
    lines = _text(ROOT / "constraints.txt").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", pin) for pin in pins)
    pinned = {_normal(pin.partition("==")[0]) for pin in pins}
    assert len(pinned) == len(pins)
    assert not pinned & {"meantime", "pip", "setuptools"}
    project = tomllib.loads(_text(ROOT / "pyproject.toml"))["project"]
    asked = list(chain(project["dependencies"], *project["optional-dependencies"].values()))
    for requirement in asked:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        assert name is not None
        assert _normal(name[0]) in pinned, f"constraints.txt does not pin {name[0]}"


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_version_is_the_same_everywhere() -> None:
    assert f"\nversion: {meantime.__version__}\n" in _text(ROOT / "CITATION.cff")
    assert f"\n## {meantime.__version__}\n" in _text(ROOT / "CHANGELOG.md")
    assert f"version {meantime.__version__}" in _text(ROOT / "README.md")


def test_licence_is_the_whole_text() -> None:
    text = _text(ROOT / "LICENSE")
    assert "Apache License" in text.splitlines()[1]
    assert "END OF TERMS AND CONDITIONS" in text
    assert len(text.encode()) == 11358

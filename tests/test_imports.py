"""Who may import whom, and how light the package starts."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "meantime"

# Reading order: a room may import itself and what stands before it.
ORDER = [
    "errors",
    "types",
    "protocols",
    "options",
    "registry",
    "conformance",
    "formats",
    "matching",
    "analysis",
    "similarity",
    "alignment",
    "metrics",
    "scoring",
    "learned",
    "metaeval",
    "tuning",
    "smt",
    "web",
    "annotation",
    "report",
    "serving",
    "distributed",
    "cli",
]
HEAVY = {"numpy", "numba", "scipy", "sacrebleu", "lxml", "typer", "rich", "sklearn", "torch"}


def _modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def _room(name: str) -> str:
    """The room of a module of ours; of any other module, none."""
    parts = name.split(".")
    return parts[1] if parts[0] == "meantime" and len(parts) > 1 else ""


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write it whole"
            module = node.module or ""
            found.add(module)
            if module == "meantime":
                found |= {f"meantime.{alias.name}" for alias in node.names}
    return found


def test_every_room_has_its_place() -> None:
    rooms = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in _modules()}
    assert rooms - {"__init__", "__main__"} <= set(ORDER)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_up(path: Path) -> None:
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if room in ("__init__", "__main__"):
        return
    for name in _imports(path):
        if name.split(".")[0] != "meantime" or name == "meantime":
            continue
        other = _room(name)
        if other == "__version__":
            continue
        assert ORDER.index(other) <= ORDER.index(room), f"{path} imports {name}"


@pytest.mark.parametrize("path", sorted((SOURCE / "matching").glob("*.py")), ids=lambda p: p.name)
def test_matching_knows_no_sentences(path: Path) -> None:
    for name in _imports(path):
        assert _room(name) in ("", "matching"), f"{path} imports {name}"


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_the_command_prints_exits_or_reads_the_environment(path: Path) -> None:
    if path.is_relative_to(SOURCE / "cli"):
        return
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            assert name not in ("print", "sys.exit", "exit", "os.getenv", "input"), (
                f"{path}: {name}"
            )
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) not in ("os.environ", "sys.argv"), path


def test_import_is_light() -> None:
    program = "import sys, meantime; print(*sorted(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert not loaded & HEAVY


def test_listing_names_is_light() -> None:
    program = "import sys\nfrom meantime import registry\nregistry.names()\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert not {name.split(".")[0] for name in run.stdout.split()} & HEAVY


def test_torch_is_not_needed() -> None:
    for path in _modules():
        assert not {"torch", "transformers", "nltk"} & {n.split(".")[0] for n in _imports(path)}


def test_annotation_knows_no_metric_but_the_arithmetic_of_its_own() -> None:
    for path in (SOURCE / "annotation").rglob("*.py"):
        metrics = {name for name in _imports(path) if name.startswith("meantime.metrics")}
        assert metrics <= {"meantime.metrics.hmeant_arithmetic"}, path


def test_only_the_store_speaks_sql_and_only_the_app_http() -> None:
    for path in (SOURCE / "annotation").rglob("*.py"):
        room = path.relative_to(SOURCE / "annotation").parts[0]
        names = {name.split(".")[0] for name in _imports(path)}
        assert room == "store" or not names & {"sqlalchemy", "sqlite3", "psycopg"}, path
        assert room == "app" or not names & {"fastapi", "starlette", "jinja2", "uvicorn"}, path

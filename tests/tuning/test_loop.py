"""The loop with a small decoder: whole, failing, killed at every point, and gone on with."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from meantime import Segment, Sentence, create
from meantime.errors import FormatError, InputError, MissingPart, UsageError
from meantime.tuning.constraints import Constraints
from meantime.tuning.curve import draw_curve
from meantime.tuning.decoder import Decoder, DecoderFailed
from meantime.tuning.learning import Learner
from meantime.tuning.loop import Plan, Tuned, read_log, tune
from meantime.tuning.mert import Settings
from meantime.tuning.statistics import Statistics
from meantime.tuning.weights import read_weights

SMALL = Path(__file__).parent / "small_decoder.py"
SOURCE = ["Cat sat mat", "Dog ran house", "Big dog sat house", "Rug cat ran", "House big cat"]
REFERENCES = ["cats sat mat", "dogs ran houses", "big dog sat house", "rug cats ran", "big cats"]
INITIAL = {"LM0": 0.3, "TM0[0]": -0.2, "TM0[1]": 0.3, "WordPenalty0": 0.2}


@dataclass
class Room:
    """A folder with what a tuning needs."""

    path: Path
    segments: list[Segment]

    @property
    def folder(self) -> Path:
        return self.path / "tuning"

    def command(self, more: str = "", nbest: str = "{nbest}") -> str:
        python, small = shlex.quote(sys.executable), shlex.quote(str(SMALL))
        source = shlex.quote(str(self.path / "source.txt"))
        return f"{python} {small} {source} {{weights}} {nbest} --iteration {{iteration}} {more}"

    def plan(self, more: str = "", **options) -> Plan:
        timeout = options.pop("timeout", None)
        command = options.pop("command", None) or self.command(more)
        learner = options.pop("learner", Learner(search=Settings(restarts=3, directions=2), seed=5))
        return Plan(Decoder(command, timeout), learner, **{"iterations": 4, **options})

    def tune(self, plan: Plan, *, resume: bool = False, initial=None, tell=None) -> Tuned:
        metric = create("bleu:max_order=2").prepare(self.segments)
        statistics = Statistics(metric, self.segments, folder=self.folder / "statistics")
        return tune(
            self.folder,
            plan,
            statistics,
            initial or INITIAL,
            segments=len(self.segments),
            resume=resume,
            tell=tell,
        )


@pytest.fixture
def room(tmp_path: Path) -> Room:
    (tmp_path / "source.txt").write_text("\n".join(SOURCE) + "\n")
    (tmp_path / "ref.txt").write_text("\n".join(REFERENCES) + "\n")
    weights = "LM0= 0.3\nTM0= -0.2 0.3\nWordPenalty0= 0.2\n"
    (tmp_path / "weights.txt").write_text(weights)
    segments = [Segment(str(n), (Sentence(text),)) for n, text in enumerate(REFERENCES)]
    return Room(tmp_path, segments)


def lasting(records) -> list[dict]:
    """What of the log is the same every time."""
    return [
        {k: v for k, v in record.items() if k not in ("seconds", "measured")} for record in records
    ]


def test_a_whole_tuning(room: Room) -> None:
    told: list[int] = []
    tuned = room.tune(room.plan(), tell=lambda record: told.append(record["iteration"]))
    records = tuned.records
    assert told == [record["iteration"] for record in records]
    assert tuned.score > records[0]["score"]
    assert tuned.score == max(record["score"] for record in records)
    assert records[tuned.iteration - 1]["weights"] == tuned.weights
    assert read_weights(room.folder / "weights.txt") == tuned.weights
    assert read_log(room.folder) == list(records)
    first, second = records[:2]
    assert first["weights"] == INITIAL
    assert second["weights"] == first["learned"]
    assert first["candidates"] == first["new"] == 25
    assert second["merged"] == first["merged"] + second["new"]
    assert first["agreement"] == 1
    assert first["pool_after"] >= first["pool_before"] == first["score"]
    assert len(first["learning"]["starts"]) == 4
    # Texts of earlier lists are not measured again.
    assert sum(record["measured"] for record in records) == records[-1]["texts"]
    for record in records:
        number = f"{record['iteration']:03}"
        assert read_weights(room.folder / f"weights-{number}.txt") == record["weights"]
        assert (room.folder / f"nbest-{number}").is_file()
        assert "decoding" in (room.folder / f"decoder-{number}.log").read_text()


def test_it_ends_when_nothing_is_new(room: Room) -> None:
    plan = room.plan("--size 200", iterations=9)
    tuned = room.tune(plan)
    assert len(tuned.records) == 2
    assert tuned.reason == "the decoder gave no new candidate"
    assert tuned.score == pytest.approx(tuned.records[0]["pool_after"])


def test_patience_ends_it(room: Room) -> None:
    tuned = room.tune(room.plan("--size 1", iterations=30, patience=2))
    assert len(tuned.records) < 30


def test_a_decoder_that_prints_its_list(room: Room) -> None:
    printed = room.tune(room.plan(command=room.command(nbest="-"), iterations=2))
    shutil.rmtree(room.folder)
    written = room.tune(room.plan(iterations=2))
    assert lasting(printed.records) == lasting(written.records)


def test_learning_by_ranking_and_constraints(room: Room) -> None:
    learner = Learner("ranking", constraints=Constraints(fixed=("WordPenalty0",)), seed=2)
    tuned = room.tune(room.plan(learner=learner))
    assert tuned.score >= tuned.records[0]["score"]
    assert all(record["weights"]["WordPenalty0"] == 0.2 for record in tuned.records)
    assert tuned.records[0]["learning"]["accuracy"] > 0.5


@pytest.mark.parametrize("kind", ["mert", "ranking"])
def test_sparse_features_come_up_on_the_way(room: Room, kind: str) -> None:
    learner = Learner(kind, search=Settings(restarts=2, directions=1), seed=3)
    plan = room.plan("--sparse", learner=learner, iterations=3)
    tuned = room.tune(plan)
    first, second = tuned.records[:2]
    assert set(first["weights"]) < set(second["weights"])
    assert any(name.startswith("w_") for name in first["learned"])
    assert second["agreement"] == 1
    assert tuned.score > first["score"]
    # Weights of words are written, read, and gone on with.
    assert read_weights(room.folder / "weights-002.txt") == first["learned"]
    longer = replace(plan, iterations=4)
    again = room.tune(longer, resume=True)
    shutil.rmtree(room.folder)
    assert lasting(again.records)[:2] == lasting(room.tune(longer).records)[:2]


@pytest.mark.parametrize(
    ("mode", "error", "messages"),
    [
        ("fail", DecoderFailed, ["exit code 3", "out of memory", "decoder-002.log"]),
        ("silent", DecoderFailed, ["wrote no n-best list"]),
        (
            "short",
            InputError,
            ["nbest-002.bad: no candidate for segment 2", "3 of 5 segments", "decoding "],
        ),
        (
            "nan",
            FormatError,
            ["nbest-002.bad:1: feature LM0 is nan", "ended without an error; it said"],
        ),
        ("hang", DecoderFailed, ["did not end within 1", "this takes a while"]),
    ],
)
def test_a_decoder_that_fails(room: Room, mode: str, error: type, messages: list[str]) -> None:
    started = time.monotonic()
    with pytest.raises(error) as caught:
        room.tune(room.plan(f"--mode {mode} --at 2", timeout=1.5))
    assert time.monotonic() - started < 30
    for message in [*messages, "can go on from iteration 1 with --resume"]:
        assert message in str(caught.value)
    assert len(read_log(room.folder)) == 1
    assert (room.folder / "nbest-001").is_file()
    assert not (room.folder / "nbest-002").exists()
    # Mended, it goes on where it was.
    went_on = room.tune(room.plan(), resume=True)
    shutil.rmtree(room.folder)
    assert lasting(went_on.records) == lasting(room.tune(room.plan()).records)


@pytest.mark.parametrize(
    ("printed", "message"),
    [
        ("{n} ||| cat", "nbest-001.bad:1: no features"),
        ("{n} ||| cat ||| LM0= 1 TM0= 1 1", "nbest-001.bad:1: lacks the feature WordPenalty0"),
        (
            "{n} ||| cat ||| LM0= 1 TM0= 1 1 WordPenalty0= 1 X0= 1",
            "nbest-001.bad:1: the feature X0 has no weight",
        ),
    ],
)
def test_lists_that_do_not_fit_the_weights(room: Room, printed: str, message: str) -> None:
    lines = "\n".join(printed.format(n=n) for n in range(5))
    command = f": {{weights}}; printf %s {shlex.quote(lines)}"
    with pytest.raises(FormatError, match=message):
        room.tune(room.plan(command=command))
    # The decoder is mended, and its old list does not stand in the way.
    assert len(room.tune(room.plan(iterations=1)).records) == 1


def test_failing_at_once(room: Room) -> None:
    with pytest.raises(DecoderFailed, match="before any was done"):
        room.tune(room.plan("--mode fail --at 1", go_on=True))


def test_going_on_from_the_last_good_iteration(room: Room) -> None:
    tuned = room.tune(room.plan("--mode short --at 2", go_on=True))
    first, second, third = tuned.records[:3]
    assert "no candidate for segment 2" in second["failed"]
    assert "score" not in second
    for name, value in third["weights"].items():
        assert value == pytest.approx((first["weights"][name] + second["weights"][name]) / 2)
    assert tuned.score >= first["score"]
    assert (room.folder / "nbest-002.bad").is_file()


def test_giving_up_after_failures_in_a_row(room: Room) -> None:
    plan = room.plan(iterations=9, go_on=True)
    mark = shlex.quote(str(room.path / "first"))
    failing = f"if [ -e {mark} ]; then exit 9; fi; touch {mark}; {plan.decoder.command}"
    with pytest.raises(DecoderFailed, match="exit code 9"):
        room.tune(replace(plan, decoder=Decoder(failing)))
    assert ["failed" in record for record in read_log(room.folder)] == [False, True, True]


def test_a_decoder_is_tried_again(room: Room) -> None:
    mark = shlex.quote(str(room.path / "mark"))
    failing = f"if [ ! -e {mark} ]; then touch {mark}; exit 9; fi; {room.command()}"
    with pytest.raises(DecoderFailed, match="exit code 9"):
        room.tune(room.plan(command=failing, iterations=2))
    (room.path / "mark").unlink()
    tuned = room.tune(room.plan(command=failing, iterations=2, retries=1))
    assert len(tuned.records) == 2


def test_what_a_decoder_started_is_ended_with_it(room: Room) -> None:
    mark = room.path / "alive"
    inner = f"import time, pathlib; time.sleep(3); pathlib.Path({str(mark)!r}).touch()"
    command = f"{shlex.quote(sys.executable)} -c {shlex.quote(inner)} & wait; : {{weights}}"
    with pytest.raises(DecoderFailed, match=r"did not end within 0.5 s"):
        room.tune(room.plan(command=command, timeout=0.5))
    time.sleep(3)
    assert not mark.exists()


def test_a_command_must_take_weights() -> None:
    with pytest.raises(UsageError, match="where the weights go"):
        Decoder("moses > {nbest}")


def test_other_settings_are_refused(room: Room) -> None:
    room.tune(room.plan(iterations=2))
    with pytest.raises(UsageError, match="holds a tuning already"):
        room.tune(room.plan(iterations=2))
    with pytest.raises(UsageError, match=r"other settings \(seed\)"):
        room.tune(
            room.plan(learner=Learner(search=Settings(restarts=3, directions=2), seed=6)),
            resume=True,
        )
    with pytest.raises(UsageError, match=r"other settings \(initial\)"):
        room.tune(room.plan(), resume=True, initial={**INITIAL, "LM0": 0.1})


def test_nothing_to_go_on_with(room: Room) -> None:
    with pytest.raises(UsageError, match="no tuning to go on with"):
        room.tune(room.plan(), resume=True)


def test_more_iterations_than_asked_for_before(room: Room) -> None:
    room.tune(room.plan(iterations=1))
    longer = room.tune(room.plan(), resume=True)
    shutil.rmtree(room.folder)
    assert lasting(longer.records)[1:] == lasting(room.tune(room.plan()).records)[1:]


def test_a_damaged_log_is_named(room: Room) -> None:
    room.tune(room.plan(iterations=2))
    with (room.folder / "log.jsonl").open("a") as log:
        log.write('{"iteration": 3, "sco')
    with pytest.raises(FormatError, match=r"log.jsonl:3: damaged"):
        room.tune(room.plan(), resume=True)


def test_two_at_a_time_are_refused(room: Room) -> None:
    command = f"sleep 5; {room.command()}"
    script = room.path / "held.py"
    script.write_text(
        "import fcntl, sys, time\n"
        "file = open(sys.argv[1], 'wb')\nfcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('held', flush=True)\ntime.sleep(60)\n"
    )
    room.folder.mkdir()
    holder = subprocess.Popen(
        [sys.executable, script, room.folder / ".lock"], stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(UsageError, match="another tuning is running"):
            room.tune(room.plan(command=command))
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert len(room.tune(room.plan(iterations=1)).records) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("after", [False, True])
def test_killed_at_every_step(room: Room, after: bool) -> None:
    """Every file comes to be by a rename: killed before or behind each of them, it goes on."""
    plan = room.plan(iterations=2)
    whole = room.tune(plan)
    steps = 0
    killed = True
    while killed:
        shutil.rmtree(room.folder)
        steps += 1
        child = os.fork()
        if child == 0:
            _kill_at(steps, after)
            room.tune(plan)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        assert killed or os.WEXITSTATUS(status) == 0
        begun = (room.folder / "settings.json").is_file()
        again = room.tune(plan, resume=begun) if killed else None
        if again is not None:
            assert lasting(again.records) == lasting(whole.records)
            assert again.weights == whole.weights
    # Settings, and twice weights, list, rows, best weights and log.
    assert steps == 12


def _kill_at(step: int, after: bool) -> None:
    """From here on, this process ends by itself at a rename."""
    rename = os.replace
    count = 0

    def counted(*arguments) -> None:
        nonlocal count
        count += 1
        if count == step and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        rename(*arguments)
        if count == step:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = counted


def _run(room: Room, *more: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        _arguments(room, *more), capture_output=True, text=True, check=False, timeout=120, **options
    )


def _arguments(room: Room, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "meantime", "tune", "--decoder", room.command("--size 4"),
        "-r", str(room.path / "ref.txt"), "-m", "bleu:max_order=2",
        "-w", str(room.path / "weights.txt"), "--folder", str(room.folder),
        "--restarts", "3", "--iterations", "4", "--no-plot", *more,
    ]  # fmt: skip


def test_the_command_killed_and_gone_on_with(room: Room) -> None:
    done = _run(room, "--format", "json")
    assert done.returncode == 0, done.stderr
    whole = json.loads(done.stdout)
    shutil.rmtree(room.folder)
    process = subprocess.Popen(
        _arguments(room), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    # As soon as the second iteration decodes, and in whatever it then does.
    while not (room.folder / "decoder-002.log").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.wait()
    refused = _run(room)
    assert refused.returncode == 2
    assert "--resume" in refused.stderr
    done = _run(room, "--resume", "--format", "json")
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)
    assert lasting(again["iterations"]) == lasting(whole["iterations"])
    assert again["weights"] == whole["weights"]


def test_the_command_reports_and_draws(room: Room) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    output = room.path / "best.txt"
    arguments = [a for a in _arguments(room, "--output", str(output)) if a != "--no-plot"]
    arguments += ["--on-failure", "continue", "--retries", "1", "--timeout", "60"]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "iteration 1: bleu " in done.stderr
    assert "ended: " in done.stdout
    assert "LM0= " in done.stdout
    assert read_weights(output) == read_weights(room.folder / "weights.txt")
    drawn = (room.folder / "curve.svg").read_text()
    assert drawn.startswith("<svg")
    assert "foretold" in drawn


def test_interrupting_ends_the_decoder(room: Room) -> None:
    mark = room.path / "late"
    slow = f"touch {shlex.quote(str(room.path / 'began'))}; sleep 2; touch {shlex.quote(str(mark))}"
    arguments = _arguments(room)
    arguments[arguments.index("--decoder") + 1] = f"{slow}; : {{weights}}"
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (room.path / "began").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert told.strip().endswith("interrupted")
    time.sleep(2)
    assert not mark.exists()
    assert not list(room.folder.glob(".nbest*"))


def test_without_the_extra_the_curve_says_what_to_install(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingPart, match=r"pip install 'meantime\[plots\]'"):
        draw_curve([{"iteration": 1, "score": 1.0}], "bleu")


def test_a_failing_run_is_drawn_too(room: Room) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    arguments = [a for a in _arguments(room) if a != "--no-plot"]
    arguments[arguments.index("--decoder") + 1] = room.command("--mode fail --at 2")
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "out of memory" in done.stderr
    assert done.stderr.strip().endswith("with --resume")
    assert (room.folder / "curve.svg").is_file()


def test_the_curve_leaves_failures_out() -> None:
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    records = [
        {"iteration": 1, "score": 10.0, "pool_after": 12.0},
        {"iteration": 2, "failed": "no"},
        {"iteration": 3, "score": 11.0},
    ]
    svg = draw_curve(records, "bleu")
    assert svg.startswith("<svg")
    assert "bleu" in svg

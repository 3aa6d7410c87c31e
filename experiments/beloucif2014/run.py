"""Beloucif, Lo and Wu 2014 again: a phrase-based system tuned on BLEU, TER, MEANT and IMEANT.

    python experiments/beloucif2014/run.py [--seeds N] [--work DIR] [--only TEXT] [--report]

trains small systems with `meantime smt`, tunes each with `meantime tune --decoder thot` from the
same start, one run a metric and seed, translates the test part, and writes `results.md` beside
itself from the runs that are done. Everything is kept in the folder of work: a run that was
stopped goes on in the iteration it was in, and a run that is done is not done again.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

from meantime.cli.analysis import open_cached
from meantime.formats.opening import save
from meantime.metaeval.paired import approximate_randomisation
from meantime.scoring import Measured, measure
from meantime.types import Corpus, Level, Segment, Sentence

HERE = Path(__file__).parent
PARALLEL = HERE.parents[2] / "shared" / "data" / "parallel"
SEEDS = 3
ITERATIONS = 5
PATIENCE = 2
RESTARTS = 6
DIRECTIONS = 2
CANDIDATES = 50
TRIALS = 2000
RATES = ("wer", "per", "cder")
ORDER = 6
TRAINING, DEVELOPMENT, TEST = 4000, 80, 250
COLUMNS = {
    "BLEU": "bleu:lowercase=yes",
    "NIST": "nist:lowercase=yes",
    "METEOR": "meteor",
    "TER": "ter",
    "WER": "wer:lowercase=yes",
    "PER": "per:lowercase=yes",
    "CDER": "cder:lowercase=yes",
    "UMEANT": "umeant",
    "meant": "meant",
}
CASED = {
    "BLEU-cased": "bleu",
    "TER-cased": "ter:lowercase=no",
    "BLEU-uncased": "bleu:lowercase=yes",
    "TER-uncased": "ter",
}
CHARACTERS = {
    "Character BLEU": "bleu:tokeniser=char",
    "Character TER": "ter:asian_support=yes,normalise=yes",
}
TUNED_ON = {"BLEU": "bleu", "TER": "ter", "MEANT": "meant-2014", "IMEANT": "imeant",
            "MEANT 2013": "meant-2013"}  # fmt: skip
"""What the paper calls a metric, and ours."""
PRINTED: Mapping[tuple[str, str], Sequence[float]] = {
    ("2013", "MEANT 2013"): (10.49, 4.54, 4.24, 73.97, 75.77, 59.17, 70.94, 31.42),
    ("2014", "MEANT"): (13.56, 4.97, 4.69, 70.48, 73.98, 56.19, 69.18, 39.79),
    ("2014", "IMEANT"): (13.55, 4.99, 4.68, 70.48, 73.60, 55.78, 68.85, 34.21),
    ("2013", "BLEU"): (11.16, 4.61, 4.32, 74.69, 77.17, 59.15, 71.84, 31.46),
    ("2014", "BLEU"): (13.85, 5.01, 4.55, 68.70, 72.27, 54.91, 67.45, 32.93),
    ("2013", "TER"): (10.65, 2.96, 3.33, 71.09, 71.51, 60.72, 69.10, 38.38),
    ("2014", "TER"): (11.16, 4.01, 3.97, 66.49, 68.43, 56.93, 65.78, 39.18),
}


@dataclass(frozen=True)
class Texts:
    """A parallel text and its parts."""

    training: str
    development: str
    test: str
    source: str
    target: str


CAPTIONS = Texts("zhen-3am.train", "zhen-3am.dev", "zhen-3am.test", "zh", "en")
TASKS = {
    "zh-en": CAPTIONS,
    "en-zh": Texts("zhen-3am.train", "zhen-3am.dev", "zhen-3am.test", "en", "zh"),
    "de-en": Texts("multi30k.train", "multi30k.val", "multi30k.test2016", "de", "en"),
    "tatoeba": Texts("zhen-tatoeba.train", "zhen-tatoeba.dev", "zhen-tatoeba.test", "zh", "en"),
}


@dataclass(frozen=True)
class System:
    """A task with a preparation."""

    task: str
    preparation: str

    @property
    def name(self) -> str:
        return f"{self.task}.{self.preparation}"


@dataclass(frozen=True)
class Run:
    """One tuning."""

    system: System
    tuned_on: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.system.name}.{self.tuned_on.replace(' ', '')}.{self.seed}"


PREPARATIONS: Mapping[str, Sequence[str]] = {
    # What the paper had in 2013 is not said; the plainest word list stands for it.
    "2013": ("--segmenter", "dictionary"),
    "2014": ("--segmenter", "jieba", "--numbers", "--names", "{names}"),
    "plain": (),
    "characters": ("--segmenter", "characters"),
    "dictionary": ("--segmenter", "dictionary"),
    "statistical": ("--segmenter", "statistical:{segmenter}"),
    "jieba": ("--segmenter", "jieba"),
    "numbers": ("--segmenter", "jieba", "--numbers"),
    "names": ("--segmenter", "jieba", "--names", "{names}"),
    "both": ("--segmenter", "jieba", "--numbers", "--names", "{names}"),
}
SEGMENTERS = ("characters", "dictionary", "statistical", "jieba")
ENTITIES = ("jieba", "numbers", "names", "both")


def runs(seeds: int) -> Iterator[Run]:
    """All runs, what the tables need most first: whole seeds, one after the other."""
    new, old = System("zh-en", "2014"), System("zh-en", "2013")
    for seed in range(1, seeds + 1):
        for tuned_on in ("BLEU", "MEANT", "IMEANT", "TER"):
            yield Run(new, tuned_on, seed)
        for tuned_on in ("MEANT 2013", "BLEU", "TER"):
            yield Run(old, tuned_on, seed)
        yield Run(System("en-zh", "jieba"), "BLEU", seed)
        if seed == 1:
            for tuned_on in ("BLEU", "TER", "MEANT", "IMEANT"):
                yield Run(System("de-en", "plain"), tuned_on, seed)


def compared() -> Iterator[System]:
    """Systems that are compared with the weights everything starts from, untuned."""
    for task in ("zh-en", "tatoeba"):
        for preparation in (*SEGMENTERS, *ENTITIES[1:]):
            yield System(task, preparation)


class Room:
    """The folder of work, and what is made in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def command(self, *words: str) -> None:
        """Run a verb of ours; what it says goes to a log, and is shown where it fails."""
        with (self.folder / "log.txt").open("a", encoding="utf-8") as log:
            log.write(f"$ meantime {' '.join(words)}\n")
            log.flush()
            done = subprocess.run(
                [sys.executable, "-m", "meantime", *words],
                stdout=log,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
            log.write(done.stderr)
        if done.returncode:
            sys.exit(f"meantime {' '.join(words)}\n{done.stderr}")

    def text(self, task: str, part: str, side: str) -> Path:
        """One side of a part of a task's texts, as a file."""
        texts = TASKS[task]
        name = getattr(texts, part)
        lang = getattr(texts, side)
        count = {"training": TRAINING, "development": DEVELOPMENT, "test": TEST}[part]
        path = self.folder / f"{name}.{count}.{lang}"
        if not path.is_file():
            with gzip.open(PARALLEL / f"{name}.{lang}.gz", "rt", encoding="utf-8") as file:
                lines = [line for _, line in zip(range(count), file, strict=False)]
            save(path, "".join(lines).encode("utf-8"))
        return path

    def names(self) -> Path:
        """The dictionary of names, made from training text.

        Captions are written in lower case and give no names; the other text gives them for both.
        """
        path = self.folder / "names.tsv"
        if not path.is_file():
            texts = [str(self.text("tatoeba", "training", side)) for side in ("source", "target")]
            self.command("smt", "names", "--src", texts[0], "--tgt", texts[1], "-o", str(path))
        return path

    def segmenter(self, task: str) -> Path:
        """The statistical segmenter, learned from the training text."""
        path = self.folder / f"{TASKS[task].training}.segmenter.tsv"
        if not path.is_file():
            source = str(self.text(task, "training", "source"))
            self.command("smt", "segmenter", source, "-o", str(path), "--words", "3000")
        return path

    def model(self, system: System) -> Path:
        """The trained system."""
        path = self.folder / "models" / system.name
        if path.is_dir():
            return path
        path.parent.mkdir(exist_ok=True)
        texts = TASKS[system.task]
        words = list(PREPARATIONS[system.preparation])
        for place, word in enumerate(words):
            if "{names}" in word:
                words[place] = str(self.names())
            elif "{segmenter}" in word:
                words[place] = word.replace("{segmenter}", str(self.segmenter(system.task)))
        source, target = (str(self.text(system.task, "training", s)) for s in ("source", "target"))
        self.command(
            "smt", "train", "--src", source, "--tgt", target, "--out", str(path),
            "--src-lang", texts.source, "--tgt-lang", texts.target, "--order", str(ORDER), *words,
        )  # fmt: skip
        return path

    def untuned(self, system: System) -> Path:
        """The test part translated with the weights everything starts from."""
        path = self.folder / "untuned" / f"{system.name}.txt"
        if not path.is_file():
            path.parent.mkdir(exist_ok=True)
            test = str(self.text(system.task, "test", "source"))
            self.command("smt", "translate", str(self.model(system)), test, "-o", str(path))
        return path

    def done(self, run: Run) -> Path:
        """Where the test part translated by a tuned system stands, if it is done."""
        return self.folder / "runs" / run.name / "test.txt"

    def tune(self, run: Run) -> None:
        """Tune, and translate the test part."""
        if self.done(run).is_file():
            return
        folder = self.folder / "runs" / run.name
        model = self.model(run.system)
        task = run.system.task
        source, target = (self.text(task, "development", side) for side in ("source", "target"))
        if not (folder / "seconds.json").is_file():
            folder.mkdir(parents=True, exist_ok=True)
            begun = time.monotonic()
            self.command(
                "tune", "--decoder", "thot", str(model), "--dev", str(source), "-r", str(target),
                "-m", TUNED_ON[run.tuned_on], "--seed", str(run.seed),
                "--folder", str(folder / "tuning"), "--iterations", str(ITERATIONS),
                "--patience", str(PATIENCE), "--restarts", str(RESTARTS),
                "--directions", str(DIRECTIONS), "--candidates", str(CANDIDATES), "--no-plot",
                *(["--resume"] if (folder / "tuning" / "log.jsonl").is_file() else []),
            )  # fmt: skip
            save(folder / "seconds.json", json.dumps(time.monotonic() - begun).encode())
        test = str(self.text(task, "test", "source"))
        weights = str(folder / "tuning" / "weights.txt")
        self.command("smt", "translate", str(model), test, "-w", weights, "-o", str(self.done(run)))


# Scores


@dataclass(frozen=True)
class Scores:
    """Outputs of one task, measured by some metrics."""

    measured: Measured
    columns: tuple[str, ...]

    def rows(self, column: str, outputs: Sequence[str]) -> Any:
        """Rows of several outputs, those of a segment added up."""
        place = self.columns.index(column)
        return sum(self.measured.rows[name, place] for name in outputs)

    def metric(self, column: str) -> Any:
        return self.measured.metrics[self.columns.index(column)]

    def score(self, column: str, output: str) -> float:
        """As the paper prints it: in per cent where ours is a share."""
        metric = self.metric(column)
        value = metric.score(self.rows(column, [output]).sum(axis=0), Level.CORPUS).value
        return float(value * 100 if metric.scale[1] == 1 or metric.name in RATES else value)

    def test(self, column: str, first: Sequence[str], second: Sequence[str]) -> float:
        """The p-value of randomisation between two systems, all seeds of a segment together."""
        one, other = self.rows(column, first), self.rows(column, second)
        rng = numpy.random.default_rng(1)
        return approximate_randomisation(
            self.metric(column), one, other, rng=rng, trials=TRIALS
        ).p_value


def measured(
    room: Room, task: str, outputs: Mapping[str, Path], columns: Mapping[str, str]
) -> Scores:
    """Score outputs of the test part."""
    lang = TASKS[task].target
    references = read(room.text(task, "test", "target"))
    corpus = Corpus(
        tuple(
            Segment(str(number), (Sentence(text, lang),))
            for number, text in enumerate(references, start=1)
        ),
        {
            name: tuple(Sentence(text, lang) for text in read(path))
            for name, path in outputs.items()
        },
    )
    found = measure(
        corpus, list(columns.values()), lang=lang, analyser=open_cached(None, cached=True)
    )
    return Scores(found, tuple(columns))


def read(path: Path) -> list[str]:
    """The lines of a text."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def main() -> None:
    """Do the runs that are not done, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="runs of each system")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="folder of work")
    parser.add_argument("--only", default="", help="only runs whose name holds this")
    parser.add_argument("--report", action="store_true", help="write the page and run nothing")
    given = parser.parse_args()
    room = Room(given.work.resolve())
    if not given.report:
        for system in compared():
            if given.only in system.name:
                print(f"untuned {system.name}", flush=True)
                room.untuned(system)
        for run in runs(given.seeds):
            if given.only in run.name:
                print(f"{time.strftime('%H:%M')} {run.name}", flush=True)
                room.tune(run)
    save(HERE / "results.md", page(room, given.seeds).encode("utf-8"))


if __name__ == "__main__":
    main()

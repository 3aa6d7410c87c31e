"""Beloucif, Lo and Wu 2014 again: a phrase-based system tuned on BLEU, TER, MEANT and IMEANT.

    python experiments/beloucif2014/run.py [--seeds N] [--work DIR] [--only TEXT] [--report]
        [--training N] [--development N] [--test N] [--output FILE]

trains small systems with `meantime smt`, tunes each with `meantime tune --decoder thot` from the
same start, one run a metric and seed, translates the test part, and writes `results.md` beside
itself from the runs that are done. Everything is kept in the folder of work: a run that was
stopped goes on in the iteration it was in, and a run that is done is not done again. Other sizes
need another folder of work.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import mean, stdev
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
ALPHA = 0.05
RATES = ("wer", "per", "cder")
ORDER = 6
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
class Sizes:
    """How many pairs of each part are taken, from the first."""

    training: int = 4000
    development: int = 80
    test: int = 250


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
    "statistical": ("--segmenter", "statistical:{segmenter}"),
    "jieba": ("--segmenter", "jieba"),
    "numbers": ("--segmenter", "jieba", "--numbers"),
    "names": ("--segmenter", "jieba", "--names", "{names}"),
}
SEGMENTERS = ("characters", "2013", "statistical", "jieba")
ENTITIES = ("jieba", "numbers", "names", "2014")


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

    def __init__(self, folder: Path, sizes: Sizes) -> None:
        self.folder = folder
        self.sizes = sizes
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "sizes.json"
        # A folder without it is of the sizes there were before they could be chosen.
        known = Sizes(**json.loads(path.read_text())) if path.is_file() else Sizes()
        if known != sizes and (path.is_file() or (folder / "models").is_dir()):
            sys.exit(f"{folder} has runs of other sizes ({known}); name another with --work")
        save(path, json.dumps(asdict(sizes)).encode())

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
        count = getattr(self.sizes, part)
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


# The page


class Page:
    """Tables of the runs that are done."""

    def __init__(self, room: Room, seeds: int, only: str = "") -> None:
        self.room = room
        planned = [run for run in runs(seeds) if only in run.name]
        self.planned = len(planned)
        self.done = [run for run in planned if room.done(run).is_file()]
        self.lines: list[str] = []

    def seeds(self, system: System, tuned_on: str) -> list[Run]:
        return [run for run in self.done if (run.system, run.tuned_on) == (system, tuned_on)]

    def say(self, *lines: str) -> None:
        self.lines += lines

    def scores(self, task: str, columns: Mapping[str, str]) -> Scores | None:
        """All outputs of a task."""
        outputs = {run.name: self.room.done(run) for run in self.done if run.system.task == task}
        for system in compared():
            path = self.room.folder / "untuned" / f"{system.name}.txt"
            if system.task == task and path.is_file():
                outputs[system.name] = path
        return measured(self.room, task, outputs, columns) if outputs else None

    def table(
        self, title: str, scores: Scores, rows: Sequence[tuple[str, System, str]], printed: bool
    ) -> None:
        """Systems by metrics: the mean of the seeds, and the paper's figures."""
        columns = scores.columns
        self.say("", f"### {title}", "")
        self.say(
            f"| System | seeds | {' | '.join(columns)} |", f"|---|---:|{'---:|' * len(columns)}"
        )
        for label, system, tuned_on in rows:
            found = self.seeds(system, tuned_on)
            cells = [shown([scores.score(column, run.name) for run in found]) for column in columns]
            self.say(f"| {label} | {len(found)} | {' | '.join(cells)} |")
            paper = PRINTED.get((system.preparation, tuned_on))
            if printed and paper:
                cells = [f"{value:.2f}" for value in paper]
                cells += [""] * (len(columns) - len(cells))
                self.say(f"| *the paper* | | {' | '.join(cells)} |")

    def verdict(
        self,
        claim: str,
        scores: Scores,
        first: tuple[System, str],
        second: tuple[System, str],
        columns: Sequence[str],
        *,
        same: bool = False,
    ) -> None:
        """Whether one system beats another by some metrics, or is not to be told from it."""
        one, other = self.seeds(*first), self.seeds(*second)
        seeds = {run.seed for run in one} & {run.seed for run in other}
        if not seeds:
            self.say(f"| {claim} | | no run yet |")
            return
        names = [[run.name for run in found if run.seed in seeds] for found in (one, other)]
        cells: list[str] = []
        better: list[str] = []
        worse: list[str] = []
        for column in columns:
            values = [mean(scores.score(column, name) for name in group) for group in names]
            p_value = scores.test(column, *names)
            gain = values[0] - values[1]
            cells.append(f"{column} {gain:+.2f} ({shown_p(p_value)})")
            if p_value < ALPHA:
                up = gain > 0 if scores.metric(column).higher_is_better else gain < 0
                (better if up else worse).append(column)
        word = judge(columns, better, worse, same=same)
        self.say(f"| {claim} | {'; '.join(cells)} | {word} ({len(seeds)} seed(s)) |")

    def render(self) -> str:
        """The whole page."""
        seconds = [
            json.loads(path.read_text(encoding="utf-8"))
            for path in sorted(self.room.folder.glob("runs/*/seconds.json"))
        ]
        sizes = self.room.sizes
        self.say(
            "# Beloucif, Lo and Wu 2014",
            "",
            "Written by `run.py` from the runs that are done; what was done and what differs from "
            "the paper is in [README.md](README.md).",
            "",
            f"- **Runs**: {len(self.done)} of {self.planned} that were planned are done. Cells "
            "are means over seeds, with the standard deviation where there are several; an empty "
            "cell was not run.",
            f"- **Sizes**: {sizes.training:,} training pairs, {sizes.development:,} to tune on, "
            f"{sizes.test:,} to test on; language model of order {ORDER}; at most {ITERATIONS} "
            f"iterations, lists of {CANDIDATES}.",
            "- **Levels cannot be compared** with the paper's: other text, and far less of it to "
            "train on. What can be compared is which system is better.",
            f"- **Significance**: approximate randomisation, {TRIALS:,} trials, two-sided, not "
            "corrected for the number of comparisons; the rows of all seeds of a segment change "
            "places together. It speaks of these test segments, and with one seed leaves out that "
            "another search would find other weights.",
        )
        if seconds:
            self.say(
                f"- **Time**: a tuning took {min(seconds) / 60:.1f} to {max(seconds) / 60:.1f} "
                f"minutes by the clock, the median {sorted(seconds)[len(seconds) // 2] / 60:.1f}, "
                "on a machine that was busy with other work."
            )
        self.chinese_to_english()
        self.other_languages()
        self.before_translation()
        return "\n".join(self.lines) + "\n"

    def chinese_to_english(self) -> None:
        """Tables 1 to 4, and the claims."""
        scores = self.scores("zh-en", COLUMNS)
        if scores is None:
            return
        new, old = System("zh-en", "2014"), System("zh-en", "2013")
        self.say("", "## Chinese to English", "")
        self.say("Uncased. WER, PER, CDER, METEOR and both MEANT columns are in per cent.")
        self.table(
            "Table 1: MEANT-tuned systems",
            scores,
            [("2013 MEANT-tuned", old, "MEANT 2013"), ("2014 MEANT-tuned", new, "MEANT")],
            True,
        )
        self.table(
            "Table 2: MEANT and IMEANT",
            scores,
            [("MEANT-tuned", new, "MEANT"), ("IMEANT-tuned", new, "IMEANT")],
            True,
        )
        for number, tuned_on in ((3, "BLEU"), (4, "TER")):
            self.table(
                f"Table {number}: {tuned_on}-tuned systems",
                scores,
                [(f"{year} {tuned_on}-tuned", s, tuned_on)
                 for year, s in (("2013", old), ("2014", new))],
                True,
            )  # fmt: skip
        self.untuned(scores)
        self.say("", "### The paper's claims", "")
        self.say("| Claim | First less second, p | Verdict |", "|---|---|---|")
        columns = ("BLEU", "METEOR", "TER", "UMEANT")
        self.verdict(
            "2014 MEANT-tuned is better than 2013 (Table 1)",
            scores, (new, "MEANT"), (old, "MEANT 2013"), columns,
        )  # fmt: skip
        self.verdict(
            "IMEANT-tuned is not to be told from MEANT-tuned (Table 2)",
            scores, (new, "IMEANT"), (new, "MEANT"), columns, same=True,
        )  # fmt: skip
        for tuned_on, number in (("BLEU", 3), ("TER", 4)):
            self.verdict(
                f"2014 {tuned_on}-tuned is better than 2013 (Table {number})",
                scores, (new, tuned_on), (old, tuned_on), columns,
            )  # fmt: skip
        for tuned_on in ("BLEU", "TER"):
            self.verdict(
                f"MEANT-tuned is better by MEANT than {tuned_on}-tuned (Tables 1, 3, 4)",
                scores, (new, "MEANT"), (new, tuned_on), ("UMEANT", "meant"),
            )  # fmt: skip
        cased = self.scores("zh-en", CASED)
        if cased is not None and self.seeds(new, "BLEU"):
            self.table("Table 5: case counted", cased, [("2014 ZH-EN", new, "BLEU")], False)
            self.say("", "The paper: 11.89, 72.32, 13.08, 70.09 on the test set of 2013.")

    def untuned(self, scores: Scores) -> None:
        """What tuning started from."""
        found = [(f"{year}, untuned", System("zh-en", year).name) for year in ("2013", "2014")]
        found = [row for row in found if row[1] in scores.measured.corpus.outputs]
        if not found:
            return
        self.say("", "### Where tuning started", "")
        self.say(
            f"| System | {' | '.join(scores.columns)} |", f"|---|{'---:|' * len(scores.columns)}"
        )
        for label, name in found:
            cells = [f"{scores.score(column, name):.2f}" for column in scores.columns]
            self.say(f"| {label} | {' | '.join(cells)} |")

    def other_languages(self) -> None:
        """Table 6, and German."""
        into = System("en-zh", "jieba")
        if self.seeds(into, "BLEU"):
            scores = self.scores("en-zh", CHARACTERS)
            assert scores is not None
            self.say("", "## English to Chinese")
            self.table("Table 6: characters", scores, [("EN-ZH BLEU-tuned", into, "BLEU")], False)
            self.say("", "The paper: 16.41 and 74.34 on the test set of 2013.")
        german = System("de-en", "plain")
        rows = [(f"{t}-tuned", german, t) for t in ("BLEU", "TER", "MEANT", "IMEANT")]
        if any(self.seeds(*row[1:]) for row in rows):
            scores = self.scores("de-en", COLUMNS)
            assert scores is not None
            self.say("", "## German to English, one seed")
            self.table("Not in the paper", scores, rows, False)

    def before_translation(self) -> None:
        """Segmenters, numbers and names, with untuned weights."""
        begun = len(self.lines)
        for task, named in (("zh-en", "captions"), ("tatoeba", "Tatoeba sentences")):
            scores = self.scores(task, {k: COLUMNS[k] for k in ("BLEU", "METEOR", "TER", "UMEANT")})
            if scores is None:
                continue
            for title, names in (("Segmenters", SEGMENTERS), ("Numbers and names", ENTITIES)):
                rows = [System(task, name) for name in names]
                there = [s for s in rows if s.name in scores.measured.corpus.outputs]
                if len(there) < 2:
                    continue
                self.say("", f"### {title}, {named}", "")
                self.say(
                    f"| Preparation | {' | '.join(scores.columns)} | p |",
                    f"|---|{'---:|' * (len(scores.columns) + 1)}",
                )
                for system in there:
                    cells = [f"{scores.score(c, system.name):.2f}" for c in scores.columns]
                    p_value = (
                        shown_p(scores.test("BLEU", [system.name], [there[0].name]))
                        if system != there[0]
                        else ""
                    )
                    label = LABELS.get(system.preparation, system.preparation)
                    self.say(f"| {label} | {' | '.join(cells)} | {p_value} |")
        if len(self.lines) > begun:
            self.lines[begun:begun] = [
                "",
                "## Before translation, untuned",
                "",
                "The same weights for all, those every tuning starts from. p compares with the "
                "first row of each table, by BLEU.",
            ]


LABELS = {
    "2013": "dictionary (2013)",
    "numbers": "jieba, numbers",
    "names": "jieba, names",
    "2014": "jieba, both (2014)",
}


def judge(
    columns: Sequence[str], better: Sequence[str], worse: Sequence[str], *, same: bool = False
) -> str:
    """A claim's verdict, from the metrics by which the first system is better, or worse, for sure.

    The claim is that the first is better, or that the two are not to be told apart.
    """
    if same:
        told = ", ".join([*better, *worse])
        return f"does not hold: told apart by {told}" if told else "no difference is shown"
    if better and worse:
        return f"metrics disagree: better by {', '.join(better)}, worse by {', '.join(worse)}"
    if better:
        rest = "" if len(better) == len(columns) else f" by {', '.join(better)} alone"
        return f"holds{rest}"
    if worse:
        return f"not shown; the opposite by {', '.join(worse)}"
    return "not shown"


def shown_p(value: float) -> str:
    """A p-value as far as the trials can tell it."""
    return "p < 0.001" if value < 0.001 else f"p {value:.3f}"


def shown(values: Sequence[float]) -> str:
    """The mean, and how far seeds lie apart."""
    if not values:
        return ""
    spread = f" ± {stdev(values):.2f}" if len(values) > 1 else ""
    return f"{mean(values):.2f}{spread}"


def main() -> None:
    """Do the runs that are not done, then write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="runs of each system")
    parser.add_argument("--work", type=Path, default=HERE / "work", help="folder of work")
    parser.add_argument("--only", default="", help="only runs whose name holds this")
    parser.add_argument("--report", action="store_true", help="write the page and run nothing")
    parser.add_argument("--output", type=Path, default=HERE / "results.md", help="the page")
    for size in fields(Sizes):
        parser.add_argument(
            f"--{size.name}", type=int, default=size.default, help=f"pairs for {size.name}"
        )
    given = parser.parse_args()
    sizes = Sizes(given.training, given.development, given.test)
    room = Room(given.work.resolve(), sizes)
    if not given.report:
        last = [run for run in runs(given.seeds) if run.seed == 1][-1]
        for run in runs(given.seeds):
            if given.only in run.name:
                print(f"{time.strftime('%H:%M')} {run.name}", flush=True)
                room.tune(run)
            if run == last:
                # What needs no tuning comes behind the first seed of everything else.
                for system in compared():
                    if given.only in system.name:
                        print(f"{time.strftime('%H:%M')} untuned {system.name}", flush=True)
                        room.untuned(system)
    save(given.output, Page(room, given.seeds, given.only).render().encode("utf-8"))


if __name__ == "__main__":
    main()

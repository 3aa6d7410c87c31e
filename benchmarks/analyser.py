"""Accuracy and speed of the analyser, against treebanks and against its bare encoder.

    python benchmarks/analyser.py [--model DIR] [--plain DIR] [--only accuracy|speed] [--log]

Accuracy: gold tokens of ewt.test and wsj.test (never trained or selected on). Roles are exact
labelled spans, `V` not counted, `C-` and `R-` under their own labels; a predicate is a token;
constituents are all labelled brackets but `TOP`, punctuation and unary chains included: strictly
(none for a part of speech, PARSEVAL), and with each token's part of speech as one more bracket.
Also: raw text instead of gold tokens, evalb-style brackets (no punctuation, no unary
repetition of a label), roles with `C-` parts joined, a table by role label, and `--plain`, the
same model before quantisation.
Speed: WMT21 segments, ours end to end beside the bare int8 encoder in the same run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from meantime.analysis import open_analyser  # noqa: E402
from meantime.analysis.analyser import EmbeddedAnalyser  # noqa: E402
from meantime.analysis.tokenise import tokenise  # noqa: E402
from meantime.types import Sentence  # noqa: E402
from training.analyser.data import Example, read  # noqa: E402

SHARED = ROOT.parent / "shared" / "data"
PUNCTUATION = {",", ".", ":", "``", "''", "-LRB-", "-RRB-", "NFP", "HYPH"}
STRICTLY = "constituents, strictly"
WITH_TAGS = "constituents, parts of speech counted too"
NO_SPACE_BEFORE = set(",.;:!?%)]}”’") | {"n't", "'s", "'m", "'re", "'ve", "'ll", "'d", "'"}
NO_SPACE_AFTER = set("([{$“‘#")


class Counts:
    """Right, said and gold, by name."""

    def __init__(self) -> None:
        self.right: Counter[str] = Counter()
        self.said: Counter[str] = Counter()
        self.gold: Counter[str] = Counter()

    def add(self, name: str, said: Iterable[object], gold: Iterable[object]) -> None:
        one, other = Counter(said), Counter(gold)
        self.right[name] += (one & other).total()
        self.said[name] += one.total()
        self.gold[name] += other.total()

    def f(self, name: str) -> float:
        return 200 * self.right[name] / max(1, self.said[name] + self.gold[name])

    def row(self, name: str) -> list[str]:
        precision = 100 * self.right[name] / max(1, self.said[name])
        recall = 100 * self.right[name] / max(1, self.gold[name])
        return [f"{precision:.1f}", f"{recall:.1f}", f"{self.f(name):.1f}"]


def joined(spans: Iterable[tuple[int, int, str]]) -> set[object]:
    """Roles with their `C-` parts joined to the part before."""
    found: list[tuple[str, tuple[tuple[int, int], ...]]] = []
    for start, end, label in sorted(spans):
        if label.startswith("C-"):
            for n in range(len(found) - 1, -1, -1):
                if found[n][0] == label[2:]:
                    found[n] = (label[2:], (*found[n][1], (start, end)))
                    break
            else:
                found.append((label[2:], ((start, end),)))
        else:
            found.append((label, ((start, end),)))
    return set(found)


def evalb(spans: Iterable[tuple[int, int, str]], tags: Sequence[str]) -> list[object]:
    """Brackets over the words that are not punctuation."""
    kept = numpy.cumsum([0] + [tag not in PUNCTUATION for tag in tags])
    moved = [(int(kept[start]), int(kept[end]), label) for start, end, label in spans]
    return [bracket for bracket in moved if bracket[0] < bracket[1]]


def accuracy(analyser: EmbeddedAnalyser, examples: Sequence[Example]) -> Counts:
    """All figures on gold tokens."""
    counts = Counts()

    def answer(example: Example) -> tuple[object, object]:
        return analyser.read(example.words), analyser.read(example.words, example.predicates)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        answers = list(pool.map(answer, examples))
    for example, (free, given) in zip(examples, answers, strict=True):
        words = range(len(example.words))
        counts.add(
            "tags", zip(words, free.tags, strict=True), zip(words, example.tags, strict=True)
        )
        counts.add("predicates", free.predicates, example.predicates)
        counts.add(STRICTLY, free.constituents, example.spans)
        counts.add(
            WITH_TAGS,
            [*free.constituents, *((n, n + 1, t) for n, t in enumerate(free.tags))],
            [*example.spans, *((n, n + 1, t) for n, t in enumerate(example.tags))],
        )
        counts.add(
            "constituents, as evalb",
            evalb(free.constituents, example.tags),
            evalb(example.spans, example.tags),
        )
        gold = dict(zip(example.predicates, example.roles, strict=True))
        for name, said in (
            ("roles, gold predicates", dict(zip(given.predicates, given.roles, strict=True))),
            ("roles, end to end", dict(zip(free.predicates, free.roles, strict=True))),
        ):
            counts.add(
                name,
                [(p, span) for p, spans in said.items() for span in spans],
                [(p, span) for p, spans in gold.items() for span in spans],
            )
            counts.add(
                f"{name}, C- joined",
                [(p, role) for p, spans in said.items() for role in joined(spans)],
                [(p, role) for p, spans in gold.items() for role in joined(spans)],
            )
        for label in {s[2] for spans in [*gold.values(), *given.roles] for s in spans}:
            counts.add(
                f"role {label}",
                [(p, s) for p, spans in zip(given.predicates, given.roles, strict=True)
                 for s in spans if s[2] == label],
                [(p, s) for p, spans in gold.items() for s in spans if s[2] == label],
            )  # fmt: skip
    return counts


def detokenise(words: Sequence[str]) -> tuple[str, list[int]]:
    """A text that reads like one, and where each word begins in it."""
    text = ""
    starts = []
    tight = True
    for n, word in enumerate(words):
        hyphen = word == "-" and 0 < n < len(words) - 1
        if text and not tight and word not in NO_SPACE_BEFORE and not hyphen:
            text += " "
        starts.append(len(text))
        text += word
        tight = word in NO_SPACE_AFTER or hyphen
    return text, starts


def raw(analyser: EmbeddedAnalyser, examples: Sequence[Example]) -> Counts:
    """Roles and predicates from raw text, compared by characters."""
    counts = Counts()
    texts = [detokenise(example.words) for example in examples]
    analysed = analyser.analyse([Sentence(text) for text, _ in texts])
    for example, (_, starts), sentence in zip(examples, texts, analysed, strict=True):
        ends = [s + len(w) for s, w in zip(starts, example.words, strict=True)]
        offsets = sentence.offsets or ()
        counts.add("tokens", offsets, zip(starts, ends, strict=True))
        said, gold = [], []
        for frame in sentence.frames or ():
            place = offsets[frame.predicate.start]
            for role in frame.roles:
                spans = tuple((offsets[s.start][0], offsets[s.end - 1][1]) for s in role.spans)
                said.append((place, role.label, spans))
        for place, spans in zip(example.predicates, example.roles, strict=True):
            for label, parts in joined(spans):
                characters = tuple((starts[s], ends[e - 1]) for s, e in parts)
                gold.append(((starts[place], ends[place]), label, characters))
        counts.add("predicates", [offsets[f.predicate.start] for f in sentence.frames or ()],
                   [(starts[p], ends[p]) for p in example.predicates])  # fmt: skip
        counts.add("roles, C- joined", said, gold)
    return counts


def bare(analyser: EmbeddedAnalyser, folder: Path) -> Callable[[list[int], list[int]], object]:
    """The encoder alone, cut from the same int8 file: up to its last layer's states."""
    try:
        import onnx
        from onnx.utils import Extractor
    except ImportError as error:
        raise SystemExit(
            "the bare encoder is cut out of the model with onnx: "
            "pip install 'meantime[benchmark]', or leave the speed out with --only accuracy"
        ) from error
    import onnxruntime

    model = onnx.load(str(folder / "first.onnx"))
    last = [n for n in model.graph.node if n.op_type == "LayerNormalization"]
    encoder = [n for n in last if "/encoder/" in n.name]
    output = encoder[-1].output[0]
    known = {v.name for v in model.graph.value_info} | {v.name for v in model.graph.output}
    if output not in known:
        model.graph.value_info.append(
            onnx.helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, None)
        )
    cut = Extractor(model).extract_model(["pieces", "shapes"], [output])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(cut.SerializeToString(), options)

    def run(pieces: list[int], shapes: list[int]) -> object:
        return session.run(
            None,
            {
                "pieces": numpy.array([pieces], numpy.int64),
                "shapes": numpy.array([shapes], numpy.int64),
            },
        )

    return run


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock, and of processors: the latter hardly know what else runs."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def speed(analyser: EmbeddedAnalyser, texts: Sequence[str], console: Console) -> dict[str, float]:
    """End to end beside the bare encoder, in alternation."""
    sentences = [Sentence(text) for text in texts]
    encoded = [
        analyser._subwords.encode([token.text for token in tokenise(text)]) for text in texts
    ]
    run = bare(analyser, analyser.model.folder)
    figures: dict[str, float] = {}
    for threads in (1, os.cpu_count() or 1):
        analyser.threads = threads
        analyser.analyse(sentences[:20])
        ours, theirs = [], []
        for _ in range(3):
            ours.append(timed(lambda: analyser.analyse(sentences)))
            with ThreadPoolExecutor(threads) as pool:
                theirs.append(
                    timed(lambda: list(pool.map(lambda one: run(one.pieces, one.shapes), encoded)))
                )
        (mine, worked), (its, less) = (
            [statistics.median(column) for column in zip(*found, strict=True)]
            for found in (ours, theirs)
        )
        figures[f"{threads} threads"] = len(sentences) / mine
        figures[f"{threads} threads, bare"] = len(sentences) / its
        figures[f"{threads} threads, ratio by processor"] = less / worked
        console.print(
            f"{threads} thread(s): {len(sentences) / mine:.0f} sentences/s end to end, "
            f"{len(sentences) / its:.0f} the bare int8 encoder, ratio {its / mine:.2f}; "
            f"by processor time {less / worked:.2f}"
        )
    analyser.threads = 1
    for count in (100, 200, 400):
        start = time.perf_counter()
        analyser.analyse(sentences[:count])
        per = 1000 * (time.perf_counter() - start) / count
        console.print(f"{count} sentences: {per:.2f} ms each")
    program = (
        "import time, sys; t = time.perf_counter()\n"
        "from meantime.analysis import open_analyser\n"
        "from meantime.types import Sentence\n"
        f"a = open_analyser({str(analyser.model.folder)!r}, threads=1)\n"
        "a.analyse([Sentence('The committee rejected the proposal on Monday.')])\n"
        "print(time.perf_counter() - t)\n"
    )
    first = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                             check=True).stdout)
        for _ in range(3)
    ]  # fmt: skip
    figures["first answer"] = statistics.median(first)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    program = (
        "import resource, sys\n"
        "from meantime.analysis import open_analyser\n"
        "from meantime.types import Sentence\n"
        f"a = open_analyser({str(analyser.model.folder)!r})\n"
        "a.analyse([Sentence(line) for line in sys.stdin])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input="\n".join(texts), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    figures["memory"] = float(done.stdout)
    console.print(
        f"first answer of a new process: {figures['first answer']:.2f} s; "
        f"peak memory over {len(texts)} sentences: {figures['memory']:.0f} MB "
        f"(this benchmark itself: {memory:.0f} MB)"
    )
    return figures


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Accuracy and speed of the analyser.")
    parser.add_argument("--model", help="folder of a model; the shipped one by default")
    parser.add_argument("--plain", help="the same model before quantisation")
    parser.add_argument("--only", choices=("accuracy", "speed"))
    parser.add_argument("--sets", nargs="*", default=["ewt.test", "wsj.test"])
    parser.add_argument("--sentences", type=int, default=400, help="for the speed")
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        raise SystemExit("../shared/data is not beside the repository; nothing to measure with")
    console = Console(width=None if sys.stdout.isatty() else 110, highlight=False)
    analyser = open_analyser(arguments.model)
    plain = open_analyser(arguments.plain) if arguments.plain else None
    figures: dict[str, object] = {"model": analyser.identity}
    console.print(f"model {analyser.name}, {analyser.identity[:12]}")
    if arguments.only != "speed":
        for name in arguments.sets:
            examples = list(read([SHARED / "propbank" / f"{name}.gold_conll.gz"]))
            counts = accuracy(analyser, examples)
            other = accuracy(plain, examples) if plain else None
            table = Table(
                title=f"\n{name}, {len(examples)} sentences", title_justify="left", box=None
            )
            for head in ("", "P", "R", "F", *(["fp32 F", "int8 - fp32"] if other else [])):
                table.add_column(head, justify="right" if head else "left")
            main_rows = [n for n in counts.gold if not n.startswith("role ")]
            for row in main_rows:
                extra = []
                if other:
                    extra = [f"{other.f(row):.1f}", f"{counts.f(row) - other.f(row):+.2f}"]
                table.add_row(row, *counts.row(row), *extra)
            console.print(table)
            console.print(
                f"constituents: {counts.f(STRICTLY):.1f} F strictly (no brackets for parts of "
                f"speech), {counts.f(WITH_TAGS):.1f} F where those count as well"
            )
            figures[name] = {row: round(counts.f(row), 2) for row in main_rows}
            if name.startswith("ewt"):
                counts_raw = raw(analyser, examples)
                table = Table(title="\nfrom raw text", title_justify="left", box=None)
                for head in ("", "P", "R", "F"):
                    table.add_column(head, justify="right" if head else "left")
                for row in counts_raw.gold:
                    table.add_row(row, *counts_raw.row(row))
                console.print(table)
                figures[f"{name}, raw"] = {n: round(counts_raw.f(n), 2) for n in counts_raw.gold}
                labels = sorted(
                    (n for n in counts.gold if n.startswith("role ")), key=lambda n: -counts.gold[n]
                )
                table = Table(
                    title="\nby role label, gold predicates", title_justify="left", box=None
                )
                for head in ("", "gold", "P", "R", "F"):
                    table.add_column(head, justify="right" if head else "left")
                for row in labels[:24]:
                    table.add_row(row[5:], str(counts.gold[row]), *counts.row(row))
                console.print(table)
    if arguments.only != "accuracy":
        import csv
        import gzip

        path = SHARED / "wmt" / "wmt21-news-zhen-mqm.tsv.gz"
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            texts = [row["hyp"] for row in rows if row["hyp"]]
        step = max(1, len(texts) // arguments.sentences)
        console.print("")
        figures["speed"] = speed(analyser, texts[::step][: arguments.sentences], console)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

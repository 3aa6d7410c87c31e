"""From trained weights to the files that are shipped: ONNX, int8, labels, sizes, hash.

Two graphs, each for one sentence at a time. The first runs the encoder once and everything
that does not depend on which words are predicates; the second runs the role head for the
predicates found. Weights of products are int8 with a scale for each column, the embedding
too; the inputs of products are quantised as they come.
"""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from meantime.analysis.model import FORMAT, Model
from training.analyser.model import Analyser
from training.analyser.train import load

FIRST_INPUTS = ("pieces", "shapes", "firsts", "starts", "ends")
FIRST_OUTPUTS = (
    "tags", "predicates", "span_labels", "span_gains", "token",
    "predicate", "vectors",
)  # fmt: skip


class FirstGraph(nn.Module):
    """Tags, predicates, spans, what roles are made of, and vectors."""

    def __init__(self, model: Analyser) -> None:
        super().__init__()
        self.model = model

    def forward(
        self, pieces: Tensor, shapes: Tensor, firsts: Tensor, starts: Tensor, ends: Tensor
    ) -> tuple[Tensor, ...]:
        model = self.model
        syntax, semantic, vector, before, after = model.words(pieces, shapes, None, firsts)
        fences = model.spans.fences(syntax, before, after)
        token, predicate = model.roles.project(semantic)
        # Of each span only what decoding needs: its best label, and how much likelier that
        # is than none.
        spans = model.spans(fences[:, starts], fences[:, ends])[0]
        labels = spans[:, 1:]
        best, label = labels.max(-1)
        return (
            model.tag(syntax),
            model.is_predicate(syntax)[..., 0],
            label + 1,
            best - spans[:, 0],
            token,
            predicate,
            model.vector(vector),
        )


class SecondGraph(nn.Module):
    """Roles of given predicates of one sentence."""

    def __init__(self, model: Analyser) -> None:
        super().__init__()
        self.model = model

    def forward(self, token: Tensor, predicate: Tensor, place: Tensor) -> Tensor:
        row = torch.zeros_like(place)
        scores: Tensor = self.model.roles(token, predicate, row, place, None)
        return scores.log_softmax(-1)


def _example(length: int, words: int) -> dict[str, Tensor]:
    starts, ends = torch.triu_indices(words + 1, words + 1, 1)
    generator = torch.Generator().manual_seed(length)
    return {
        "pieces": torch.randint(1000, 20000, (1, length), generator=generator),
        "shapes": torch.randint(1, 8, (1, length), generator=generator),
        "firsts": torch.arange(1, words + 1)[None],
        "starts": starts,
        "ends": ends,
    }


def export(out: Path, weights: Path, tokenizer: Path, name: str = "english") -> Path:
    """Write `out/model`, checked against the weights it was made of."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = load(weights).eval()
    folder, plain = out / "model", out / "model-fp32"
    for each in (folder, plain):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir(parents=True)
    first, second = FirstGraph(model).eval(), SecondGraph(model).eval()
    example = _example(20, 15)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers = first(*example.values())
        torch.onnx.export(
            first,
            tuple(example.values()),
            str(plain / "first.onnx"),
            input_names=list(FIRST_INPUTS),
            output_names=list(FIRST_OUTPUTS),
            dynamic_axes={
                "pieces": {1: "length"},
                "shapes": {1: "length"},
                "firsts": {1: "words"},
                "starts": {0: "spans"},
                "ends": {0: "spans"},
            },
            opset_version=17,
            dynamo=False,
        )
        torch.onnx.export(
            second,
            (*answers[4:6], torch.tensor([1, 4])),
            str(plain / "second.onnx"),
            input_names=["token", "predicate", "place"],
            output_names=["roles"],
            dynamic_axes={
                "token": {1: "words"},
                "predicate": {1: "words"},
                "place": {0: "predicates"},
            },
            opset_version=17,
            dynamo=False,
        )
    for graph in ("first.onnx", "second.onnx"):
        quantize_dynamic(
            plain / graph, folder / graph, weight_type=QuantType.QInt8, per_channel=True
        )
    labels = json.loads((out / "labels.json").read_text())
    for each, kind in ((folder, "int8"), (plain, "fp32")):
        shutil.copy(tokenizer, each / "tokenizer.json")
        settings: dict[str, Any] = {
            "format": FORMAT,
            "name": name if kind == "int8" else f"{name}-{kind}",
            "precision": kind,
            "width": model.c.width,
            "sizes": model.c.as_dict(),
            "labels": labels,
        }
        path = each / "configuration.json"
        path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        settings["hash"] = Model(each).compute_hash()
        path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
        print(each, check(model, each), f"{Model(each).size / 1e6:.1f} MB", flush=True)
    return folder


def check(model: Analyser, folder: Path) -> dict[str, float]:
    """How close the exported networks' answers are: cosine, by output, worst of a few lengths."""
    import onnxruntime

    first = onnxruntime.InferenceSession(str(folder / "first.onnx"))
    second = onnxruntime.InferenceSession(str(folder / "second.onnx"))
    worst: dict[str, float] = {}
    for length, words in ((3, 1), (12, 8), (45, 36), (120, 90)):
        example = _example(length, words)
        place = torch.arange(0, words, 3)
        with torch.no_grad():
            answers = FirstGraph(model).eval()(*example.values())
            roles = SecondGraph(model).eval()(*answers[4:6], place)
        given = first.run(None, {key: value.numpy() for key, value in example.items()})
        given_roles = second.run(
            None, {"token": given[4], "predicate": given[5], "place": place.numpy()}
        )
        names = (*FIRST_OUTPUTS, "roles")
        pairs = zip(names, (*answers, roles), (*given, *given_roles), strict=True)
        for name, ours, theirs in pairs:
            if name == "span_labels":
                continue
            one, other = ours.numpy().ravel(), theirs.ravel()
            norm = numpy.linalg.norm(one) * numpy.linalg.norm(other)
            worst[name] = min(worst.get(name, 1.0), float(one @ other / norm))
    if min(worst.values()) < 0.9:
        raise SystemExit(
            f"{folder}: the exported model does not answer as the trained one: {worst}"
        )
    return {name: round(value, 4) for name, value in worst.items()}

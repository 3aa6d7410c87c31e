"""From trained weights to the files that are shipped: two graphs, int8, knots, hash."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor, nn

from meantime.learned.network import FORMAT, Network, TrainedModel
from meantime.learned.trained import raw_score
from training.metric.data import JUDGED, UNJUDGED, held_out, read_training
from training.metric.model import SURFACE, Judge


class LowerGraph(nn.Module):
    """One text by itself."""

    def __init__(self, model: Judge) -> None:
        super().__init__()
        self.model = model

    def forward(self, pieces: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        middle, states = self.model.read(pieces, None)
        return middle, states, self.model.rarity[pieces]


class UpperGraph(nn.Module):
    """Two texts together."""

    def __init__(self, model: Judge) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        hypothesis_middle: Tensor,
        reference_middle: Tensor,
        hypothesis: Tensor,
        reference: Tensor,
        hypothesis_rarity: Tensor,
        reference_rarity: Tensor,
        surface: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        raw, _, best, weight = self.model.compare(
            (hypothesis_middle, reference_middle),
            (hypothesis, reference),
            (hypothesis_rarity, reference_rarity),
            surface,
        )
        return raw, *best, *weight


UPPER_INPUTS = (
    "hypothesis_middle", "reference_middle", "hypothesis", "reference",
    "hypothesis_rarity", "reference_rarity", "surface",
)  # fmt: skip
UPPER_OUTPUTS = (
    "raw", "hypothesis_found", "reference_found", "hypothesis_weight", "reference_weight"
)  # fmt: skip


KNOTS = 400
SAMPLE = 2000


def measure_knots(made: TrainedModel, seed: int = 17) -> list[float]:
    """Quantiles of the exported model's raw value over machine translations of the training files.

    As many of each file, so that the middle is not that of the largest.
    """
    rng = numpy.random.default_rng(seed)
    network = Network(made)
    unseen = held_out()
    values = []
    for name in (*JUDGED, *UNJUDGED):
        rows = read_training(name, unseen)
        some = [rows[n] for n in rng.permutation(len(rows))[:SAMPLE].tolist()]
        found = [raw_score(network.judge([(row.hypothesis, row.reference)])[0]) for row in some]
        print(f"{name}: {len(found)} translations scored for the scale", flush=True)
        # Where a file has fewer rows each counts for more.
        values.append(numpy.quantile(found, numpy.linspace(0, 1, SAMPLE)))
    return numpy.quantile(numpy.concatenate(values), numpy.linspace(0, 1, KNOTS + 1)).tolist()


def put_knots(made: TrainedModel, knots: Sequence[float]) -> TrainedModel:
    """The model with its scale, and a hash of what it is now."""
    settings = dict(made.configuration)
    settings["knots"] = [round(float(one), 5) for one in knots]
    _write(made.folder, settings)
    return TrainedModel(made.folder)


def _write(folder: Path, settings: dict[str, Any]) -> None:
    path = folder / "configuration.json"
    settings.pop("hash", None)
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")
    settings["hash"] = TrainedModel(folder).compute_hash()
    path.write_text(json.dumps(settings, indent=1) + "\n", encoding="utf-8")


def _example(length: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    inner = torch.randint(1000, 20000, (1, length), generator=generator)
    return torch.cat([torch.tensor([[101]]), inner, torch.tensor([[102]])], 1)


def export(
    model: Judge,
    out: Path,
    tokenizer: Path,
    name: str,
    notes: dict[str, Any],
) -> TrainedModel:
    """Write the folder to ship, still without its scale, and beside it one in fp32 to compare."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    model = model.eval().float()
    plain = out.with_name(out.name + "-fp32")
    for folder in (out, plain):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    lower, upper = LowerGraph(model).eval(), UpperGraph(model).eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pieces = _example(9, 1)
        middle, states, rarity = lower(pieces)
        other_middle, other, other_rarity = lower(_example(12, 2))
        torch.onnx.export(
            lower,
            (pieces,),
            str(plain / "lower.onnx"),
            input_names=["pieces"],
            output_names=["middle", "states", "rarity"],
            dynamic_axes={"pieces": {1: "length"}},
            opset_version=17,
            dynamo=False,
        )
        sides = {"hypothesis": "own", "reference": "other"}
        torch.onnx.export(
            upper,
            (middle, other_middle, states, other, rarity, other_rarity, torch.zeros(1, SURFACE)),
            str(plain / "upper.onnx"),
            input_names=list(UPPER_INPUTS),
            output_names=list(UPPER_OUTPUTS),
            dynamic_axes={
                f"{side}{part}": {1: length}
                for side, length in sides.items()
                for part in ("", "_middle", "_rarity", "_found", "_weight")
            },
            opset_version=17,
            dynamo=False,
        )
    for graph in ("lower.onnx", "upper.onnx"):
        quantize_dynamic(plain / graph, out / graph, weight_type=QuantType.QInt8, per_channel=True)
    for folder, kind in ((out, "int8"), (plain, "fp32")):
        shutil.copy(tokenizer, folder / "tokenizer.json")
        settings: dict[str, Any] = {
            "format": FORMAT,
            "name": name if kind == "int8" else f"{name}-{kind}",
            "precision": kind,
            "sizes": model.c.as_dict(),
            "knots": [0.0, 1.0],
            **notes,
        }
        _write(folder, settings)
    return TrainedModel(out)

"""Learned metrics small enough to see through, made without training."""

from __future__ import annotations

from pathlib import Path

import numpy

from meantime.learned.groups import Settings, make_features
from meantime.learned.machines import Linear, Scaler, SupportVectors
from meantime.learned.models import Model, make_model, save_model

GROUPS = ("basic",)
TRAINING = {"signature": "0" * 64, "seed": 1}


def linear_model() -> Model:
    """Unigram precision, less a tenth of the WER."""
    names = make_features(GROUPS).names
    kept = numpy.array([names.index("basic:precision1"), names.index("basic:wer")])
    scaler = Scaler(kept, numpy.zeros(2), numpy.ones(2))
    machine = Linear(numpy.array([1.0, -0.1]), 0.25)
    return make_model(
        "metric", GROUPS, Settings(), scaler, machine, references=1, training=TRAINING, results={}
    )


def bell_model() -> Model:
    """A bell around a unigram precision of 1."""
    names = make_features(GROUPS).names
    scaler = Scaler(numpy.array([names.index("basic:precision1")]), numpy.zeros(1), numpy.ones(1))
    machine = SupportVectors(numpy.array([[1.0], [0.0]]), numpy.array([1.0, -1.0]), 0.5, 2.0)
    return make_model(
        "human-or-machine", GROUPS, Settings(), scaler, machine,
        references=1, training=TRAINING, results={},
    )  # fmt: skip


def saved(folder: Path, model: Model | None = None) -> Path:
    """A model on disk."""
    save_model(folder / "model", model or linear_model())
    return folder / "model"

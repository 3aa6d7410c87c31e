"""Every registered metric, in its usual configurations, keeps every conformance check."""

from __future__ import annotations

import importlib
import math
import pkgutil
import random

import pytest

import meantime.metrics
from meantime import conformance, registry
from meantime.conformance import CHECKS
from meantime.metrics.base import BaseMetric
from meantime.metrics.wer import Wer
from meantime.types import Score, Signature

VARIANTS = [
    "bleu:max_order=2,smooth=add-k,effective_order=always",
    "bleu:max_order=1,brevity_penalty=no,lowercase=yes",
    "bleu:effective_order=always",
    "bleu:effective_order=never,smooth=floor",
    "bleu:tokeniser=char,smooth=none",
    "chrf:word_order=2",
    "chrf:whitespace=yes,smooth=epsilon",
    "chrf:beta=1",
    "chrf:beta=1,word_order=2,smooth=epsilon",
    "nist:average=yes,max_order=4",
    "wer:unit=count",
    "per:unit=count",
    "per:pool=no,tokeniser=intl",
    "cder:unit=count,tokeniser=none",
    "gtm:exponent=2",
    "ter:normalise=yes,lowercase=no",
    "stm:depth=2",
    "meteor:modules=exact",
    "meteor:modules=exact+stem,tokeniser=none",
]


def _cases() -> list[object]:
    cases = []
    for specification in [*registry.names(), *VARIANTS]:
        marks = [pytest.mark.needs("wordnet")] if specification == "meteor" else []
        cases.append(pytest.param(specification, marks=marks, id=specification))
    return cases


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("specification", _cases())
def test_conformance(specification: str, check) -> None:
    check(registry.create(specification))


def test_every_metric_is_registered() -> None:
    """A metric module that nobody listed would escape the checks above."""
    registered = set(registry.BUILT_IN.values())
    for module in pkgutil.iter_modules(meantime.metrics.__path__, "meantime.metrics."):
        loaded = importlib.import_module(module.name)
        for value in vars(loaded).values():
            is_metric = isinstance(value, type) and issubclass(value, BaseMetric)
            if is_metric and "name" in vars(value):
                assert f"{value.__module__}:{value.__qualname__}" in registered


def test_names_agree() -> None:
    for name in registry.BUILT_IN:
        assert registry.find(name).name == name


class _DependsOnBatch(Wer):
    def measure(self, pairs):
        return super().measure(pairs) * len(pairs)


class _DropsRows(Wer):
    def measure(self, pairs):
        return super().measure(pairs)[:1]


class _ForgetsACopy(Wer):
    def score(self, total, level):
        return Score(1.0)


class _SignsForAnother(Wer):
    def signature(self):
        return Signature("other", "1")


class _LeavesItsScale(Wer):
    scale = (0.0, 0.5)


class _IsNeverTheSame(Wer):
    def measure(self, pairs):
        return super().measure(pairs) + random.random()


class _Changes(Wer):
    def prepare(self, segments):
        object.__setattr__(self, "_references", "changed")
        return self


class _FailsOnEmpty(Wer):
    def score(self, total, level):
        return Score(float(total[0] / total[1]) if total[1] else math.nan)


class _ScoresManyOtherwise(Wer):
    def score(self, total, level):
        return Score(min(1.0, super().score(total, level).value))


class _SaysItIsSymmetric(Wer):
    symmetric = True


@pytest.mark.parametrize(
    ("metric", "caught_by"),
    [
        (_DependsOnBatch, conformance.ignores_batches),
        (_DropsRows, conformance.measures_rows),
        (_ForgetsACopy, conformance.knows_a_copy),
        (_SignsForAnother, conformance.signs_before_scoring),
        (_LeavesItsScale, conformance.stays_in_scale),
        (_IsNeverTheSame, conformance.repeats_itself),
        (_Changes, conformance.stays_still),
        (_FailsOnEmpty, conformance.defines_empty_input),
        (_ScoresManyOtherwise, conformance.scores_many_alike),
        (_SaysItIsSymmetric, conformance.keeps_symmetry),
    ],
)
def test_checks_can_fail(metric: type[Wer], caught_by: conformance.Check) -> None:
    with pytest.raises(AssertionError):
        caught_by(metric())

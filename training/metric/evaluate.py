"""How good a model is on what models may be chosen by: never on a test set."""

from __future__ import annotations

import collections
from collections.abc import Collection

import numpy

from training.metric.layout import DAMAGED, DAMAGED_REFERENCE, MACHINE, SPOILT
from training.metric.material import Material

HELD = ("wmt22/uk-en", "wmt21/is-en")
"""Sources whose noisy judgements are never trained on, to choose by."""
FOLD = ("wmt15-da-toen/fi-en", "wmt16-da-toen/de-en", "wmt16-da-toen/ru-en")
"""Language pairs of 2015 and 2016 that runs which choose keep out of the second training."""


def tau_b(ours: numpy.ndarray, theirs: numpy.ndarray) -> float:
    """Kendall's tau-b; NaN where one side has one value only."""
    one, other = (numpy.sign(x[:, None] - x[None]) for x in (ours, theirs))
    below = numpy.sqrt((one**2).sum() * (other**2).sum())
    return float((one * other).sum() / below) if below else float("nan")


def within(scores: numpy.ndarray, human: numpy.ndarray, groups: numpy.ndarray) -> float:
    """The mean of tau-b within each group, where it is defined."""
    found = []
    for group in numpy.unique(groups):
        rows = groups == group
        if rows.sum() > 1:
            found.append(tau_b(scores[rows], human[rows]))
    return float(numpy.nanmean(found))


def figures(
    scores: numpy.ndarray, material: Material, held: Collection[str] = ()
) -> dict[str, float]:
    """Figures to choose by, of the scores of all rows.

    Args:
        held: Sources of judged translations that were kept out of training; all without.
    """
    a = material.arrays
    group = material.row_group
    of_set = a["group_set"][group]
    source = numpy.array(material.sources)[a["group_source"][group]]
    human, kind = a["row_score"], a["row_kind"]
    machine = (kind == MACHINE) & ~numpy.isnan(scores)
    found = {}
    by_source = {}
    for name in numpy.unique(source[of_set == 1]):
        rows = (source == name) & machine & (of_set == 1)
        if not held or name in held:
            by_source[name] = numpy.corrcoef(scores[rows], human[rows])[0, 1]
    found["r"] = float(numpy.mean(list(by_source.values())))
    rows = (of_set == 2) & machine
    found["mqm20"] = within(scores[rows], human[rows], group[rows])
    for name in HELD:
        rows = (source == name) & machine & (of_set == 0) & ~numpy.isnan(human)
        found[name] = within(scores[rows], human[rows], group[rows])
    # The better rendering stands first.
    rows = numpy.flatnonzero((of_set == 3) & machine)
    pairs = scores[rows].reshape(-1, 2)
    signs = numpy.sign(pairs[:, 0] - pairs[:, 1])
    lps = source[rows[::2]]
    found["wmt19"] = float(numpy.mean([signs[lps == lp].mean() for lp in numpy.unique(lps)]))
    better, worse = a["order_better"], a["order_worse"]
    known = ~numpy.isnan(scores[better]) & ~numpy.isnan(scores[worse])
    wins = scores[better] > scores[worse]
    first = collections.OrderedDict(damaged=DAMAGED, reference=DAMAGED_REFERENCE, spoilt=SPOILT)
    for name, one in first.items():
        some = known & (kind[worse] == one) & (kind[better] == MACHINE)
        if some.any():
            found[name] = float(wins[some].mean())
    return found


def tell(name: str, found: dict[str, float]) -> None:
    print(f"{name}: " + "  ".join(f"{key} {value:.4f}" for key, value in found.items()), flush=True)

"""How good a model is on what models may be chosen by: never on a test set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy
from scipy.stats import kendalltau, pearsonr

from meantime.learned.encoding import Pieces
from training.metric.data import JUDGED, held_out, read_rows, read_training
from training.metric.material import UNKNOWN, Group, encode
from training.metric.model import Judge
from training.metric.train import answer


def judged(pieces: Pieces) -> dict[str, list[Group]]:
    """The judgements of 2015 and 2016, one rendering a group, by file and language pair."""
    unseen = held_out()
    found: dict[str, list[Group]] = {}
    for name in JUDGED:
        rows = read_training(name, unseen)
        for source in dict.fromkeys(row.source for row in rows):
            mine = [row for row in rows if row.source == source]
            scores = numpy.array([row.score for row in mine], float)
            scores = (scores - scores.mean()) / scores.std()
            found[source] = encode(
                [
                    Group(row.reference, [row.hypothesis], [float(score)], [UNKNOWN], [])
                    for row, score in zip(mine, scores, strict=True)
                ],
                pieces,
            )
    return found


def correlate(model: Judge, groups: dict[str, list[Group]]) -> dict[str, float]:
    """Pearson's correlation with people, by file and language pair."""
    return {
        name: float(
            pearsonr(
                numpy.concatenate(answer(model, some)), [group.score[0] for group in some]
            ).statistic
        )
        for name, some in groups.items()
    }


def mqm_sample(pieces: Pieces) -> tuple[list[Group], list[list[float]]]:
    """The sample of 2020: renderings by segment, with their scores."""
    by_segment: dict[str, list[dict[str, str]]] = {}
    for row in read_rows("wmt20-news-zhen-mqm-sample"):
        if row["is_human"] != "1":
            by_segment.setdefault(row["seg"], []).append(row)
    groups, scores = [], []
    for rows in by_segment.values():
        texts = [row["hyp"] for row in rows]
        groups.append(Group(rows[0]["ref"], texts, [0.0] * len(texts), [UNKNOWN] * len(texts), []))
        scores.append([float(row["score"]) for row in rows])
    kept = encode(groups, pieces)
    where = {id(group): n for n, group in enumerate(groups)}
    return kept, [scores[where[id(group)]] for group in kept]


def darr(pieces: Pieces, every: int) -> list[Group]:
    """Preferences of 2019, the better rendering first."""
    rows = list(read_rows("wmt19-darr-toen"))[::every]
    return encode(
        [
            Group(row["ref"], [row["better"], row["worse"]], [0.0, 0.0], [UNKNOWN] * 2, [])
            for row in rows
        ],
        pieces,
    )


def within(scores: Sequence[numpy.ndarray], human: Sequence[Sequence[float]]) -> float:
    """Kendall's tau-b within segments, the mean where it is defined."""
    found = [kendalltau(one, other).statistic for one, other in zip(scores, human, strict=True)]
    return float(numpy.nanmean(found))


def summarise(model: Judge, pieces: Pieces, every: int = 12) -> str:
    """All figures in one line."""
    correlation = correlate(model, judged(pieces))
    groups, human = mqm_sample(pieces)
    preferred = numpy.array([one[0] - one[1] for one in answer(model, darr(pieces, every))])
    tau = (preferred > 0).mean() - (preferred <= 0).mean()
    mean = numpy.mean(list(correlation.values()))
    return (
        f"wmt15+16 r {mean:.4f}  wmt20 in segments {within(answer(model, groups), human):.4f}  "
        f"wmt19 {tau:.4f}"
    )


def find_tokenizer(folder: Path) -> Pieces:
    return Pieces(folder / "tokenizer.json")

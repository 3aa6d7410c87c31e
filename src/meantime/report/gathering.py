"""Everything that belongs in a report, gathered from what was measured and compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from meantime.errors import MeantimeError
from meantime.report.buckets import NEEDS, Buckets, Feature, score_buckets
from meantime.report.comparison import Comparison
from meantime.report.disagreements import metrics_disagree, systems_disagree
from meantime.report.explained import MOST, Explained, explain_all
from meantime.report.findings import Findings
from meantime.report.roles import find_role_losses
from meantime.scoring import Measured
from meantime.types import Corpus

Progress = Callable[[int, int], None]

DISAGREEMENTS = 8
"""Segments listed for each metric and each pair of metrics."""
MOST_DOCUMENTS = 60
"""Of more documents a table is no help; each can still be looked at by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A comparison, what was found beside it, and explanations: all that a page shows."""

    comparison: Comparison
    findings: Findings
    explained: Explained
    notes: tuple[str, ...] = ()
    """What is not there, and what would bring it."""


def gather(
    measured: Measured,
    comparison: Comparison,
    findings: Findings,
    *,
    seen: Collection[str] | None = None,
    domains: Sequence[str] | None = None,
    explanations: int = MOST,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Report:
    """Add to findings all a report has room for: every kind of bucket that can be made, roles where
    there are frames, disagreements; and explain the outputs.

    Args:
        measured: What was measured.
        comparison: The comparison of it.
        findings: What was found already; buckets that are there are kept.
        seen: Words, lower-cased, that count as seen.
        domains: One a segment.
        explanations: Explanations to make at most.
        jobs: Number of processes that explain.
        progress: Told how far explaining has come.
    """
    corpus = measured.corpus
    notes: list[str] = []
    framed = has_frames(corpus)
    if findings.roles is None and framed:
        findings = replace(findings, roles=find_role_losses(corpus))
    if findings.roles is None:
        notes.append(
            "Which roles are lost is not known here: no metric looked for events. Add --roles, or "
            "a metric that does, such as meant."
        )
    findings = replace(
        findings,
        buckets=(*findings.buckets, *_buckets(measured, findings, framed, seen, domains)),
        systems_disagree=systems_disagree(comparison, DISAGREEMENTS),
        metrics_disagree=metrics_disagree(comparison, DISAGREEMENTS),
    )
    explained = explain_all(measured, comparison, most=explanations, jobs=jobs, progress=progress)
    if not explained.metrics:
        notes.append("None of these metrics explains its scores; meant, ter, wer and meteor do.")
    elif not explained.segments:
        notes.append("Explanations were left out.")
    elif len(explained.segments) < explained.asked:
        notes.append(
            f"Explanations are here for {len(explained.segments):,} of {explained.asked:,} "
            "segments: those on which systems differ most."
        )
    return Report(comparison, findings, explained, tuple(notes))


def has_frames(corpus: Corpus) -> bool:
    """Whether every sentence was looked through for frames."""
    sentences = [one for segment in corpus.segments for one in segment.references]
    sentences += [one for output in corpus.outputs.values() for one in output]
    return all(one.frames is not None or one.tokens == () for one in sentences)


def _buckets(
    measured: Measured,
    findings: Findings,
    framed: bool,
    seen: Collection[str] | None,
    domains: Sequence[str] | None,
) -> list[Buckets]:
    """Every kind there is something to tell of that is not there yet."""
    known = {one.feature for one in findings.buckets}
    found: list[Buckets] = []
    for feature in Feature:
        if feature in known or (feature in NEEDS and not framed):
            continue
        try:
            tables = score_buckets(measured, feature, seen=seen, domains=domains)
        except MeantimeError:
            # The corpus lacks what this kind needs: documents, domains, words seen, English.
            continue
        if 1 < len(tables[0].buckets) <= MOST_DOCUMENTS or len(measured.corpus.segments) == 1:
            found += tables
    return found

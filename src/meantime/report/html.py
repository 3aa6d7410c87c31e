"""A report as one page that opens anywhere, offline: nothing is loaded, everything is escaped.

What is short stands in the page as it is and is there without a script: ranking, pairs, spread,
roles, kinds of segments. Segments are many: they and their explanations are packed (`explained`),
and a script of our own shows a few at a time. The page allows that script alone, by its hash, so
that no text from the data can become one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

import numpy

from meantime import __version__
from meantime.protocols import Array
from meantime.report import svg
from meantime.report.buckets import Buckets, Feature
from meantime.report.cautions import Caution, Kind
from meantime.report.comparison import Comparison, MetricComparison, Standing
from meantime.report.explained import pack
from meantime.report.figures import clean
from meantime.report.findings import findings_legend
from meantime.report.gathering import Report
from meantime.report.roles import RoleCounts, RoleLosses
from meantime.report.tables import Cell, Table, floor_percent, lay_out, spread
from meantime.scoring import Interval
from meantime.types import primary

BINS = 24
"""Bars of a distribution."""
WORDS = 20
"""Fewer words of a role say nothing of a system."""

NAMES = {
    Feature.LENGTH: "Length of the reference",
    Feature.NUMBERS: "Numbers",
    Feature.NEGATION: "Negation",
    Feature.FRAMES: "Events in the reference",
    Feature.ROLE: "Roles the reference has",
    Feature.UNSEEN: "Unseen words",
    Feature.DOMAIN: "Domain",
    Feature.DOCUMENT: "Document",
}


FEW_CAUTIONS = 2
"""Systems of which the same warning is told one by one."""
KINDS = {
    Kind.EMPTY: "Empty where the reference has text",
    Kind.SOURCE: "The source repeated",
    Kind.LANGUAGE: "Seems to be in another language",
    Kind.REPEATED: "The same output for segments with different references",
    Kind.LOOP: "The same words over and over",
    Kind.REFERENCE: "Equal to the reference",
}


def render_html(report: Report, *, title: str | None = None) -> str:
    """The page of a report."""
    comparison = report.comparison
    name = text(title or f"Comparison of {len(comparison.systems)} systems")
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f'<meta name="generator" content="meantime {__version__}">\n'
            f"<title>{name}</title>\n<style>\n{_style()}</style>\n</head>\n<body>\n",
            '<a class="skip" href="#main">To the content</a>\n',
            _top(report, name),
            '<main id="main">\n',
            *_sections(report),
            "</main>\n",
            _foot(),
            f'<script type="text/plain" id="data">{pack(_data(report))}</script>\n',
            *(
                f'<script type="text/plain" id="packed{number}">{packed}</script>\n'
                for number, packed in enumerate(report.explained.packed)
            ),
            f"<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def text(value: str) -> str:
    """Text from the data: escaped, and without characters that act."""
    return escape(clean(value), quote=True)


def asset(name: str) -> str:
    """A file of ours that becomes part of a page."""
    return files("meantime.report").joinpath(f"static/{name}").read_text(encoding="utf-8")


@cache
def look() -> str:
    """Colours, light and dark, and the looks that all pages share."""
    return (
        f":root{{color-scheme:light dark;{svg.variables(0)}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{svg.variables(1)}}}}}\n"
        f"@media print{{:root{{color-scheme:light;{svg.variables(0)}}}}}\n"
        f"{asset('look.css')}{svg.css()}"
    )


@cache
def _style() -> str:
    return look() + asset("report.css")


@cache
def script_of_drawing() -> str:
    """The drawing with its widths and symbols: an expression of JavaScript."""
    style = json.dumps(svg.style(), separators=(",", ":"))
    return f"({asset('drawing.js')})({style})"


@cache
def _script() -> str:
    made = f"{asset('report.js')}\nopenReport({script_of_drawing()});\n"
    assert not re.search("</script|<!--", made, re.IGNORECASE), "a script must not end itself"
    return made


# Top and bottom


def _top(report: Report, name: str) -> str:
    comparison = report.comparison
    corpus = comparison.corpus
    documents = {one.document for one in corpus.segments if one.document}
    lang = next(iter(corpus.outputs.values()))[0].lang if corpus.segments else ""
    source = next((one.source.lang for one in corpus.segments if one.source is not None), None)
    if source is not None and primary(source) == "und":
        # Nobody said which language it is.
        source = None
    facts = [
        f"{len(comparison.systems)} systems",
        _count(len(corpus.segments), "segment"),
        *([_count(len(documents), "document")] if documents else []),
        f"{text(source)} to {text(lang)}" if source else f"into {text(lang)}",
    ]
    options = "".join(
        f'<option value="{number}">{text(one.specification)}</option>'
        for number, one in enumerate(comparison.metrics)
    )
    links = "".join(f'<li><a href="#{key}">{label}</a></li>' for key, label in _contents(report))
    return (
        f'<header class="top"><p class="brand">meantime</p><h1>{name}</h1>'
        f'<p class="facts">{" · ".join(facts)}</p></header>\n'
        f'<nav class="contents" aria-label="Contents"><ul>{links}</ul>'
        f'<p class="choice" id="choice" hidden><label for="metric">Metric</label> '
        f'<select id="metric">{options}</select></p></nav>\n'
    )


def _contents(report: Report) -> list[tuple[str, str]]:
    found = [
        ("short", "In short"),
        ("ranking", "Ranking"),
        ("pairs", "Pairs"),
        ("spread", "Spread"),
    ]
    if report.findings.roles is not None:
        found.append(("roles", "Roles lost"))
    if report.findings.buckets:
        found.append(("kinds", "Kinds of segments"))
    return [*found, ("segments", "Segments"), ("method", "How it was made")]


def _foot() -> str:
    return (
        f"<footer><p>Made with meantime {__version__}. This page loads nothing from anywhere.</p>"
        "</footer>\n"
    )


def _sections(report: Report) -> Iterator[str]:
    yield _short(report)
    yield _ranking(report.comparison)
    yield _pairs(report.comparison)
    yield _spread(report.comparison)
    if report.findings.roles is not None:
        yield _roles(report.findings.roles)
    if report.findings.buckets:
        yield _kinds(report)
    yield _segments(report)
    yield _method(report)


def _section(key: str, title: str, *parts: str) -> str:
    return (
        f'<section id="{key}" aria-labelledby="{key}-title"><h2 id="{key}-title">{title}</h2>\n'
        f"{''.join(parts)}</section>\n"
    )


def _of(number: int, content: str) -> str:
    """What belongs to one metric, and is hidden while another is looked at."""
    return f'<div class="of" data-metric="{number}">{content}</div>\n'


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _listed(names: Sequence[str]) -> str:
    shown = [f"<b>{text(name)}</b>" for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


# In short


def _short(report: Report) -> str:
    comparison = report.comparison
    lines = _leaders(comparison)
    if len({one.standings[0].system for one in comparison.metrics}) > 1:
        lines.append("The metrics do not agree on the best system: read on before choosing.")
    if report.findings.roles is not None:
        lines += _role_line(report.findings.roles)
    cautions = "".join(f"<li>{line}</li>" for line in _cautions(report))
    said = [
        *comparison.statements,
        *(line for one in comparison.metrics for line in one.statements),
    ]
    statements = "".join(f"<li>{text(line)}</li>" for line in said)
    warned = (
        f'<div class="warning" role="note"><h3><span aria-hidden="true">⚠ </span>Before you trust '
        f"this</h3><ul>{statements}{cautions}</ul></div>\n"
        if cautions or statements
        else '<p class="quiet">No output looks copied, empty, repeated or of the wrong language, '
        "and no ranking is explained by length.</p>\n"
    )
    notes = "".join(f'<p class="quiet">{text(line)}</p>\n' for line in report.notes)
    points = "".join(f"<li>{line}</li>" for line in lines)
    return _section("short", "In short", f'<ul class="points">{points}</ul>\n', warned, notes)


def _cautions(report: Report) -> Iterator[str]:
    """A line a warning; what is said of many systems is said once."""
    found = list(enumerate(report.findings.cautions))
    alike: dict[Kind, list[tuple[int, Caution]]] = {}
    for number, one in found:
        if one.kind in KINDS and one.system is not None and one.segments:
            alike.setdefault(one.kind, []).append((number, one))
    many = {kind for kind, cautions in alike.items() if len(cautions) > FEW_CAUTIONS}
    for number, one in found:
        if one.kind not in many:
            yield text(one.text) + (_show(number, "show them") if one.segments else "")
    of = _count(len(report.comparison.corpus.segments), "segment")
    for kind, cautions in alike.items():
        if kind in many:
            systems = ", ".join(
                f"<b>{text(str(one.system))}</b> {len(one.segments)}"
                + _show(number, "show", f"show the segments of {one.system}")
                for number, one in sorted(cautions, key=lambda item: -len(item[1].segments))
            )
            yield f"{KINDS[kind]}, of {of}: {systems}"


def _show(number: int, said: str, name: str | None = None) -> str:
    label = "" if name is None else f' aria-label="{text(name)}"'
    return (
        f' <button type="button" class="show" data-group="warning" data-number="{number}"{label} '
        f"hidden>{said}</button>"
    )


def _leaders(comparison: Comparison) -> list[str]:
    """Who is best, and how sure that is; metrics that say the same are named together."""
    said: dict[tuple[str, str], list[str]] = {}
    for metric in comparison.metrics:
        first = metric.standings[0]
        score = f"{text(metric.specification)} {first.score:.{metric.decimals}f}"
        said.setdefault((first.system, _lead(metric, comparison)), []).append(score)
    return [
        f"<b>{text(system)}</b> is best{lead} ({', '.join(scores)})."
        for (system, lead), scores in said.items()
    ]


def _lead(metric: MetricComparison, comparison: Comparison) -> str:
    if comparison.settings.baseline is not None:
        return ""
    first = metric.standings[0]
    beside = [
        one.system
        for one in metric.standings[1:]
        if (found := metric.difference(first.system, one.system)) and not found.significant
    ]
    if not beside:
        return ", significantly better than every other system"
    if len(beside) == len(metric.standings) - 1:
        return ", but not significantly better than any other"
    shown = _listed(beside) if len(beside) <= 4 else f"{len(beside)} of the others"
    return f", but not significantly better than {shown}"


def _role_line(roles: RoleLosses) -> list[str]:
    """The role on which systems differ most."""
    widest, found = 0.0, ""
    for name in roles.classes:
        kept = {
            system: roles.counts[system][name].kept / roles.counts[system][name].words
            for system in roles.systems
            if roles.counts[system][name].words >= WORDS
        }
        if len(kept) < 2:
            continue
        best, worst = max(kept, key=kept.__getitem__), min(kept, key=kept.__getitem__)
        if kept[best] - kept[worst] > widest:
            widest = kept[best] - kept[worst]
            found = (
                f"Of all roles the systems differ most in <b>{text(name)}</b>: "
                f"<b>{text(best)}</b> keeps {100 * kept[best]:.0f} % of its words, "
                f"<b>{text(worst)}</b> {100 * kept[worst]:.0f} %."
            )
    return [found] if found else []


# Ranking


def _ranking(comparison: Comparison) -> str:
    parts = []
    page = lay_out(comparison)
    if len(comparison.metrics) > 1:
        parts.append(
            _table(
                page.tables[0],
                "Scores, and ranks in brackets; bold: ahead of all or not significantly behind",
            )
        )
    for number, metric in enumerate(comparison.metrics):
        parts.append(_of(number, _standings(metric, comparison)))
    return _section("ranking", "Ranking", *parts)


def _standings(metric: MetricComparison, comparison: Comparison) -> str:
    low = min(one.interval.low for one in metric.standings)
    high = max(one.interval.high for one in metric.standings)
    confidence = f"{comparison.settings.confidence:.0%}"
    known = comparison.settings.baseline is None
    heads = ["system", "score", f"{confidence} interval"]
    heads += ["ranks", "cluster"] if known else []
    head = "".join(
        f'<th scope="col"{"" if n in (0, 2) else " class=number"}>{one}</th>'
        for n, one in enumerate(heads)
    )
    rows = []
    for place, one in enumerate(metric.standings):
        apart = known and place and metric.standings[place - 1].cluster != one.cluster
        cells = [
            f'<th scope="row">{text(one.system)}</th>',
            f'<td class="number"><b>{one.score:.{metric.decimals}f}</b></td>',
            f'<td class="range">{_range(one, low, high)}'
            f"<small>{spread(one.interval, metric.decimals)}</small></td>",
        ]
        if known:
            cells += [
                f'<td class="number">{_ranks(one)}</td>',
                f'<td class="number">{one.cluster}</td>',
            ]
        rows.append(f"<tr{' class=apart' if apart else ''}>{''.join(cells)}</tr>")
    better = "higher is better" if metric.higher_is_better else "lower is better"
    caption = f"<b>{text(metric.specification)}</b>, {better}"
    if known:
        caption += "; a line: every system above is significantly better than every system below"
    table = (
        f'<table class="ranking"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    return _wide(caption, f"Ranking by {text(metric.specification)}", table)


def _ranks(one: Standing) -> str:
    if one.best_rank is None or one.best_rank == one.worst_rank:
        return str(one.best_rank or one.rank)
    return f"{one.best_rank}–{one.worst_rank}"


def _range(one: Standing, low: float, high: float) -> str:
    """Score and interval on the scale of all."""

    def place(value: float) -> float:
        return 4 + 192 * (value - low) / (high - low) if high > low else 100

    left, right, middle = map(place, (one.interval.low, one.interval.high, one.score))
    return (
        '<svg class="strip" viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true">'
        '<path class="axis" d="M0 8H200"/>'
        f'<path class="whisker" d="M{left:.1f} 8H{right:.1f}M{left:.1f} 4V12M{right:.1f} 4V12"/>'
        f'<path class="point" d="M{middle:.1f} 1V15"/></svg>'
    )


# Pairs


def _pairs(comparison: Comparison) -> str:
    page = lay_out(comparison, all_pairs=True)
    parts = []
    for number, metric in enumerate(comparison.metrics):
        inner = ""
        if comparison.settings.baseline is None and len(comparison.systems) > 2:
            inner += _wins(metric, comparison)
        table = next(
            one for one in page.tables if one.title == f"{metric.specification}: differences"
        )
        whole = _table(table, f"{metric.specification}: every difference")
        few = len(table.rows) <= 10
        inner += (
            whole
            if few
            else f"<details><summary>All {len(table.rows)} differences, with p-values</summary>"
            f"{whole}</details>"
        )
        parts.append(_of(number, inner))
    return _section("pairs", "Pairs of systems", *parts)


def _wins(metric: MetricComparison, comparison: Comparison) -> str:
    systems = comparison.systems
    order = [systems.index(one.system) for one in metric.standings]
    sure = {(one.better, one.worse) for one in metric.differences if one.significant}
    head = "".join(
        f'<th scope="col" class="number"><abbr title="{text(systems[one])}">{place}</abbr></th>'
        for place, one in enumerate(order, 1)
    )
    rows = []
    for place, row in enumerate(order, 1):
        cells = []
        for column in order:
            if row == column:
                cells.append('<td class="self">–</td>')
                continue
            share = float(metric.wins[row, column])
            shown = floor_percent(share)
            star = "*" if (systems[row], systems[column]) in sure else ""
            cells.append(f'<td class="win" data-heat="{math.floor(10 * share)}">{shown}{star}</td>')
        rows.append(
            f'<tr><th scope="row"><span class="place">{place}</span> {text(systems[row])}</th>'
            f"{''.join(cells)}</tr>"
        )
    caption = (
        f"<b>{text(metric.specification)}</b>: in how many of 100 resampled test sets the row "
        "beats the column; *: significantly better (p at most "
        f"{comparison.settings.significance:g}, corrected)"
    )
    table = (
        f'<table class="wins"><thead><tr><th scope="col">system</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    return _wide(caption, f"Win matrix of {text(metric.specification)}", table)


# Distributions


def _spread(comparison: Comparison) -> str:
    parts = []
    for number, metric in enumerate(comparison.metrics):
        scores = metric.segment_scores
        finite = scores[numpy.isfinite(scores)]
        if not finite.size:
            continue
        # A few wild segments (a rate of errors has no upper end) must not squeeze all others.
        low, high = (float(one) for one in numpy.quantile(finite, [0.005, 0.995]))
        if high <= low:
            low, high = low - 0.5, high + 0.5
        order = [comparison.systems.index(one.system) for one in metric.standings]
        rows = "".join(
            _distribution(comparison.systems[one], scores[one], low, high, metric.decimals)
            for one in order
        )
        decimals = min(2, metric.decimals)
        parts.append(
            _of(
                number,
                f'<figure class="spread"><figcaption><b>{text(metric.specification)}</b> of single '
                "segments: how many (bars), half of them (band), the middle one (line)"
                f'</figcaption>{rows}<p class="ends"><span>{low:.{decimals}f}</span>'
                f"<span>{high:.{decimals}f}</span></p></figure>",
            )
        )
    return _section("spread", "How scores spread", *parts)


def _distribution(name: str, scores: Array, low: float, high: float, decimals: int) -> str:
    found = scores[numpy.isfinite(scores)]
    if not found.size:
        return ""
    counts, _ = numpy.histogram(numpy.clip(found, low, high), bins=BINS, range=(low, high))
    most = max(1, int(counts.max()))
    step = 240 / BINS
    bars = "".join(
        f"M{step * n + 0.5:.1f} 40V{40 - 38 * int(count) / most:.1f}H{step * (n + 1) - 0.5:.1f}V40Z"
        for n, count in enumerate(counts)
        if count
    )
    quarters = [float(one) for one in numpy.quantile(found, [0.25, 0.5, 0.75])]
    first, middle, last = (240 * min(1.0, max(0.0, (one - low) / (high - low))) for one in quarters)
    shown = [f"{one:.{min(3, decimals)}f}" for one in quarters]
    return (
        f'<div class="one"><span class="name">{text(name)}</span>'
        '<svg viewBox="0 0 240 46" preserveAspectRatio="none" aria-hidden="true">'
        f'<path class="bars" d="{bars}"/><path class="axis" d="M0 40.5H240"/>'
        f'<path class="band" d="M{first:.1f} 43.5H{last:.1f}"/>'
        f'<path class="point" d="M{middle:.1f} 0V46"/></svg>'
        f'<span class="quarters">{shown[1]} <small>({shown[0]} to {shown[2]})</small></span></div>'
    )


# Roles


def _roles(roles: RoleLosses) -> str:
    head = "".join(f'<th scope="col">{text(one)}</th>' for one in roles.systems)
    rows = []
    for name in roles.classes:
        counts = [roles.counts[system][name] for system in roles.systems]
        shares = [one.kept / one.words if one.words else None for one in counts]
        known = [one for one in shares if one is not None]
        apart = len(set(known)) > 1
        cells = "".join(
            _role(one, share is not None and apart and share == max(known))
            for one, share in zip(counts, shares, strict=True)
        )
        words = sorted({one.words for one in counts})
        shown = str(words[0]) if len(words) == 1 else f"{words[0]}–{words[-1]}"
        rows.append(
            f'<tr><th scope="row">{text(name)} <small>{shown} words</small></th>{cells}</tr>'
        )
    legend = (
        '<p class="key"><span class="swatch kept"></span> kept in the same role '
        '<span class="swatch moved"></span> elsewhere in the output '
        '<span class="swatch lost"></span> lost; bold: kept most</p>'
    )
    explained = (
        '<p class="quiet">Who did what to whom, when and where: every word of the references’ '
        "predicates and roles, looked for in the output. Words are compared as they are, so a "
        "synonym counts as lost; read the systems beside each other.</p>"
    )
    return _section(
        "roles",
        "Which roles each system loses",
        explained,
        legend,
        '<div class="wide" tabindex="0" role="region" aria-label="Roles">'
        f'<table class="roles"><thead><tr><th scope="col">role</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>\n",
    )


def _role(one: RoleCounts, best: bool) -> str:
    if not one.words:
        return "<td>–</td>"
    kept, moved, lost = (100 * part / one.words for part in (one.kept, one.moved, one.lost))
    shown = f"{kept:.0f} %"
    return (
        f'<td title="kept {one.kept}, elsewhere {one.moved}, lost {one.lost} of {one.words} words">'
        f'<span class="split" role="img" aria-label="kept {kept:.0f} %, elsewhere {moved:.0f} %, '
        f'lost {lost:.0f} %"><i class="kept" style="width:{kept:.1f}%"></i>'
        f'<i class="moved" style="width:{moved:.1f}%"></i>'
        f'<i class="lost" style="width:{lost:.1f}%"></i></span>'
        f"{f'<b>{shown}</b>' if best else shown} <small>lost {lost:.0f} %</small></td>"
    )


# Kinds of segments


def _kinds(report: Report) -> str:
    parts = []
    names = [one.specification for one in report.comparison.metrics]
    for number, name in enumerate(names):
        tables = [one for one in report.findings.buckets if one.specification == name]
        parts.append(_of(number, "".join(_bucket(one) for one in tables)))
    note = (
        '<p class="quiet">Each kind is a small test set of its own. Bold: the best of a row; small '
        "kinds say little. A name shows its segments below.</p>"
    )
    return _section("kinds", "Where systems differ: kinds of segments", note, *parts)


def _bucket(found: Buckets) -> str:
    sign = 1 if found.higher_is_better else -1
    head = "".join(f'<th scope="col" class="number">{text(one)}</th>' for one in found.systems)
    rows = []
    for number, one in enumerate(found.buckets):
        best = max(sign * score for score in one.scores)
        apart = len(set(one.scores)) > 1
        cells = "".join(
            _bucket_cell(score, interval, found.decimals, apart and sign * score == best)
            for score, interval in zip(one.scores, one.intervals, strict=True)
        )
        name = (
            f'<button type="button" class="plain show" data-group="{found.feature}" '
            f'data-number="{number}">{text(one.name)}</button>'
        )
        rows.append(
            f'<tr><th scope="row">{name}</th><td class="number">{len(one.segments)}</td>'
            f"{cells}</tr>"
        )
    title = NAMES[found.feature]
    many = len(found.buckets) > 12
    caption = f"{text(found.specification)} by {title[0].lower()}{title[1:]}"
    if found.overlapping:
        caption += "; a segment counts in each of its roles"
    table = (
        '<table class="kinds"><thead><tr><th scope="col">kind</th>'
        f'<th scope="col" class="number">segments</th>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    inner = _wide(caption, f"{text(found.specification)}: {title}", table)
    return f"<details{'' if many else ' open'}><summary>{title}</summary>{inner}</details>\n"


def _bucket_cell(score: float, interval: Interval, decimals: int, best: bool) -> str:
    shown = f"{score:.{decimals}f}"
    hint = f"{interval.low:.{decimals}f} to {interval.high:.{decimals}f}"
    return f'<td class="number" title="{hint}">{f"<b>{shown}</b>" if best else shown}</td>'


# Segments


_CONTRARY = '<option value="contrary">metrics disagree most</option>'


def _segments(report: Report) -> str:
    comparison = report.comparison
    systems = "".join(
        f'<option value="{number}">{text(name)}</option>'
        for number, name in enumerate(comparison.systems)
    )
    found = report.findings
    lists = []
    for number, metric in enumerate(comparison.metrics):
        differ = [
            one for one in found.systems_disagree if one.specification == metric.specification
        ]
        contrary = [
            one for one in found.metrics_disagree if metric.specification in (one.first, one.second)
        ]
        inner = ""
        if differ:
            rows = "".join(
                f"<li>{_link(comparison, one.segment)}: <b>{text(one.better)}</b> "
                f"{one.scores[0]:.{metric.decimals}f}, <b>{text(one.worse)}</b> "
                f"{one.scores[1]:.{metric.decimals}f}</li>"
                for one in differ
            )
            inner += f"<div><h3>Systems differ most</h3><ol>{rows}</ol></div>"
        if contrary:
            rows = "".join(
                f"<li>{_link(comparison, one.segment)}: {text(one.first)} prefers "
                f"<b>{text(one.preferred)}</b>, {text(one.second)} <b>{text(one.other)}</b></li>"
                for one in sorted(contrary, key=lambda one: -one.strength)[:8]
            )
            inner += f"<div><h3>Metrics disagree most</h3><ol>{rows}</ol></div>"
        if inner:
            lists.append(_of(number, f'<div class="two">{inner}</div>'))
    return _section(
        "segments",
        "Segments",
        '<p class="quiet">Worth reading first:</p>' if lists else "",
        *lists,
        '<noscript><p class="warning">Looking through single segments needs JavaScript; all else '
        "on this page does not.</p></noscript>\n"
        '<form id="controls" class="controls" hidden>'
        '<p class="grow"><label for="search">Search</label>'
        '<input type="search" id="search" autocomplete="off" '
        'placeholder="words of any text, or an id"></p>'
        '<p><label for="kind">Only</label><select id="kind">'
        '<option value="">all segments</option></select></p>'
        '<p><label for="order">Order</label><select id="order">'
        '<option value="file">as in the files</option>'
        '<option value="differ">systems differ most</option>'
        '<option value="worst">worst of the system first</option>'
        '<option value="best">best of the system first</option>'
        '<option value="behind">system most behind the other</option>'
        '<option value="ahead">system most ahead of the other</option>'
        f"{_CONTRARY if len(comparison.metrics) > 1 else ''}"
        "</select></p>"
        f'<p><label for="system">System</label><select id="system">{systems}</select></p>'
        f'<p><label for="other">The other</label><select id="other">{systems}</select></p>'
        '<p><button type="reset">Reset</button></p></form>\n'
        '<p id="found" class="quiet" role="status" aria-live="polite"></p>\n'
        '<ol id="list" class="segments" aria-label="Segments"></ol>\n'
        '<div id="pager" class="pager" role="group" aria-label="Pages" hidden>'
        '<button type="button" id="previous">Previous</button>'
        '<label>Page <input type="number" id="page" min="1" value="1"></label> '
        '<span id="pages"></span>'
        '<button type="button" id="next">Next</button></div>\n',
    )


def _link(comparison: Comparison, place: int) -> str:
    name = text(comparison.corpus.segments[place].id)
    return f'<a href="#segment-{place + 1}" class="to">segment {name}</a>'


# How it was made


def _method(report: Report) -> str:
    comparison = report.comparison
    page = lay_out(comparison, all_pairs=True, documents=True)
    legend = [*page.legend, *findings_legend(report.findings)]
    lines = "".join(f"<li>{text(line)}</li>" for line in legend)
    signatures = dict.fromkeys(str(one.signature) for one in comparison.metrics)
    shown = "".join(
        f'<li><code>{text(one)}</code><button type="button" class="copy" hidden>Copy</button></li>'
        for one in signatures
    )
    documents = ""
    for number, metric in enumerate(comparison.metrics):
        if metric.documents:
            table = next(
                one for one in page.tables if one.title == f"{metric.specification}: documents"
            )
            documents += _of(
                number,
                f"<details><summary>{_count(len(metric.documents), 'document')}, each scored by "
                f"itself</summary>{_table(table, table.title)}</details>",
            )
    return _section(
        "method",
        "How it was made",
        f'<ul class="small">{lines}</ul>\n',
        documents,
        "<h3>Signatures</h3><p>The full recipe of each number. Cite it, the version of meantime "
        f"({__version__}) and the paper of the metric.</p>"
        f'<ul class="signatures">{shown}</ul>\n',
    )


# Pieces


def _table(table: Table, caption: str) -> str:
    head = "".join(
        f'<th scope="col"{" class=number" if table.is_number(n) else ""}>{text(one)}</th>'
        for n, one in enumerate(table.head)
    )
    rows = []
    for number, row in enumerate(table.rows):
        cells = "".join(_cell(one, n, table) for n, one in enumerate(row))
        rows.append(f"<tr{' class=apart' if number in table.breaks else ''}>{cells}</tr>")
    made = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return _wide(text(caption), text(table.title), made)


def _wide(caption: str, name: str, table: str) -> str:
    """A table that may be wider than a phone: it scrolls by itself, by keyboard too."""
    return (
        f'<p class="caption">{caption}</p><div class="wide" tabindex="0" role="region" '
        f'aria-label="{name}">{table}</div>\n'
    )


def _cell(cell: Cell, column: int, table: Table) -> str:
    shown = f"<b>{text(cell.text)}</b>" if cell.strong else text(cell.text)
    if column == 0:
        return f'<th scope="row">{shown}</th>'
    return f"<td{' class=number' if table.is_number(column) else ''}>{shown}</td>"


# The data of segments


def _data(report: Report) -> dict[str, Any]:
    """What the script needs to show segments; texts as they are, since it never makes markup of
    them.
    """
    comparison = report.comparison
    corpus = comparison.corpus
    explained = report.explained
    sources = [one.source for one in corpus.segments]
    groups: list[dict[str, Any]] = []
    seen: set[Feature] = set()
    for table in report.findings.buckets:
        if table.feature in seen:
            continue
        seen.add(table.feature)
        kinds = [[one.name, list(one.segments)] for one in table.buckets]
        groups.append({"key": table.feature.value, "name": NAMES[table.feature], "kinds": kinds})
    if Feature.DOCUMENT not in seen and any(one.document for one in corpus.segments):
        members: dict[str, list[int]] = {}
        for place, segment in enumerate(corpus.segments):
            members.setdefault(segment.document or "(no document)", []).append(place)
        groups.append(
            {
                "key": "document",
                "name": NAMES[Feature.DOCUMENT],
                "kinds": list(map(list, members.items())),
            }
        )
    if report.findings.cautions:
        warned = [
            [f"{one.system}: {one.kind}" if one.system else one.kind.value, list(one.segments)]
            for one in report.findings.cautions
        ]
        groups.append({"key": "warning", "name": "Warnings", "kinds": warned})
    return {
        "systems": list(comparison.systems),
        "metrics": [
            [one.specification, int(one.higher_is_better), one.decimals, _scores(one)]
            for one in comparison.metrics
        ],
        "ids": [one.id for one in corpus.segments],
        "documents": [one.document for one in corpus.segments]
        if any(one.document for one in corpus.segments)
        else None,
        "sources": [one.text if one else None for one in sources] if any(sources) else None,
        "references": [[other.text for other in one.references] for one in corpus.segments],
        "outputs": [[one.text for one in corpus.outputs[name]] for name in comparison.systems],
        "groups": groups,
        "explained": {
            "metrics": list(explained.metrics),
            "segments": list(explained.segments),
            "together": explained.together,
        },
    }


def _scores(metric: MetricComparison) -> list[list[int | None]]:
    """Segment scores as whole numbers of their last decimal."""
    scale = 10**metric.decimals
    return [
        [round(scale * value) if math.isfinite(value) else None for value in row]
        for row in metric.segment_scores.tolist()
    ]

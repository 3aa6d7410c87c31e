"""Drawings as SVG, made by hand: text stays text, and nothing is loaded to see them."""

from __future__ import annotations

from xml.sax.saxutils import escape

from meantime.report.roles import RoleLosses

_BAR, _GAP, _GROUP = 12, 3, 14
_LEFT, _NAME, _WIDTH, _TOP = 90, 130, 420, 56
_PARTS = (
    # Fill and pattern: colour is not the only carrier.
    ("kept", "#1b6ca8", ""),
    ("moved", "#e3a72f", "dots"),
    ("lost", "#ffffff", "lines"),
)


def draw_roles(roles: RoleLosses) -> str:
    """Bars of what became of each role class, one a system: kept, moved, lost."""
    group = len(roles.systems) * (_BAR + _GAP) + _GROUP
    height = _TOP + group * len(roles.classes) + 30
    width = _LEFT + _NAME + _WIDTH + 60
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="11" '
        'fill="#222222" role="img">',
        "<title>What became of the words of each role</title>",
        "<defs>"
        '<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse">'
        '<rect width="4" height="4" fill="#e3a72f"/><circle cx="2" cy="2" r="1" fill="#5c3d00"/>'
        "</pattern>"
        '<pattern id="lines" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)">'
        '<rect width="5" height="5" fill="#ffffff"/><rect width="1.4" height="5" fill="#b03030"/>'
        "</pattern></defs>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    lines += _legend()
    for number, name in enumerate(roles.classes):
        top = _TOP + number * group
        words = max(roles.counts[system][name].words for system in roles.systems)
        lines.append(_text(4, top + _BAR - 2, name, weight="bold"))
        lines.append(_text(4, top + 2 * _BAR, f"{words} words"))
        for place, system in enumerate(roles.systems):
            lines += _bar(roles, name, system, top + place * (_BAR + _GAP))
    bottom = _TOP + group * len(roles.classes)
    for share in (0, 25, 50, 75, 100):
        x = _LEFT + _NAME + _WIDTH * share / 100
        lines.append(
            f'<line x1="{x:g}" x2="{x:g}" y1="{_TOP - 6}" y2="{bottom}" stroke="#999999" '
            'stroke-width="0.5" stroke-dasharray="2 3"/>'
        )
        lines.append(_text(x, bottom + 14, f"{share} %", anchor="middle"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _legend() -> list[str]:
    meanings = {"kept": "kept in the same role", "moved": "elsewhere", "lost": "lost"}
    lines = [_text(4, 16, "What became of the words of each role", weight="bold")]
    x = _LEFT + _NAME
    for part, fill, pattern in _PARTS:
        paint = f"url(#{pattern})" if pattern else fill
        lines.append(
            f'<rect x="{x}" y="24" width="14" height="{_BAR}" fill="{paint}" stroke="#444444" '
            'stroke-width="0.5"/>'
        )
        lines.append(_text(x + 19, 34, meanings[part]))
        x += 40 + 7 * len(meanings[part])
    return lines


def _bar(roles: RoleLosses, name: str, system: str, top: float) -> list[str]:
    counts = roles.counts[system][name]
    lines = [_text(_LEFT + _NAME - 6, top + _BAR - 2, _short(system), anchor="end")]
    if not counts.words:
        return [*lines, _text(_LEFT + _NAME, top + _BAR - 2, "–")]
    x = float(_LEFT + _NAME)
    for part, fill, pattern in _PARTS:
        count = getattr(counts, part)
        size = _WIDTH * count / counts.words
        paint = f"url(#{pattern})" if pattern else fill
        lines.append(
            f'<rect x="{x:.2f}" y="{top:g}" width="{size:.2f}" height="{_BAR}" fill="{paint}" '
            f'stroke="#444444" stroke-width="0.5"><title>{escape(system)}, {escape(name)}: '
            f"{count} of {counts.words} words {part}</title></rect>"
        )
        x += size
    share = 100 * counts.kept / counts.words
    return [*lines, _text(_LEFT + _NAME + _WIDTH + 6, top + _BAR - 2, f"{share:.0f} %")]


def _short(name: str, longest: int = 20) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "normal") -> str:
    clean = "".join(mark if mark.isprintable() else "�" for mark in text)
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-weight="{weight}">'
        f"{escape(clean)}</text>"
    )

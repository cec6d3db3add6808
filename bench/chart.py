"""A chart of a benchmark: horizontal bars, as SVG.

Written by hand, because `rich` draws pictures of a terminal, with fonts from the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape

_ROW, _BARS, _VALUES, _MARGIN = 26, 420, 80, 16
# Width of a character in a label, which cannot be measured here: a little too wide.
_LETTER = 8


def chart(title: str, bars: Mapping[str, float], limit: float | None = None) -> str:
    """A bar with its value for each label; a dashed line at the limit."""
    left = _MARGIN + _LETTER * max(map(len, bars), default=0)
    width = left + _BARS + _VALUES + _MARGIN
    height = 2 * _MARGIN + _ROW * (len(bars) + 1)
    largest = max([*bars.values(), limit or 0.0])
    scale = _BARS / largest if largest else 0.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="14">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_MARGIN}" y="{_MARGIN + 14}" font-weight="bold">{escape(title)}</text>',
    ]
    for row, (label, value) in enumerate(bars.items(), start=1):
        parts += _bar(left, _MARGIN + _ROW * row, label, value, value * scale)
    if limit is not None:
        x = left + limit * scale
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{_MARGIN + _ROW}" y2="{height - _MARGIN}" '
            'stroke="firebrick" stroke-width="2" stroke-dasharray="5 4"/>'
        )
    return "\n".join([*parts, "</svg>\n"])


def _bar(left: int, top: int, label: str, value: float, length: float) -> Iterator[str]:
    baseline = top + 17
    yield f'<text x="{left - 8}" y="{baseline}" text-anchor="end">{escape(label)}</text>'
    yield (
        f'<rect x="{left}" y="{top + 4}" width="{length:.1f}" height="{_ROW - 8}" '
        'fill="steelblue"/>'
    )
    yield f'<text x="{left + length + 8:.1f}" y="{baseline}">{value:.2f}</text>'

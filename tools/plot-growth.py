#!/usr/bin/env python3
"""Draws what bench-growth printed: usage: tools/plot-growth.py TABLE > SVG

TABLE is the output of one run. Four panels over the number of known URLs, on a
logarithmic scale: CPU a link, memory and disk, octets written a new URL, and
links that read a page of the exact set.
"""
import math
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP = 360, 190, 56, 28
PANELS = [
    ('CPU a link, us', [(1, '')]),
    ('memory (filled) and disk (open), MB', [(9, ''), (10, 'open')]),
    ('octets written a new URL', [(5, '')]),
    ('links that ask the exact set (open) or read a page of it (filled), %', [(7, ''), (6, 'open')]),
]


def rows(path):
    """The lines of the table: URLs, CPU, three commit times, and the rest."""
    with open(path, encoding='utf-8') as lines:
        for line in lines:
            fields = line.split()
            if len(fields) == 11 and fields[0].isdigit():
                yield [float(f) for f in fields]


def step(most):
    """A round number of which some four reach the largest value."""
    ten = 10 ** math.floor(math.log10(most / 4))
    return next(n * ten for n in (1, 2, 5, 10) if n * ten * 4.5 >= most)


def urls(n):
    return f'{n / 1e6:g}M' if n >= 1e6 else f'{n / 1e3:g}k'


def panel(x0, y0, title, series, table):
    least, last = math.log10(table[0][0]), math.log10(table[-1][0])
    most = max(max(r[c] for r in table) for c, _ in series) or 1
    inner_w, inner_h = WIDTH - LEFT - 16, HEIGHT - TOP - 34

    def at(n, value):
        return (x0 + LEFT + (math.log10(n) - least) / (last - least) * inner_w,
                y0 + TOP + (1 - value / (1.08 * most)) * inner_h)

    out = [f'<text x="{x0 + 4}" y="{y0 + 16}" class="title">{escape(title)}</text>']
    mark = 0
    while mark <= most:
        x, y = at(table[0][0], mark)
        out.append(f'<path d="M{x:.1f} {y:.1f}h{inner_w}"/>'
                   f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{mark:g}</text>')
        mark += step(most)
    for ten in range(math.ceil(least - 0.01), math.floor(last + 0.01) + 1):
        x, y = at(10 ** ten, 0)
        out.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{urls(10 ** ten)}</text>')
    for column, kind in series:
        points = [at(r[0], r[column]) for r in table]
        line = ' '.join(f'{x:.1f},{y:.1f}' for x, y in points)
        out.append(f'<polyline points="{line}" class="line {kind}"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="{kind}"/>' for x, y in points]
    return out


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[0])
    table = list(rows(sys.argv[1]))
    if len(table) < 2:
        sys.exit(f'{sys.argv[1]}: fewer than two lines of a table')
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {2 * HEIGHT}" '
          'font-family="sans-serif" font-size="11" fill="#333">')
    print('<style>path{stroke:#ddd}.title{font-weight:bold}.line{fill:none;stroke:#06c;stroke-width:1.5}'
          'circle{fill:#06c}.line.open{stroke-dasharray:4 3}'
          'circle.open{fill:#fff;stroke:#06c}</style>')
    print(f'<rect width="{2 * WIDTH}" height="{2 * HEIGHT}" fill="#fff"/>')
    for i, (title, series) in enumerate(PANELS):
        print('\n'.join(panel(i % 2 * WIDTH, i // 2 * HEIGHT, title, series, table)))
    print('</svg>')


main()

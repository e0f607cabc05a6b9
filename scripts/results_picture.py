#!/usr/bin/env python3
"""Draws docs/pictures/beside-a-neighbour-light.svg and -dark.svg from a line of docs/results.md.

    results_picture.py [--check]

--check writes nothing, and fails if a picture is not what the table gives.
"""

import pathlib
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
CASE = "co-runner on core 0, P = 2"
# Column of the table, name in the picture, what that is, whether it learns from the tasks.
BARS = [
    ("dam-c, robust", "Learned place and width", "Kilter, policy dam-c", True),
    ("da", "Learned core", "Kilter, policy da", True),
    ("rws", "Work stealing", "Kilter, policy rws", False),
    ("OpenMP tasks", "OpenMP tasks", "g++ 12, not pinned", False),
    ("oneTBB unpinned", "oneTBB", "flow graph, not pinned", False),
    ("fa, wrong guess", "Fixed core, wrong guess", "Kilter, policy fa", False),
]
TITLE = "Two cores, and a neighbour busy on one of them"
SUBTITLE = "Speed of a graph of 16 µs tasks, two ready at a time, as a fraction of what is possible"
COLOURS = {
    "light": {
        "ground": "#ffffff",
        "text": "#1f2328",
        "muted": "#59636e",
        "learns": "#0969da",
        "plain": "#6e7781",
        "inside": "#ffffff",
        "line": "#1f2328",
    },
    "dark": {
        "ground": "#0d1117",
        "text": "#f0f6fc",
        "muted": "#9198a1",
        "learns": "#58a6ff",
        "plain": "#8b949e",
        "inside": "#0d1117",
        "line": "#f0f6fc",
    },
}
FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', "
    "sans-serif"
)
WIDTH, LEFT, START, ONE = (
    720,
    24,
    232,
    668,
)  # of the picture; where labels and bars begin, and where 1.00 is
TOP, PITCH, BAR = 112, 46, 30


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def fractions(page):
    """The line CASE of the table that has it, by column.

    ValueError if the page has it not once, or without a column that is drawn.
    """
    header, found = [], []
    for line in page.splitlines():
        if not line.startswith("|"):
            header = []
        elif not header:
            header = cells(line)
        elif cells(line)[0] == CASE:
            found.append(dict(zip(header, cells(line), strict=True)))
    if len(found) != 1:
        raise ValueError(f"docs/results.md has {len(found)} lines '{CASE}'; it should have one")
    missing = [column for column, *_ in BARS if column not in found[0]]
    if missing:
        raise ValueError(f"the table with '{CASE}' has no column '{missing[0]}'")
    return {column: float(found[0][column]) for column, *_ in BARS}


def text(x, y, size, colour, words, more=""):
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{colour}"{more}>{escape(words)}</text>'


def picture(values, colours):
    bars = sorted(BARS, key=lambda b: -values[b[0]])
    bottom = TOP + PITCH * len(bars)
    height = bottom + 44
    told = "; ".join(f"{name} ({what}) {values[column]:.2f}" for column, name, what, _ in bars)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" role="img" '
        f'aria-labelledby="title desc" font-family="{FONT}">',
        f'<title id="title">{escape(TITLE)}</title>',
        f'<desc id="desc">{escape(SUBTITLE)}. {escape(told)}.</desc>',
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{colours["ground"]}"/>',
        text(LEFT, 38, 21, colours["text"], TITLE, ' font-weight="600"'),
        text(LEFT, 62, 14.5, colours["muted"], SUBTITLE),
        text(
            ONE + 6,
            94,
            14.5,
            colours["text"],
            "1.00: all that the cores could give",
            ' text-anchor="end" font-weight="600"',
        ),
    ]
    for i, (column, name, what, learns) in enumerate(bars):
        y = TOP + PITCH * i
        wide = round((ONE - START) * values[column], 2)
        out += [
            text(LEFT, y + 13, 16, colours["text"], name),
            text(LEFT, y + 30, 13, colours["muted"], what),
            f'<rect x="{START}" y="{y}" width="{wide:g}" height="{BAR}" rx="3" '
            f'fill="{colours["learns" if learns else "plain"]}"/>',
            text(
                f"{START + wide - 10:g}",
                y + 21,
                16,
                colours["inside"],
                f"{values[column]:.2f}",
                ' text-anchor="end" font-weight="600"',
            ),
        ]
    out += [
        f'<path d="M{ONE} {TOP - 8}V{bottom - 6}" stroke="{colours["line"]}" stroke-width="2" '
        'stroke-dasharray="5 4"/>'
    ]
    x = START
    for key, words, step in (("learns", "learns from the tasks", 190), ("plain", "does not", 0)):
        out += [
            f'<rect x="{x}" y="{bottom + 10}" width="14" height="14" rx="3" '
            f'fill="{colours[key]}"/>',
            text(x + 21, bottom + 22, 14, colours["text"], words),
        ]
        x += step
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    values = fractions((ROOT / "docs/results.md").read_text(encoding="utf-8"))
    wrong = []
    for name, colours in COLOURS.items():
        path = ROOT / f"docs/pictures/beside-a-neighbour-{name}.svg"
        drawn = picture(values, colours)
        if sys.argv[1:] == []:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(drawn, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != drawn:
            wrong.append(
                f"{path.relative_to(ROOT)} is not what docs/results.md gives; "
                "scripts/results_picture.py draws it anew"
            )
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    try:
        main()
    except ValueError as e:
        sys.exit(f"results_picture: {e}")

#!/usr/bin/env python3
"""Draws the README's pictures, light and dark, from lines of tables in docs/results.md.

results_picture.py [--check]

--check writes nothing, and fails if a picture is not what the tables give.

two-cores: how many times as fast `auto` is as others, a neighbour busy on one of the cores.
sixteen-cores: an OpenMP program of which cores are busy, against itself as it was started.
"""

import pathlib
import re
import sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A group is a line of a table, by its first two cells; a bar is a column of it. The bars of "ours"
# show what Kilter does. "largest": where a bar would end at the right.
PICTURES = {
    "two-cores": {
        "title": "Two cores, one of them busy",
        "subtitle": [
            "How many times as fast Kilter's policy auto is",
            "on a graph of 16 µs tasks, two ready at a time",
        ],
        "note": "thin: least and most",
        "groups": [("P2/16us", "`cpu@0`", "auto against")],
        "bars": {
            "OpenMP": "OpenMP tasks",
            "oneTBB": "oneTBB",
            "OpenMP pinned": "OpenMP tasks, pinned",
            "oneTBB pinned": "oneTBB, pinned",
            "rws": "Kilter's work stealing",
            "dam-c": "Kilter's dam-c",
        },
        "ours": {"OpenMP", "oneTBB", "OpenMP pinned", "oneTBB pinned", "rws", "dam-c"},
        "largest": 2.0,
    },
    "sixteen-cores": {
        "title": "Sixteen cores, some of them busy",
        "subtitle": [
            "How many times as fast an OpenMP program is",
            "as it was started, steps of 0.5 ms",
        ],
        "note": "medians of two or three",
        "groups": [
            ("one core", "a region a step, 0.5 ms", "one core is busy"),
            ("four cores", "a region a step, 0.5 ms", "four cores are busy"),
        ],
        "bars": {
            "kilter run": "kilter run",
            "16 threads, passive": "16 threads, passive",
            "8 threads, passive": "8 threads, passive",
        },
        "ours": {"kilter run"},
        "largest": 12.0,
    },
}
COLOURS = {
    "light": {
        "ground": "#ffffff",
        "text": "#1f2328",
        "muted": "#59636e",
        "ours": "#0969da",
        "plain": "#6e7781",
    },
    "dark": {
        "ground": "#0d1117",
        "text": "#f0f6fc",
        "muted": "#9198a1",
        "ours": "#58a6ff",
        "plain": "#8b949e",
    },
}
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
BOLD = ' font-weight="600"'
WIDTH, HEIGHT = 480, 400
LEFT, START, END = 20, 186, 424  # where labels and bars begin, and where the largest value is
TOP, HEAD, PITCH, BAR, GAP = 92, 28, 34, 22, 10


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def value(cell):
    """Median as it is written, least and most of `1.20 (1.12 to 1.26)`; `1.20` is all three."""
    m = re.fullmatch(r"([\d.]+)(?: \(([\d.]+) to ([\d.]+)\))?", cell)
    if not m:
        raise ValueError(f"docs/results.md: '{cell}' is no figure")
    return m[1], float(m[2] or m[1]), float(m[3] or m[1])


def lines_of_tables(page):
    header = []
    for line in page.splitlines():
        if not line.startswith("|"):
            header = []
        elif not header:
            header = cells(line)
        else:
            yield dict(zip(header, cells(line), strict=False)), cells(line)[:2]


def figures(page, what):
    """Of each group its columns. ValueError if the page has its line not once, or lacks one."""
    for first, second, label in what["groups"]:
        found = [line for line, begins in lines_of_tables(page) if begins == [first, second]]
        where = f"'{first} | {second}'"
        if len(found) != 1:
            raise ValueError(f"docs/results.md has {len(found)} lines {where}; it should have one")
        missing = [column for column in what["bars"] if column not in found[0]]
        if missing:
            raise ValueError(f"the table with {where} has no column '{missing[0]}'")
        yield label, {column: value(found[0][column]) for column in what["bars"]}


def text(x, y, size, colour, words, more=""):
    at = f'x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}"{more}'
    return f"<text {at}>{escape(words)}</text>"


def stroke(way, colour, more=""):
    return f'<path d="{way}" stroke="{colour}" stroke-width="2"{more}/>'


def bar(name, y, figure, is_ours, scale, colours):
    middle, least, most = figure
    wide, most_x = round(float(middle) * scale, 1), round(START + most * scale, 1)
    fill = colours["ours" if is_ours else "plain"]
    yield text(LEFT, y + 16, 14, colours["text"], name)
    yield f'<rect x="{START}" y="{y}" width="{wide:g}" height="{BAR}" rx="3" fill="{fill}"/>'
    if most > least:
        least_x = round(START + least * scale, 1)
        yield stroke(f"M{least_x:g} {y + BAR // 2}H{most_x:g}", colours["text"])
    yield text(most_x + 7, y + 16, 15, colours["text"], middle, BOLD)


def picture(what, groups, colours):
    scale = (END - START) / what["largest"]
    told = [
        f"{label}: " + "; ".join(f"{name} {values[column][0]}" for column, name in bars.items())
        for label, values in groups
        for bars in [what["bars"]]
    ]
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        f'aria-labelledby="title desc" font-family="{FONT}">',
        f'<title id="title">{escape(what["title"])}</title>',
        f'<desc id="desc">{escape(" ".join(what["subtitle"]))}. {escape(". ".join(told))}.</desc>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{colours["ground"]}"/>',
        text(LEFT, 34, 20, colours["text"], what["title"], BOLD),
        text(LEFT, 57, 14, colours["muted"], what["subtitle"][0]),
        text(LEFT, 75, 14, colours["muted"], what["subtitle"][1]),
    ]
    one, y = round(START + scale, 1), TOP
    for label, values in groups:
        out.append(text(LEFT, y + 18, 14, colours["text"], label, BOLD))
        y += HEAD
        begin = y
        for column, name in what["bars"].items():
            out += bar(name, y, values[column], column in what["ours"], scale, colours)
            y += PITCH
        dashes = ' stroke-dasharray="5 4"'
        out.append(stroke(f"M{one:g} {begin - 6}V{y - 6}", colours["text"], dashes))
        y += GAP
    words = f"dashed: 1, as fast; {what['note']}"
    out.append(text(LEFT, HEIGHT - 16, 13, colours["muted"], words))
    return "\n".join(out + ["</svg>"]) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    page = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    wrong = []
    for stem, what in PICTURES.items():
        groups = list(figures(page, what))
        for name, colours in COLOURS.items():
            path = ROOT / f"docs/pictures/{stem}-{name}.svg"
            drawn = picture(what, groups, colours)
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

"""Pictures of results, by matplotlib: readable at 640 pixels, and in colours that everybody tells
apart (Okabe and Ito)."""

from __future__ import annotations

import functools
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .results import Result

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
_WIDTH = 6.4  # inches, at 100 dots each


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _hatch(index: int) -> str | None:
    return "//" if index >= len(COLOURS) else None


@functools.cache
def _shown_figure() -> type[Figure]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """Shown by notebooks that never imported pyplot, too, and by none twice."""

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            FigureCanvasAgg(self)

        def _repr_png_(self) -> bytes:
            written = io.BytesIO()
            self.savefig(written, format="png")
            return written.getvalue()

    return ShownFigure


def _panels(count: int, height: float, columns: int = 1) -> tuple[Figure, list[Axes]]:
    rows = -(-count // columns)
    size = (_WIDTH, height * rows + 0.5)
    figure = _shown_figure()(figsize=size, dpi=100, layout="constrained")
    axes = [figure.add_subplot(rows, columns, n + 1) for n in range(count)]
    for one in axes:
        one.tick_params(labelsize=8)
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    return figure, axes


def _legend(figure: Figure, axes: Axes, titled: str = "") -> None:
    """Below all panels."""
    handles, labels = axes.get_legend_handles_labels()
    if labels:
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=min(len(labels), 5),
            fontsize=8,
            frameon=False,
            title=titled or None,
            title_fontsize=8,
        )


def _once(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _scenario(name: str) -> str:
    return "undisturbed" if name == "none" else name


def _machine(name: str) -> str:
    return name[4:] if name.startswith("sim:") else name


def _throughput(result: Result, log: bool = False) -> Figure:
    rows = [row for row in result.rows if not row["warm"]] or result.rows
    cells = _once((row["graph"], row["on"]) for row in rows)
    policies = _once(row["policy"] for row in rows)
    scenarios = _once(row["disturb"] for row in rows)
    height = max(1.6, 0.22 * len(policies) * len(scenarios))
    figure, axes = _panels(len(cells), height)
    for (graph, on), panel in zip(cells, axes):
        for number, policy in enumerate(policies):
            here = [r for r in rows if (r["graph"], r["on"], r["policy"]) == (graph, on, policy)]
            at, values, below, above = [], [], [], []
            for row in here:
                work = row["throughput"] * row["makespan_s"]
                at.append(scenarios.index(row["disturb"]) + 0.8 * (number + 0.5) / len(policies))
                values.append(row["throughput"])
                below.append(max(0.0, row["throughput"] - work / row["makespan_max_s"]))
                above.append(max(0.0, work / row["makespan_min_s"] - row["throughput"]))
            panel.barh(
                at,
                values,
                height=0.8 / len(policies),
                color=_colour(number),
                hatch=_hatch(number),
                edgecolor="white",
                label=policy,
                xerr=(below, above),
                error_kw={"elinewidth": 1, "capsize": 2},
            )
        panel.set_yticks([i + 0.4 for i in range(len(scenarios))])
        panel.set_yticklabels([_scenario(s) for s in scenarios])
        panel.invert_yaxis()
        panel.set_title(f"{graph} on {_machine(on)}", fontsize=9)
        panel.set_xlabel("throughput [tasks/s], median and range", fontsize=8)
        if log:
            panel.set_xscale("log")
    _legend(figure, axes[0])
    return figure


def _span_colours(spans: list[dict[str, Any]], by: str) -> tuple[list[str], Callable[[Any], str]]:
    if by == "critical":
        return ["critical", "other"], lambda s: "critical" if s["critical"] else "other"
    if by != "type":
        raise ValueError(f"by {by!r}: colours are by 'type' or 'critical'")
    return _once(s["type"] for s in spans), lambda s: s["type"]


def _timeline(
    result: Result,
    policy: str | None = None,
    disturb: str | None = None,
    by: str | None = None,
) -> Figure:
    from matplotlib.ticker import MaxNLocator

    last = result.traced(policy, disturb)
    names = [policy] if policy else _once(row["policy"] for row in result.rows)
    runs = [result.traced(name, last["disturb"]) for name in names]
    spans = [span for run in runs for span in run["spans"]]
    by = by or ("critical" if any(s["critical"] for s in spans) else "type")
    groups, group_of = _span_colours(spans, by)
    cores = len(last["machine"]["cores"])
    figure, axes = _panels(len(runs), max(1.0, min(4.0, 0.18 * cores + 0.5)))
    end_s = max(run["seconds"] for run in runs)
    scale, unit = (1e3, "ms") if end_s < 1 else (1.0, "s")
    for run, panel in zip(runs, axes):
        for number, group in enumerate(groups):
            for core in range(cores):
                bars = [
                    (s["start_s"] * scale, (s["end_s"] - s["start_s"]) * scale)
                    for s in run["spans"]
                    if s["core"] == core and group_of(s) == group
                ]
                panel.broken_barh(
                    bars,
                    (core - 0.45, 0.9),
                    facecolors=_colour(number),
                    linewidth=0,
                    label=str(group) if core == 0 else None,
                )
        left_out = [(s["core"], s["from_s"], s["to_s"]) for s in run["unrecorded"]]
        for core, begin, end in left_out:
            panel.broken_barh(
                [(begin * scale, (end - begin) * scale)], (core - 0.45, 0.9), facecolors="#DDDDDD"
            )
        panel.set_xlim(0, end_s * scale)
        panel.set_ylim(cores - 0.4, -0.6)
        panel.yaxis.set_major_locator(MaxNLocator(integer=True))
        panel.set_ylabel("core", fontsize=8)
        kept = "" if not left_out else ", grey: not recorded"
        panel.set_title(f"{run['policy']}, {_scenario(run['disturb'])}{kept}", fontsize=9)
    axes[-1].set_xlabel(f"time [{unit}]", fontsize=8)
    _legend(figure, axes[0], "tasks")
    return figure


def _places(result: Result, disturb: str | None = None, critical: bool = False) -> Figure:
    document = result.document["experiments"]
    disturb = disturb or result.rows[-1]["disturb"]
    figure, axes = _panels(
        len(document), max(1.8, 0.32 * len(_once(r["policy"] for r in result.rows)) + 0.9)
    )
    for experiment, panel in zip(document, axes):
        counts: dict[str, dict[tuple[int, int], int]] = {}
        for run in experiment["runs"]:
            if run["disturb"] != disturb:
                continue
            own = counts.setdefault(run["policy"], {})
            for p in run["places"]:
                at = (p["leader"], p["width"])
                own[at] = own.get(at, 0) + p["critical"] + (0 if critical else p["other"])
        if not counts:
            raise ValueError(f"no run with disturbance '{disturb}'")
        places = [
            at
            for at in sorted({at for own in counts.values() for at in own}, key=lambda p: p[::-1])
            if any(own[at] for own in counts.values())
        ]
        shares = [
            [100 * own[at] / max(1, sum(own.values())) for at in places] for own in counts.values()
        ]
        most = max(map(max, shares))
        image = panel.imshow(shares, aspect="auto", cmap="cividis", vmin=0)
        if len(places) <= 16:
            for y, row in enumerate(shares):
                for x, share in enumerate(row):
                    colour = "white" if share < most / 2 else "black"
                    panel.text(
                        x, y, f"{share:.0f}", ha="center", va="center", fontsize=7, color=colour
                    )
        panel.set_xticks(range(len(places)))
        panel.set_xticklabels(
            [f"{leader},{width}" for leader, width in places],
            rotation=90 if len(places) > 12 else 0,
        )
        panel.set_yticks(range(len(counts)))
        panel.set_yticklabels(list(counts))
        panel.set_xlabel("place: first core, number of cores", fontsize=8)
        what = "critical tasks" if critical else "tasks"
        panel.set_title(
            f"{experiment['graph']} on {_machine(experiment['on'])}, {_scenario(disturb)}",
            fontsize=9,
        )
        figure.colorbar(image, ax=panel, label=f"share of {what} [%]")
    return figure


_KINDS: dict[str, Callable[..., Any]] = {
    "throughput": _throughput,
    "timeline": _timeline,
    "places": _places,
}


def of_result(result: Result, kind: str, **options: Any) -> Figure:
    if kind not in _KINDS:
        raise ValueError(f"plot {kind!r}: there are {', '.join(_KINDS)}")
    return _KINDS[kind](result, **options)


# Figures of papers.


def _values(axis: dict[str, Any] | None) -> list[str]:
    return axis["values"] if axis else [""]


def _grid(figure: dict[str, Any], panel: int, series: int) -> list[dict[str, Any] | None]:
    """Of each group its point, or None."""
    found: list[dict[str, Any] | None] = [None] * len(_values(figure["group"]))
    for point in figure["points"]:
        if (point["at"][0], point["at"][2]) == (panel, series):
            found[point["at"][1]] = point
    return found


def _number(point: dict[str, Any] | None, key: str = "obtained") -> float:
    value = point.get(key) if point else None
    return float("nan") if value is None else value


def _series_alone(figure: dict[str, Any]) -> bool:
    """Bars with their names below, since there is one group of them."""
    return figure["kind"] in ("bars", "shares") and not figure["group"]


def _draw_lines(axes: Axes, figure: dict[str, Any], panel: int) -> None:
    at = range(len(_values(figure["group"])))
    for number, name in enumerate(_values(figure["series"])):
        points = _grid(figure, panel, number)
        axes.plot(at, [_number(p) for p in points], color=_colour(number), label=name, marker=".")
        axes.fill_between(
            at,
            [_number(p, "low") for p in points],
            [_number(p, "high") for p in points],
            color=_colour(number),
            alpha=0.2,
            linewidth=0,
        )


def _draw_bars(axes: Axes, figure: dict[str, Any], panel: int) -> None:
    names, groups = _values(figure["series"]), _values(figure["group"])
    stacked = figure["kind"] == "stacks"
    alone = _series_alone(figure)
    below = [0.0] * len(groups)
    for number, name in enumerate(names):
        points = _grid(figure, panel, number)
        values = [0.0 if p is None else (p["obtained"] or 0.0) for p in points]
        width = 0.8 if stacked or alone else 0.8 / len(names)
        first = number + 0.4 if alone else 0.4 if stacked else width * (number + 0.5)
        at = [first + i for i in range(len(points))]
        axes.bar(
            at,
            values,
            width=width,
            bottom=below if stacked else None,
            color=_colour(0 if alone else number),
            hatch=None if alone else _hatch(number),
            edgecolor="white",
            label=None if alone else name,
        )
        if stacked:
            below = [a + b for a, b in zip(below, values)]
        for x, point in zip(at, points):
            if point and "published" in point and not stacked:
                axes.plot([x], [point["published"]], "_", color="black", markersize=8)


def _draw_heat(axes: Axes, figure: dict[str, Any], panel: int) -> None:
    names = _values(figure["series"])
    values = [[_number(p) for p in _grid(figure, panel, n)] for n in range(len(names))]
    image = axes.imshow(values, aspect="auto", cmap="cividis")
    axes.set_yticks(range(len(names)))
    axes.set_yticklabels(names)
    axes.figure.colorbar(image, ax=axes, label=figure["unit"])


def _draw_starts(axes: Axes, figure: dict[str, Any], panel: int) -> None:
    run = figure["traces"][panel]
    for critical, name in ((0, "other"), (1, "critical")):
        starts = [s for s in run["starts"] if s[3] == critical]
        axes.plot(
            [s[0] for s in starts],
            [s[1] for s in starts],
            linestyle="none",
            marker=".",
            markersize=3,
            color=_colour(critical),
            label=name,
        )
    if run["disturbed_from_s"] is not None and run["disturbed_to_s"] is not None:
        axes.axvspan(run["disturbed_from_s"], run["disturbed_to_s"], color="#DDDDDD", zorder=0)
    axes.set_xlabel("start [s]", fontsize=8)
    axes.set_ylabel("first core", fontsize=8)


def of_figure(figures: list[dict[str, Any]], which: int | str) -> Figure:
    ids = [one["id"] for one in figures]
    if not ids:
        raise ValueError("these claims have no figure")
    if isinstance(which, str) and which not in ids:
        raise ValueError(f"figure {which!r}: there are {', '.join(ids)}")
    drawn = figures[ids.index(which) if isinstance(which, str) else which]
    panels = [str(value) for value in _values(drawn["panel"])]
    made, axes = _panels(len(panels), 2.4 if len(panels) < 3 else 1.9, 1 if len(panels) < 3 else 2)
    draw = {
        "lines": _draw_lines,
        "heat": _draw_heat,
        "starts": _draw_starts,
    }.get(drawn["kind"], _draw_bars)
    alone = _series_alone(drawn)
    below = drawn["series"] if alone else drawn["group"]
    names = [str(value) for value in _values(below)]
    for number, (name, one) in enumerate(zip(panels, axes)):
        draw(one, drawn, number)
        one.set_title(name, fontsize=9)
        if drawn["kind"] == "starts":
            continue
        step = max(1, len(names) // 12)
        offset = 0.4 if draw is _draw_bars else 0.0
        one.set_xticks([i + offset for i in range(0, len(names), step)])
        long = sum(map(len, names[::step])) > (40 if len(panels) < 3 else 20)
        one.set_xticklabels(
            names[::step], rotation=45 if long else 0, ha="right" if long else "center"
        )
        if below:
            one.set_xlabel(below["name"], fontsize=8)
        if drawn["kind"] != "heat":
            one.set_ylabel(drawn["unit"], fontsize=8)
    printed = any("published" in point for point in drawn["points"]) and draw is _draw_bars
    note = " (black: as printed)" if printed else ""
    made.suptitle(f"{drawn['id']}: {drawn['title']}{note}", fontsize=9)
    if drawn["kind"] != "heat":
        _legend(made, axes[0])
    return made

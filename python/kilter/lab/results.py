"""What simulations and experiments gave: as rows, frames, pictures and JSON."""

from __future__ import annotations

import html
import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return html.escape("" if value is None else str(value))


def _table(names: list[str], rows: list[list[Any]]) -> str:
    """For a notebook."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_shown(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Result:
    """What a comparison gave: made by `kilter.simulate` or read by `kilter.read_results`."""

    def __init__(self, text: str) -> None:
        self._text = text
        #: the whole document, as docs of the command describe it (schema kilter.compare/2)
        self.document: dict[str, Any] = json.loads(text)

    def json(self) -> str:
        """The bytes that `kilter compare ... --json -` prints.

        Only its `environment` differs: command line, dates, files, wall time.
        """
        return self._text

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One for each graph, machine, scenario and policy, cold or warm."""
        return self.document["rows"]

    @property
    def findings(self) -> list[str]:
        """What it shows, in sentences."""
        return self.document["findings"]

    @property
    def units(self) -> dict[str, str]:
        """Of the columns of `rows`: "s", "1/s", "J", "share"; "" for ratios, counts and words."""
        return {column["name"]: column["unit"] for column in self.document["columns"]}

    def frame(self) -> pandas.DataFrame:
        """`rows` as a pandas frame; its `attrs` have `units` and `meanings` of the columns."""
        import pandas

        frame = pandas.DataFrame(self.rows, columns=list(self.units))
        frame.attrs["units"] = self.units
        frame.attrs["meanings"] = {c["name"]: c["meaning"] for c in self.document["columns"]}
        return frame

    def runs(self) -> pandas.DataFrame:
        """Every single run: its policy, scenario, repeat, seconds, steals, energy."""
        import pandas

        return pandas.DataFrame(
            {"graph": e["graph"], "on": e["on"], **run}
            for e in self.document["experiments"]
            for run in e["runs"]
        ).drop(columns=["places", "cores"], errors="ignore")

    def traced(self, policy: str | None = None, disturb: str | None = None) -> dict[str, Any]:
        """The document of a traced run, with the time that the table learned (`table`).

        By default the last policy in the last scenario. ValueError if there is none.
        """
        found = [
            {"on": e["on"], "graph": e["graph"], "machine": e["machine"], **one}
            for e in self.document["experiments"]
            for one in e["details"]
            if policy in (None, one["policy"]) and disturb in (None, one["disturb"])
        ]
        if not found:
            raise ValueError(
                f"no traced run of policy {policy!r} with {disturb!r}: one graph on one machine "
                "has some, with details=True"
            )
        return found[-1]

    def trace(self, policy: str | None = None, disturb: str | None = None) -> pandas.DataFrame:
        """What each core did in a traced run, a row for each core of each task.

        Columns: core, start_s and end_s (seconds), type, leader and width of the place, critical,
        member, task. At most 4000 rows; `attrs` say of how many (`spans_total`), and for which
        stretches of time they are complete (`span_windows`).
        """
        import pandas

        run = self.traced(policy, disturb)
        frame = pandas.DataFrame(run["spans"])
        frame.attrs.update({k: run[k] for k in ("spans_total", "span_windows", "seconds")})
        return frame

    def plot(self, kind: str = "throughput", **options: Any) -> Figure:
        """A matplotlib figure.

        "throughput": tasks a second of each policy in each scenario, with the spread of its
        repeats. "timeline": which core ran what when, of `policy=` (default: all) in `disturb=`
        (default: the last). "places": where each policy ran its tasks, in `disturb=`;
        `critical=True`: its critical ones.
        """
        from . import plots

        return plots.of_result(self, kind, **options)

    def _repr_html_(self) -> str:
        shown = [
            c for c in self.document["columns"] if c["head"] or c["name"] in ("graph", "disturb")
        ]
        shown = [c for c in shown if any(row[c["name"]] is not None for row in self.rows)]
        names = [f"{c['name']} [{c['unit']}]" if c["unit"] else c["name"] for c in shown]
        found = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.findings)
        return (
            _table(names, [[row[c["name"]] for c in shown] for row in self.rows])
            + f"<ul>{found}</ul>"
        )

    def __repr__(self) -> str:
        policies = ", ".join(dict.fromkeys(row["policy"] for row in self.rows))
        return f"<kilter result: {len(self.rows)} rows of {policies}>"


class Reproduction:
    """Verdicts on claims of papers, with the numbers behind them."""

    def __init__(self, text: str, figures: str = "[]") -> None:
        self._text = text
        #: schema kilter.reproduce/1
        self.document: dict[str, Any] = json.loads(text)
        self.figures: list[dict[str, Any]] = json.loads(figures)

    def json(self) -> str:
        """The bytes that `kilter lab reproduce ... --json -` prints."""
        return self._text

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Each with its statement, cases, values and verdict."""
        return self.document["claims"]

    @property
    def verdict(self) -> str | dict[str, str]:
        """Of the claim; of several, by id: "reproduced", "direction reproduced", ..."""
        verdicts = {claim["id"]: claim["verdict"] for claim in self.claims}
        return next(iter(verdicts.values())) if len(verdicts) == 1 else verdicts

    @property
    def numbers(self) -> pandas.DataFrame:
        """What was obtained beside what was published: a row for each value and each case."""
        import pandas

        rows = []
        for claim in self.claims:
            for v in claim["values"]:
                rows.append(
                    {
                        "claim": claim["id"],
                        "number": v["value"],
                        "published": v["published"],
                        **{k: v[k] for k in ("obtained", "low", "high")},
                        "holds": v["inside"],
                    }
                )
            for c in claim["cases"]:
                sign = {"gt": ">", "lt": "<", "eq": "="}[c["relation"]]
                rows.append(
                    {
                        "claim": claim["id"],
                        "number": f"{c['case']} {sign} {c['reference']:g}",
                        "published": None,
                        **{k: c[k] for k in ("obtained", "low", "high")},
                        "holds": c["holds"],
                    }
                )
        return pandas.DataFrame(
            rows, columns=["claim", "number", "published", "obtained", "low", "high", "holds"]
        )

    def plot(self, figure: int | str = 0) -> Figure:
        """The paper's figure drawn again: by its number in `figures`, or its id.

        ValueError if the claims have none.
        """
        from . import plots

        return plots.of_figure(self.figures, figure)

    def _repr_html_(self) -> str:
        return _table(
            ["claim", "verdict", "statement", "published", "obtained"],
            [
                [c[k] for k in ("id", "verdict", "statement", "published", "obtained")]
                for c in self.claims
            ],
        )

    def __repr__(self) -> str:
        return f"<kilter reproduction: {', '.join(c['id'] for c in self.claims)}>"


def read_results(path: str | os.PathLike[str]) -> Result | Reproduction:
    """A JSON file that the command wrote: of `kilter compare` or `kilter lab reproduce`."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    made_by = {"kilter.compare/2": Result, "kilter.reproduce/1": Reproduction}
    try:
        schema = json.loads(text)["schema"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path}: is no file of results that kilter wrote with --json") from None
    if schema not in made_by:
        raise ValueError(f"{path}: schema '{schema}' is not read; {', '.join(made_by)} are")
    return made_by[schema](text)

"""Graphs and platforms that Python has, as the text that Kilter reads."""

from __future__ import annotations

import json
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

_TASK = ("after", "seconds", "type", "priority")


def _values(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """Those that a graph file can have."""
    kept: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, (str, bool)):
            kept[str(name)] = value
        elif isinstance(value, numbers.Real):
            kept[str(name)] = float(value)
    return kept


def _node_link(
    nodes: Iterable[tuple[Any, Mapping[Any, Any]]],
    edges: Iterable[tuple[Any, Any, Mapping[Any, Any]]],
) -> str:
    return json.dumps(
        {
            "directed": True,
            "nodes": [{**_values(own), "id": str(task)} for task, own in nodes],
            "links": [
                {**_values(own), "source": str(first), "target": str(then)}
                for first, then, own in edges
            ],
        }
    )


def _of_networkx(graph: Any) -> str:
    if not graph.is_directed():
        raise ValueError("a graph of tasks is directed: give a networkx.DiGraph")
    return _node_link(graph.nodes(data=True), graph.edges(data=True))


def _of_dask(graph: Mapping[Any, Any]) -> str:
    from dask.core import get_dependencies, istask
    from dask.utils import funcname

    nodes: list[Any] = []
    edges: list[Any] = []
    for key, value in graph.items():
        runs = getattr(value, "func", None) or (value[0] if istask(value) else None)
        nodes.append((key, {"type": funcname(runs)} if runs else {"type": "data", "seconds": 0}))
        edges += [(first, key, {}) for first in sorted(get_dependencies(graph, key), key=str)]
    return _node_link(nodes, edges)


def _is_dask(graph: Mapping[Any, Any]) -> bool:
    return hasattr(graph, "layers") or any(
        hasattr(value, "dependencies")
        or (isinstance(value, tuple) and value and callable(value[0]))
        for value in graph.values()
    )


def _of_dict(graph: Mapping[Any, Any]) -> str:
    nodes: list[Any] = []
    edges: list[Any] = []
    for task, what in graph.items():
        own = dict(what) if isinstance(what, Mapping) else {"after": what}
        for name in own:
            if name not in _TASK:
                raise ValueError(f"task {task!r} has no {name!r}: there are {', '.join(_TASK)}")
        after = own.pop("after", ())
        if isinstance(after, str):
            raise TypeError(f"task {task!r} waits for {after!r}: give a list of tasks")
        nodes.append((task, own))
        edges += [(first, task, {}) for first in after]
    return _node_link(nodes, edges)


def graph_text(graph: Any) -> str | None:
    """Of a networkx.DiGraph, a Dask graph or collection, or a dict; None for anything else."""
    if hasattr(graph, "__dask_graph__"):
        graph = graph.__dask_graph__()
    if hasattr(graph, "is_directed"):
        return _of_networkx(graph)
    if isinstance(graph, Mapping):
        return _of_dask(graph) if _is_dask(graph) else _of_dict(graph)
    return None


def _toml(value: Any) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_toml(str(k))} = {_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    raise TypeError(f"a platform cannot have {value!r}: give text, numbers, lists and dicts")


def platform_text(platform: Mapping[str, Any]) -> str:
    """A platform file that says the same."""
    return "".join(f"{key} = {_toml(value)}\n" for key, value in platform.items())

"""The laboratory: policies against one another in virtual time, on machines that need not be here.

    result = kilter.simulate("layered", on="jetson-tx2", policy="rws,dam-c", disturb="cpu@0")
    result.frame()                  # a row for each policy in each scenario
    result.plot("timeline")         # what the cores did

`simulate` is `kilter compare` in the process, `reproduce` is `kilter lab reproduce`; policies of
your own derive from `Policy`.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import _laboratory
from .graphs import graph_text, platform_text
from .policy import (
    Cluster,
    Decision,
    Discipline,
    Machine,
    Measured,
    Place,
    Policy,
    Queue,
    Task,
    View,
    bind_to,
    hold_task,
    hold_until,
    nothing,
    put_back,
    reserve,
    run_at,
    run_next,
    steal,
    take_from,
    wait_in,
)
from .results import Reproduction, Result, read_results

__all__ = [
    "Cluster",
    "Decision",
    "Discipline",
    "Machine",
    "Measured",
    "Place",
    "Policy",
    "Queue",
    "Reproduction",
    "Result",
    "Task",
    "View",
    "bind_to",
    "hold_task",
    "hold_until",
    "nothing",
    "platforms",
    "policies",
    "put_back",
    "read_results",
    "reproduce",
    "reserve",
    "run_at",
    "run_next",
    "settings",
    "simulate",
    "steal",
    "take_from",
    "wait_in",
]

_laboratory.set_programs(str(pathlib.Path(_laboratory.__file__).parent / "bin"))


def platforms() -> list[str]:
    """Names of the machines that can be simulated, those in $KILTER_PLATFORMS among them."""
    return _laboratory.platforms()


def policies() -> dict[str, str]:
    """The built-in policies by name, each with what it does."""
    return dict(_laboratory.policies())


def settings() -> dict[str, str]:
    """What `simulate` takes by name beside its own arguments, each with its meaning."""
    named = ("repeat", "seed", "smt", "unpinned")
    return {name: text for name, text in _laboratory.settings().items() if name not in named}


def _list(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, (list, tuple)) else [given]


def _text(value: Any) -> str:
    """A setting as a command line has it; a list of one core is no count."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple, range)):
        return ",".join(map(str, value)) + ("," if len(value) == 1 else "")
    return str(value)


def _graphs(given: Any, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    graphs = given if isinstance(given, list) else [given]
    if parameters and (len(graphs) > 1 or not isinstance(graphs[0], (str, os.PathLike))):
        raise TypeError(
            f"no setting is named {', '.join(parameters)}; kilter.lab.settings() lists them"
        )
    all_of_them: list[dict[str, Any]] = []
    for number, graph in enumerate(graphs, 1):
        text = graph_text(graph)
        if text is not None:
            named = getattr(graph, "name", None)
            own = named if isinstance(named, str) and named else "graph"
            all_of_them.append(
                {"name": own if len(graphs) == 1 else f"{own} {number}", "text": text}
            )
            continue
        name = os.fspath(graph)
        if not parameters:
            all_of_them.append({"name": name})
        elif name in _laboratory.workloads():
            texts = {key: _text(value) for key, value in parameters.items()}
            all_of_them.append({"name": name, "parameters": texts})
        else:
            call = ",".join(f"{key}={_text(value)}" for key, value in parameters.items())
            all_of_them.append({"name": f"{name}{',' if ':' in name else ':'}{call}"})
    return all_of_them


def _machine(on: Any) -> Any:
    if isinstance(on, Mapping):
        return {"name": str(on.get("name", "platform")), "toml": platform_text(on)}
    text = os.fspath(on)
    if text == "native" or text.startswith("emulate:"):
        raise ValueError(
            f"on '{text}': only virtual time is simulated; kilter compare runs the rest"
        )
    return text if text == "ideal" or text.startswith("sim:") else "sim:" + text


def _policies(given: Any) -> tuple[list[Any], tuple[Policy, ...]]:
    named: list[Any] = []
    own: list[Policy] = []
    for one in _list(given):
        if isinstance(one, Policy):
            if one.name in policies() or one.name in [p.name for p in own]:
                raise ValueError(f"policy '{one.name}' is there already: give it another name")
            named.append({"name": one.name, "own": len(own)})
            own.append(one)
        elif isinstance(one, str):
            named.append(one)
        else:
            raise TypeError(f"a policy is a name or an instance of kilter.Policy, not {one!r}")
    return named, tuple(own)


def _interruptible() -> bool:
    """Whether this thread is the one that Ctrl-C interrupts."""
    here = threading.current_thread() is threading.main_thread()
    return here and callable(signal.getsignal(signal.SIGINT))


def simulate(
    graph: Any,
    on: str | os.PathLike[str] | Mapping[str, Any] | Sequence[Any] = "jetson-tx2",
    policy: str | Policy | Sequence[str | Policy] = "rws,auto",
    disturb: str | Sequence[str] = (),
    *,
    seed: int = 1,
    repeats: int = 3,
    as_: str = "",
    scale: float = 1,
    like: str = "matmul",
    widths: str | Iterable[int] = "",
    details: bool = True,
    quiet: bool = False,
    **settings: Any,
) -> Result:
    """Policies against one another on graphs, in virtual time: what `kilter compare` does.

    `graph`: a workload ("layered", "kmeans", ...), a generator's call ("cholesky:n=20"), the path
    of a graph file, a networkx.DiGraph (attributes of nodes: seconds, type; of edges: seconds), a
    Dask graph or collection, or a dict, {task: [tasks before it]} or {task: {"after": [...],
    "type": "mul", "seconds": 0.2}}. A list runs one after the other. Where nothing tells how long
    tasks take, it is a millisecond each.

    `on`: a platform's name (`platforms()`), the path of a platform file, a dict that says what such
    a file says, "ideal" for the processors that a graph brings; a list runs on each.

    `policy`: names as "rws,dam-c", "all", paths of libraries, instances of `Policy`, or a list of
    these. Where there are two or more, rws is among them.

    `disturb`: scenarios as "cpu@0" (a co-runner on core 0); undisturbed is always run too.

    `repeats` runs of each policy in each scenario, 1 to 10000. `as_`: settings as "published", as
    "coded" in the papers' public code, or as "kilter" has them. `scale` multiplies the seconds in
    graphs, above 0. `like`: the kernel that tasks without one scale like. `widths`: how many cores
    a task may run on at once where its graph does not say, as [1, 2]. `details`: one traced run
    more of each policy and scenario, for `Result.trace` and time lines. `quiet`: no line of
    progress, which otherwise is on standard error if that is a terminal.

    Other keywords are settings of the command (`settings()`; `fast=[0, 1]` is --fast 0,1), or
    parameters of the workload or generator, as `simulate("cholesky", n=20)`.

    ValueError, with the command's words, for what cannot be run; KeyboardInterrupt ends it. The
    same question gives the same answer, byte for byte.
    """
    known = _laboratory.settings()
    words = {name: _text(value) for name, value in settings.items() if name in known}
    words.update(seed=_text(seed), repeat=_text(repeats))
    parameters = {name: value for name, value in settings.items() if name not in known}
    graph_words = {"scale": _text(scale), "like": like, "widths": _text(widths).rstrip(",")}
    workload = isinstance(graph, str) and graph in _laboratory.workloads()
    if parameters and workload and (scale != 1 or widths):
        raise ValueError(f"scale and widths are for graphs, and '{graph}' is a workload")
    named, own = _policies(policy)
    asked = {
        "graphs": _graphs(graph, parameters),
        "on": [_machine(one) for one in _list(on)],
        "policies": named,
        "disturb": _list(disturb),
        "settings": words,
        "as": as_,
        "details": details,
        "quiet": quiet,
        "command": "kilter.simulate",
        **graph_words,
    }
    return Result(_laboratory.simulate(json.dumps(asked), own, _interruptible()))


def reproduce(
    *claims: str, as_: str = "published", figures: bool = True, quiet: bool = False
) -> Reproduction:
    """Runs published experiments in virtual time and judges what the papers claim.

    `claims`: ids as "S0-11", papers as "S0", or "all" (many minutes). `as_`: whose settings, the
    papers' ("published"), their public code's ("coded") or "kilter"'s. `figures`: also what
    `Reproduction.plot` draws, which may need runs that no claim looks at. What
    `kilter lab reproduce` does.
    """
    asked = {"claims": list(claims or ("all",)), "as": as_, "figures": figures, "quiet": quiet}
    return Reproduction(*_laboratory.reproduce(json.dumps(asked), _interruptible()))

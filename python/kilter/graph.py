"""Tasks that need the results or the data of others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Callable

from . import _core
from .executor import Executor, default_executor


class Task:
    """A task of a `Graph`, made by `Graph.add`. As an argument of another it is its result."""

    __slots__ = ("_graph", "_index", "type")

    def __init__(self, graph: Graph, index: int, type: str) -> None:
        self._graph = graph
        self._index = index
        self.type = type

    def result(self) -> Any:
        """What the function returned in the last run; raises what it raised.

        CancelledError if it was left out, RuntimeError if it has not ended.
        """
        return self._graph._result(self._index)

    def exception(self) -> BaseException | None:
        """What the function raised in the last run, or None; otherwise as `result`."""
        return self._graph._exception(self._index)

    def __repr__(self) -> str:
        return f"<kilter.Task {self._index} {self.type!r}>"


class Run:
    """One run of a graph, begun by `Graph.start`. It goes on if this object is dropped."""

    def __init__(self, graph: Graph, run: Any) -> None:
        self._graph = graph
        self._run = run

    def wait(self, timeout: float | None = None) -> None:
        """Returns when all tasks have ended; raises the first exception of one.

        timeout: seconds after which it raises TimeoutError; the run goes on. CancelledError if it
        was cancelled. In a task on the same executor other tasks run meanwhile, so that task must
        hold no lock which they take.
        """
        self._run.wait(timeout)

    def result(self, task: Task, timeout: float | None = None) -> Any:
        """What the task returned, as soon as it has ended; otherwise as `Task.result`."""
        return self._run.result(_index(self._graph, task), timeout)

    def cancel(self) -> None:
        """No further task begins. Those that run are not interrupted."""
        self._run.cancel()

    def done(self) -> bool:
        """Whether all tasks have ended, or were left out."""
        return self._run.done()


class Graph(_core.Graph):
    """Tasks and their order: built once, run as often as wanted. One thread builds it.

    >>> g = Graph()
    >>> a = g.add(pow, 2, 5)
    >>> b = g.add(sum, [a, 10])
    >>> g.run()
    >>> b.result()
    42
    """

    def add(
        self,
        f: Callable[..., Any],
        /,
        *args: Any,
        after: Task | Iterable[Task] = (),
        reads: Iterable[Any] = (),
        writes: Iterable[Any] = (),
        type: str | None = None,
        critical: bool = False,
        work: float = 0.0,
        **kwargs: Any,
    ) -> Task:
        """Adds the call f(*args, **kwargs) as a task.

        A task among the arguments, or inside a list, tuple or dict that is one, stands for its
        result and is waited for.
        after: tasks that end before this one begins.
        reads, writes: objects that it reads and changes, such as numpy arrays. It runs after the
        tasks added before that change what it reads, and that read or change what it changes.
        An object is known by its identity, not its value; a view of an array is another object.
        type: the name under which its time is learned; None: the function's.
        critical: whether it is on the longest path, as far as you know.
        work: a guess of its work in any unit that is the same for the whole graph; 0: none.

        ValueError for tasks of another graph, RuntimeError while the graph runs.
        """
        needed = [task for value in (*args, *kwargs.values()) for task in _tasks_in(value)]
        before = {_index(self, task) for task in needed}
        before.update(_index(self, task) for task in _several(after))
        name = type or _core.name_of(f)
        call = _WithResults(f) if needed else f
        index = self._add(call, args, kwargs, tuple(reads), tuple(writes), name, critical, work)
        for other in before:
            self._edge(other, index)
        return Task(self, index, name)

    def edge(self, before: Task, after: Task) -> None:
        """`before` ends before `after` begins. ValueError for tasks of another graph."""
        self._edge(_index(self, before), _index(self, after))

    def start(self, executor: Executor | None = None) -> Run:
        """Begins a run and returns at once. None: on the default executor.

        ValueError if the edges form a cycle, RuntimeError if the graph runs already.
        """
        return Run(self, self._start(default_executor() if executor is None else executor))

    def run(self, executor: Executor | None = None, *, timeout: float | None = None) -> None:
        """Runs all tasks; `Task.result` then has what they returned.

        The first exception of a task is raised, and what has not begun by then is left out.
        timeout: seconds after which the run is cancelled (TimeoutError). So does Ctrl-C.
        """
        run = self.start(executor)
        try:
            run.wait(timeout)
        except BaseException:
            run.cancel()
            raise


def _index(graph: Graph, task: Task) -> int:
    if not isinstance(task, Task):
        raise TypeError(f"a task of the graph is needed, not {task!r}")
    if task._graph is not graph:
        raise ValueError(f"{task} is of another graph")
    return task._index


def _several(tasks: Task | Iterable[Task]) -> Iterable[Task]:
    return (tasks,) if isinstance(tasks, Task) else tasks


class _WithResults:
    """A function whose arguments may be tasks."""

    __slots__ = ("f",)

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return self.f(*[_value(a) for a in args], **{k: _value(a) for k, a in kwargs.items()})


def _tasks_in(value: Any) -> list[Task]:
    if isinstance(value, Task):
        return [value]
    if type(value) in (list, tuple):
        return [v for v in value if isinstance(v, Task)]
    if type(value) is dict:
        return [v for v in value.values() if isinstance(v, Task)]
    return []


def _value(value: Any) -> Any:
    if isinstance(value, Task):
        return value.result()
    if type(value) in (list, tuple):
        return type(value)([v.result() if isinstance(v, Task) else v for v in value])
    if type(value) is dict:
        return {k: v.result() if isinstance(v, Task) else v for k, v in value.items()}
    return value

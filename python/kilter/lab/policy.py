"""Policies written in Python, which a simulation asks where tasks run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from .. import _laboratory

View = _laboratory.View
Task = _laboratory.Task


class Place(NamedTuple):
    """`width` neighbouring cores from `leader` on, which run one task together."""

    leader: int
    width: int


class Cluster(NamedTuple):
    """Cores first .. first + size - 1, of one kind, with a cache in common."""

    first: int
    size: int
    kind: int
    widths: tuple[int, ...]


class Machine:
    """What a policy knows of the cores from the start."""

    def __init__(self, topology: dict[str, Any]) -> None:
        self.name: str = topology["name"]
        #: how many cores; they are numbered from 0, cluster by cluster, the fastest kind first
        self.cores: int = len(topology["cores"])
        #: name of each kind, the fastest first
        self.kinds: list[str] = [kind["name"] for kind in topology["kinds"]]
        #: by core, index of its kind
        self.kind_of: list[int] = [core["kind"] for core in topology["cores"]]
        #: by core, index of its cluster
        self.cluster_of: list[int] = [core["cluster"] for core in topology["cores"]]
        self.clusters = [
            Cluster(c["first"], c["size"], c["kind"], tuple(c["widths"]))
            for c in topology["clusters"]
        ]
        #: all of them, cluster by cluster, then by width, then by leader
        self.places = [Place(p["leader"], p["width"]) for p in topology["places"]]
        self._containing = [
            sorted(
                (p for p in self.places if p.leader <= core < p.leader + p.width),
                key=lambda p: p.width,
            )
            for core in range(self.cores)
        ]

    def containing(self, core: int) -> list[Place]:
        """Places that contain the core, whoever leads them, the narrowest first."""
        return self._containing[core]

    def fastest_cores(self) -> list[int]:
        """Cores of kind 0; all if there is one kind."""
        return [core for core, kind in enumerate(self.kind_of) if kind == 0]


class Queue(NamedTuple):
    """A queue beside or instead of the cores' deques.

    `order` is "lifo", "fifo" or "by_key" (largest key first). `owner` None: shared. `takers`: cores
    that may take from it; none: all.
    """

    owner: int | None = None
    order: str = "lifo"
    takers: tuple[int, ...] = ()


@dataclass
class Discipline:
    """Which queues there are, and which questions a policy answers itself.

    A question is asked if the policy has a method for it; False in its flag leaves it to the
    standard answer all the same, as `asks_ready_low=False` for tasks that are not critical. Without
    `queues` each core has a deque of its own: the owner takes from one end, thieves from the other.
    """

    queues: Sequence[Queue] = ()
    #: with `queues`: deques too, as queues 0 .. cores - 1; those of `queues` follow
    deques_too: bool = False
    #: "random", "richest" or "cluster_first"; None: as the setting `steal` says
    steal_from: str | None = None
    #: the first child made ready for its waker's deque runs next; None: as `children` says
    forward_child: bool | None = None
    asks_submit: bool | None = None
    asks_ready_low: bool | None = None
    asks_ready_high: bool | None = None
    asks_next: bool | None = None
    asks_take_low: bool | None = None
    asks_take_high: bool | None = None
    #: on_take only ever chooses places of the taker
    take_stays: bool = False
    asks_done: bool | None = None
    #: the time of each task goes into the trace table, unless there is an on_done
    learns: bool = False
    asks_machine: bool | None = None
    #: view.predecessors works
    reads_predecessors: bool = False
    #: view.data_core works for tasks that name no data
    reads_data: bool = False
    #: how many shared cells; view.load
    cells: int = 0
    #: how many more for each type and size class of tasks; view.type_load
    type_cells: int = 0


class Decision(NamedTuple):
    """An answer. Made by the functions of this module, each for one of the questions."""

    what: str
    queue: int = 0
    key: int = 0
    place: tuple[int, int] | None = None
    stealable: bool = True
    busy_s: float = 0.0
    skip: int = 0
    task: Task | None = None
    until_s: float = 0.0


def wait_in(queue: int, key: int = 0) -> Decision:
    """on_ready: the task waits in that queue; `key` is its order in a queue by key."""
    return Decision("wait_in", queue, key)


def run_next(place: tuple[int, int] | None = None) -> Decision:
    """on_ready: the waker runs it right after what it does, at `place` if one is given."""
    return Decision("run_next", place=place)


def reserve(place: tuple[int, int]) -> Decision:
    """on_ready: it waits with the place's leader, nobody steals it, and it runs there."""
    return Decision("wait_in", place[0], place=place, stealable=False)


def bind_to(place: tuple[int, int], busy_s: float = 0.0) -> Decision:
    """on_ready: it goes to the cores of the place at once.

    `busy_s` seconds count as work of its leader (view.busy_s) until it is done.
    """
    return Decision("bind_to", place=place, busy_s=busy_s)


def take_from(queue: int, skip: int = 0) -> Decision:
    """next: the worker tries this queue.

    It leaves the first `skip` tasks to others, and is asked again if it gets none.
    """
    return Decision("take_from", queue, skip=skip)


def steal() -> Decision:
    """next: the worker tries one victim, and is asked again if that has nothing."""
    return Decision("steal")


def nothing() -> Decision:
    """next: the worker may rest."""
    return Decision("nothing")


def hold_task(task: Task) -> Decision:
    """next: the worker waits for this task, and runs it."""
    return Decision("hold_task", task=task)


def hold_until(until_s: float) -> Decision:
    """next: the worker does nothing before that moment (view.now_s), and is asked again."""
    return Decision("hold_until", until_s=until_s)


def run_at(place: tuple[int, int], busy_s: float = 0.0) -> Decision:
    """on_take: the task runs there; `busy_s` as in bind_to."""
    return Decision("run_at", place=place, busy_s=busy_s)


def put_back() -> Decision:
    """on_take: it goes back to its queue, for others. Not all cores may decline."""
    return Decision("put_back")


class Measured(NamedTuple):
    """What was seen of a task that is done. Seconds of the engine's clock."""

    place: Place
    sample_s: float  #: what counts as its time
    leader_s: float  #: the leader's own span
    span_s: float  #: first start to last end
    cpu_s: float  #: CPU time of a long task of width 1; 0 if not measured
    tasks: int  #: above 1: `sample_s` is the mean of so many short ones
    work: float  #: how many times it did what its type does; 0 if not told
    from_data: str  #: "unknown", "none", "cluster", "beyond" or "at_hand"
    leader_first: bool  #: False: `sample_s` is the span
    members: list[tuple[int, float]]  #: core and seconds of each


#: Which method turns which flags of Discipline on.
_ASKED_BY = {
    "on_submit": ("asks_submit",),
    "on_ready": ("asks_ready_low", "asks_ready_high"),
    "next": ("asks_next",),
    "on_take": ("asks_take_low", "asks_take_high"),
    "on_done": ("asks_done",),
    "on_machine": ("asks_machine",),
}


class Policy:
    """A scheduling algorithm of your own, for `kilter.simulate(..., policy=Mine())`.

    Override what you decide; what you leave is done the standard way: a ready task waits with the
    core that released it, a worker looks into its own deque and then steals, and a task runs alone
    where it was taken. None as an answer is the standard one too. A method reads and changes what
    its `view` offers and nothing else, so that a run can be repeated; `discipline` is called before
    each run. Critical is what the graph gives high priority, or what on_submit flags. An exception
    ends the simulation and comes out of it.

        class Fastest(kilter.Policy):
            '''Critical tasks on the fastest place known, others where they are released.'''

            def discipline(self, machine):
                return kilter.lab.Discipline(learns=True, asks_ready_low=False)

            def on_ready(self, task, view):
                return kilter.lab.reserve(view.best_place(task, "time"))
    """

    #: how rows of results call it; the name of the class unless it says another
    name = ""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def discipline(self, machine: Machine) -> Discipline:
        """Queues, and what is asked; the cores are those of the machine that is simulated."""
        return Discipline()

    def on_submit(self, view: View) -> None:
        """A graph comes: view.batch() has its tasks."""

    def on_ready(self, task: Task, view: View) -> Decision | None:
        """Where a task waits that has become ready: wait_in, run_next, reserve or bind_to."""

    def next(self, view: View, attempt: int) -> Decision | None:
        """What the worker of core view.asker tries.

        take_from, steal, hold_task, hold_until or nothing. `attempt` counts from 0 since it last
        ran something.
        """

    def on_take(self, task: Task, view: View) -> Decision | None:
        """Where a task runs that core view.asker has taken from a queue: run_at or put_back."""

    def on_done(self, task: Task, measured: Measured, view: View) -> None:
        """A task is done; view.learn(task) puts its time into the trace table."""

    def on_machine(self, view: View) -> None:
        """Cores came or went: view.online."""

    # What the engine asks by, and no business of anybody else.

    @staticmethod
    def _machine(topology: str) -> Machine:
        return Machine(json.loads(topology))

    @staticmethod
    def _measured(seen: tuple[Any, ...]) -> Measured:
        return Measured(Place(*seen[0]), *seen[1:])

    def _discipline(self, machine: Machine) -> dict[str, Any]:
        given = self.discipline(machine)
        if not isinstance(given, Discipline):
            raise TypeError(f"discipline() must return a Discipline, got {given!r}")
        flags = {field.name: getattr(given, field.name) for field in fields(given)}
        flags["queues"] = tuple((q.owner, q.order, tuple(q.takers)) for q in given.queues)
        for method, asks in _ASKED_BY.items():
            own = getattr(type(self), method) is not getattr(Policy, method)
            for flag in asks:
                flags[flag] = own if flags[flag] is None else flags[flag]
        return flags

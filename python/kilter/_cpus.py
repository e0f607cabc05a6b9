"""What this process may use of the computer now."""

from __future__ import annotations

import dataclasses
import time
import typing

from . import _core


class User(typing.NamedTuple):
    """Another process that uses a CPU now."""

    pid: int | None
    """None where it is in a container whose processes have other numbers."""
    name: str
    """Of its program, "kilter: NAME" if it shares CPUs out with other programs of Kilter."""
    share: float
    """The part of the CPU's time that it had, 0 to 1."""


@dataclasses.dataclass(frozen=True)
class Cpu:
    """A logical CPU that this process may use."""

    id: int
    """The operating system's number, as `taskset` takes it."""
    core: int
    """The number of the first CPU of its physical core: equal for those that share one."""
    cluster: int
    """Equal for CPUs that share a last cache, from 0 on."""
    kind: str
    """Of core: "P-core", "E-core", "core" where nothing names it."""
    speed: float
    """Nominal, against the fastest kind here: 0 to 1, and 1.0 where it is not known."""
    worth: float
    """What a thread of ours would get of it now, 0 to 1 of the fastest CPU that nobody disturbs."""
    users: tuple[User, ...]
    """Who else uses it, those that use most first, as far as /proc shows them."""


def _checked(seconds: float) -> float:
    if not isinstance(seconds, (int, float)):
        raise TypeError(f"seconds is a number, not {type(seconds).__name__}")
    if not 0.0 <= seconds <= 3600.0:
        raise ValueError(f"seconds={seconds!r} cannot be measured for; 0.05 to 3600 can")
    return seconds


def _worth(speed: float, others: float, users: list[User]) -> float:
    """Max-min fair between a thread of ours and those that are known. What nobody is known to use,
    as another machine's part, is gone."""
    left = 1.0 - (others - min(others, sum(user.share for user in users)))
    for sharing, user in enumerate(reversed(users)):
        part = left / (len(users) - sharing + 1)
        if user.share >= part:
            return speed * part
        left -= user.share
    return speed * left


def cpus(seconds: float = 0.05) -> list[Cpu]:
    """The CPUs that this process may use, and what each is worth now.

    What others use is measured for so many `seconds`, this process's own threads left out. The
    kernel counts in ticks of 10 ms, so 0.05 s tell it to about a fifth of a CPU. A busy computer
    takes some milliseconds more, since each process is looked at. With 0 seconds nobody is seen.

    Raises ValueError for negative seconds and for more than an hour.
    """
    seconds = _checked(seconds)
    measured = _core.begin_cpus()
    time.sleep(seconds)
    found = []
    for number, core, cluster, kind, speed, others, told in _core.cpus_since(measured):
        users = [
            User(pid, ("kilter: " if of_kilter else "") + name, share)
            for pid, name, share, of_kilter in told
        ]
        worth = _worth(speed, others, users)
        found.append(Cpu(number, core, cluster, kind, speed, worth, tuple(users)))
    return found


class Budget(int):
    """A number of threads that says why it is no other."""

    equal: int
    """The same for threads that share work out in equal parts and wait for one another, as those of
    BLAS and most of OpenMP do: where kinds of cores differ, slow ones would hold up the others."""
    why: str
    """One line."""

    def __new__(cls, number: int, equal: int | None = None, why: str = ""):
        self = super().__new__(cls, number)
        self.equal = number if equal is None else equal
        self.why = why
        return self


def _count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def _budget(told: dict) -> Budget:
    """Of what _core.look() gives."""
    reasons = []
    if told["paid"] < told["cpus"]:
        reasons.append(f"the quota pays for {told['quota']:g}")
    if told["left"] < told["cpus"]:
        reasons.append(f"others use {told['others']:.1f}")
    if told["sharing"] and told["share"] < told["cpus"]:
        reasons.append(f"{_count(told['sharing'], 'other program')} of Kilter share them")
    why = f"{told['pool']} of {_count(told['cpus'], 'CPU')}: {', '.join(reasons) or 'all are free'}"
    return Budget(told["pool"], told["equal"], why)


def cpu_budget(seconds: float = 0.05) -> Budget:
    """How many threads make sense in this process now, at least 1: `max_workers=cpu_budget()`.

    Counts the CPUs of the affinity mask and the cpuset; no more than the CPU quotas of both
    versions of control groups pay for; without those that others use, measured for so many
    `seconds`, where this process's threads are no others, but its children are; and beside other
    programs of Kilter those that are this one's. With 0 seconds others are who runs at this moment.
    `.why` of the result says which of it decided.

    Raises ValueError for negative seconds and for more than an hour.
    """
    seconds = _checked(seconds)
    measured = _core.begin_budget()
    time.sleep(seconds)
    return _budget(_core.look(measured, 0))

# %% [markdown]
# # A policy of your own
#
# A policy answers an engine's questions: where does a task wait that has become ready, what does an
# idle worker try, where does a task run? What it leaves out is done as work stealing does it.
# `policy.py FOLDER` writes the picture there.

# %%
import pathlib
import sys

import kilter
from kilter import lab

pictures = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else None


# %% [markdown]
# Critical tasks go to the place that is expected to end them first: what waits there already, and
# what was learned of tasks of this type. The others stay where they became ready, and thieves may
# take them. Times are learned by the engine (`learns`).


# %%
class Soonest(kilter.Policy):
    def discipline(self, machine):
        return lab.Discipline(learns=True, asks_ready_low=False)

    def on_ready(self, task, view):
        def ends_in_s(place):
            return view.busy_s(place.leader) + view.time_s(task, place)

        allowed = [place for place in view.machine.places if view.allows(task, place)]
        best = min(allowed, key=ends_in_s)
        return lab.bind_to(best, busy_s=view.time_s(task, best))


# %% [markdown]
# Simpler: the place that was learned to be fastest, whatever waits there.


# %%
class Greedy(kilter.Policy):
    def discipline(self, machine):
        return lab.Discipline(learns=True, asks_ready_low=False)

    def on_ready(self, task, view):
        return lab.reserve(view.best_place(task, "time"))


# %%
result = kilter.simulate(
    "layered",
    tasks=1000,
    policy=["rws", "dam-p", Soonest(), Greedy()],
    disturb="cpu@0",
)
print(result.frame()[["disturb", "policy", "makespan_s", "ratio_to_rws"]].to_string())
figure = result.plot("timeline", disturb="cpu@0")
if pictures:
    figure.savefig(pictures / "policy-timeline.png")

# %% [markdown]
# An error in a policy comes out of `simulate`, and an answer that is none says what would be one.


# %%
class Wrong(kilter.Policy):
    def on_ready(self, task, view):
        return lab.wait_in(99)


try:
    kilter.simulate("layered", tasks=100, policy=Wrong())
except RuntimeError as error:
    print(error)

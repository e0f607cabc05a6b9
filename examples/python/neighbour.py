# %% [markdown]
# # What does a neighbour cost, and which policy helps?
#
# Two fast and four slow cores, as in a Jetson TX2, run a graph of matrix products. Then somebody
# else's thread comes to core 0. All of it is simulated, so it needs no such machine and gives the
# same numbers everywhere. `neighbour.py FOLDER` writes the pictures there.

# %%
import pathlib
import sys

import kilter

pictures = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else None


def show(figure, name):
    """A notebook shows what this returns."""
    if pictures:
        figure.savefig(pictures / f"neighbour-{name}.png")
    return figure


# %% [markdown]
# `cpu@0` is a neighbour that computes on core 0. The undisturbed run is always there to compare.

# %%
result = kilter.simulate(
    "layered",
    tasks=1000,
    on="jetson-tx2",
    policy=["rws", "fa", "dam-c", "auto"],
    disturb="cpu@0",
)
frame = result.frame()
print(frame[["disturb", "policy", "throughput", "ratio_to_rws", "ratio_to_bound"]].to_string())
for sentence in result.findings:
    print("-", sentence)

# %% [markdown]
# Work stealing (`rws`) does not know which tasks others wait for. `fa` sends those to the cores
# that are said to be fast, where the neighbour is. `dam-c` and `auto` learn what each place is
# worth.

# %%
show(result.plot("throughput"), "throughput")

# %%
alone = frame[frame.disturb == "none"].set_index("policy").throughput
beside = frame[frame.disturb == "cpu@0"].set_index("policy").throughput
print("share of the throughput that is left:")
print((beside / alone).round(2).to_string())

# %% [markdown]
# The time lines say why: critical tasks go on running on core 0, or leave it.

# %%
show(result.plot("timeline"), "timeline")

# %%
show(result.plot("places", critical=True), "places")

# %% [markdown]
# A program of your own is a graph: here as a dict, `networkx.DiGraph` and Dask's graphs do too.

# %%
program = {"read": {"seconds": 0.02}}
for block in range(8):
    program[f"filter {block}"] = {"after": ["read"], "type": "filter", "seconds": 0.01}
    program[f"solve {block}"] = {"after": [f"filter {block}"], "type": "solve", "seconds": 0.03}
program["write"] = {"after": [f"solve {block}" for block in range(8)], "seconds": 0.01}
own = kilter.simulate(program, on=["jetson-tx2", "intel-i7-1370p"], disturb="cpu@0")
print(own.frame()[["on", "disturb", "policy", "makespan_s"]].to_string())

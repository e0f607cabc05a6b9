#!/usr/bin/env python3
"""How much a model of caches could change verdicts at most.

It takes platform files in which every task is as lucky as it can be.

    scripts/cache_bounds.py build/cli/kilter

- reuse: each task of S2's random graphs finds in the cache what its parent left. Its time is
  shorter by what reading that from memory takes a core alone.
- wide: wide places take so much less or more time than they do. So much could caches of single
  cores do to the members of a wide task.
- resident: nothing of Heat comes from memory; with rows and columns of 2048 its data would really
  fit.

Prints the verdict and the cases that hold, beside those of the files as they are.
docs/inside/decisions/readings.md has what came out.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

PLATFORMS = pathlib.Path(__file__).resolve().parent.parent / "data/platforms"
SIZES = {"matmul": 64, "sort": 65536, "copy": 2048}  # of S2's tasks
HANDED_ON = {
    "matmul": 1 / 3,
    "sort": 1 / 2,
    "copy": 1 / 2,
}  # of what a task reads and writes: one tile of three, one buffer of two


class kernel:
    """One [[kernel]] of a platform file, as text and as numbers."""

    def __init__(self, text):
        self.text = text
        self.__dict__.update(tomllib.loads(text)["kernel"][0])

    def at(self, size):
        """Seconds on one core and bytes at another size."""
        grown = size / self.size
        return self.seconds[0] * grown**self.seconds_power, self.bytes * grown**self.bytes_power

    def rewritten(self, seconds, volume):
        text = re.sub(
            r"(?m)^seconds = \[.*\]",
            f"seconds = [{', '.join(f'{s:.6g}' for s in seconds)}]",
            self.text,
        )
        return re.sub(r"(?m)^bytes = \d+", f"bytes = {int(volume)}", text)


def changed(platform, change):
    """The platform's file with every kernel as `change(kernel, platform)` has it."""
    whole = (PLATFORMS / f"{platform}.toml").read_text()
    as_data = tomllib.loads(whole)
    tables = re.split(r"(?m)^(?=\[)", whole)
    for i, table in enumerate(tables):
        if table.startswith("[[kernel]]"):
            k = kernel(table)
            tables[i] = k.rewritten(*change(k, as_data))
    return "".join(tables)


def read_alone(platform, kind):
    """Bytes a second that one core reads and writes: its limit, or what Copy does there."""
    for b in platform["bandwidth"]:
        if b["of"] == "core" and b["kind"] == kind:
            return b["bytes_per_s"]
    return next(
        k["bytes"] / k["seconds"][0]
        for k in platform["kernel"]
        if (k["name"], k["kind"]) == ("copy", kind)
    )


def reuse(k, platform):
    """What a parent handed on and the cache can hold is neither read from memory nor waited for."""
    if k.name not in SIZES:
        return k.seconds, k.bytes
    cache = max(c["bytes"] for c in platform["cluster"][0]["cache"] if c["shared_by"] == "cluster")
    seconds, volume = k.at(SIZES[k.name])
    kept = min(HANDED_ON[k.name] * volume, cache)
    waited = (
        0.0 if k.name == "copy" else kept / read_alone(platform, k.kind)
    )  # Copy is limited by its bytes, which the simulator counts
    return [s * (1 - waited / seconds) for s in k.seconds], k.bytes * (1 - kept / volume)


def wide(factor):
    return lambda k, _: (k.seconds[:1] + [s * factor for s in k.seconds[1:]], k.bytes)


def resident(k, _):
    return k.seconds, 1 if k.name == "stencil" else k.bytes


BOUNDS = [
    (
        "reuse",
        "jetson-tx2",
        reuse,
        ["S2-1", "S2-2", "S2-3", "S2-4", "S2-5", "S2-6", "S2-7", "S2-8", "S2-9", "S2-15"],
    ),
    *[
        (f"wide x {f}", "jetson-tx2", wide(f), ["S0-4", "S0-8", "S0-27", "S2-6", "S2-15"])
        for f in (0.95, 1.05, 1.15)
    ],
    ("wide x 0.9", "haswell-20", wide(0.9), ["S2-11"]),
    ("resident", "haswell-cluster", resident, ["S0-23"]),
]


def judged(kilter, claims, platforms=None):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        where = {"KILTER_PLATFORMS": platforms} if platforms else {}
        subprocess.run(
            [kilter, "lab", "reproduce", *claims, "--quiet", "--json", out.name],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, **where},
        )
        found = json.loads(pathlib.Path(out.name).read_text())["claims"]
    return {
        c["id"]: f"{c['verdict']} {sum(k['holds'] for k in c['cases'])}/{len(c['cases'])}"
        for c in found
    }


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    kilter = sys.argv[1]
    as_they_are = judged(kilter, sorted({c for *_, claims in BOUNDS for c in claims}))
    for what, platform, change, claims in BOUNDS:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / f"{platform}.toml").write_text(changed(platform, change))
            lucky = judged(kilter, claims, folder)
        for c in claims:
            print(f"{what:12} {c:6} {as_they_are[c]:20} {lucky[c]}", flush=True)


if __name__ == "__main__":
    main()

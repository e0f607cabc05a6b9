#!/usr/bin/env python3
"""How much a model of caches could change verdicts at most, by platform files in which every task is as lucky as it can be.

    scripts/cache_bounds.py build/src/cli/kilter

- reuse: each task of S2's random graphs finds in the cache what its parent left. Its time is shorter by what reading that from memory takes a core alone.
- wide: wide places take so much less or more time than they do. So much could caches of single cores do to the members of a wide task.
- resident: nothing of Heat comes from memory; with rows and columns of 2048 its data would really fit.

Prints the verdict and the cases that hold, beside those of the files as they are. docs/decisions/readings.md has what came out.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PLATFORMS = pathlib.Path(__file__).resolve().parent.parent / "data/platforms"
# Of a task alone: 262 KB of Sort, 16 KB of MatMul, at the bandwidth that Copy has on one core (1.15 and 5.1 GB/s); of Copy what 2 MB can hold of 34.
REUSE_SECONDS = {("sort", "a57"): 0.97, ("sort", "denver"): 0.991, ("matmul", "a57"): 0.995, ("matmul", "denver"): 0.997}
REUSE_BYTES = {"sort": 0.5, "matmul": 2 / 3, "copy": 0.94}


def changed(platform, change):
    """The platform's file with every table of a kernel changed: `change(name, kind, seconds, bytes)` gives both anew."""
    tables = re.split(r"(?m)^(?=\[\[)", (PLATFORMS / f"{platform}.toml").read_text())
    for i, table in enumerate(tables):
        if not table.startswith("[[kernel]]"):
            continue
        name, kind = (re.search(rf'{key} = "([\w-]+)"', table)[1] for key in ("name", "kind"))
        seconds = [float(s) for s in re.search(r"(?m)^seconds = \[(.*)\]", table)[1].split(",")]
        volume = float(re.search(r"(?m)^bytes = (\d+)", table)[1])
        seconds, volume = change(name, kind, seconds, volume)
        table = re.sub(r"(?m)^seconds = \[.*\]", f"seconds = [{', '.join(f'{s:.6g}' for s in seconds)}]", table)
        tables[i] = re.sub(r"(?m)^bytes = \d+", f"bytes = {int(volume)}", table)
    return "".join(tables)


def reuse(name, kind, seconds, volume):
    return [s * REUSE_SECONDS.get((name, kind), 1.0) for s in seconds], volume * REUSE_BYTES.get(name, 1.0)


def wide(factor):
    return lambda name, kind, seconds, volume: (seconds[:1] + [s * factor for s in seconds[1:]], volume)


def resident(name, kind, seconds, volume):
    return seconds, 1 if name == "stencil" else volume


BOUNDS = [("reuse", "jetson-tx2", reuse, ["S2-1", "S2-2", "S2-3", "S2-4", "S2-5", "S2-6", "S2-7", "S2-8", "S2-9", "S2-15"]),
          *[(f"wide x {f}", "jetson-tx2", wide(f), ["S0-4", "S0-8", "S0-27", "S2-6", "S2-15"]) for f in (0.95, 1.05, 1.15)],
          ("wide x 0.9", "haswell-20", wide(0.9), ["S2-11"]),
          ("resident", "haswell-cluster", resident, ["S0-23"])]


def judged(kilter, claims, platforms=None):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        where = {"KILTER_PLATFORMS": platforms} if platforms else {}
        subprocess.run([kilter, "reproduce", *claims, "--quiet", "--json", out.name], check=True, stdout=subprocess.DEVNULL, env={**os.environ, **where})
        found = json.loads(pathlib.Path(out.name).read_text())["claims"]
    return {c["id"]: f"{c['verdict']} {sum(k['holds'] for k in c['cases'])}/{len(c['cases'])}" for c in found}


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

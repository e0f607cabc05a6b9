#!/usr/bin/env python3
"""bench/many without its measurements: programs that answer at once stand for those that it starts.

Usage: many_test.py BENCH_MANY SCRIPTS
"""

import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

MANY = pathlib.Path(sys.argv[1]).resolve()
SECTION = pathlib.Path(sys.argv[2]).resolve() / "results_section"
APPS = SECTION.parent.parent.glob("cli/app_*.cpp")
PROGRAMS = {file.stem.removeprefix("app_") for file in APPS} - {"command"}
CPUS = sorted(os.sched_getaffinity(0))

# Each notes its call. A file "hold" or "fail" beside it changes the call of that number.
FAKE = """#!/usr/bin/env python3
import json, os, pathlib, subprocess, sys
here = pathlib.Path(__file__).parent
with open(here / "calls", "a") as calls:
    calls.write(json.dumps([os.path.basename(__file__), *sys.argv[1:]]) + "\\n")
number = len((here / "calls").read_text().splitlines())
def after(option):
    return sys.argv[sys.argv.index(option) + 1]
cpus = len(os.sched_getaffinity(0))
def told(file):
    return (here / file).exists() and int((here / file).read_text()) == number
if told("fail"):
    sys.exit("it went wrong")
if told("hold"):
    sleeper = subprocess.Popen(["sleep", "1000"])
    (here / "part").write_text(str(sleeper.pid))
    (here / "part").rename(here / "held")
    sleeper.wait()
"""
GRAPH = (
    FAKE
    + """
scenes = [sys.argv[i + 1] for i, word in enumerate(sys.argv) if word == "--disturb"]
ours = [200, 300, 100][int(after("--round")) % 3]
systems = {name: cpus * (ours if name == "auto" else 100) for name in after("--systems").split(",")}
print(json.dumps({"speeds": {scene: systems for scene in scenes}}))
"""
)
KILTER = (
    FAKE
    + """
if sys.argv[1:3] == ["lab", "app"]:
    scenes = ["none"] + (after("--disturb").split(",") if "--disturb" in sys.argv else [])
    runs = [{"model": "kilter auto" if m == "kilter" else m, "disturb": s, "seconds": 0.5 / cpus}
            for m in after("--model").split(",") for s in scenes]
    print(json.dumps({"runs": runs}))
elif sys.argv[1] == "run":
    print("30.0")
else:
    pathlib.Path(after("--out")).write_text("")
"""
)
REGIONS = (
    FAKE
    + """
print("20.0")
"""
)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1].split()[0] != "Z"
    except OSError:
        return False


def run(words):
    return subprocess.run(words, capture_output=True, text=True, timeout=300)


class Many(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        for name, text in (("bench_graph", GRAPH), ("kilter", KILTER), ("bench_regions", REGIONS)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        self.json = self.folder / "out.json"

    def words(self, *more, budget="80000"):
        return [MANY, "--budget", budget, "--programs", self.folder, *more]

    def many(self, *more, status=0, **others):
        done = run(self.words(*more, **others))
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def plan(self, budget, *more):
        lines = self.many("--list", *more, budget=budget).stdout.splitlines()
        return [(float(line.split(" s  ")[0]), line.split(" s  ")[1]) for line in lines]

    def calls(self):
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]

    def runs(self):
        return json.loads(self.json.read_text())["runs"]

    def test_help_has_examples(self):
        done = run([MANY, "--help"])
        self.assertEqual(done.returncode, 0)
        self.assertIn("bench/many --budget 240", done.stdout)

    def test_bad_input_is_one_line(self):
        other = self.folder / "other.json"
        other.write_text('{"schema": "kilter.app/1"}')
        asked = ["--budget", "9"]
        for words, said in [
            ([], "--budget"),
            (["--budget", "x"], "'x'"),
            (asked, "--json"),
            ([*asked, "--json", "/none/f"], "/none"),
            ([*asked, "--only", "graf", "--list"], "graf"),
            ([*asked, "--rounds", "0", "--list"], "--rounds"),
            ([*asked, "--json", other, "--programs", self.folder], "another"),
            ([*asked, "--json", self.json, "--programs", "/none"], "no program"),
        ]:
            with self.subTest(words):
                done = run([MANY, *words])
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(said, done.stderr)
        self.assertEqual(other.read_text(), '{"schema": "kilter.app/1"}')

    def test_first_a_little_of_everything(self):
        planned = self.plan("240")
        plan = [what for _, what in planned]
        kinds = [what.split()[0].rstrip(",") for what in plan]
        self.assertEqual((kinds[0], kinds.count("calibrate")), ("graph", 1))
        # What was kept against surprises is used, too.
        after = planned[kinds.index("calibrate") + 1 :]
        self.assertLessEqual(sum(seconds for seconds, _ in after), 240 / 20 + 1)
        again = next(i for i, what in enumerate(plan) if what.endswith("round 2"))
        some_of = {"graph", "program", "regions"} | ({"scaling"} if len(CPUS) > 1 else set())
        self.assertLessEqual(some_of, set(kinds[:again]))
        self.assertEqual({what.split()[1] for what in plan if what.startswith("program")}, PROGRAMS)

    def test_what_is_planned_fits(self):
        before = set()
        for budget in ("20", "60", "240", "1000"):
            plan = self.plan(budget)
            total = sum(seconds for seconds, _ in plan)
            self.assertLessEqual(total, float(budget) + 0.05 * len(plan))
            self.assertGreater(len(plan), len(before))
            before = {what for _, what in plan}

    def test_runs_everything_once(self):
        page = self.folder / "out.html"
        asked = ("--rounds", "2", "--only", "graph,program,calibrate")
        self.many("--json", self.json, "--html", page, *asked)
        ids = [(r["kind"], r["work"], r["cores"], r["round"]) for r in self.runs()]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertEqual(len(ids), len(self.plan("80000", *asked)))
        self.assertEqual(len(self.calls()), len(ids))
        self.assertTrue((self.folder / "out.platform.toml").exists())
        self.assertEqual(json.loads(self.json.read_text())["platform"], "out.platform.toml")
        self.assertIn("P2/16us", page.read_text())
        # No model is always the first.
        firsts = collections.defaultdict(set)
        for call in self.calls():
            if call[1:3] == ["lab", "app"]:
                firsts[call[3]].add(call[call.index("--model") + 1].split(",")[0])
        self.assertTrue(all(len(models) == 2 for models in firsts.values()), firsts)

    def test_ratios_are_of_one_round(self):
        self.many("--json", self.json, "--rounds", "3", "--only", "graph")
        row = json.loads(self.json.read_text())["tables"][0]["rows"][0]
        self.assertEqual(
            row["ratios"]["onetbb"], {"rounds": 3, "median": 2.0, "min": 1.0, "max": 3.0}
        )
        section = run([SECTION, self.json])
        self.assertEqual(section.returncode, 0, section.stderr)
        self.assertIn("2.00 (1.00 to 3.00)", section.stdout)
        broken = run([SECTION, self.folder / "kilter"])
        self.assertEqual((broken.returncode, len(broken.stderr.splitlines())), (2, 1))

    def test_regions_against_the_program_alone(self):
        self.many("--json", self.json, "--rounds", "1", "--only", "regions")
        ratios = json.loads(self.json.read_text())["tables"][0]["rows"][0]["ratios"]
        self.assertEqual(
            {name: r["median"] for name, r in ratios.items()}, {"plain": 1.5, "passive": 1.5}
        )

    @unittest.skipIf(len(CPUS) < 2, "one CPU")
    def test_scaling_is_against_one_core(self):
        self.many("--json", self.json, "--rounds", "1", "--only", "scaling")
        self.assertEqual({r["cores"] for r in self.runs()} & {1, 2}, {1, 2})
        for row in json.loads(self.json.read_text())["tables"][0]["rows"]:
            cores = float(row["scene"].split()[0])
            self.assertEqual({r["median"] for r in row["ratios"].values()}, {cores})

    def test_goes_on_with_what_is_missing(self):
        (self.folder / "hold").write_text("5")
        words = ("--json", self.json, "--rounds", "2", "--only", "graph", "--quiet")
        first = subprocess.Popen(
            self.words(*words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        while not (self.folder / "held").exists():
            self.assertIsNone(first.poll())
            time.sleep(0.01)
        first.send_signal(signal.SIGINT)
        _, said = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 130)
        self.assertIn("goes on", said)
        kept = self.runs()
        self.assertEqual(len(kept), 4)
        sleeper = int((self.folder / "held").read_text())
        while alive(sleeper):  # ends at once, or this test never
            time.sleep(0.01)
        stopped = self.calls()
        self.many(*words)
        self.assertEqual(self.runs()[:4], kept)
        self.assertEqual(self.calls()[5], stopped[4])
        self.assertEqual(len(self.calls()) - 1, len(self.runs()))
        everything = len(self.calls())
        self.many(*words)
        self.assertEqual(len(self.calls()), everything)

    def test_a_file_of_another_machine_is_refused(self):
        asked = ("--json", self.json, "--rounds", "1", "--only", "graph")
        self.many(*asked)
        document = json.loads(self.json.read_text())
        document["environment"]["cpu"] = "another"
        self.json.write_text(json.dumps(document))
        done = self.many(*asked, status=2)
        self.assertIn("another", done.stderr)
        self.assertEqual(json.loads(self.json.read_text()), document)

    def test_what_failed_is_told_and_not_tried_again(self):
        (self.folder / "fail").write_text("2")
        done = self.many("--json", self.json, "--rounds", "3", "--only", "graph", status=1)
        self.assertIn("it went wrong", done.stderr)
        failed = [r for r in self.runs() if "failed" in r]
        self.assertEqual(len(failed), 1)
        self.assertEqual(sum(r["work"] == failed[0]["work"] for r in self.runs()), 1)
        self.assertIn("it went wrong", run([SECTION, self.json]).stdout)

    def test_a_run_past_its_limit_is_ended_with_its_children(self):
        (self.folder / "hold").write_text("1")
        done = self.many(
            "--json", self.json, "--rounds", "1", "--only", "graph", "--cap", "1", status=1
        )
        self.assertIn("its limit", done.stderr)
        self.assertFalse(alive(int((self.folder / "held").read_text())))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)

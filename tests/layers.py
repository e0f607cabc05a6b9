#!/usr/bin/env python3
"""Which folder of src may include which, and that what threads share goes through src/base/sync.hpp. Fails on anything else.

Usage: layers.py ROOT | layers.py --self-test
"""

import pathlib
import re
import sys
import tempfile

import checker

# "A: B" lets A include B, and with it whatever B may include (architecture: `B <- A`).
DIRECT = {
    "base": [],
    "machine": ["base"],
    "graph": ["base"],
    "graph/files": ["graph"],
    "trace": ["base"],
    "model": ["base", "machine"],
    "policy": ["machine", "graph", "model"],
    "runtime": ["policy", "trace"],
    "sim": ["policy", "trace"],
    "balance": ["base", "machine", "trace"],
    "balance/os": ["balance"],
    "balance/preload": ["balance"],
    "lab": ["runtime", "sim", "graph/files", "trace", "balance", "apps"],
    "report": ["base"],
    "draw": ["graph"],
    "cli": ["base", "machine", "graph", "graph/files", "trace", "model", "policy", "runtime", "sim", "balance", "balance/os", "balance/preload", "lab", "report", "draw", "apps"],
    "apps": ["base", "graph", "machine", "runtime"],
}
# What a folder may reach in passing and still may not include: balance and the engines never meet.
FORBIDDEN = {"runtime": ["sim", "balance"], "sim": ["runtime", "balance"], "balance": ["runtime", "sim"]}

# What threads share there is checked with base/sync.hpp replaced (tests/model), so nothing may pass it by.
THROUGH_SYNC = ["base", "graph", "trace", "model", "policy", "runtime", "sim"]
THE_DOOR = ["base/sync.hpp", "base/sync.cpp"]
PAST_THE_DOOR = re.compile(
    r"#\s*include\s*<(atomic|barrier|condition_variable|latch|mutex|semaphore|shared_mutex|stop_token|thread)>"
    r"|std::(atomic|memory_order)\w*"
    r"|std::(\w*mutex|condition_variable\w*|j?thread|this_thread|lock_guard|(unique|scoped|shared)_lock|call_once|once_flag"
    r"|latch|barrier|\w+_semaphore|stop_\w+)\b"
    r"|__(atomic|sync)_\w+")

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')


def allowed(folder):
    seen, open_ = {folder}, list(DIRECT[folder])
    while open_:
        one = open_.pop()
        if one not in seen:
            seen.add(one)
            open_ += DIRECT[one]
    return seen - set(FORBIDDEN.get(folder, []))


def folder_of(path):
    """The folder of src that `path` (relative to src, or of an include) lies in; None for the public headers."""
    parts = pathlib.PurePosixPath(path).parts
    if len(parts) > 2 and "/".join(parts[:2]) in DIRECT:
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 and parts[0] in DIRECT else None


def sources(top):
    return sorted(p for p in top.rglob("*") if p.suffix in (".hpp", ".cpp", ".h", ".ipp"))


def check(root):
    problems, files = [], 0
    src = root / "src"
    inside = [(p, p.relative_to(src).as_posix()) for p in sources(src)]
    inside += [(p, p.relative_to(root).as_posix()) for p in sources(root / "apps")] if (root / "apps").is_dir() else []
    for path, name in inside:
        files += 1
        folder = folder_of(name)
        if folder is None:
            problems.append(f"{name}: its folder is not in tests/layers.py")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if folder in THROUGH_SYNC and name not in THE_DOOR:
                past = PAST_THE_DOOR.search(line.split("//")[0])
                if past:
                    problems.append(f"{name}:{number}: \"{past.group(0)}\" passes by base/sync.hpp; use what it offers, or let it offer that")
            found = INCLUDE.match(line)
            if not found:
                continue
            target = found.group(1)
            if target.startswith("kilter/"):
                continue
            to = folder_of(target)
            if to is None and (path.parent / target).exists():
                to = folder_of((path.parent / target).resolve().relative_to((src if name.split("/")[0] != "apps" else root).resolve()).as_posix())
            if to is None:
                problems.append(f"{name}:{number}: \"{target}\" names no folder of src; write it from src, as in \"base/random.hpp\"")
            elif to not in allowed(folder):
                problems.append(f"{name}:{number}: {folder} may not include {to} (\"{target}\")")
    for path in sources(root / "include"):
        files += 1
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if found and not found.group(1).startswith("kilter/"):
                problems.append(f"include: {path.name}:{number}: public headers include public headers only (\"{found.group(1)}\")")
    return files, problems


def self_test():
    cases = [
        ("src/policy/a.cpp", '#include "model/tables.hpp"\n#include "kilter/policy.hpp"\n#include "base/random.hpp"\n', 0),
        ("src/policy/a.cpp", '#include "runtime/worker.hpp"\n', 1),
        ("src/policy/a.cpp", '  #  include "trace/event.hpp"\n', 1),
        ("src/model/a.hpp", '#include "policy/tape.hpp"\n', 1),
        ("src/runtime/a.cpp", '#include "sim/clock.hpp"\n', 1),
        ("src/balance/a.cpp", '#include "balance/os/affinity.hpp"\n', 1),
        ("src/balance/os/a.cpp", '#include "balance/observer.hpp"\n', 0),
        ("src/base/a.cpp", '#include "random.hpp"\n', 1),
        ("src/extra/a.cpp", "", 1),
        ("include/kilter/a.hpp", '#include "graph/node.hpp"\n', 1),
        ("src/runtime/a.cpp", "sync::atomic<int> a; a.load(sync::memory_order_acquire);  // not std::atomic\n", 0),
        ("src/runtime/a.cpp", "#include <atomic>\n", 1),
        ("src/runtime/a.hpp", "std::atomic<int> a;\n", 1),
        ("src/model/a.cpp", "a.load(std::memory_order_relaxed);\n", 1),
        ("src/graph/node.hpp", "std::mutex lock;\nstd::shared_ptr<int> kept;\n", 1),
        ("src/runtime/a.cpp", "std::this_thread::yield();\n__atomic_thread_fence(5);\n", 2),
        ("src/base/sync.hpp", "#include <atomic>\nusing std::memory_order;\n", 0),
        ("src/lab/a.cpp", "std::mutex lock;\n", 0),
        ("src/cli/a.cpp", '#include "lab/bench.hpp"\n#include "report/page.hpp"\n', 0),
    ]
    for name, text, expected in cases:
        with tempfile.TemporaryDirectory() as d:
            root = pathlib.Path(d)
            for folder in ("src", "include", "apps"):
                (root / folder).mkdir()
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            _, problems = check(root)
            if len(problems) != expected:
                sys.exit(f"self-test: {name} with {text!r}: expected {expected} problems, got {problems}")
    print(f"{len(cases)} cases right")


checker.main(__doc__, check, self_test, nothing="found no sources")

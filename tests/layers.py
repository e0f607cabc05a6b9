#!/usr/bin/env python3
"""Which folder of src may include which, as docs/inside/architecture.md tells it, and that what threads share goes through src/base/sync.hpp.
Fails on anything else.

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
    "runtime": ["policy", "trace", "sharing"],
    "c": ["runtime"],
    "sim": ["policy", "trace"],
    "balance": ["base", "machine", "trace"],
    "prefix": ["base"],
    "sharing": [],  # what is loaded into programs of others includes it
    "balance/os": ["balance", "prefix"],
    "balance/preload": ["balance", "prefix"],
    "regions": ["machine"],
    "regions/os": ["regions", "balance/os", "sharing"],
    "regions/openmp": ["regions", "balance/preload", "sharing"],
    "lab/words": ["machine"],
    "lab/session": ["runtime", "lab/words"],
    "lab/statistics": ["sim"],
    "lab/disturbing": ["lab/session", "apps"],
    "lab/workloads": ["lab/words", "graph/files", "sim", "apps"],
    "lab/measuring": [
        "prefix",
        "lab/session",
        "lab/disturbing",
        "lab/workloads",
        "lab/statistics",
        "apps/programs",
    ],
    "lab/threads": ["lab/words", "lab/statistics", "balance"],
    "lab/claims": ["lab/measuring", "lab/threads"],
    "lab/presenting": ["lab/claims"],
    "report": ["base"],
    "draw": ["graph"],
    "cli": ["lab/presenting", "balance/os", "balance/preload", "regions/os", "report", "draw"],
    "apps": ["runtime"],
    "apps/programs": [],  # what users may include: where a program lacks something, the library does
}
# What a folder may reach in passing and still may not include: balance and the engines never meet.
FORBIDDEN = {
    "runtime": ["sim", "balance"],
    "sim": ["runtime", "balance"],
    "balance": ["runtime", "sim"],
}

# What threads share there is checked with base/sync.hpp replaced (tests/model), so nothing may pass it by.
THROUGH_SYNC = ["base", "graph", "trace", "model", "policy", "runtime", "c", "sim"]
THE_DOOR = ["base/sync.hpp", "base/sync.cpp"]
PAST_THE_DOOR = re.compile(
    r"#\s*include\s*<(atomic|barrier|condition_variable|latch|mutex|semaphore|shared_mutex|stop_token|thread)>"
    r"|std::(atomic|memory_order)\w*"
    r"|std::(\w*mutex|condition_variable\w*|j?thread|this_thread|lock_guard|(unique|scoped|shared)_lock|call_once|once_flag"
    r"|latch|barrier|\w+_semaphore|stop_\w+)\b"
    r"|__(atomic|sync)_\w+"
)

PAGE = "docs/inside/architecture.md"

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


def told(page):
    """What the page's table says: folder and, from its last column, what that may include."""
    rows = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        folder = re.fullmatch(r"`(?:src/)?(.+)`", cells[0])
        if (
            len(cells) == 3
            and folder
            and (cells[0].startswith("`src/") or folder.group(1) in DIRECT)
        ):
            rows[folder.group(1)] = [name.strip() for name in cells[2].split(",") if name.strip()]
    return rows


def page_problems(page):
    rows, problems = told(page), []
    for folder in {**DIRECT, **rows}:
        if folder not in rows:
            problems.append(
                f"{PAGE}: no row says what {folder} may include; here that is: {', '.join(DIRECT[folder])}"
            )
        elif folder not in DIRECT:
            problems.append(f"{PAGE}: {folder} is not in tests/layers.py")
        elif rows[folder] != DIRECT[folder]:
            problems.append(
                f'{PAGE}: {folder} may include "{", ".join(rows[folder])}"; tests/layers.py says "{", ".join(DIRECT[folder])}"'
            )
    return problems


def circles():
    return [
        f"tests/layers.py: {folder} may include itself, through {one}"
        for folder in DIRECT
        for one in DIRECT[folder]
        if folder in allowed(one)
    ]


def check(root):
    problems, files = page_problems((root / PAGE).read_text(encoding="utf-8")) + circles(), 0
    src = root / "src"
    inside = [(p, p.relative_to(src).as_posix()) for p in sources(src)]
    inside += (
        [(p, p.relative_to(root).as_posix()) for p in sources(root / "apps")]
        if (root / "apps").is_dir()
        else []
    )
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
                    problems.append(
                        f'{name}:{number}: "{past.group(0)}" passes by base/sync.hpp; use what it offers, or let it offer that'
                    )
            found = INCLUDE.match(line)
            if not found:
                continue
            target = found.group(1)
            if target.startswith("kilter/"):
                continue
            to = folder_of(target)
            if to is None and (path.parent / target).exists():
                to = folder_of(
                    (path.parent / target)
                    .resolve()
                    .relative_to((src if name.split("/")[0] != "apps" else root).resolve())
                    .as_posix()
                )
            if to is None:
                problems.append(
                    f'{name}:{number}: "{target}" names no folder of src; write it from src, as in "base/random.hpp"'
                )
            elif to not in allowed(folder):
                problems.append(f'{name}:{number}: {folder} may not include {to} ("{target}")')
    for path in sources(root / "include"):
        files += 1
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if found and not found.group(1).startswith("kilter/"):
                problems.append(
                    f'include: {path.name}:{number}: public headers include public headers only ("{found.group(1)}")'
                )
    return files, problems


def page_of(direct):
    return "".join(
        f"| `{folder if folder == 'apps' else 'src/' + folder}` | what it is | {', '.join(direct[folder])} |\n"
        for folder in direct
    )


def self_test():
    cases = [
        (
            "src/policy/a.cpp",
            '#include "model/tables.hpp"\n#include "kilter/policy.hpp"\n#include "base/random.hpp"\n',
            0,
        ),
        ("src/policy/a.cpp", '#include "runtime/worker.hpp"\n', 1),
        ("src/policy/a.cpp", '  #  include "trace/event.hpp"\n', 1),
        ("src/model/a.hpp", '#include "policy/tape.hpp"\n', 1),
        ("src/runtime/a.cpp", '#include "sim/clock.hpp"\n', 1),
        ("src/balance/a.cpp", '#include "balance/os/affinity.hpp"\n', 1),
        ("src/balance/os/a.cpp", '#include "balance/observer.hpp"\n', 0),
        ("src/base/a.cpp", '#include "random.hpp"\n', 1),
        ("src/extra/a.cpp", "", 1),
        ("include/kilter/a.hpp", '#include "graph/node.hpp"\n', 1),
        (
            "src/runtime/a.cpp",
            "sync::atomic<int> a; a.load(sync::memory_order_acquire);  // not std::atomic\n",
            0,
        ),
        ("src/runtime/a.cpp", "#include <atomic>\n", 1),
        ("src/runtime/a.hpp", "std::atomic<int> a;\n", 1),
        ("src/model/a.cpp", "a.load(std::memory_order_relaxed);\n", 1),
        ("src/graph/node.hpp", "std::mutex lock;\nstd::shared_ptr<int> kept;\n", 1),
        ("src/runtime/a.cpp", "std::this_thread::yield();\n__atomic_thread_fence(5);\n", 2),
        ("src/base/sync.hpp", "#include <atomic>\nusing std::memory_order;\n", 0),
        ("src/lab/measuring/a.cpp", "std::mutex lock;\n", 0),
        (
            "src/lab/measuring/a.cpp",
            '#include "lab/words/numbers.hpp"\n#include "sim/engine.hpp"\n',
            0,
        ),
        (
            "src/lab/measuring/a.cpp",
            '#include "lab/presenting/document.hpp"\n#include "balance/contract.hpp"\n',
            2,
        ),
        ("src/lab/words/a.cpp", '#include "lab/session/outputs.hpp"\n', 1),
        ("src/lab/a.cpp", "", 1),
        ("src/cli/a.cpp", '#include "lab/measuring/native.hpp"\n#include "report/page.hpp"\n', 0),
        (PAGE, page_of(DIRECT), 0),
        (PAGE, page_of({**DIRECT, "sim": ["policy"]}), 1),
        (PAGE, page_of({folder: DIRECT[folder] for folder in DIRECT if folder != "lab/words"}), 1),
        (PAGE, page_of({**DIRECT, "lab/rest": ["base"]}), 1),
    ]
    for name, text, expected in cases:
        with tempfile.TemporaryDirectory() as d:
            root = pathlib.Path(d)
            for folder in ("src", "include", "apps", "docs"):
                (root / folder).mkdir()
            (root / PAGE).write_text(page_of(DIRECT), encoding="utf-8")
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            _, problems = check(root)
            if len(problems) != expected:
                sys.exit(
                    f"self-test: {name} with {text!r}: expected {expected} problems, got {problems}"
                )
    print(f"{len(cases)} cases right")


checker.main(__doc__, check, self_test, nothing="found no sources")

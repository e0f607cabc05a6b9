#!/usr/bin/env python3
"""Which folder may include which, as docs/inside/architecture.md tells it, and that what threads
share goes through base/sync.hpp. Fails on anything else.

Usage: layers.py ROOT | layers.py --self-test
"""

import pathlib
import re

import checker

# "A: B" lets A include B, and with it whatever B may include (architecture: `B <- A`). A house may
# include the houses above it here, and none below.
HOUSES = {
    "library": {
        "base": [],
        "machine": ["base"],
        "graph": ["base"],
        "trace": ["base"],
        "model": ["base", "machine"],
        "policy": ["machine", "graph", "model"],
        "sharing": [],  # what is loaded into programs of others includes it
        "runtime": ["policy", "trace", "sharing"],
        "c": ["runtime"],
    },
    "prefix": {
        "child": ["base"],
        "guest": ["base"],
        "host": [],
        "words": ["machine"],
        "session": ["words"],
        "regions": ["machine"],
        "regions/os": ["regions", "host", "sharing"],
        "openmp": ["regions", "guest", "host", "sharing"],
    },
    "lab": {
        "sim": ["policy", "trace"],
        "balance": ["machine", "trace"],
        "balance/os": ["balance", "child", "host"],
        "balance/preload": ["balance", "child", "guest"],
        "graph_files": ["graph"],
        "draw": ["graph"],
        "report": ["base"],
        "apps": ["runtime"],
        "apps/programs": [],  # what users may include: what a program lacks, the library does too
        "statistics": ["sim"],
        "disturbing": ["session", "runtime", "apps"],
        "workloads": ["words", "graph_files", "sim", "apps"],
        "measuring": [
            "child",
            "session",
            "disturbing",
            "workloads",
            "statistics",
            "apps/programs",
        ],
        "threads": ["words", "statistics", "balance"],
        "claims": ["measuring", "threads"],
        "presenting": ["claims"],
    },
    "cli": {
        "cli": [
            "presenting",
            "balance/os",
            "balance/preload",
            "regions/os",
            "report",
            "draw",
        ],
    },
    "python": {
        "core": ["runtime", "regions/os"],
        "laboratory": ["core", "presenting"],
    },
}
HOUSE_OF = {folder: house for house, folders in HOUSES.items() for folder in folders}
DIRECT = {folder: direct for folders in HOUSES.values() for folder, direct in folders.items()}
# What a folder may reach in passing and still may not include: balance and the engines never meet.
FORBIDDEN = {
    "runtime": ["sim", "balance"],
    "sim": ["runtime", "balance"],
    "balance": ["runtime", "sim"],
}

# What threads share there is checked with base/sync.hpp replaced (tests/model): nothing may pass
# it by.
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
# Rows of its table that say nothing of includes.
NO_FOLDERS = [
    "library/include/kilter",
    "lab/experiments",
    "lab/apps/programs/mpi",
    "python/kilter",
]

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
    """The folder that `path`, from its house on, lies in; None for the public headers."""
    parts = pathlib.PurePosixPath(path).parts
    if len(parts) > 2 and "/".join(parts[:2]) in DIRECT:
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 and parts[0] in DIRECT else None


def from_house(root, path):
    """As includes name it: without its house, but for the command's, which is a folder itself."""
    inside = path.relative_to(root).as_posix()
    house, _, rest = inside.partition("/")
    return inside if house in DIRECT else rest


def sources(top):
    return sorted(p for p in top.rglob("*") if p.suffix in (".hpp", ".cpp", ".h", ".ipp"))


def place_of(folder):
    house = HOUSE_OF[folder]
    return house if house == folder else f"{house}/{folder}"


def told(page):
    """What the page's table says: folder and, from its last column, what that may include."""
    rows = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        place = re.fullmatch(r"`([a-z_/]+)`", cells[0])
        if len(cells) == 3 and place and place[1].split("/")[0] in HOUSES:
            rows[place[1]] = [name.strip() for name in cells[2].split(",") if name.strip()]
    return {place: direct for place, direct in rows.items() if place not in NO_FOLDERS}


def page_problems(page):
    rows, problems = told(page), []
    direct = {place_of(folder): DIRECT[folder] for folder in DIRECT}
    for place in {**direct, **rows}:
        here = ", ".join(direct.get(place, []))
        there = ", ".join(rows.get(place, []))
        if place not in rows:
            problems.append(f"{PAGE}: no row says what {place} may include; here that is: {here}")
        elif place not in direct:
            problems.append(f"{PAGE}: {place} is not in tests/layers.py")
        elif here != there:
            problems.append(f'{PAGE}: {place} may include "{there}"; tests/layers.py says "{here}"')
    return problems


def climbs():
    """What stands below is never included: a house that is above it here would need it."""
    order = list(HOUSES)
    return [
        f"tests/layers.py: {folder} of {HOUSE_OF[folder]} includes {one} of {HOUSE_OF[one]}"
        for folder in DIRECT
        for one in DIRECT[folder]
        if order.index(HOUSE_OF[one]) > order.index(HOUSE_OF[folder])
    ]


def circles():
    return [
        f"tests/layers.py: {folder} may include itself, through {one}"
        for folder in DIRECT
        for one in DIRECT[folder]
        if folder in allowed(one)
    ]


def check(root):
    problems = page_problems((root / PAGE).read_text(encoding="utf-8")) + circles() + climbs()
    public = root / "library/include"
    paths = [
        path for house in HOUSES for path in sources(root / house) if public not in path.parents
    ]
    for path in paths:
        name = from_house(root, path)
        folder = folder_of(name)
        if folder is None or place_of(folder).split("/")[0] != path.relative_to(root).parts[0]:
            problems.append(f"{path.relative_to(root)}: its folder is not in tests/layers.py")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{path.relative_to(root)}:{number}"
            if folder in THROUGH_SYNC and name not in THE_DOOR:
                past = PAST_THE_DOOR.search(line.split("//")[0])
                if past:
                    problems.append(
                        f'{where}: "{past.group(0)}" passes by base/sync.hpp; use what it offers, '
                        "or let it offer that"
                    )
            found = INCLUDE.match(line)
            if not found or found.group(1).startswith("kilter/"):
                continue
            target = found.group(1)
            to = folder_of(target)
            beside = path.parent / target
            if to is None and beside.exists():
                to = folder_of(from_house(root, beside.resolve()))
            if to is None:
                problems.append(
                    f'{where}: "{target}" names no folder; write it from its house on, as in '
                    '"base/random.hpp"'
                )
            elif to not in allowed(folder):
                problems.append(f'{where}: {folder} may not include {to} ("{target}")')
    headers = sources(public)
    for path in headers:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            if found and not found.group(1).startswith("kilter/"):
                problems.append(
                    f"include: {path.name}:{number}: public headers include public headers only "
                    f'("{found.group(1)}")'
                )
    return len(paths) + len(headers), problems


def page_of(places):
    return "".join(
        f"| `{place}` | what it is | {', '.join(direct)} |\n" for place, direct in places.items()
    )


def self_test():
    here = {place_of(folder): DIRECT[folder] for folder in DIRECT}
    cases = [
        (
            "library/policy/a.cpp",
            '#include "model/tables.hpp"\n#include "kilter/policy.hpp"\n'
            '#include "base/random.hpp"\n',
            0,
        ),
        ("library/policy/a.cpp", '#include "runtime/worker.hpp"\n', 1),
        ("library/policy/a.cpp", '  #  include "trace/event.hpp"\n', 1),
        ("library/model/a.hpp", '#include "policy/tape.hpp"\n', 1),
        ("library/runtime/a.cpp", '#include "sim/clock.hpp"\n', 1),
        ("lab/balance/a.cpp", '#include "balance/os/affinity.hpp"\n', 1),
        ("lab/balance/os/a.cpp", '#include "balance/observer.hpp"\n', 0),
        ("library/base/a.cpp", '#include "random.hpp"\n', 1),
        ("lab/extra/a.cpp", "", 1),
        ("library/include/kilter/a.hpp", '#include "graph/node.hpp"\n', 1),
        (
            "library/runtime/a.cpp",
            "sync::atomic<int> a; a.load(sync::memory_order_acquire);  // not std::atomic\n",
            0,
        ),
        ("library/runtime/a.cpp", "#include <atomic>\n", 1),
        ("library/runtime/a.hpp", "std::atomic<int> a;\n", 1),
        ("library/model/a.cpp", "a.load(std::memory_order_relaxed);\n", 1),
        ("library/graph/node.hpp", "std::mutex lock;\nstd::shared_ptr<int> kept;\n", 1),
        ("library/runtime/a.cpp", "std::this_thread::yield();\n__atomic_thread_fence(5);\n", 2),
        ("library/base/sync.hpp", "#include <atomic>\nusing std::memory_order;\n", 0),
        ("lab/measuring/a.cpp", "std::mutex lock;\n", 0),
        (
            "lab/measuring/a.cpp",
            '#include "words/numbers.hpp"\n#include "sim/engine.hpp"\n',
            0,
        ),
        (
            "lab/measuring/a.cpp",
            '#include "presenting/document.hpp"\n#include "balance/contract.hpp"\n',
            2,
        ),
        ("prefix/words/a.cpp", '#include "session/outputs.hpp"\n', 1),
        ("lab/a.cpp", "", 1),
        ("cli/a.cpp", '#include "measuring/native.hpp"\n#include "report/page.hpp"\n', 0),
        ("prefix/child/a.cpp", '#include "measuring/native.hpp"\n', 1),
        ("lab/base/a.cpp", "", 1),
        (PAGE, page_of(here), 0),
        (PAGE, page_of({**here, "lab/sim": ["policy"]}), 1),
        (PAGE, page_of({place: here[place] for place in here if place != "prefix/words"}), 1),
        (PAGE, page_of({**here, "lab/rest": ["base"]}), 1),
    ]
    checker.try_cases(
        check, [({PAGE: page_of(here)} | {name: text}, expected) for name, text, expected in cases]
    )


checker.main(__doc__, check, self_test, nothing="found no sources")

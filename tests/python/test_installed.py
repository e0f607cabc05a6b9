"""What an installation must have, whether of a wheel or of the build tree."""

import ast
import importlib
import importlib.metadata
import os
import pathlib
import signal
import subprocess
import sys
import sysconfig

import kilter
import pytest

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
PACKAGE = pathlib.Path(kilter.__file__).parent
MODULES = sorted(PACKAGE.glob("*.so"))


def command(*words, start=(sys.executable, "-m", "kilter"), **others):
    return subprocess.run([*start, *words], capture_output=True, text=True, **others)


@pytest.fixture(autouse=True)
def the_package_that_is_tested(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE.parent))


@pytest.fixture
def installed():
    try:
        return importlib.metadata.distribution("kilter")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("this is the build tree")


def examples():
    parts = GUIDE.read_text(encoding="utf-8").split("```python\n")[1:]
    return [part.split("```\n")[0] for part in parts]


@pytest.mark.parametrize("number", range(len(examples())))
def test_example_of_the_guide(number, tmp_path):
    program = examples()[number]
    for package in ("numpy", "dask", "distributed", "joblib", "threadpoolctl"):
        if package in program or (package == "threadpoolctl" and "limits()" in program):
            pytest.importorskip(package)
    file = tmp_path / "example.py"
    file.write_text(program, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, file], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert run.returncode == 0, run.stderr
    assert "Traceback" not in run.stderr  # as of a thread, or of the interpreter's end


def test_command_and_package_have_one_version():
    assert command("--version").stdout == f"kilter {kilter.__version__}\n"


def test_script_is_the_command(installed):
    script = pathlib.Path(sysconfig.get_path("scripts"), "kilter")
    assert command("--version", start=[script]).stdout == f"kilter {installed.version}\n"
    assert installed.version == kilter.__version__


@pytest.mark.parametrize("end, code", [("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM)])
def test_ends_as_the_program_ends(end, code):
    assert command("run", "--", "sh", "-c", end).returncode == code


def test_unknown_command_is_an_error():
    refused = command("laboratory")
    assert refused.returncode != 0
    assert "laboratory" in refused.stderr


def test_program_prints_what_it_prints():
    printed = command("run", "--", "sh", "-c", "cat; echo complaint >&2; echo end", input="a b\n")
    assert (printed.stdout, printed.stderr) == ("a b\nend\n", "complaint\n")


@pytest.mark.parametrize("variables", [{}, {"LC_CTYPE": "C.UTF-8"}, {"EMPTY": "", "TWO": "a=b\nc"}])
def test_program_sees_the_environment_without_an_interpreter(variables):
    """An interpreter sets LC_CTYPE and ignores SIGPIPE, and programs would inherit both."""
    environment = {name: os.environ[name] for name in ("PATH", "PYTHONPATH")} | variables
    see = ["/bin/sh", "-c", "env -0; grep SigIgn /proc/self/status"]
    without = command(*see, start=(), env=environment).stdout
    ours = ("LD_PRELOAD=", "LD_LIBRARY_PATH=", "KILTER_")
    with_it = command("run", "--", *see, env=environment).stdout
    shown = "\0".join(part for part in with_it.split("\0") if not part.startswith(ours))
    assert shown == without


@pytest.mark.parametrize(
    "words, says",
    [
        ("lab policies", "dam-c"),
        ("lab platforms", "jetson-tx2"),
        ("topo --on sim:jetson-tx2", "denver"),
        ("compare cholesky:n=8 --on sim:jetson-tx2", "auto is"),
        ("lab reproduce S0-11", "cases hold"),
        (
            "lab reproduce matrix --graphs sarek --on sim:jetson-tx2 --policy rws --disturb none"
            " --seeds 1",
            "sarek",
        ),
        ("lab demo --help", "Usage: kilter lab demo"),
        ("lab balance --policy ljfpf --fast 0, -- true", ""),
    ],
)
def test_command_finds_what_comes_with_it(words, says, tmp_path):
    done = command(*words.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout


def test_wheel_says_that_it_cannot_draw(installed):
    refused = command("graph", "draw", "cholesky:n=4")
    assert refused.returncode != 0
    assert refused.stderr.count("\n") == 1
    assert "libkilter_graphviz.so is neither in" in refused.stderr


def test_importing_starts_and_opens_nothing():
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import os\n"
            "def state():\n"
            "    return [sorted(os.listdir('/proc/self/' + kind)) for kind in ('task', 'fd')]\n"
            "before = state()\n"
            "import kilter, kilter._core\n"
            "assert state() == before, (state(), before)\n",
        ],
        check=True,
    )


def test_command_needs_no_module_of_the_package():
    loaded = "import sys, kilter.__main__; print(sorted(m for m in sys.modules if 'kilter' in m))"
    found = command(start=[sys.executable, "-c", loaded]).stdout
    assert found == "['kilter', 'kilter.__main__']\n"


def test_package_says_that_it_is_typed():
    assert (PACKAGE / "py.typed").exists()
    assert MODULES


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name.split(".")[0])
def test_stubs_name_what_the_module_has(path):
    name = path.name.split(".")[0]
    stub = ast.parse((PACKAGE / f"{name}.pyi").read_text(encoding="utf-8"))
    described = set()
    for statement in stub.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            described.add(statement.name)
        elif isinstance(statement, ast.AnnAssign):
            described.add(statement.target.id)
    module = importlib.import_module(f"kilter.{name}")
    public = {n for n in vars(module) if not n.startswith("_")}
    assert {n for n in described if not n.startswith("_")} == public
    assert all(hasattr(module, n) for n in described)

"""Documents are true: examples run, docstrings are whole, what they name is there."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from numpydoc.validate import validate

import boundsep

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
MODULES = sorted(m.name for m in pkgutil.iter_modules(boundsep.__path__) if m.name not in ("__main__", "experiments"))
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def public_names():
    """Return every name a user meets: estimators and their verbs, State, and the functions of public modules."""
    for name in boundsep.__all__:
        member = getattr(boundsep, name)
        if inspect.isclass(member):
            yield f"boundsep.{name}"
            for verb, function in inspect.getmembers(member, inspect.isroutine):
                home = getattr(inspect.unwrap(getattr(function, "__func__", function)), "__module__", None) or ""
                if not verb.startswith("_") and home.startswith("boundsep."):
                    yield f"boundsep.{name}.{verb}"
        elif inspect.ismodule(member):
            names = getattr(member, "__all__", [n for n in vars(member) if not n.startswith("_")])
            for function in names:
                value = getattr(member, function)
                if inspect.isfunction(value) and value.__module__.startswith("boundsep."):
                    yield f"boundsep.{name}.{function}"


# Summary, parameters and returns must be there and agree with the signature; the rest is taste.
NEEDED = {"GL08", "SS01", "SS03", "SS06", "PR01", "PR02", "PR03", "PR04", "PR10", "RT01"}


@pytest.mark.parametrize("name", sorted(public_names()))
def test_docstrings_are_whole(name):
    needed = NEEDED
    if name.startswith("boundsep.rules."):  # one equation each: the summary says it all
        needed = NEEDED - {"PR01", "RT01"}
    problems = [f"{code}: {text}" for code, text in validate(name)["errors"] if code in needed]
    assert not problems


@pytest.mark.parametrize(
    "name",
    sorted(n for n in public_names() if n.count(".") == 1 or n.split(".")[1] in ("sources", "mixing", "metrics")),
)
def test_public_names_have_an_example(name):
    parent, _, member = name.rpartition(".")
    value = getattr(boundsep if parent == "boundsep" else importlib.import_module(parent), member)
    if not (inspect.isclass(value) and issubclass(value, Exception)):
        assert ">>>" in inspect.getdoc(value)


@pytest.mark.compiled
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"boundsep.{name}")
    result = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


@pytest.mark.compiled
def test_the_readme_example_does_what_its_comments_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
    exec(compile(code, "README.md", "exec"), {})
    claimed = float(re.search(r"print\(.*# (\d+) dB", code).group(1))
    reached, estimated = map(float, capsys.readouterr().out.split())
    assert reached == pytest.approx(claimed, abs=1.0)
    assert estimated == pytest.approx(reached, abs=6.0)
    assert boundsep.BSM.load("ten.state").n_samples_seen_ == 100_000


@each_page
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@each_page
def test_make_targets_named_are_there(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"make ([a-z]+)", " ".join(re.findall(r"`[^`]+`|^    .*$", page.read_text(), re.MULTILINE))))
    assert named <= targets


@each_page
def test_tests_named_are_there(page):
    for file, function in re.findall(r"`(?:tests/)?(test_\w+)(?:\.py)?(?:::(\w+))?`", page.read_text()):
        source = ROOT / "tests" / f"{file}.py"
        assert source.exists(), file
        if function:
            functions = {n.name for n in ast.walk(ast.parse(source.read_text())) if isinstance(n, ast.FunctionDef)}
            assert function in functions, f"{file}::{function}"


@each_page
def test_files_named_are_there(page):
    known = {path.name for path in ROOT.rglob("*.py") if ".venv" not in path.parts}
    for name in re.findall(r"`(?:\w+/)*(\w+\.py)`", page.read_text()):
        assert name in known, name


def test_architecture_names_every_file():
    text = (ROOT / "docs" / "architecture.md").read_text()
    for path in (ROOT / "src" / "boundsep").glob("*.py"):
        if not path.name.startswith("__"):
            assert f"`{path.name}`" in text, path.name


def test_no_file_is_long():
    for folder in ("src", "tests", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            assert len(path.read_text().splitlines()) <= 400, path.name


def test_version_is_one():
    assert f'version = "{boundsep.__version__}"' in (ROOT / "pyproject.toml").read_text()

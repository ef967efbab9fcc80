"""The command line, run as a user runs it."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from boundsep import __version__
from boundsep.cli import app

run = CliRunner().invoke


def test_demo_shows_a_table_and_saves_a_figure(tmp_path):
    result = run(app, ["demo", "--sources", "2", "--samples", "10000", "--out", str(tmp_path / "a" / "b")])
    assert result.exit_code == 0, result.output
    assert "2 sources, 10000 samples, one online pass" in result.stdout
    assert "total" in result.stdout
    assert "dB" in result.stdout
    assert "by its own estimate" in result.stdout
    assert "samples a second" in result.stdout
    figure = tmp_path / "a" / "b" / "demo.png"
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    result = run(app, ["demo", "--out", str(tmp_path / "file")])
    assert result.exit_code == 1
    assert "can't be made" in result.output
    assert "--out" in result.output


@pytest.mark.parametrize("option", ["--sources=1", "--samples=10", "--seed=x"])
def test_options_out_of_range(option):
    assert run(app, ["demo", option]).exit_code == 2


def test_version_and_help():
    assert run(app, ["--version"]).stdout == f"boundsep {__version__}\n"
    assert "demo" in run(app, ["--help"]).stdout


def test_figures_without_matplotlib(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(app, ["demo", "--sources", "2", "--samples", "10000", "--out", str(tmp_path)])
    assert result.exit_code == 1
    assert "figures need matplotlib: pip install 'boundsep[plot]'" in result.output


def test_as_a_module():
    shown = subprocess.run([sys.executable, "-m", "boundsep", "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"boundsep {__version__}\n"


@pytest.mark.parametrize("light", ["boundsep", "boundsep.cli"])
def test_nothing_heavy_is_imported_before_it_is_needed(light):
    heavy = "{'numba', 'sklearn', 'scipy', 'matplotlib'}"
    code = f"import {light}, sys; print(sorted({heavy} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_a_state_runs_without_scikit_learn():
    learn = "boundsep.State.start(2, 2).learn(numpy.ones((5, 2)))"
    code = f"import boundsep, numpy, sys; {learn}; print('sklearn' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "False\n"

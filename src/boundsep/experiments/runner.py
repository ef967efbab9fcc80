"""Run an experiment cell by cell, keep what is done, and write figure, numbers and verdict."""

import json
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import numpy as np

from boundsep import __version__
from boundsep._files import written_whole
from boundsep._style import STYLE
from boundsep._validation import missing_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES: Final = {
    "ten-sources": "ten_sources",
    "images": "images",
    "receptive-fields": "receptive_fields",
    "theorem": "theorem",
    "nonnegative": "nonnegative",
    "dependent": "dependent",
    "digital": "digital",
    "whitening": "whitening",
}
PACKAGES: Final = ("numpy", "scipy", "numba", "scikit-learn")
Cell: TypeAlias = dict[str, Any]
Results: TypeAlias = list[tuple[Cell, dict[str, Any]]]
Progress: TypeAlias = Callable[[int, int], None]


class Experiment(Protocol):
    """What a module of this package has to offer."""

    CLAIM: str
    FULL: Any
    QUICK: Any

    def cells(self, settings: Any, n_seeds: int) -> list[Cell]:
        """List the pieces of work, each a set of keyword arguments of ``measure``."""
        ...

    def measure(self, settings: Any, **cell: Any) -> dict[str, Any]:
        """Do one piece; return numbers, and lists or arrays of numbers."""
        ...

    def draw(self, settings: Any, results: Results) -> "Figure":
        """Draw all that was measured."""
        ...

    def judge(self, settings: Any, results: Results) -> tuple[bool, str]:
        """Say whether the claim holds, and by which figures."""
        ...


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of an experiment."""

    name: str
    holds: bool
    text: str
    seconds: float


def run(
    name: str,
    out: Path,
    *,
    n_seeds: int = 10,
    quick: bool = False,
    again: bool = False,
    changes: dict[str, Any] | None = None,
    progress: Progress = lambda done, total: None,
) -> Verdict:
    """Run one experiment into a folder: NAME.png, NAME.svg and NAME.json.

    What an interrupted run has done is kept in NAME.partial.json, and a rerun with the same settings goes on from it;
    what was measured is not measured again unless asked for, only judged and drawn.
    """
    experiment: Experiment = import_module(f"boundsep.experiments.{NAMES[name]}")
    settings = replace(experiment.QUICK if quick else experiment.FULL, **(changes or {}))
    about = {
        "experiment": name,
        "claim": experiment.CLAIM,
        "settings": asdict(settings),
        "seeds": n_seeds,
        "versions": {"boundsep": __version__, "python": platform.python_version()}
        | {package: version(package) for package in PACKAGES},
    }
    about = json.loads(json.dumps(about, default=_plain))
    finished, partial = out / f"{name}.json", out / f"{name}.partial.json"
    kept: dict[str, Any] = {"cells": [], "results": [], "seconds": 0.0}
    if not again and (before := _kept(finished, about) or _kept(partial, about)):
        kept = {key: before[key] for key in kept}
    cells = json.loads(json.dumps(experiment.cells(settings, n_seeds), default=_plain))
    for count, cell in enumerate(cells):
        progress(count, len(cells))
        if cell in kept["cells"]:
            continue
        began = time.perf_counter()
        measured = experiment.measure(settings, **cell)
        kept["cells"].append(cell)
        kept["results"].append(json.loads(json.dumps(measured, default=_plain)))
        kept["seconds"] += time.perf_counter() - began
        _write(partial, about | kept)
    progress(len(cells), len(cells))

    results = [(cell, kept["results"][kept["cells"].index(cell)]) for cell in cells]
    holds, text = experiment.judge(settings, results)
    _draw(experiment, settings, results, out / name)
    _write(finished, about | {"holds": holds, "verdict": text} | kept)
    partial.unlink(missing_ok=True)
    return Verdict(name, holds, text, kept["seconds"])


def _draw(experiment: Experiment, settings: Any, results: Results, path: Path) -> None:
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise missing_extra("figures", "matplotlib", "plot") from error
    with mpl.rc_context(STYLE):
        figure = experiment.draw(settings, results)
        for kind in ("png", "svg"):
            with written_whole(path.with_suffix(f".{kind}")) as file:
                figure.savefig(file, format=kind)


def _kept(path: Path, about: dict[str, Any]) -> dict[str, Any] | None:
    """Return what an earlier run has kept, if it was of the very same settings."""
    try:
        kept: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return kept if all(kept.get(key) == value for key, value in about.items()) else None


def _write(path: Path, content: dict[str, Any]) -> None:
    with written_whole(path) as file:
        file.write(json.dumps(content, default=_plain).encode())


def _plain(value: Any) -> Any:
    """Return NumPy's numbers and arrays as Python's own, for JSON; numbers of an array to seven digits."""
    if isinstance(value, np.ndarray):
        return [float(f"{number:.7g}") for number in value] if value.ndim == 1 else [_plain(row) for row in value]
    return value.item()

"""How precisely BSM separates, on all it should reach, beside five ICAs. Writes docs/accuracy.md and its figure."""

import json
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

from benchmarks import cells as grid
from benchmarks import machine
from boundsep._style import COLOURS, STYLE

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "accuracy.md"
FIGURE = ROOT / "docs" / "figures" / "accuracy.png"
KEPT = ROOT / "out" / "accuracy.json"


def work(task: tuple) -> object:
    """Do one task of the grid, on one thread."""
    with threadpool_limits(1):
        kind, *rest = task
        if kind == "cell":
            index, method, seed = rest
            return grid.run(grid.CELLS[index], method, seed)
        return (grid.follow if kind == "follow" else grid.impossible)(*rest)


def tasks() -> list[tuple]:
    """Return all that is to be done, the longest first."""
    todo: list[tuple] = []
    for index, cell in enumerate(grid.CELLS):
        own = ["BSM", *(["paper"] if cell.paper else []), *(["stage one"] if cell.noisy else [])]
        rivals = grid.FAST if cell.way == "stage one" else cell.rivals
        for seed in cell.seeds:
            todo += [("cell", index, method, seed) for method in own]
        for seed in cell.seeds[: cell.rival_seeds]:
            todo += [("cell", index, method, seed) for method in rivals]
    todo += [("follow", seed, jump) for seed in grid.SEEDS for jump in (False, True)]
    todo += [("impossible", name, seed) for name in grid.IMPOSSIBLE for seed in grid.SEEDS]
    return todo


def measure() -> dict[str, object]:
    """Do all tasks on all cores; what an interrupted run has done is kept."""
    KEPT.parent.mkdir(exist_ok=True)
    done = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    todo = [task for task in tasks() if json.dumps(task) not in done]
    with ProcessPoolExecutor(os.cpu_count()) as pool, Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("grid", total=len(todo))
        futures = {pool.submit(work, task): json.dumps(task) for task in todo}
        for count, future in enumerate(as_completed(futures)):
            done[futures[future]] = future.result()
            progress.update(bar, advance=1)
            if count % 25 == 0:
                KEPT.write_text(json.dumps(done))
    KEPT.write_text(json.dumps(done))
    return done


def scores(done: dict, index: int, method: str) -> np.ndarray:
    """Return the scores of a method on a cell, and its estimates beside them; empty where it was not run."""
    found = [
        done[key] for seed in grid.CELLS[index].seeds if (key := json.dumps(("cell", index, method, seed))) in done
    ]
    return np.array(found, dtype=float).reshape(-1, 2)


def show(value: float) -> str:
    """Return a number of dB; what is exact but for rounding is said to be so."""
    return "exact" if value > 150.0 or np.isnan(value) else f"{value:.1f}"


def spread(values: np.ndarray) -> str:
    """Return the median and, in brackets, the least and the largest; a score that is not a number is exact."""
    values = np.where(np.isnan(values), np.inf, values)
    return f"{show(float(np.median(values)))} ({show(values.min())} to {show(values.max())})" if len(values) else ""


def best_rival(done: dict, index: int) -> tuple[str, np.ndarray]:
    """Return the name and the scores of the ICA of the highest median."""
    cell = grid.CELLS[index]
    rivals = grid.FAST if cell.way == "stage one" else cell.rivals
    found = {name: scores(done, index, name)[:, 0] for name in rivals}
    name = max(found, key=lambda one: float(np.nanmedian(found[one])))
    return name, found[name]


def reaches(cell: grid.Cell, bsm: np.ndarray, ica: float, paper: float) -> str:
    """Say whether the aim of a cell is reached by the median."""
    if not cell.aim:
        return ""
    median = float(np.median(np.where(np.isnan(bsm), np.inf, bsm)))
    for part in cell.aim.split(", "):
        word, *rest = part.split()
        if word == "nine":
            kept = np.quantile(bsm, 0.1) >= float(rest[-1])
        elif word in ("ICA", "paper"):
            margin = float("".join(rest)) if rest else 0.0
            kept = median >= min((ica if word == "ICA" else paper) + margin, 150.0)
        else:
            kept = median >= float(word)
        if not kept:
            return "no"
    return "yes"


def rows(done: dict) -> list[str]:
    """Return the tables, a group of cells each."""
    lines: list[str] = []
    for index, cell in enumerate(grid.CELLS):
        if index == 0 or cell.group != grid.CELLS[index - 1].group:
            extra = " BSM, stage one alone |" if cell.noisy else ""
            lines += [
                "",
                f"## {cell.group}",
                "",
                f"| | aim | BSM | reached | best ICA | which |{extra} the paper's constants |",
                "|---|---|---|---|---|---|---|" + ("---|" if extra else ""),
            ]
        bsm, paper = scores(done, index, "BSM")[:, 0], scores(done, index, "paper")[:, 0]
        name, ica = best_rival(done, index)
        said = reaches(cell, bsm, float(np.median(ica)), float(np.median(paper)))
        extra = f" {spread(scores(done, index, 'stage one')[:, 0])} |" if cell.noisy else ""
        few = f" (seeds: {cell.rival_seeds})" if cell.rival_seeds < len(cell.seeds) else ""
        columns = (cell.name, cell.aim, spread(bsm), said, spread(ica), name + few)
        lines.append("| " + " | ".join(columns) + f" |{extra} {spread(paper)} |")
    return lines


def followed(done: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return the courses of SIR while the mixing turns, and around the moment at which it changes at a blow."""
    return tuple(np.array([done[json.dumps(("follow", seed, jump))] for seed in grid.SEEDS]) for jump in (False, True))


def back_above(course: np.ndarray, level: float) -> float:
    """Return after how many thousand samples a course stays above a level."""
    below = np.flatnonzero(course <= level)
    return float(below[-1] + 2 if len(below) else 1)


def rows_of_change(done: dict) -> list[str]:
    """Return the table of mixings that move."""
    turning, jumping = followed(done)
    after = jumping[:, 100:]
    settled = turning[:, 20:]
    return [
        "",
        "## Mixings that move",
        "",
        "Ten uniform sources, a stream, no argument.",
        "",
        "| | aim | BSM |",
        "|---|---|---|",
        f"| turning by 90 degrees in 100k samples: median SIR | | {spread(np.median(settled, axis=1))} |",
        f"| ... lowest SIR, from 20k samples on | 25 | {spread(settled.min(axis=1))} |",
        f"| ... lowest SIR, from 10k samples on | | {spread(turning[:, 10:].min(axis=1))} |",
        "| changed at a blow: thousand samples until it stays above 30 dB | 20 | "
        f"{spread(np.array([back_above(c, 30.0) for c in after]))} |",
        f"| ... above 40 dB | 60 | {spread(np.array([back_above(c, 40.0) for c in after]))} |",
    ]


def rows_of_impossible(done: dict) -> list[str]:
    """Return the table of streams that can't be separated."""
    lines = ["", "## Streams that can't be separated", "", "Five sensors, 100k samples.", ""]
    lines += ["| | SIR, as BSM estimates it | warned, once |", "|---|---|---|"]
    for name in grid.IMPOSSIBLE:
        found = [done[json.dumps(("impossible", name, seed))] for seed in grid.SEEDS]
        warned = sum(bool(said) for _, said in found)
        lines.append(f"| {name} | {spread(np.array([e for e, _ in found]))} | {warned} of {len(found)} |")
    return lines


def estimates(done: dict) -> np.ndarray:
    """Return true SIR, estimated SIR and cell of every run of BSM whose SIR is known."""
    found = []
    for index, cell in enumerate(grid.CELLS):
        if not cell.noisy:
            found += [(true, estimate, index) for true, estimate in scores(done, index, "BSM")]
    return np.array(found)


def draw(done: dict) -> None:
    """Draw BSM beside the best ICA, its estimates beside the truth, and mixings that move."""
    top = 120.0
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.5, 9.6), layout="constrained")
        panels = figure.subplot_mosaic([["grid", "estimate"], ["grid", "moving"]], width_ratios=[1.25, 1.0])
        axes, labels = panels["grid"], []
        for row, (index, cell) in enumerate(enumerate(grid.CELLS)):
            values = np.minimum(np.nan_to_num(scores(done, index, "BSM")[:, 0], nan=np.inf), top)
            _, ica = best_rival(done, index)
            paper = scores(done, index, "paper")[:, 0]
            axes.plot([values.min(), values.max()], [row, row], color=COLOURS[0], alpha=0.4, linewidth=4)
            axes.plot(np.median(values), row, "o", color=COLOURS[0], label="BSM" if row == 0 else None)
            axes.plot(np.median(ica), row, "D", color=COLOURS[1], label="best ICA" if row == 0 else None)
            axes.plot(np.median(paper), row, "x", color=COLOURS[7], label="paper's constants" if row == 0 else None)
            first = index == 0 or cell.group != grid.CELLS[index - 1].group
            labels.append(f"{cell.group}:  {cell.name}" if first else cell.name)
            if first and row:
                axes.axhline(row - 0.5, color=COLOURS[7], linewidth=0.5)
        axes.set_yticks(range(len(labels)), labels, fontsize=7.5)
        axes.set(
            title="Ten seeds: median, and from least to largest", xlabel="SIR (SINR in noise), dB; 120 and more at 120"
        )
        axes.set(ylim=(len(labels) - 0.4, -0.6))
        axes.legend(loc="lower right")

        found = estimates(done)
        found[:, :2] = np.clip(np.nan_to_num(found[:, :2], nan=top), -10.0, top)
        axes = panels["estimate"]
        groups = list(dict.fromkeys(cell.group for cell in grid.CELLS if not cell.noisy))
        for colour, group in zip(COLOURS, groups, strict=False):
            of = np.array([grid.CELLS[int(i)].group == group for i in found[:, 2]])
            axes.plot(found[of, 0], found[of, 1], ".", color=colour, markersize=5, alpha=0.7, label=group)
        axes.plot([-10, top], [-10, top], color=COLOURS[6], linewidth=0.8)
        axes.set(title="What BSM estimates without the truth", xlabel="true SIR, dB", ylabel="estimated_sir_, dB")
        axes.legend(fontsize=6.5, loc="upper left")

        turning, jumping = followed(done)
        axes = panels["moving"]
        for courses, colour, label in (
            (turning, COLOURS[2], "turning by 90 degrees in 100k"),
            (jumping, COLOURS[3], "changed at a blow at 100k"),
        ):
            at = np.arange(1, courses.shape[1] + 1)
            axes.plot(at, np.median(courses, axis=0), color=colour, label=label)
            axes.fill_between(at, courses.min(axis=0), courses.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        axes.set(title="Mixings that move: ten sources, a stream", xlabel="samples (thousands)", ylabel="SIR, dB")
        axes.set(xlim=(0, 200), ylim=(-12, None))
        axes.legend(loc="lower right")
        figure.savefig(FIGURE)


def main() -> None:
    """Measure what is not measured yet, and write page and figure."""
    done = measure()
    draw(done)
    found = estimates(done)
    inside = found[np.isfinite(found).all(axis=1) & (found[:, 0] < 100.0)]
    off = inside[:, 1] - inside[:, 0]
    lines = [
        "# Accuracy, measured",
        "",
        "Measured by `make accuracy`: median (least to largest) over seeds 1000 to 1009, in dB; of photographs, over",
        "all triples, or thirty of them.",
        f"{machine.describe()}.",
        "",
        "`BSM(n_components)` with no other argument: on raw mixtures by Gaussian matrices, whatever their condition.",
        "SIR is total over the sources, of the linear map `components_`. *Best ICA* is, by its median, the best of",
        "FastICA (cube, logcosh), Picard (extended; cube, not orthogonal) and extended Infomax on the same samples;",
        'the paper\'s constants are `schedule="paper"`. What is better than 150 dB is exact but for rounding.',
        "",
        "Settings were chosen on other seeds; but the grid was run more than once while the learning was built,",
        "and what fell short was worked on. Photographs are left out of the ten by one rule: fewer than one pixel in a",
        "thousand within a tenth of a bound.",
        "",
        "![BSM beside the best ICA, its own estimates beside the truth, mixings that move](figures/accuracy.png)",
        *rows(done),
        *rows_of_change(done),
        *rows_of_impossible(done),
        "",
        "## What BSM estimates of itself",
        "",
        f"Of all {len(inside)} runs without noise whose true SIR is below 100 dB, `estimated_sir_` less the true SIR:",
        f"median {np.median(off):+.1f} dB, {np.mean(np.abs(off) < 6.0):.0%} within 6 dB, "
        f"{np.mean(np.abs(off) < 12.0):.0%} within 12, {np.mean(off > 6.0):.0%} more than 6 dB too high.",
        "",
    ]
    PAGE.write_text("\n".join(lines))
    Console().print("\n".join(lines), markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()

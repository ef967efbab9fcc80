"""The command line: parses, calls, prints."""

import time
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="Separate bounded signals from their mixtures.", no_args_is_help=True, add_completion=True)


def _version(wanted: bool) -> None:
    if wanted:
        from boundsep import __version__

        typer.echo(f"boundsep {__version__}")
        raise typer.Exit


@app.callback()
def boundsep(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Separate bounded signals from their mixtures."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("out"),
    n_sources: Annotated[int, typer.Option("--sources", min=2, max=100, help="How many sources.")] = 10,
    n_samples: Annotated[int, typer.Option("--samples", min=10_000, help="How many samples.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Of sources and mixing.")] = 0,
) -> None:
    """Separate sources from their mixtures in one online pass; print the SIR and save a figure."""
    import numpy as np
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from boundsep import BSM, metrics, mixing, sources
    from boundsep.report import Course, save_course, score_table

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        typer.echo(f"The folder {out} can't be made: {error.strerror}. Name another with --out.", err=True)
        raise typer.Exit(1) from error

    S = sources.uniform(n_samples, n_sources, random_state=seed)
    A = mixing.gaussian(n_sources, n_sources, random_state=seed + 1)
    mixture = mixing.mix(S, A)
    bsm = BSM(n_components=n_sources, whiten="online")
    messages = Console(stderr=True)
    chunk = n_samples // 100
    counts, sirs, gains, busy = [], [], [], 0.0
    columns = TextColumn("separating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=messages) as progress:
        task = progress.add_task("", total=n_samples)
        for start in range(0, n_samples, chunk):
            began = time.perf_counter()
            bsm.partial_fit_transform(mixture.X[start : start + chunk])
            if start > 0:  # the first chunk waits for the compiler
                busy += time.perf_counter() - began
            counts.append(bsm.n_samples_seen_)
            sirs.append(metrics.sir(bsm.components_, mixture.A, mixture.power).total)
            gains.append(bsm.D_)
            progress.update(task, completed=bsm.n_samples_seen_)

    scores = metrics.sir(bsm.components_, mixture.A, mixture.power)
    typer.echo(f"{n_sources} sources, {n_samples} samples, one online pass")
    Console().print(score_table(scores))
    typer.echo(f"{(n_samples - chunk) / busy:,.0f} samples a second, whitening included")
    path = out / "demo.png"
    course = Course(
        samples=np.array(counts),
        sir=np.array(sirs),
        gains=np.array(gains),
        mixtures=mixture.X[-3000:, :2],
        outputs=bsm.transform(mixture.X[-3000:])[:, :2],
    )
    try:
        save_course(course, path, f"{n_sources} uniform sources from {n_sources} random mixtures, one online pass")
    except (ImportError, OSError) as error:
        typer.echo(f"No figure: {error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(f"figure: {path}")


def main() -> None:
    """Run the command line."""
    app()

"""The command line: parses, calls, prints."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

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

    from boundsep import BSM, metrics, mixing, sources
    from boundsep.report import History, save_history, score_table

    _make(out)
    S = sources.uniform(n_samples, n_sources, random_state=seed)
    A = mixing.gaussian(n_sources, n_sources, random_state=seed + 1)
    mixture = mixing.mix(S, A)
    bsm = BSM(n_components=n_sources)
    chunk = n_samples // 250
    counts, sirs, estimates, gains, stages, took = [], [], [], [], [], []
    with _progress() as progress:
        task = progress.add_task("separating", total=n_samples)
        for start in range(0, n_samples, chunk):
            began = time.perf_counter()
            bsm.partial_fit_transform(mixture.X[start : start + chunk])
            took.append(time.perf_counter() - began)
            counts.append(bsm.n_samples_seen_)
            sirs.append(metrics.sir(bsm.components_, mixture.A, mixture.power).total)
            estimates.append(bsm.estimated_sir_)
            gains.append(bsm.D_)
            stages.append(bsm.stage_)
            progress.update(task, completed=bsm.n_samples_seen_)

    scores = metrics.sir(bsm.components_, mixture.A, mixture.power)
    typer.echo(f"{n_sources} sources, {n_samples} samples, one online pass")
    Console().print(score_table(scores))
    typer.echo(f"by its own estimate, without the truth: {bsm.estimated_sir_:.1f} dB")
    typer.echo(f"{chunk / np.median(took):,.0f} samples a second, whitening included")
    path = out / "demo.png"
    history = History(
        samples=np.array(counts),
        sir=np.array(sirs),
        estimate=np.array(estimates),
        gains=np.array(gains),
        sharpened_from=counts[stages.index("sharpening")] if "sharpening" in stages else None,
        mixtures=mixture.X[-3000:, :2],
        outputs=bsm.transform(mixture.X[-3000:])[:, :2],
    )
    try:
        save_history(history, path, f"{n_sources} uniform sources from {n_sources} random mixtures, one online pass")
    except (ImportError, OSError) as error:
        typer.echo(f"No figure: {error}", err=True)
        raise typer.Exit(1) from error
    typer.echo(f"figure: {path}")


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="ten-sources, images, receptive-fields, theorem, nonnegative, dependent, digital, whitening; or all."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for figures and numbers.")] = Path("out"),
    seeds: Annotated[int, typer.Option(min=1, help="How many.")] = 10,
    quick: Annotated[bool, typer.Option("--quick", help="Small settings, to see that it runs.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Do anew what is already there.")] = False,
    pictures: Annotated[
        tuple[Path, Path, Path] | None, typer.Option("--images", help="For images: three pictures of your own.")
    ] = None,
) -> None:
    """Reproduce what the paper shows: figure, numbers, and a verdict on each claim."""
    from boundsep.experiments import runner

    names = list(runner.NAMES) if name == "all" else [name]
    if unknown := set(names) - set(runner.NAMES):
        typer.echo(f"There is no experiment {unknown.pop()!r}. There are: {', '.join(runner.NAMES)}; or all.", err=True)
        raise typer.Exit(2)
    if pictures and names != ["images"]:
        typer.echo("--images is for the experiment 'images'.", err=True)
        raise typer.Exit(2)
    changes = {"files": tuple(str(picture) for picture in pictures)} if pictures else None
    _make(out)
    failed = False
    for each in names:
        with _progress() as progress:
            task = progress.add_task(each, total=None)

            def show(done: int, total: int, progress: "Progress" = progress, task: "TaskID" = task) -> None:
                progress.update(task, completed=done, total=total)

            try:
                verdict = runner.run(
                    each,
                    out,
                    n_seeds=seeds,
                    quick=quick,
                    again=again,
                    changes=changes,
                    progress=show,
                )
            except (ImportError, OSError, ValueError) as error:
                typer.echo(f"{each} could not be finished: {error}", err=True)
                failed = True
                continue
            except KeyboardInterrupt:
                typer.echo(f"{each} was interrupted. What is done stays in {out}: the same command goes on.", err=True)
                raise typer.Exit(130) from None
        word = "holds" if verdict.holds else "does not hold as stated"
        typer.echo(f"{each}: {word}: {verdict.text} ({verdict.seconds:.0f} s)")
    if failed:
        raise typer.Exit(1)


def _make(folder: Path) -> None:
    """Make the folder, or say why not and leave."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        typer.echo(f"The folder {folder} can't be made: {error.strerror}. Name another with --out.", err=True)
        raise typer.Exit(1) from error


def _progress() -> "Progress":
    """Return a progress bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress(*columns, console=Console(stderr=True))


def main() -> None:
    """Run the command line."""
    app()

"""What a user sees of a separation: tables and figures."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.table import Table

from boundsep._style import COLOURS, STYLE
from boundsep._types import Floats, Matrix, Vector
from boundsep._validation import missing_extra
from boundsep.metrics import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """How a separation went, and a look at the end.

    At each count of samples the total SIR in dB, as it is and as the network estimates it, and the gains; and the count
    at which stage two began, if it did.
    """

    samples: Vector
    sir: Vector
    estimate: Vector
    gains: Matrix
    sharpened_from: int | None
    mixtures: Matrix
    outputs: Floats


def score_table(scores: Scores) -> Table:
    """Return a table of one measure, a row a source."""
    table = Table(show_footer=True)
    table.add_column("source", footer="total", justify="right")
    table.add_column("output", justify="right")
    table.add_column("SIR", footer=f"{scores.total:.1f} dB", justify="right")
    for source, (output, value) in enumerate(zip(scores.output_of_source, scores.per_source, strict=True)):
        table.add_row(str(source + 1), str(output + 1), f"{value:.1f} dB")
    return table


def save_history(history: History, path: Path, title: str) -> None:
    """Draw how a separation went: SIR and gains over the samples, and two channels before and after."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise missing_extra("figures", "matplotlib", "plot") from error
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(9.6, 6.6), layout="constrained")
        figure.suptitle(title, x=0.01, ha="left", fontsize=12)
        axes = figure.subplot_mosaic([["sir", "gains"], ["before", "after"]])
        thousands = history.samples / 1000.0

        axes["sir"].plot(thousands, history.sir, color=COLOURS[0], label="true")
        axes["sir"].plot(thousands, history.estimate, color=COLOURS[1], linewidth=1.0, label="as it estimates itself")
        axes["sir"].legend(loc="lower right")
        axes["sir"].set(
            title="Separation: total SIR",
            xlabel="samples (thousands)",
            ylabel="dB",
            xlim=(0.0, thousands[-1]),
        )
        axes["gains"].plot(thousands, history.gains, color=COLOURS[2], alpha=0.7, linewidth=1.0)
        axes["gains"].set(
            title=r"Gains $D_{ii}$ of stage one",
            xlabel="samples (thousands)",
            xlim=(0.0, thousands[-1]),
            ylim=(0, None),
        )
        if history.sharpened_from is not None:
            for panel in ("sir", "gains"):
                axes[panel].axvline(history.sharpened_from / 1000.0, color=COLOURS[7], linewidth=0.8)
            axes["gains"].text(history.sharpened_from / 1000.0, 0.1, "  stage two: sharpening", color=COLOURS[7])
            axes["gains"].set_xlim(0.0, min(3.0 * history.sharpened_from / 1000.0, thousands[-1]))
        _scatter(axes["before"], history.mixtures, "Two of the mixtures", "sensor")
        _scatter(axes["after"], history.outputs, "Two of the outputs: a filled box", "output")
        figure.savefig(path)


def _scatter(axes: "Axes", pair: Floats, title: str, what: str) -> None:
    axes.plot(pair[:, 0], pair[:, 1], ".", color=COLOURS[1], markersize=2.0, alpha=0.5, rasterized=True)
    reach = 1.08 * np.abs(pair).max()
    axes.set(
        title=title,
        xlabel=f"{what} 1",
        ylabel=f"{what} 2",
        xlim=(-reach, reach),
        ylim=(-reach, reach),
        aspect="equal",
    )

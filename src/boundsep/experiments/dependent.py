"""What bounded sources allow beyond independence: uncorrelated but dependent ones, beside every ICA."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from boundsep import metrics, mixing, sources
from boundsep._style import COLOURS
from boundsep._types import Matrix
from boundsep.experiments.rivals import RIVALS, unmix
from boundsep.experiments.runner import Cell, Results
from boundsep.schedules import paper
from boundsep.state import State
from boundsep.whitening import Fixed, moments

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIM = "BSM separates uncorrelated bounded sources whether or not they depend on each other."
KINDS: Final[dict[str, Callable[..., Matrix]]] = {
    "independent, uniform": sources.uniform,
    "copula of Student's t": sources.copula,
    "shared amplitude": sources.shared_amplitude,
    "l1 ball with corners": lambda n, d, random_state: sources.l1_ball(n, d, corners=0.1, random_state=random_state),
    "X shape": sources.x_shape,
}
METHODS: Final = ("BSM", *RIVALS)


@dataclass(frozen=True)
class Settings:
    """Sources, and lengths of the record."""

    n_sources: int = 4
    lengths: tuple[int, ...] = (1000, 5000, 20_000)


FULL = Settings()
QUICK = Settings(n_sources=2, lengths=(1000, 10_000))


def cells(settings: Settings, n_seeds: int) -> list[Cell]:
    """One for each kind of sources, length and seed: all methods on the very same samples."""
    return [{"kind": k, "n": n, "seed": seed} for k in KINDS for n in settings.lengths for seed in range(n_seeds)]


def measure(settings: Settings, *, kind: str, n: int, seed: int) -> dict[str, Any]:
    """Return the SIR of each method."""
    d = settings.n_sources
    S = KINDS[kind](n, d, random_state=seed)
    mixture = mixing.mix(S, mixing.gaussian(d, d, random_state=1000 + seed))
    state = State.start(d, d, whiten=Fixed.exact(*moments(mixture.X), d), rates=paper())
    state.learn(mixture.X)
    unmixings = {"BSM": state.components()}
    unmixings |= {name: unmix(name, mixture.X, d, seed) for name in RIVALS}
    return {name: metrics.sir(found, mixture.A, mixture.power).total for name, found in unmixings.items()}


def judge(settings: Settings, results: Results) -> tuple[bool, str]:
    """By the medians on the longest record: where BSM separates, and where each ICA does."""
    longest = max(settings.lengths)
    told, separates = [], True
    for kind in KINDS:
        of_kind = [r for c, r in results if (c["kind"], c["n"]) == (kind, longest)]
        middle = {name: float(np.median([r[name] for r in of_kind])) for name in METHODS}
        best = max(RIVALS, key=lambda name: middle[name])
        failing = sum(middle[name] < 15.0 for name in RIVALS)
        separates &= middle["BSM"] > 20.0
        told.append(
            f"{kind}: BSM {middle['BSM']:.0f} dB, best ICA {middle[best]:.0f} ({best}), {failing} of {len(RIVALS)} fail"
        )
    return separates, "; ".join(told)


def draw(settings: Settings, results: Results) -> "Figure":
    """Draw the SIR over the length of the record, a panel a kind of sources."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.4, 6.2), layout="constrained")
    panels = figure.subplots(2, 3, sharey=True).ravel()
    for panel, kind in zip(panels, KINDS, strict=False):
        for number, (colour, name) in enumerate(zip(COLOURS, METHODS, strict=False)):
            reached = np.array(
                [[r[name] for c, r in results if (c["kind"], c["n"]) == (kind, n)] for n in settings.lengths]
            )
            x = np.array(settings.lengths) * 1.05 ** (number - 2)
            middle = np.median(reached, axis=1)
            spread = np.abs(np.quantile(reached, [0.1, 0.9], axis=1) - middle)
            panel.errorbar(
                x,
                middle,
                spread,
                color=colour,
                label=name,
                marker="o",
                markersize=3.5,
                elinewidth=0.8,
                linewidth=2.0 if name == "BSM" else 1.0,
            )
        panel.set(title=kind, xscale="log", xlabel="samples")
    panels[0].set(ylabel="SIR, dB")
    panels[3].set(ylabel="SIR, dB")
    handles, labels = panels[0].get_legend_handles_labels()
    panels[-1].axis("off")
    panels[-1].legend(handles, labels, loc="center", title=f"{settings.n_sources} sources;\nmedian and 80 % of seeds")
    return figure

"""Section 4.1: ten uniform sources from their orthogonal mixtures."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boundsep import metrics, mixing, rules, schedules, sources
from boundsep._style import COLOURS
from boundsep.experiments.drawing import curve_of_seeds
from boundsep.experiments.runner import Cell, Results
from boundsep.state import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIM = (
    "The SIR rises after a transient, the largest clip input comes down to the limit, gains settle, E and I balance."
)


@dataclass(frozen=True)
class Settings:
    """The paper's numbers."""

    n_sources: int = 10
    n_samples: int = 100_000
    n_points: int = 100  # of each curve
    forgetting: float = 4e-3
    gain_step: float = 1e-3
    gain_leak: float = 1e-6


FULL = Settings()
QUICK = Settings(n_sources=3, n_samples=50_000, n_points=50)
WAYS = {"fixed point": False, "Euler": True}


def cells(settings: Settings, n_seeds: int) -> list[Cell]:
    """One for each seed, and each way to let the dynamics rest."""
    return [{"seed": seed, "way": way} for seed in range(n_seeds) for way in WAYS]


def measure(settings: Settings, *, seed: int, way: str) -> dict[str, Any]:
    """Follow SIR, largest clip input, gains, excitation and inhibition over the samples."""
    d, step = settings.n_sources, settings.n_samples // settings.n_points
    S = sources.uniform(settings.n_samples, d, random_state=seed)
    Q = mixing.orthogonal(d, random_state=1000 + seed)
    X = np.ascontiguousarray((S / S.std(axis=0)) @ Q.T)
    rates = schedules.paper(settings.forgetting, settings.gain_step, settings.gain_leak)
    state = State.start(d, d, whiten=None, rates=rates, euler=WAYS[way])
    curves: dict[str, list[Any]] = {name: [] for name in ("sir", "reach", "D", "excitation", "inhibition")}
    for start in range(0, settings.n_samples, step):
        state.learn(X[start : start + step])
        neurons = state.neurons
        curves["sir"].append(metrics.sir(state.components(), Q).total)
        curves["reach"].append(neurons.reach.max())
        curves["D"].append(neurons.D.copy())
        curves["excitation"].append(rules.excitation(neurons.W))
        curves["inhibition"].append(rules.inhibition(neurons.M, neurons.D))
    return {name: np.array(curve) for name, curve in curves.items()}


def judge(settings: Settings, results: Results) -> tuple[bool, str]:
    """By the end of the curves, and by how the two ways agree."""
    ends = {way: [r["sir"][-1] for cell, r in results if cell["way"] == way] for way in WAYS}
    reach = np.median([r["reach"][-1] for _, r in results])
    late = [np.abs(np.array(r["D"][-1]) / np.array(r["D"][-1 - len(r["D"]) // 5]) - 1.0).max() for _, r in results]
    balance = [np.abs(np.log(np.array(r["excitation"][-1]) / np.array(r["inhibition"][-1]))).max() for _, r in results]
    sir, euler = np.median(ends["fixed point"]), np.median(ends["Euler"])
    rises = all(r["sir"][-1] > r["sir"][0] + 10.0 for _, r in results)
    holds = bool(rises and reach < 1.2 and np.median(late) < 0.1 and np.median(balance) < 0.15 and abs(sir - euler) < 1)
    return holds, (
        f"SIR {sir:.1f} dB ({min(ends['fixed point']):.1f} to {max(ends['fixed point']):.1f}), by Euler steps "
        f"{euler:.1f}; largest clip input {reach:.2f} of the limit; gains moved {100 * np.median(late):.1f} % over the "
        f"last fifth; excitation and inhibition within {100 * np.median(balance):.0f} %"
    )


def draw(settings: Settings, results: Results) -> "Figure":
    """Draw the paper's four panels: spread over the seeds above, one seed's neurons below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 6.8), layout="constrained")
    axes = figure.subplot_mosaic([["sir", "reach"], ["D", "balance"]])
    samples = np.linspace(0, settings.n_samples, settings.n_points + 1)[1:] / 1000.0
    for colour, line, way in zip(COLOURS, ("-", ":"), WAYS, strict=False):
        of_way = [r for cell, r in results if cell["way"] == way]
        for name in ("sir", "reach"):
            curve_of_seeds(axes[name], samples, [r[name] for r in of_way], colour, way, line)
    axes["sir"].set(title="(a) Signal to interference", ylabel="dB")
    axes["sir"].legend(title=f"median and 80 % of {len(of_way)} seeds", loc="lower right")
    axes["reach"].axhline(1.0, color=COLOURS[7], linestyle="--", linewidth=1.0)
    axes["reach"].annotate("clip level", (samples[-1], 1.0), (0, -11), textcoords="offset points", ha="right")
    axes["reach"].set(title="(b) Largest input to the clip", ylabel="in units of the limit", ylim=(0.8, None))
    one = results[0][1]
    axes["D"].plot(samples, one["D"], color=COLOURS[2], linewidth=1.0, alpha=0.8)
    axes["D"].set(title=r"(c) Gains $D_{ii}$ of each neuron, one seed", ylim=(0, None))
    axes["balance"].plot(samples, one["excitation"], color=COLOURS[0], linewidth=1.0, alpha=0.7)
    axes["balance"].plot(samples, one["inhibition"], color=COLOURS[1], linewidth=1.0, alpha=0.7, linestyle="--")
    axes["balance"].plot([], [], color=COLOURS[0], label=r"excitation $\|W_{i,:}\|^2$")
    axes["balance"].plot([], [], color=COLOURS[1], linestyle="--", label=r"inhibition $\|M_{i,:}\|^2_D$")
    axes["balance"].set(title="(d) Balance in each neuron, one seed", ylim=(0, None))
    axes["balance"].legend()
    for panel in axes.values():
        panel.set(xlabel="samples (thousands)", xlim=(0, samples[-1]))
    return figure

"""The sparse section: receptive fields that a network with a threshold learns from patches of photographs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.optimize import least_squares

from boundsep import schedules, sources
from boundsep._style import COLOURS
from boundsep._types import Matrix, Vector
from boundsep.experiments.runner import Cell, Results
from boundsep.state import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIM = "With a soft threshold, neurons learn localised and oriented filters from patches of photographs."


@dataclass(frozen=True)
class Settings:
    """The paper's patches, limit and threshold; what it does not state (gains, steps, passes) is what works here.

    The gains are large and do not move: so few neurons answer to a patch.
    """

    photographs: tuple[str, ...] = ("camera", "coffee", "rocket", "chelsea", "coins", "astronaut", "china", "flower")
    size: int = 300
    patch: int = 12
    shift: int = 4
    neurons: int = 100
    limit: float = 0.8
    threshold: float = 0.5
    gain: float = 60.0
    forgetting: tuple[float, ...] = (1e-3, 3e-4, 1e-4)
    passes: int = 6  # at each forgetting


FULL = Settings()
QUICK = Settings(photographs=("camera", "coffee"), size=128, patch=8, neurons=16, forgetting=(1e-3,), passes=4)


def patches(settings: Settings) -> Matrix:
    """Return patches and their transposes, a row each, every one and every pixel of zero mean."""
    size, patch = settings.size, settings.patch
    rows = []
    for picture in sources.photographs(settings.photographs, height=size, width=size).T:
        windows = sliding_window_view(picture.reshape(size, size), (patch, patch))
        cut = windows[:: settings.shift, :: settings.shift].reshape(-1, patch, patch)
        rows += [cut.reshape(len(cut), -1), cut.transpose(0, 2, 1).reshape(len(cut), -1)]
    X = np.concatenate(rows)
    X = X - X.mean(axis=1, keepdims=True)
    return X - X.mean(axis=0)


def whitened(X: Matrix) -> tuple[Matrix, Matrix]:
    """Whiten by the inverse symmetric root of the covariance; return also its principal components, a row each."""
    power, axes = np.linalg.eigh(X.T @ X / len(X))
    live = power > 1e-6 * power[-1]
    root = (axes[:, live] / np.sqrt(power[live])) @ axes[:, live].T
    return np.ascontiguousarray(X @ root), axes[:, ::-1].T


def gabor(field: Matrix) -> float:
    """Return how much of a field (R^2) the best Gabor function explains, over several starts."""
    size = len(field)
    y, x = np.mgrid[:size, :size] - (size - 1) / 2.0
    wanted = (field - field.mean()).ravel()
    energy = wanted.reshape(size, size) ** 2 / np.sum(wanted**2)
    place = np.array([np.sum(energy * x), np.sum(energy * y)])

    def explained(p: Vector) -> Vector:
        """Return what is left, the best amplitudes of sine, cosine and constant taken off."""
        turned_x = (x - p[0]) * np.cos(p[2]) + (y - p[1]) * np.sin(p[2])
        turned_y = -(x - p[0]) * np.sin(p[2]) + (y - p[1]) * np.cos(p[2])
        window = np.exp(-0.5 * ((turned_x / p[3]) ** 2 + (turned_y / p[4]) ** 2))
        phase = 2.0 * np.pi * p[5] * turned_x
        parts = np.column_stack([(window * np.cos(phase)).ravel(), (window * np.sin(phase)).ravel(), np.ones(size**2)])
        return wanted - parts @ np.linalg.lstsq(parts, wanted)[0]

    low = [-size / 2, -size / 2, -np.pi, 0.7, 0.7, 0.02]
    high = [size / 2, size / 2, 2.0 * np.pi, size, size, 0.5]
    best = 0.0
    for angle in np.pi * np.arange(4) / 4.0:
        for frequency in (0.1, 0.25):
            start = [*np.clip(place, low[0], high[0]), angle, size / 6.0, size / 4.0, frequency]
            found = least_squares(explained, start, bounds=(low, high), max_nfev=60)
            best = max(best, 1.0 - 2.0 * found.cost / float(wanted @ wanted))
    return best


def cells(settings: Settings, n_seeds: int) -> list[Cell]:
    """One for the fields of each seed (three at the most), one for random fields, one for principal components."""
    learnt = [{"kind": "learnt", "seed": seed} for seed in range(min(n_seeds, 3))]
    return [*learnt, {"kind": "random", "seed": 0}, {"kind": "principal components", "seed": 0}]


def measure(settings: Settings, *, kind: str, seed: int) -> dict[str, Any]:
    """Return fields, and how well a Gabor function fits each."""
    X, axes = whitened(patches(settings))
    rng = np.random.default_rng(seed)
    shape = settings.neurons, X.shape[1]
    answering = 0.0
    if kind == "random":
        fields = rng.normal(size=shape)
    elif kind == "principal components":
        fields = axes[: settings.neurons]
    else:
        state = _network(settings, X.shape[1], rng)
        for forgetting in settings.forgetting:
            state.set_rates(_rates(settings, forgetting))
            for _ in range(settings.passes):
                Y = state.learn(np.ascontiguousarray(X[rng.permutation(len(X))]))
        fields, answering = state.neurons.W, float(np.mean(Y != 0.0))
    side = settings.patch
    fits = [gabor(field.reshape(side, side)) for field in fields]
    return {"fields": fields, "fits": np.array(fits), "answering": answering}


def _rates(settings: Settings, forgetting: float) -> Vector:
    return schedules.paper(
        forgetting, 0.0, 0.0, sparsity=settings.threshold, lower=-settings.limit, upper=settings.limit
    )


def _network(settings: Settings, n_inputs: int, rng: np.random.Generator) -> State:
    """Return a network with small random synapses and large gains."""
    state = State.start(settings.neurons, n_inputs, whiten=None, rates=_rates(settings, settings.forgetting[0]))
    state.neurons.W[:] = 0.3 * rng.normal(size=state.neurons.W.shape)
    state.neurons.M[:] = 0.1 * np.eye(settings.neurons)
    state.neurons.D[:] = settings.gain
    return state


def _shares(results: Results) -> dict[str, float]:
    """Return the share of fields of each kind with an R^2 above one half."""
    kinds = dict.fromkeys(cell["kind"] for cell, _ in results)
    return {k: float(np.mean(np.concatenate([r["fits"] for c, r in results if c["kind"] == k]) > 0.5)) for k in kinds}


def judge(settings: Settings, results: Results) -> tuple[bool, str]:
    """By the share of fields that a Gabor function explains, against random fields and principal components."""
    shares = _shares(results)
    answering = np.mean([r["answering"] for c, r in results if c["kind"] == "learnt"])
    told = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in shares.items())
    holds = shares["learnt"] > 0.5 and shares["learnt"] > 2.0 * max(shares["random"], 0.05)
    return (
        holds,
        f"fields of which a Gabor function explains half (R^2): {told}; {100 * answering:.1f} % of outputs not zero",
    )


def draw(settings: Settings, results: Results) -> "Figure":
    """Draw the fields of one network, and how well Gabor functions fit all kinds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.4, 5.6), layout="constrained")
    halves: Any = figure.subfigures(1, 2, width_ratios=[1.0, 0.9])
    fields = np.array(results[0][1]["fields"])
    order = np.argsort(results[0][1]["fits"])[::-1]
    side, columns = settings.patch, int(np.ceil(np.sqrt(len(fields))))
    sheet = np.full((columns * (side + 1) + 1, columns * (side + 1) + 1), np.nan)
    for place, index in enumerate(order):
        top, left = (1 + (side + 1) * step for step in divmod(place, columns))
        sheet[top : top + side, left : left + side] = fields[index].reshape(side, side) / np.abs(fields[index]).max()
    panel = halves[0].subplots()
    panel.imshow(sheet, cmap="gray", vmin=-1, vmax=1, interpolation="nearest")
    panel.set(title=f"Rows of W: {len(fields)} receptive fields, best fit first", xticks=[], yticks=[])
    panel.grid(visible=False)
    for spine in panel.spines.values():
        spine.set_visible(False)
    panel = halves[1].subplots()
    for colour, kind in zip(COLOURS, _shares(results), strict=False):
        fits = np.sort(np.concatenate([r["fits"] for c, r in results if c["kind"] == kind]))
        panel.plot(fits, np.linspace(1.0, 0.0, len(fits)), color=colour, label=kind)
    panel.axvline(0.5, color=COLOURS[7], linestyle="--", linewidth=1.0)
    panel.set(
        title="How well a Gabor function fits", xlabel="R^2", ylabel="share of fields above", xlim=(0, 1), ylim=(0, 1)
    )
    panel.legend()
    return figure

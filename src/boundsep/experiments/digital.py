"""Digital streams: symbols through a fixed and through a turning channel."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from boundsep import metrics, mixing, schedules, sources
from boundsep._style import COLOURS
from boundsep._types import Matrix
from boundsep.experiments.rivals import unmix
from boundsep.experiments.runner import Cell, Results
from boundsep.state import State

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLAIM = "A stream of symbols is separated as it comes, and followed while the channel turns."
MODULATIONS: Final = ("4-PAM", "16-QAM")
CHANNELS: Final = ("fixed", "turning")


@dataclass(frozen=True)
class Settings:
    """Users and antennas of a channel with noise; the window that FastICA slides."""

    n_users: int = 4
    n_antennas: int = 8
    snr: float = 30.0
    n_samples: int = 100_000
    angle: float = np.pi / 2.0  # that the channel turns by, in all
    window: int = 5000
    n_points: int = 20
    shown: int = 1500  # symbols of a constellation


FULL = Settings()
QUICK = Settings(n_users=2, n_antennas=4, n_samples=30_000, n_points=6, window=3000, shown=300)


def symbols(modulation: str, n: int, users: int, seed: int) -> Matrix:
    """Return real streams: one a user for PAM, two (all real parts, then all imaginary ones) for QAM."""
    if modulation == "4-PAM":
        return sources.pam(n, users, levels=4, random_state=seed)
    return sources.stack_complex(sources.qam(n, users, order=16, random_state=seed))


def cells(settings: Settings, n_seeds: int) -> list[Cell]:
    """One for each modulation, channel and seed."""
    return [
        {"modulation": m, "channel": c, "seed": seed} for m in MODULATIONS for c in CHANNELS for seed in range(n_seeds)
    ]


def measure(settings: Settings, *, modulation: str, channel: str, seed: int) -> dict[str, Any]:
    """Follow the SIR of the network and of FastICA on a sliding window, and count wrong symbols at the end."""
    n, window = settings.n_samples, settings.window
    S = symbols(modulation, n, settings.n_users, seed)
    d = S.shape[1]
    A = _channel(modulation, settings, seed)
    if channel == "turning":
        mixture = mixing.mix_drifting(S, A, angle=settings.angle, snr=settings.snr, random_state=seed)
    else:
        mixture = mixing.mix(S, A, snr=settings.snr, random_state=seed)
    # The subspace of the antennas turns as well: the whitener has to forget in time.
    state = State.start(d, len(A), whiten="online", rates=schedules.paper())
    if channel == "turning":
        state.whitener.forgetting = 1.0 / window  # type: ignore[attr-defined]
    network, ica, done = [], [], 0
    ends = np.linspace(window, n, settings.n_points).astype(int)
    for end in ends:
        state.learn(mixture.X[done:end])
        done = end
        now = mixture.matrix_at(end - 1)
        network.append(metrics.sir(state.components(), now).total)
        found = unmix("FastICA, cube", mixture.X[end - window : end], d, seed)
        ica.append(metrics.sir(found, now).total)
    last = slice(n - window // 4, n)
    outputs = (mixture.X[last] - state.whitener.mean) @ state.components().T
    recovered = metrics.align(S[last], outputs)
    received = metrics.align(S[last], mixture.X[last])
    shown = slice(-settings.shown, None)
    return {
        "ends": ends,
        "network": np.array(network),
        "ica": np.array(ica),
        "errors": _symbol_errors(S[last], recovered, settings.n_users),
        "errors_before": _symbol_errors(S[last], received, settings.n_users),
        "before": mixture.X[shown, [0, len(A) // 2]] if seed == 0 else np.zeros((0, 2)),
        "after": recovered[shown, [0, d // 2]] if seed == 0 else np.zeros((0, 2)),
    }


def _symbol_errors(S: Matrix, recovered: Matrix, users: int) -> float:
    """Return the share of symbols whose nearest level is a wrong one, in either part of a complex symbol."""
    levels = np.unique(S)
    decided = np.abs(recovered[:, :, None] - levels).argmin(axis=2)
    wrong = decided != np.abs(S[:, :, None] - levels).argmin(axis=2)
    return float((wrong[:, :users] | wrong[:, -users:]).mean())


def _channel(modulation: str, settings: Settings, seed: int) -> Matrix:
    rng = np.random.default_rng(1000 + seed)
    shape = settings.n_antennas, settings.n_users
    if modulation == "4-PAM":
        return rng.normal(size=shape)
    channel: NDArray[np.complex128] = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    return mixing.stack_complex(channel)


def judge(settings: Settings, results: Results) -> tuple[bool, str]:
    """By symbol errors and by the SIR over the second half of the stream."""
    told, holds = [], True
    for modulation in MODULATIONS:
        for channel in CHANNELS:
            of = [r for c, r in results if (c["modulation"], c["channel"]) == (modulation, channel)]
            late = settings.n_points // 2
            network = float(np.median([np.median(r["network"][late:]) for r in of]))
            ica = float(np.median([np.median(r["ica"][late:]) for r in of]))
            errors, before = (float(np.median([r[name] for r in of])) for name in ("errors", "errors_before"))
            holds &= network > 20.0 and errors < 0.01
            told.append(
                f"{modulation}, {channel} channel: SIR {network:.0f} dB (FastICA on the last {settings.window}: "
                f"{ica:.0f}), symbol errors {100 * before:.0f} % at the best antennas, {100 * errors:.2g} % after"
            )
    return holds, "; ".join(told)


def draw(settings: Settings, results: Results) -> "Figure":
    """Draw constellations before and after, and the SIR over the stream."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.4, 6.4), layout="constrained")
    axes = figure.subplot_mosaic(
        [["before 4-PAM", "after 4-PAM", "4-PAM"], ["before 16-QAM", "after 16-QAM", "16-QAM"]],
        width_ratios=[1, 1, 1.5],
    )
    for modulation in MODULATIONS:
        first = next(r for c, r in results if c == {"modulation": modulation, "channel": "turning", "seed": 0})
        for when, colour in (("before", COLOURS[1]), ("after", COLOURS[0])):
            panel, points = axes[f"{when} {modulation}"], np.array(first[when])
            panel.plot(points[:, 0], points[:, 1], ".", color=colour, markersize=2.5, alpha=0.5)
            panel.set(title=f"{modulation}, {when}, turning channel", box_aspect=1)
        panel = axes[modulation]
        for channel, line in zip(CHANNELS, ("-", "--"), strict=True):
            of = [r for c, r in results if (c["modulation"], c["channel"]) == (modulation, channel)]
            for name, colour, label in (("network", COLOURS[0], "BSM"), ("ica", COLOURS[1], "FastICA, window")):
                middle = np.median([r[name] for r in of], axis=0)
                panel.plot(np.array(of[0]["ends"]) / 1000.0, middle, line, color=colour, label=f"{label}, {channel}")
        panel.set(title=f"{modulation}: SIR over the stream", xlabel="samples (thousands)", ylabel="dB", ylim=(0, None))
        panel.legend(loc="lower right")
    return figure

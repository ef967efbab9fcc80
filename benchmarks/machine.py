"""What this machine can do at most, on one core: the bound that a kernel is held against."""

import os
import platform
import time
from importlib.metadata import version

import numpy as np
from numba import njit


def describe() -> str:
    """Return processor, cores, Python and the versions that matter, in one line."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scikit-learn"))
    return f"{model}, {os.cpu_count()} cores, one thread used; Python {platform.python_version()}, {packages}"


def flops_a_second(size: int = 768, rounds: int = 7) -> float:
    """Return the best rate of a matrix product, one thread."""
    A, B = np.random.default_rng(0).normal(size=(2, size, size))
    A @ B
    best = min(_time(lambda: A @ B) for _ in range(rounds))
    return 2.0 * size**3 / best


@njit(fastmath=True)
def _scale_in_place(a: np.ndarray, times: int) -> None:
    for _ in range(times):
        for i in range(a.size):
            a[i] = a[i] * 0.9999999


def bytes_a_second(working_set: int, rounds: int = 7) -> float:
    """Return the best rate of reading and writing an array of so many bytes, again and again."""
    a = np.ones(max(64, working_set // 8))
    times = max(1, 200_000_000 // a.nbytes)
    _scale_in_place(a, 1)
    best = min(_time(lambda: _scale_in_place(a, times)) for _ in range(rounds))
    return 2.0 * a.nbytes * times / best


def least_time_a_sample(d: int, sweeps_changes: float, flops_rate: float) -> float:
    """Return the least seconds that one sample of a network with d inputs and outputs can take.

    Flops: drive 2, unclipped state 2, inverse 2 + 3, W with its norms 5, M with its norms 6, all times d^2; and 2 d
    for each change of a multiplier. Bytes: W is read twice and written once, M read and written, P read three times
    and written: 9 passes over 8 d^2 bytes of a working set of 24 d^2.
    """
    flops = 20.0 * d * d + 2.0 * d * sweeps_changes
    in_flops = flops / flops_rate
    in_bytes = 72.0 * d * d / bytes_a_second(24 * d * d)
    return max(in_flops, in_bytes)


def _time(function) -> float:
    began = time.perf_counter()
    function()
    return time.perf_counter() - began

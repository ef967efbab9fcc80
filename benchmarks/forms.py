"""Other forms of stage two, to compare with the one that was kept: see docs/learning.md."""

import math

import numpy as np
from numba import njit

from boundsep import sharpening as sh


@njit(cache=True)
def sharpen(X: np.ndarray, V: np.ndarray, centre: np.ndarray, local: bool, clock: bool, gate: bool) -> None:
    """Sharpen V (d, q) on the rows of X.

    Pushed back along the input (``local``) or along V'y; growth falling by the ``clock`` or by the hits; and, with the
    ``gate``, no further where faces are blunt.
    """
    d, q = V.shape
    growth, excess, near, crowd = np.full(d, sh.FASTEST), np.full(d, sh.BLUNT), np.zeros(d), np.full(d, sh.SHARP)
    slower, follow = math.exp(-2.0 / (sh.PATIENCE * d)), min(0.2, 4.0 / (sh.PATIENCE * d))
    y = np.zeros(d)
    for t in range(X.shape[0]):
        x = X[t]
        for i in range(d):
            if clock:
                growth[i] = 1.5e-4 / (1.0 + t / (300.0 * d)) ** 2
            y[i] = 0.0
            for j in range(q):
                V[i, j] *= 1.0 + growth[i]
                y[i] += V[i, j] * x[j]
        along = x.copy() if local else V.T @ y
        along /= np.sum(x * x) if local else np.sum(y * y)
        for i in range(d):
            over = abs(y[i] - centre[i]) - 1.0
            if over <= 0.0:
                near[i] += 1.0 if over > -sh.BAND * excess[i] else 0.0
                continue
            over = min(over, sh.BEYOND * excess[i])
            signed = math.copysign(over, y[i] - centre[i])
            for j in range(q):
                V[i, j] -= sh.PUSH * signed * along[j]
            centre[i] += sh.LEAN * signed
            crowd[i] += follow * (near[i] - crowd[i])
            near[i] = 0.0
            if not gate or crowd[i] < 6.0:
                growth[i] *= slower
            excess[i] = max(sh.KEEN, excess[i] * (1.0 + follow * (over / excess[i] - 1.0)))

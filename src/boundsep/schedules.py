r"""How forgetting, gain step and leak move with time.

With ``paper`` they do not: the three are constant, and chosen by the user. With ``separating`` and ``settling`` they
are functions of the number of sources and of samples; ``course.py`` decides which of the two it is time for.
"""

import math
from typing import Final

import numpy as np

from boundsep import kernels as k
from boundsep._types import Vector

# What the leak descends on (see docs/errata.md), and the power of D that it is then in proportion to.
LEAKS: Final = {"quadratic": 1.0, "linear": 0.0, "log": -1.0}

WINDOW: Final = 2.0  # samples a source in the network's memory while it separates
GAINS_FOLLOW: Final = 0.3  # gain step over forgetting
LEAKING: Final = 0.01  # leak over gain step
CENTRING: Final = 0.2  # the part of what a neuron cuts off that its centre takes
UNTIL: Final = 20.0  # so many times d^2 samples a window of this length is given to separate by; then it grows
SHARE: Final = 1.0 / 40.0  # ... in proportion to the samples so far, to no more than this part of them
FALLING: Final = 25.0  # once separated, the memory is one part in so many of the samples since
GAINS_FALL: Final = 0.25  # the gain step falls by this power of what the forgetting falls by

SPARSE_WINDOW: Final = 10.0  # samples a source that sparse sources need: they are seldom loud
SPARSE_GAINS: Final = 1.0
THRESHOLDS: Final = (0.2, 0.35, 0.1)  # of the neurons, in units of their limit, tried in turn: outputs become sparse


def paper(
    forgetting: float = 4e-3,
    gain_step: float = 1e-3,
    gain_leak: float = 1e-6,
    *,
    leak: str = "quadratic",
    centring: float = 0.0,
    sparsity: float = 0.0,
    lower: float = -1.0,
    upper: float = 1.0,
) -> Vector:
    r"""Return the rates of a network with constant steps, in the order in which ``kernels`` reads them.

    Parameters
    ----------
    forgetting : float
        :math:`1 - \gamma^2`, the share of its memory that the network gives up each sample.
    gain_step : float
        :math:`\eta`, the step of the gains D.
    gain_leak : float
        :math:`\beta`, the leak of the gains.
    leak : {"quadratic", "linear", "log"}
        What the leak descends on: the sum of the squares of the gains, of the gains, or of their logarithms.
    centring : float
        The part of what a neuron cuts off by which the centre of its range follows.
    sparsity : float
        :math:`\lambda`, the soft threshold of the neurons.
    lower, upper : float
        The limits of the neurons' outputs.

    Returns
    -------
    rates : ndarray of shape (8,)
    """
    power = LEAKS[leak]
    return np.array([forgetting, gain_step, gain_leak, power, centring, sparsity, lower, upper], dtype=np.float64)


def separating(
    n_sources: int, n_samples: int, *, leak_power: float = -1.0, sparsity: float = 0.0, limit: float = 1.0
) -> Vector:
    """Return the rates of a network that has yet to separate, after so many samples.

    Parameters
    ----------
    n_sources : int
        How many outputs it has.
    n_samples : int
        How many samples it has learnt from since it began.
    leak_power : float
        The gains leak in proportion to this power of themselves: see ``LEAKS``.
    sparsity : float
        The soft threshold of the neurons, which is for sparse sources: their window is longer.
    limit : float
        The limit of the neurons' outputs.

    Returns
    -------
    rates : ndarray of shape (8,)
    """
    shortest = n_sources * (SPARSE_WINDOW if sparsity else WINDOW)
    step = (SPARSE_GAINS if sparsity else GAINS_FOLLOW) / shortest
    grown = max(1.0, n_samples / (UNTIL * n_sources**2))
    window = min(shortest * grown, max(shortest, SHARE * n_samples))
    leak = LEAKING * step * shortest / window * limit ** (2.0 * leak_power - 2.0)  # gains go with limit^-2
    centring = 0.0 if sparsity else CENTRING
    return np.array([1.0 / window, step / limit**4, leak, leak_power, centring, sparsity * limit, -limit, limit])


def settling(before: Vector, n_samples: int, *, memory: float = math.inf) -> Vector:
    """Return the rates of a network that has separated, so many samples ago; they fall.

    Parameters
    ----------
    before : ndarray of shape (8,)
        Its rates when it had.
    n_samples : int
        How many samples it has learnt from since.
    memory : float
        The forgetting falls no further than to its inverse.

    Returns
    -------
    rates : ndarray of shape (8,)
    """
    rates = before.copy()
    first = before[k.FORGETTING]
    rates[k.FORGETTING] = max(1.0 / (1.0 / first + n_samples / FALLING), min(first, 1.0 / memory))
    fallen = rates[k.FORGETTING] / first
    rates[k.GAIN_STEP] *= fallen**GAINS_FALL
    rates[k.GAIN_LEAK] *= fallen
    rates[k.CENTRE_STEP] *= fallen
    return rates

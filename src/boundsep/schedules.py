"""How forgetting, gain step and leak move with time. The paper's do not: they are constant."""

import numpy as np

from boundsep._types import Vector


def paper(
    forgetting: float = 4e-3,
    gain_step: float = 1e-3,
    gain_leak: float = 1e-6,
    *,
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
    sparsity : float
        :math:`\lambda`, the soft threshold of the neurons.
    lower, upper : float
        The limits of the neurons' outputs.

    Returns
    -------
    rates : ndarray of shape (6,)
    """
    return np.array([forgetting, gain_step, gain_leak, sparsity, lower, upper], dtype=np.float64)

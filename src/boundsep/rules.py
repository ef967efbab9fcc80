r"""The paper in plain NumPy: one short pure function an equation.

These are the oracle that the compiled ``kernels`` are tested against, and the place to read the method.
Letters are the paper's: ``W`` (d, q) feedforward, ``M`` (d, d) lateral, ``D`` (d,) gains, the diagonal of the
paper's matrix. Records (``X``, ``Y``) have one sample a row. Equation numbers count the displayed equations of
the main text with the sparse section left out, as ``docs/notation.md`` lists them.
"""

import numpy as np

from boundsep._types import Matrix, Vector

# --- the neuron ------------------------------------------------------------------------------------------


def drive(W: Matrix, x: Vector) -> Vector:
    """Return what the input synapses bring, ``W x``."""
    return W @ x


def clip(z: Vector, limit: float = 1.0) -> Vector:
    r"""Clip to the box, Eq. (18): :math:`c(z) = \min(\max(z, -T), T)`."""
    return np.clip(z, -limit, limit)


def shrink_and_clip(z: Vector, threshold: float, lower: Vector | float, upper: Vector | float) -> Vector:
    r"""Apply the sparse section's activation :math:`a_{T,\lambda}`: soft threshold, then clip.

    Here and below the limits may be one for all neurons, or one for each: centre + lower, centre + upper.
    """
    return np.clip(np.sign(z) * np.maximum(np.abs(z) - threshold, 0.0), lower, upper)


def unclipped_map(W: Matrix, M: Matrix, D: Vector) -> Matrix:
    """Return the linear map of the network while no neuron clips: ``y = (M D)^-1 W x``."""
    return np.linalg.solve(M, W) / D[:, None]


# --- the dynamics, Eq. (17), three ways to its resting state ----------------------------------------------
# Each returns the settled outputs y, and the inputs of the clip, u / (M_ii D_i), that they are clipped from.


def activation(
    u: Vector, M: Matrix, D: Vector, threshold: float, lower: Vector | float, upper: Vector | float
) -> Vector:
    """Return the outputs of membrane states, second line of Eq. (17): ``y = c(u / (M_ii D_ii))``."""
    return shrink_and_clip(u / (np.diag(M) * D), threshold, lower, upper)


def membrane_flow(u: Vector, y: Vector, a: Vector, M: Matrix, D: Vector) -> Vector:
    """Return du/dtau, first line of Eq. (17), at the drive ``a = W x``."""
    lateral = M @ (D * y) - np.diag(M) * D * y
    return a - u - lateral


def settle_euler(
    a: Vector,
    M: Matrix,
    D: Vector,
    threshold: float = 0.0,
    lower: Vector | float = -1.0,
    upper: Vector | float = 1.0,
    *,
    step: float = 0.2,
    tolerance: float = 1e-6,
    most: int = 1000,
) -> tuple[Vector, Vector]:
    """Integrate Eq. (17) from rest by Euler steps until no output would move by more than the tolerance."""
    u = np.zeros_like(D)
    y = np.zeros_like(D)
    step = min(step, 1.0 / len(D))  # stable below 2 over the largest eigenvalue of diag(M)^-1 M, which is at most d
    for _ in range(most):
        flow = membrane_flow(u, y, a, M, D)
        u = u + step * flow
        y = activation(u, M, D, threshold, lower, upper)
        if np.max(np.abs(flow) / (np.diag(M) * D)) <= tolerance:
            break
    return y, u / (np.diag(M) * D)


def settle_sweeping(
    a: Vector,
    M: Matrix,
    D: Vector,
    threshold: float = 0.0,
    lower: Vector | float = -1.0,
    upper: Vector | float = 1.0,
    *,
    tolerance: float = 1e-6,
    most: int = 50,
) -> tuple[Vector, Vector]:
    """Solve for the fixed point of Eq. (17): each neuron in turn takes its best value, given the others."""
    y = np.zeros_like(D)
    least, largest = np.broadcast_to(lower, y.shape), np.broadcast_to(upper, y.shape)
    for _ in range(most):
        before = y.copy()
        for i in range(len(y)):
            if M[i, i] > 0.0:
                u_i = a[i] - M[i] @ (D * y) + M[i, i] * D[i] * y[i]
                y[i] = shrink_and_clip(u_i / (M[i, i] * D[i]), threshold, least[i], largest[i])
        if np.max(np.abs(y - before)) <= tolerance:
            break
    return y, y + (a - M @ (D * y)) / (np.diag(M) * D)


def settle_descent(
    a: Vector,
    M: Matrix,
    D: Vector,
    lower: Vector | float = -1.0,
    upper: Vector | float = 1.0,
    *,
    tolerance: float = 1e-6,
    most: int = 50,
) -> tuple[Vector, Vector]:
    r"""Solve for the same fixed point from the other side: by descent on the multipliers of the bounds.

    With ``z = D y`` the resting state solves :math:`\min_z z^\top M z/2 - a^\top z` in the box
    ``lower D <= z <= upper D``. Its multipliers ``push`` satisfy ``M z + push = a``. One coordinate of ``push``
    at a time is set so that its own bound just holds; those of neurons that do not clip stay at zero.
    """
    P = np.linalg.inv(M)
    z = P @ a
    push = np.zeros_like(D)
    least, largest = lower * D, upper * D
    for _ in range(most):
        moved = 0.0
        for i in range(len(z)):
            free = z[i] + P[i, i] * push[i]
            wanted = (free - np.clip(free, least[i], largest[i])) / P[i, i]
            change = wanted - push[i]
            motion = abs(change) * P[i, i] / D[i]
            if motion > tolerance:
                push[i] = wanted
                z = z - P[:, i] * change
                moved = max(moved, motion)
        if moved <= tolerance:
            break
    return np.clip(z / D, lower, upper), (z + push / np.diag(M)) / D


# --- learning, the three updates after Eq. (18) -----------------------------------------------------------


def update_W(W: Matrix, x: Vector, y: Vector, forgetting: float) -> Matrix:
    """Hebbian: ``W <- gamma^2 W + (1 - gamma^2) y x'``."""
    return (1.0 - forgetting) * W + forgetting * np.outer(y, x)


def update_M(M: Matrix, y: Vector, forgetting: float) -> Matrix:
    """Anti-Hebbian, as M enters Eq. (17) with a minus sign: ``M <- gamma^2 M + (1 - gamma^2) y y'``."""
    return (1.0 - forgetting) * M + forgetting * np.outer(y, y)


def excitation(W: Matrix) -> Vector:
    """Return the squared norms of the rows of W."""
    return np.sum(W * W, axis=1)


def inhibition(M: Matrix, D: Vector) -> Vector:
    r"""Return the squared norms of the rows of M under D: :math:`\sum_j M_{ij}^2 D_{jj}`, as in Eq. (15)."""
    return (M * M) @ D


def update_D(
    W: Matrix, M: Matrix, D: Vector, gain_step: float, gain_leak: float, leak_power: float = 1.0, limit: float = 1.0
) -> Vector:
    """Balance excitation and inhibition, with a leak in proportion to a power of D. W and M are those already updated.

    The paper's power is 1; 0 and -1 descend on the sum of D and of log D (see ``leak_cost``); the last no longer below
    a gain of 1/limit^2, which no source of unit power can have, and where it would run away.
    Not in the paper: a gain is positive, so no single step may take more than half of it. With steps small
    enough to learn by, that never acts.
    """
    rate = 1.0 / np.maximum(D, 1.0 / (D * limit**4)) if leak_power == -1.0 else D**leak_power
    moved = D - gain_leak * rate + gain_step * (excitation(W) - inhibition(M, D))
    return np.maximum(moved, 0.5 * D)


# --- not in the paper: the centre, and stage two -------------------------------------------------------------


def cut_off(
    free: Vector,
    y: Vector,
    threshold: float = 0.0,
    lower: Vector | float = -1.0,
    upper: Vector | float = 1.0,
    *,
    tolerance: float = 1e-6,
) -> Vector:
    """Return what the clip takes off its input, for each neuron that is at its limit."""
    cut = free - y
    cut = np.sign(cut) * np.maximum(np.abs(cut) - threshold, 0.0)
    inside = (y < upper - tolerance) & (y > lower + tolerance)
    return np.where(inside, 0.0, cut)


def update_centre(centre: Vector, cut: Vector, step: float, limit: float = 1.0) -> Vector:
    """Draw the range of each neuron to the side where it is cut off; zero, which is the mean, stays within it."""
    return np.clip(centre + step * cut, -0.95 * limit, 0.95 * limit)


def grow(V: Matrix, growth: Vector) -> Matrix:
    """Let every neuron of stage two grow a little: the relative gradient of log |det V|."""
    return (1.0 + growth)[:, None] * V


def excess(V: Matrix, centre: Vector, x: Vector) -> Vector:
    """Return by how much the outputs ``V x - centre`` exceed [-1, 1]."""
    y = V @ x - centre
    return y - clip(y)


def push_back(V: Matrix, over: Vector, x: Vector, part: float) -> Matrix:
    """Push neurons back by a part of their excess along ``V'y``, with y = V x: the relative gradient of its square."""
    y = V @ x
    return V - part * np.outer(over, V.T @ y) / (y @ y)


def sharpening_cost(V: Matrix, centre: Vector, X: Matrix, weights: Vector, growth: float) -> float:
    """Return what stage two descends on in the mean, samples weighted: half the squared excess, less log |det V|."""
    Y = X @ V.T - centre
    over = Y - clip(Y)
    return float(0.5 * np.mean(weights * np.sum(over**2, axis=1)) - growth * np.linalg.slogdet(V)[1])


def leak_cost(D: Vector, power: float) -> float:
    """Return what a leak in proportion to ``D**power`` descends on: half the sum of D^2, the sum of D or of log D."""
    return float(np.sum(np.log(D)) if power == -1.0 else np.sum(D ** (power + 1.0)) / (power + 1.0))


# --- what all this descends on ----------------------------------------------------------------------------


def fading(n_samples: int, forgetting: float) -> Vector:
    """Return the weights gamma^(t-1), ..., gamma, 1 of Eqs. (8) and (9), oldest sample first."""
    return np.sqrt(1.0 - forgetting) ** np.arange(n_samples - 1, -1, -1.0)


def correlations(X: Matrix, Y: Matrix, forgetting: float) -> tuple[Matrix, Matrix]:
    """Return W and M as Eq. (13) defines them, over all rows of X and Y, with kappa = 1/forgetting."""
    fade = fading(len(X), forgetting)[:, None]
    return forgetting * (fade * Y).T @ (fade * X), forgetting * (fade * Y).T @ (fade * Y)


def similarity_cost(X: Matrix, Y: Matrix, D: Vector, forgetting: float) -> float:
    """Return the weighted similarity matching cost, Eq. (10)."""
    fade = fading(len(X), forgetting)[:, None]
    mismatch = (fade * X) @ (fade * X).T - (fade * Y * D) @ (fade * Y).T
    return float(forgetting**2 * np.sum(mismatch**2))


def relaxed_cost(X: Matrix, Y: Matrix, D: Vector, forgetting: float, alpha: float) -> float:
    """Return the relaxed cost, Eq. (11): Eq. (10) and the price of the gains."""
    return similarity_cost(X, Y, D, forgetting) + 2.0 * alpha * float(np.sum(D**2))


def online_cost(x: Vector, y: Vector, W: Matrix, M: Matrix, D: Vector, forgetting: float, alpha: float) -> float:
    """Return h(y, D), Eq. (12)."""
    kappa = 1.0 / forgetting
    z = D * y
    weights = kappa * float(D @ (M * M) @ D) - 2.0 * kappa * float(D @ excitation(W))
    sample = 2.0 * float(z @ M @ z) - 4.0 * float(z @ drive(W, x))
    return weights + sample + 2.0 * alpha * float(np.sum(D**2))


def gradient_y(x: Vector, y: Vector, W: Matrix, M: Matrix, D: Vector) -> Vector:
    """Return a quarter of the gradient of Eq. (12) in y, Eq. (14)."""
    return D * (M @ (D * y)) - D * drive(W, x)


def descent_direction(x: Vector, y: Vector, W: Matrix, M: Matrix, D: Vector) -> Vector:
    """Return the direction of Eq. (16): the gradient in y, divided by the gains, downhill."""
    return drive(W, x) - M @ (D * y)


def gradient_D(W: Matrix, M: Matrix, D: Vector, forgetting: float, alpha: float) -> Vector:
    """Return a quarter of the gradient in D, Eq. (15). W and M contain the present sample."""
    return 0.5 / forgetting * (inhibition(M, D) - excitation(W)) + alpha * D

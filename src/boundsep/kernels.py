"""The network's compiled twins of ``rules.py``, and the one loop over samples.

Arrays and scalars in, nothing out: everything is updated in place, nothing is allocated, nothing raises.
Inside, the outputs are ``z = D y``: the settled state then solves a bound-constrained quadratic programme
with the matrix M alone, ``min z'Mz/2 - a'z`` with ``(c_i + lower) D_i <= z_i <= (c_i + upper) D_i``, drive ``a = W x``
and c the centre of each neuron's range.
"""

import math
from typing import Final

from boundsep import guard as g
from boundsep._compile import kernel, part_of_kernel
from boundsep._types import Matrix, Vector

# Where each number stands in ``rates``.
FORGETTING: Final = 0
GAIN_STEP: Final = 1
GAIN_LEAK: Final = 2
LEAK_POWER: Final = 3  # the gains leak in proportion to this power of themselves
CENTRE_STEP: Final = 4
THRESHOLD: Final = 5
LOWER: Final = 6
UPPER: Final = 7
RATES: Final = 8

FURTHEST: Final = 0.95  # of the limit: how far from zero a centre may be
TOLERANCE: Final = 1e-6  # a settled output may be off by this much of the limit
MOST_SWEEPS: Final = 50
EULER_STEP: Final = 0.2  # or 1/d: a step is stable below 2 over the largest eigenvalue of diag(M)^-1 M, at most d
MOST_EULER_STEPS: Final = 1000
SOUND: Final = 1e-8  # relative error of one row of M P = I that is still taken for rounding
SCRATCH: Final = 5  # vectors in ``work``
PUSH: Final = 2  # which of them is what the bounds push back with


@part_of_kernel
def settle_descent(
    a: Vector, z: Vector, push: Vector, P: Matrix, D: Vector, centre: Vector, lower: float, upper: float
) -> int:
    """Settle from the unclipped state ``P a`` by descent on the multipliers of the bounds it breaks."""
    d = z.shape[0]
    for i in range(d):
        state = 0.0
        for j in range(d):
            state += P[i, j] * a[j]
        z[i] = state
        push[i] = 0.0
    sweeps = 0
    moved = math.inf
    while moved > TOLERANCE and sweeps < MOST_SWEEPS:
        moved = 0.0
        sweeps += 1
        for i in range(d):
            # Where would z_i stand if its own bound did not push?
            free = z[i] + P[i, i] * push[i]
            least, most = (centre[i] + lower) * D[i], (centre[i] + upper) * D[i]
            wanted = (free - min(max(free, least), most)) / P[i, i]
            change = wanted - push[i]
            motion = abs(change) * P[i, i] / D[i]
            if motion > TOLERANCE:
                push[i] = wanted
                for j in range(d):
                    z[j] -= P[i, j] * change
                moved = max(moved, motion)
    return sweeps


@kernel
def settle_sweeping(
    a: Vector,
    z: Vector,
    residual: Vector,
    M: Matrix,
    D: Vector,
    centre: Vector,
    threshold: float,
    lower: float,
    upper: float,
) -> int:
    """Settle from rest by Gauss-Seidel sweeps: each neuron in turn takes its best value, given the others."""
    d = z.shape[0]
    for i in range(d):
        z[i] = 0.0
        residual[i] = a[i]
    sweeps = 0
    moved = math.inf
    while moved > TOLERANCE and sweeps < MOST_SWEEPS:
        moved = 0.0
        sweeps += 1
        for i in range(d):
            if M[i, i] <= 0.0:
                continue
            free = z[i] + residual[i] / M[i, i]
            shrunk = math.copysign(max(abs(free) - threshold * D[i], 0.0), free)
            change = min(max(shrunk, (centre[i] + lower) * D[i]), (centre[i] + upper) * D[i]) - z[i]
            if change != 0.0:
                z[i] += change
                for j in range(d):
                    residual[j] -= M[i, j] * change
                moved = max(moved, abs(change) / D[i])
    return sweeps


@kernel
def settle_euler(
    a: Vector,
    z: Vector,
    residual: Vector,
    u: Vector,
    M: Matrix,
    D: Vector,
    centre: Vector,
    threshold: float,
    lower: float,
    upper: float,
) -> int:
    """Integrate the differential equation, Eq. (17), from rest to rest with Euler steps."""
    d = z.shape[0]
    step = min(EULER_STEP, 1.0 / d)
    for i in range(d):
        u[i] = 0.0
        z[i] = 0.0
    steps = 0
    moved = math.inf
    while moved > TOLERANCE and steps < MOST_EULER_STEPS:
        moved = 0.0
        steps += 1
        for i in range(d):
            if M[i, i] <= 0.0:
                continue
            lateral = 0.0
            for j in range(d):
                lateral += M[i, j] * z[j]
            flow = a[i] - u[i] - (lateral - M[i, i] * z[i])
            u[i] += step * flow
            moved = max(moved, abs(flow) / (M[i, i] * D[i]))
        for i in range(d):
            if M[i, i] <= 0.0:
                continue
            free = u[i] / (M[i, i] * D[i])
            shrunk = math.copysign(max(abs(free) - threshold, 0.0), free)
            z[i] = min(max(shrunk, centre[i] + lower), centre[i] + upper) * D[i]
    for i in range(d):
        residual[i] = u[i] - M[i, i] * z[i]
    return steps


@part_of_kernel
def inverse_is_sound(row: int, z: Vector, push: Vector, a: Vector, M: Matrix) -> bool:
    """Check one row of the fixed point ``M z + push = a``: it holds as far as P is the inverse of M."""
    left = push[row] - a[row]
    scale = abs(a[row]) + abs(push[row])
    for j in range(z.shape[0]):
        left += M[row, j] * z[j]
        scale += abs(M[row, j] * z[j])
    return abs(left) <= SOUND * scale


@part_of_kernel
def follow_inverse(P: Matrix, y: Vector, k: Vector, forgetting: float) -> None:
    """Sherman-Morrison: the inverse of M after its update, kept exactly symmetric."""
    d = y.shape[0]
    keep = 1.0 - forgetting
    energy = 0.0
    for i in range(d):
        state = 0.0
        for j in range(d):
            state += P[i, j] * y[j]
        k[i] = state
        energy += state * y[i]
    scale = math.sqrt(forgetting / (keep * (keep + forgetting * energy)))
    for i in range(d):
        k[i] *= scale
    inflate = 1.0 / keep
    for i in range(d):
        ki = k[i]
        for j in range(d):
            P[i, j] = P[i, j] * inflate - ki * k[j]


@part_of_kernel
def learn_weights(x: Vector, y: Vector, W: Matrix, M: Matrix, D: Vector, v: Vector, new: Vector, rates: Vector) -> None:
    """Hebbian W, anti-Hebbian M, and the gains D from the row norms of both."""
    d, q = W.shape
    forgetting = rates[FORGETTING]
    keep = 1.0 - forgetting
    root = math.sqrt(forgetting)
    for i in range(d):
        v[i] = root * y[i]  # so that M stays exactly symmetric
    for i in range(d):
        hebb = forgetting * y[i]
        excitation = 0.0
        for j in range(q):
            w = keep * W[i, j] + hebb * x[j]
            W[i, j] = w
            excitation += w * w
        anti = v[i]
        inhibition = 0.0
        for j in range(d):
            m = keep * M[i, j] + anti * v[j]
            M[i, j] = m
            inhibition += m * m * D[j]
        leak = rates[GAIN_LEAK]
        if rates[LEAK_POWER] == 1.0:
            leak *= D[i]
        elif rates[LEAK_POWER] == -1.0:
            leak /= max(D[i], 1.0 / (D[i] * rates[UPPER] ** 4))  # no source of unit power has a smaller gain than 1/T^2
        gain = D[i] - leak + rates[GAIN_STEP] * (excitation - inhibition)
        new[i] = max(gain, 0.5 * D[i])  # a gain is positive: no step may take more than half of it
    for i in range(d):
        D[i] = new[i]


@part_of_kernel
def watch_rank(row: int, M: Matrix, P: Matrix, guard: Vector) -> None:
    """See whether an output has become a copy of others; when none is any longer, start over."""
    if M[row, row] * P[row, row] > g.COLLAPSE:
        guard[g.COLLAPSED] = 1.0
    elif guard[g.COLLAPSED] > 0.0:
        inflation = 0.0
        for i in range(M.shape[0]):
            inflation = max(inflation, M[i, i] * P[i, i])
        if inflation < g.RECOVERY:
            guard[g.COLLAPSED] = 0.0
            guard[g.START_OVER] = 1.0


@kernel
def learn(
    X: Matrix,
    Y: Matrix,
    W: Matrix,
    M: Matrix,
    P: Matrix | None,
    residual: Vector | None,
    u: Vector | None,
    D: Vector,
    centre: Vector,
    rates: Vector,
    guard: Vector,
    reach: Vector,
    work: Matrix,
) -> int:
    """Run the network over the rows of X, settle each into a row of Y, and learn from it.

    With the inverse ``P`` it settles by descent, with a ``residual`` (that of ``work``) by sweeps, with membrane states
    ``u`` by Euler steps. The other two are None: so each way is compiled alone, when it is first used.
    ``reach`` follows the largest input to each neuron's clip, in units of its limit; where there is none, the largest
    output in units of the input's amplitude.
    Returns the number of rows done: fewer than given if the network has to start over before the next row, as
    ``guard`` then says, or if P is found not to be the inverse of M. Nothing was learnt from the row after those; it
    has to come again when P is mended, or without P.
    """
    d, q = W.shape
    a, z, push, y, x = work[0, :d], work[1, :d], work[PUSH, :d], work[3, :d], work[4, :q]
    threshold, lower, upper = rates[THRESHOLD], rates[LOWER], rates[UPPER]
    centre_step = rates[CENTRE_STEP]
    bounded = upper < math.inf
    release = 1.0 - g.REACH_RELEASE * rates[FORGETTING]
    patience = g.PATIENCE / rates[FORGETTING]
    idle_keep = max(0.5, 1.0 - g.IDLE_LEAK * rates[FORGETTING] * d)  # its turn comes every d samples
    for t in range(X.shape[0]):
        power = 0.0
        for j in range(q):
            power += X[t, j] * X[t, j]
        power /= q
        if not 0.0 < power < math.inf:  # silence teaches nothing, and would let M decay to nothing
            guard[g.SILENT] += 1.0
            for i in range(d):
                Y[t, i] = 0.0 * power - centre[i]  # what is not finite comes out as NaN
            continue
        allowance, mean, slow, limited = guard[g.ALLOWANCE], guard[g.POWER], guard[g.SLOW], guard[g.LIMITED]
        quieter = g.admit(power, guard, min(rates[FORGETTING], g.PACE), bounded, g.RARE)
        row = int(guard[g.HEARD]) % d  # one neuron a sample is checked, each in its turn
        for j in range(q):
            x[j] = quieter * X[t, j]
        factor = guard[g.RESCALE]
        if factor != 1.0:
            for i in range(d):
                D[i] *= factor * factor
                for j in range(q):
                    W[i, j] *= factor

        for i in range(d):
            drive = 0.0
            for j in range(q):
                drive += W[i, j] * x[j]
            a[i] = drive

        if P is not None:
            guard[g.SWEEPS] += settle_descent(a, z, push, P, D, centre, lower, upper)
            if not inverse_is_sound(row, z, push, a, M):
                guard[g.HEARD] -= 1.0  # as if this sample had not come yet
                guard[g.ALLOWANCE], guard[g.POWER] = allowance, mean
                guard[g.SLOW], guard[g.LIMITED] = slow, limited
                return t
        if residual is not None:
            guard[g.SWEEPS] += settle_sweeping(a, z, residual, M, D, centre, threshold, lower, upper)
        if u is not None:
            guard[g.SWEEPS] += settle_euler(a, z, push, u, M, D, centre, threshold, lower, upper)

        loudness = math.sqrt(guard[g.POWER])
        for i in range(d):
            free = z[i] / D[i]
            y[i] = min(max(free, centre[i] + lower), centre[i] + upper)
            Y[t, i] = y[i] - centre[i]
            clipped = Y[t, i] >= upper * (1.0 - TOLERANCE) or Y[t, i] <= lower * (1.0 - TOLERANCE)
            if not bounded:
                reach[i] = max(y[i] / loudness, release * reach[i])
            else:
                if push[i] != 0.0 and M[i, i] > 0.0:
                    free += push[i] / (M[i, i] * D[i])
                reach[i] = max(abs(free - centre[i]) / upper, release * reach[i])
                if clipped and guard[g.LEARN] > 0.0:  # what is cut off on one side draws the range there
                    cut = free - y[i]
                    moved = centre[i] + centre_step * (cut - math.copysign(min(threshold, abs(cut)), cut))
                    # The mean, zero, lies in the range: its middle is nearer than its ends.
                    centre[i] = min(max(moved, -FURTHEST * upper), FURTHEST * upper)
            if clipped:
                guard[g.CLIPPED] += 1.0

        if guard[g.LEARN] > 0.0:
            if P is not None:
                follow_inverse(P, y, a, rates[FORGETTING])
                if bounded:
                    watch_rank(row, M, P, guard)
            learn_weights(x, y, W, M, D, z, push, rates)
            if bounded and threshold == 0.0 and g.DEAF < reach[row] < g.IDLE and guard[g.HEARD] > patience:
                D[row] *= idle_keep
            if not bounded and reach[row] < g.DEAF and guard[g.HEARD] > patience:
                guard[g.REVIVE] = 1.0
        if guard[g.START_OVER] + guard[g.REVIVE] > 0.0:
            return t + 1
    return X.shape[0]

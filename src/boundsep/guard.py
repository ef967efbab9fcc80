"""What keeps a burst, a dropout or a change of scale from undoing what was learnt.

A stream of bounded signals has a bounded power, and its mean is known:

* a sample that is far above the mean is scaled down to pass through the network, which learns nothing from it;
* when the *level*, the logarithm of the mean power, is off by more than a factor of two in amplitude the network
  stops learning, and if it stays there the network is rescaled to it. The network's equations allow that exactly:
  with ``x -> s x``, ``W -> s W`` and ``D -> s^2 D`` its outputs do not change. After the first samples, when there is
  nothing yet to keep, the network starts over at their level, unless it is near one.

The balance of excitation and inhibition cannot see a gain that is too high, one at which its neuron never reaches
its limit; and such a network hardly learns to separate. So the gains are guarded as well:

* a neuron that stays below its limit has its gain leak faster;
* when the input has lost so much rank that outputs were copies of each other, and has found it again, the network
  starts over: what the neurons knew of each other is gone by then, but the gains are high.

A neuron that only rectifies has no limit to miss, but may never fire: then its input synapses change sign.

On a stream of unit power and full rank whose neurons reach their limits now and then none of this acts, and the rules
of the paper hold to the letter. All of it lives in one float vector, with the counts of what happened.
"""

import math
from typing import Final

from boundsep._compile import exact_part_of_kernel
from boundsep._types import Vector

# Where each number stands in the vector.
HEARD: Final = 0  # samples that were not silent
ALLOWANCE: Final = 1  # a sample may exceed the mean power by this factor
POWER: Final = 2  # mean square over the last samples, 250 or more
SLOW: Final = 3  # its logarithm, averaged over 16 times as many
LEVEL: Final = 4  # the log power that the network is scaled to
RETRY: Final = 5  # samples until the inverse of M is tried again; 0: the inverse is good
REPAIRED_AT: Final = 6  # HEARD when the inverse was last mended
SILENT: Final = 7  # counts from here on; silent: all zero, or not finite
LIMITED: Final = 8
RESCALED: Final = 9
REPAIRED: Final = 10
CLIPPED: Final = 11
SWEEPS: Final = 12
COLLAPSED: Final = 13  # 1 while the outputs are copies of each other
START_OVER: Final = 14  # 1 where the network has to start over before the next sample
REVIVE: Final = 15  # 1 where a neuron that never fires has to change sign before the next sample
LEARN: Final = 16  # 1 if the present sample is one to learn from
RESCALE: Final = 17  # the factor by which the input's scale has changed with it
JUDGE: Final = 18  # HEARD at which the level is judged closely, after it has changed
PEAK: Final = 19  # the largest power of a sample lately, as a ratio to the mean
LENGTH: Final = 20

PACE: Final = 4e-3  # the mean power follows no faster: what is loud takes a few hundred samples to tell
WARM_UP: Final = 64  # after so many samples the level is first judged
FIRST: Final = 8  # so many pass whatever their power
RARE: Final = 128.0  # ... at the least: a signal may visit its corners once in a hundred samples
WIDER: Final = 100.0  # ... so much more while warming up
GROWTH: Final = 1.005  # each limited sample widens it: a new scale is reached in time, a burst is not
RELEASE: Final = 1.0 / 4096.0  # ... and each sample narrows it again
NEAR_ONE: Final = math.log(1.5)  # in log power: a gain that was right is then still below where it ends
SETTLING: Final = 8.0  # so many times 1/forgetting samples after a change of level the power has settled
SLOWER: Final = 1.0 / 16.0
DEPARTURE: Final = 2.0 * math.log(2.0)  # in log power: a factor of two in amplitude
IDLE_LEAK: Final = 0.125  # a gain whose neuron stays below its limit leaks this part of the forgetting each sample
IDLE: Final = 0.9  # a neuron that never reaches so much of its limit stays below it
DEAF: Final = 0.05  # ... and one that does not even reach so much hears nothing: leave it alone
PATIENCE: Final = 10.0  # so many times 1/forgetting samples pass before that is judged
COLLAPSE: Final = 1e3  # variance of an output over that of what the others do not explain of it: copies
RECOVERY: Final = 1e2  # ... and no longer
REACH_RELEASE: Final = 0.25  # a neuron's reach falls by this part of the forgetting each sample


@exact_part_of_kernel
def admit(power: float, guard: Vector, forgetting: float, levelled: bool, rare: float) -> float:
    """Judge a sample by its mean square; return the factor (at most 1) by which it is to be scaled.

    One of more than ``rare`` times the mean power is a burst.

    Where the network is ``levelled``, ``guard`` then also says whether to learn from it, and by how much the input's
    scale has changed for good.
    """
    guard[HEARD] += 1.0
    guard[LEARN] = 1.0
    guard[RESCALE] = 1.0
    quieter = 1.0
    guard[ALLOWANCE] = max(rare, guard[ALLOWANCE] * (1.0 - RELEASE))
    ceiling = guard[ALLOWANCE] * guard[POWER] * (WIDER if guard[HEARD] <= WARM_UP else 1.0)
    if guard[HEARD] <= FIRST or power <= ceiling:
        guard[POWER] += max(forgetting, 1.0 / guard[HEARD]) * (power - guard[POWER])
    else:
        guard[ALLOWANCE] *= GROWTH
        guard[LIMITED] += 1.0
        guard[LEARN] = 0.0
        quieter = math.sqrt(ceiling / power)
    if not levelled or guard[HEARD] < WARM_UP:
        return quieter

    level = math.log(max(guard[POWER], 1e-300))
    guard[SLOW] += forgetting * SLOWER * (level - guard[SLOW])
    first = guard[HEARD] == WARM_UP
    changed = abs(guard[SLOW] - guard[LEVEL]) > DEPARTURE
    if first or guard[HEARD] == guard[JUDGE]:  # the power has had time to settle: judge it closely
        changed = abs(level - guard[LEVEL]) > NEAR_ONE
        guard[SLOW] = level
    if changed:
        guard[RESCALED] += 1.0
        guard[RESCALE] = math.exp(0.5 * (level - guard[LEVEL]))
        guard[LEVEL] = level
        guard[SLOW] = level
        guard[START_OVER] = 1.0 if first else 0.0
        guard[JUDGE] = 0.0 if first else math.ceil(guard[HEARD] + SETTLING / forgetting)
    elif abs(level - guard[LEVEL]) > DEPARTURE:
        guard[LEARN] = 0.0
    if guard[LEARN] > 0.0:
        guard[PEAK] = max(power / guard[POWER], guard[PEAK] * (1.0 - RELEASE))
    return quieter

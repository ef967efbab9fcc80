"""What keeps a burst, a dropout or a change of scale from undoing what was learnt.

A stream of bounded signals has a bounded power, so two numbers guard it:

* the *peak* power seen lately: a sample far above it is scaled down to pass through the network, which learns
  nothing from it;
* the *level*, the mean logarithm of the power: when it is off by more than a factor of four in amplitude the
  network stops learning, and if it stays there the network is rescaled to it. The network's equations allow
  that exactly: with ``x -> s x``, ``W -> s W`` and ``D -> s^2 D`` its outputs do not change. In its first
  samples, when there is nothing yet to keep, the network starts over at the new level instead.

The balance of excitation and inhibition cannot see a gain that is too high, one at which its neuron never reaches
its limit; and such a network hardly learns to separate. So the gains are guarded as well:

* a neuron that never reaches its limit has its gain leak faster;
* when the input has lost so much rank that outputs were copies of each other, and has found it again, the network
  starts over: what the neurons knew of each other is gone by then, but the gains are high.

On a stream of steady scale and full rank whose neurons clip now and then none of this acts, and the rules of the
paper hold to the letter. All of it lives in one float vector, which also carries the counts of what happened.
"""

import math
from typing import Final

from boundsep._compile import part_of_kernel
from boundsep._types import Vector

# Where each number stands in the vector.
HEARD: Final = 0  # samples that were not silent
PEAK: Final = 1  # the largest mean square of a sample seen lately
FAST: Final = 2  # mean log power over 1/forgetting samples
SLOW: Final = 3  # ... and over 16 times as many
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
LENGTH: Final = 15

WARM_UP: Final = 64  # this many samples pass unlimited: the peak is not known before
HEADROOM: Final = 2.25  # a sample may exceed the peak power by this factor (1.5 in amplitude)
GROWTH: Final = 1.014  # each limited sample lifts the peak: a new scale is reached in time, a burst is not
RELEASE: Final = 1.0 / 4096.0  # the peak forgets a burst that it was lifted by
PRIOR: Final = 10.0  # the level starts as if it had been zero for so many samples
SLOWER: Final = 1.0 / 16.0
DEPARTURE: Final = 2.0 * math.log(4.0)  # in log power
IDLE_LEAK: Final = 0.125  # a gain whose neuron stays below its limit leaks this part of the forgetting each sample
IDLE: Final = 0.9  # a neuron that never reaches so much of its limit stays below it
DEAF: Final = 0.05  # ... and one that does not even reach so much hears nothing: leave it alone
PATIENCE: Final = 10.0  # so many times 1/forgetting samples pass before that is judged
COLLAPSE: Final = 1e3  # variance of an output over that of what the others do not explain of it: copies
RECOVERY: Final = 1e2  # ... and no longer
REACH_RELEASE: Final = 0.25  # a neuron's reach falls by this part of the forgetting each sample


@part_of_kernel
def limit(power: float, guard: Vector) -> float:
    """Return the factor (at most 1) by which a sample of this mean square is scaled; note its peak."""
    guard[HEARD] += 1.0
    ceiling = HEADROOM * guard[PEAK]
    if guard[HEARD] <= WARM_UP or power <= ceiling:
        guard[PEAK] = max(power, guard[PEAK] * (1.0 - RELEASE))
        return 1.0
    guard[PEAK] *= GROWTH
    guard[LIMITED] += 1.0
    return math.sqrt(ceiling / power)


@part_of_kernel
def rescale(power: float, guard: Vector, forgetting: float) -> float:
    """Follow the level; return the factor by which the network's input scale has changed for good, or 1."""
    logarithm = min(max(math.log(power), -690.0), 690.0)
    if guard[HEARD] == 1.0 and abs(logarithm) > DEPARTURE:
        guard[FAST] = logarithm
        guard[SLOW] = logarithm
    seen = 1.0 / (guard[HEARD] + PRIOR)
    guard[FAST] += max(forgetting, seen) * (logarithm - guard[FAST])
    guard[SLOW] += max(forgetting * SLOWER, seen) * (logarithm - guard[SLOW])
    departure = guard[SLOW] - guard[LEVEL]
    if abs(departure) <= DEPARTURE:
        return 1.0
    factor = math.exp(0.5 * (guard[FAST] - guard[LEVEL]))
    guard[LEVEL] = guard[FAST]
    guard[SLOW] = guard[FAST]
    guard[RESCALED] += 1.0
    return factor


@part_of_kernel
def level_is_off(guard: Vector) -> bool:
    """Say whether the power is, for the time being, not what the network is scaled to."""
    return abs(guard[FAST] - guard[LEVEL]) > DEPARTURE

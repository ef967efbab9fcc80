"""Every message that a user can cause: what was wrong, where, and what to do."""

import numbers
import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from boundsep._types import Floats, Matrix, Vector

LARGEST: Final = 1e100  # sums of squares of such are still a float64, with room
NAMED: Final = 6  # this many channels are named in a message, the rest counted


class StateFileError(ValueError):
    """A state file that cannot be used.

    Parameters
    ----------
    path : path-like
        The file.
    reason : str
        What is wrong with it.
    """

    def __init__(self, path: str | os.PathLike[str], reason: str) -> None:
        super().__init__(f"{os.fspath(path)!r} can't be loaded as a boundsep state: {reason}.")


def warn(message: str | None, category: type[Warning] = UserWarning) -> None:
    """Warn, if there is a message, and point at the user's line: the first that is not in a library's verb."""
    if message is None:
        return
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] in ("boundsep", "sklearn", "contextlib"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def missing_extra(what: str, package: str, extra: str) -> ImportError:
    """Return the error that an optional package is missing."""
    return ImportError(f"{what} need {package}: pip install 'boundsep[{extra}]'")


# --- parameters, in scikit-learn's grammar -----------------------------------------------------------------


def check_real(owner: str, name: str, value: Any, low: float, high: float, *, low_too: bool = False) -> None:
    """Raise unless the parameter is a real number between low and high, or equal to low if that is allowed too."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (real and (low < value < high or (low_too and value == low))):
        opening = "[" if low_too else "("
        raise ValueError(
            f"The {name!r} parameter of {owner} must be a float in the range {opening}{low}, {high}). "
            f"Got {value!r} instead."
        )


def check_count(owner: str, name: str, value: Any, *, none: bool = False, option: str = "") -> None:
    """Raise unless the parameter is a positive integer, or None or a word where that has a meaning."""
    if (none and value is None) or (option and isinstance(value, str) and value == option):
        return
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 1:
        also = " or None" if none else f" or {option!r}" if option else ""
        raise ValueError(
            f"The {name!r} parameter of {owner} must be an int in the range [1, inf){also}. Got {value!r} instead."
        )


def check_option(owner: str, name: str, value: Any, options: Iterable[str | None]) -> None:
    """Raise unless the parameter is one of the options."""
    options = list(options)
    if not (value is None or isinstance(value, str)) or value not in options:
        words = sorted(repr(option) for option in options if option is not None)
        listed = "{" + ", ".join(words) + "}" + (" or None" if None in options else "")
        raise ValueError(f"The {name!r} parameter of {owner} must be a str among {listed}. Got {value!r} instead.")


def check_flag(owner: str, name: str, value: Any) -> None:
    """Raise unless the parameter is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"The {name!r} parameter of {owner} must be a bool. Got {value!r} instead.")


def check_n_components(owner: str, wanted: int | None, available: int, of_what: str) -> int:
    """Return the number of outputs; raise if more are wanted than the input supports."""
    if wanted is None:
        return available
    if wanted > available:
        raise ValueError(
            f"n_components={wanted} of {owner} is more than the {available} {of_what}. "
            f"Ask for {available} at most, or leave n_components=None."
        )
    return int(wanted)


# --- data ----------------------------------------------------------------------------------------------------


def check_finite(X: Floats, owner: str) -> None:
    """Raise if any sample is NaN, infinite, or too large to be squared; say which."""
    flat = X.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        if float(flat @ flat) < LARGEST:  # all of them are finite, and the square of each is small
            return
    bad = ~(np.abs(X, dtype=np.float64) <= LARGEST)
    if not bad.any():
        return
    row, channel = (int(i) for i in np.argwhere(bad)[0])
    value = X[row, channel]
    what = "NaN" if np.isnan(value) else "infinity" if np.isinf(value) else "a value too large to be squared"
    raise ValueError(
        f"Input X contains {what}: {value} in row {row}, channel {channel} (in all, values: {int(bad.sum())}, rows: "
        f"{int(bad.any(axis=1).sum())}). {owner} needs finite samples: leave those rows out, or fill them."
    )


def name_channels(channels: Iterable[int], names: Iterable[str] | None = None) -> str:
    """Return 'channel 3' or 'channels 3, 5 and 12 more', by name where there are names."""
    channels = list(channels)
    labels = None if names is None else list(names)
    shown = [str(c) if labels is None else f"{c} ({labels[c]})" for c in channels[:NAMED]]
    more = f" and {len(channels) - NAMED} more" if len(channels) > NAMED else ""
    return ("channel " if len(channels) == 1 else "channels ") + ", ".join(shown) + more


def describe_deficiency(covariance: Matrix, names: Iterable[str] | None = None) -> str:
    """Say why a record has fewer independent channels than channels."""
    unit = np.sqrt(np.diag(covariance))
    constant = np.flatnonzero(unit == 0.0)
    if len(constant):
        return f"{name_channels(constant, names)} constant"
    correlation = np.abs(covariance / np.outer(unit, unit))
    first, second = np.nonzero(np.triu(correlation > 1.0 - 1e-12, 1))
    if len(first):
        pairs = ", ".join(f"{i} and {j}" for i, j in list(zip(first, second, strict=True))[:NAMED])
        return f"channels {pairs} the same up to scale"
    return "some channels are mixtures of others"


def nothing_varies(n_samples: int) -> str:
    """Return the text of the error that a record has nothing to separate."""
    return f"All channels of X are constant over its {n_samples} samples: there is nothing to separate."


def rank_found(rank: int, covariance: Matrix, n_samples: int, names: Iterable[str] | None) -> str:
    """Say how many independent channels were found, and why no more."""
    q = len(covariance)
    if rank == q:
        return f"channels of X (its rank is {rank})"
    why = f"only {n_samples} samples" if n_samples <= q else describe_deficiency(covariance, names)
    return f"independent channels of X (its rank is {rank} of {q}: {why})"


def rank_used(owner: str, rank: int, covariance: Matrix, n_samples: int, names: Iterable[str] | None) -> str:
    """Return the text of the warning that fewer components come out than channels go in."""
    found = rank_found(rank, covariance, n_samples, names)
    return f"{owner} separates {rank} components, for there are {rank} {found}."


def first_chunk_too_short(n_samples: int, n_features: int) -> str:
    """Return the text of the error that the first chunk of a stream can't be whitened by."""
    return (
        f"whiten='exact' computes its whitening from the first chunk, and {n_samples} samples of {n_features} channels "
        f"are too few (more than {n_features} are needed). Pass a longer first chunk, call fit on a record, or "
        f"use whiten='online' or 'neural', which learn from the first sample on."
    )


def looks_transposed(n_samples: int, n_features: int) -> str | None:
    """Return a warning if a record has fewer rows than columns."""
    if n_samples >= n_features:
        return None
    return (
        f"X has {n_samples} rows and {n_features} columns. Rows are samples and columns are channels here: "
        f"if it is the other way round, pass X.T."
    )


def not_white(mean: Vector | None, covariance: Matrix, n_samples: int) -> str | None:
    """Return a warning if input that should be white (and, where a mean is given, of zero mean) is far from it."""
    d = len(covariance)
    unit = np.sqrt(np.where(np.diag(covariance) > 0.0, np.diag(covariance), 1.0))
    off = float(np.abs(covariance / np.outer(unit, unit) - np.eye(d)).max(initial=0.0))
    spread = float(unit.max() / unit.min())
    allowed = 0.1 + 5.0 / np.sqrt(n_samples)
    offset = 0.0 if mean is None else float(np.abs(mean / unit).max())
    if off <= allowed and spread <= 1.0 + allowed and offset <= allowed:
        return None
    return (
        f"whiten=None takes X as white and of zero mean, but its channels are correlated by up to {off:.2f}, their "
        f"scales differ {spread:.3g} times, their means are up to {offset:.2g} standard deviations (limit "
        f"{allowed:.2f}). Use whiten='exact' or 'online', or whiten X before."
    )


def rough_whitening(n_samples: int, n_features: int, n_components: int) -> str | None:
    """Return a warning if the whitening from a first chunk will limit what can be reached."""
    if n_samples >= 1000 * n_features or n_components == 1:
        return None
    cap = 10.0 * np.log10(4.0 * n_samples / (n_components - 1.0))
    return (
        f"whiten='exact' computes its whitening from the first chunk and keeps it: {n_samples} samples limit the SIR "
        f"to about {cap:.0f} dB. Pass a longer first chunk, or use whiten='online', which goes on learning."
    )


def not_separated(owner: str, quality: float, n_samples: int) -> str:
    """Return the text of the warning that what comes out is no separation."""
    return (
        f"{owner} has not separated: after {n_samples} samples it estimates its SIR at {quality:.0f} dB. Sources must "
        f"be bounded and often near their bounds (speech, music and Gaussian signals are not), no more than there are "
        f"sensors, and not buried in noise. If they are, learn from more samples; else try an independent component "
        f"analysis."
    )


def not_settled(owner: str, moved: float, tol: float, n_samples: int, needed: int, tunes: bool = False) -> str:
    """Return the text of the warning that learning has not come to its end."""
    if tunes:
        return (
            f"{owner} has not settled: {n_samples} samples were too few to separate by, or its map still moves "
            f"({moved:.3g} over the last part of them, tol={tol:.3g}). Learn from more samples (n_passes= goes over "
            f"the same ones again)."
        )
    if n_samples < needed or not np.isfinite(moved):
        needed = max(needed, n_samples + 1)
        what = f"{n_samples} samples are too few at this forgetting, which needs {needed} at the least"
    else:
        what = f"over the last part of {n_samples} samples its gains or its map moved by {moved:.3g} (tol={tol:.3g})"
    return (
        f"{owner} has not settled: {what}. Learn from more samples (n_passes= goes over the same ones again), or "
        f"use larger steps (forgetting=, gain_step=)."
    )


def finds_itself(owner: str, name: str, value: Any) -> str:
    """Return the text of the error that a step was given to a schedule that finds its own."""
    return (
        f"{owner} finds its {name} by itself with schedule='auto'. Got {name}={value!r}: give it with schedule='paper'."
    )


def tracks_only_by_auto(owner: str, tracking: Any) -> str:
    """Return the text of the error that a memory was given to a schedule whose steps are constant."""
    return (
        f"With schedule='paper' {owner} remembers 1/forgetting samples, whatever comes. Got tracking={tracking!r}: "
        f"give it with schedule='auto'."
    )


def cannot_change(owner: str, name: str, was: Any, now: Any) -> str:
    """Return the text of the error that a parameter was changed which a stream was begun with."""
    return (
        f"{name} of {owner} was {was!r} when this stream was begun, and can't become {now!r} in the middle of it. "
        f"Call fit, or go on with a clone, which begins anew."
    )


def check_samples(X: Any, n_features: int) -> None:
    """Raise unless a bare state can learn from an array: the kernels behind it check nothing."""
    if getattr(X, "ndim", None) != 2 or X.shape[1] != n_features:
        raise ValueError(f"State.learn takes rows of {n_features} channels. Got shape {np.shape(X)}.")


def wrong_number_of_sources(owner: str, found: int, wanted: int) -> str:
    """Return the text of the error that sources to be mixed are too many or too few."""
    return f"Y has {found} columns, but {owner} separates {wanted} sources: one column for each is needed."


def rank_fell(rank: int, n_components: int, n_samples: int) -> str:
    """Return the text of the warning that a stream does not support so many components."""
    return (
        f"After {n_samples} samples the input has shown only {rank} independent channels, and {n_components} "
        f"components are asked for: some outputs will be copies. Use n_components={max(rank, 1)}, and look for "
        f"constant or duplicate channels."
    )


# --- stored states -------------------------------------------------------------------------------------------


def check_stored_array(name: str, value: Any, shape: tuple[int | str, ...], sizes: dict[str, int]) -> None:
    """Raise unless a stored array has its shape; letters stand for sizes that the first to name them sets."""
    if not isinstance(value, np.ndarray) or value.ndim != len(shape):
        raise ValueError(f"{name} should have {len(shape)} dimensions")
    for axis, (size, wanted) in enumerate(zip(value.shape, shape, strict=True)):
        if isinstance(wanted, str) and wanted.endswith(" or 0"):
            wanted = sizes[wanted[0]] if size else 0
        elif isinstance(wanted, str):
            wanted = sizes.setdefault(wanted, size)
        if size != wanted:
            raise ValueError(f"{name} should have size {wanted} along axis {axis}, not {size}")
    if shape and (value.dtype != np.float64 or not value.flags.c_contiguous):
        raise ValueError(f"{name} should be a float64 array in C order, not {value.dtype}")

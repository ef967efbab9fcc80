"""Independent component analyses to compare with, behind one call: each returns its unmixing matrix."""

import warnings
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from boundsep._types import Matrix
from boundsep._validation import missing_extra


def fastica(X: Matrix, n_components: int, seed: int, *, fun: str) -> Matrix:
    """Return what scikit-learn's FastICA finds."""
    from sklearn.decomposition import FastICA

    ica = FastICA(n_components, whiten="unit-variance", fun=fun, random_state=seed, max_iter=500)
    return ica.fit(X).components_


def picard(X: Matrix, n_components: int, seed: int, **options: Any) -> Matrix:
    """Return what Picard finds."""
    try:
        from picard import picard as solve
    except ImportError as error:
        raise missing_extra("comparisons", "python-picard", "rivals") from error
    K, W, _ = solve(X.T, n_components=n_components, random_state=seed, max_iter=500, **options)
    return W @ K


def infomax(X: Matrix, n_components: int, seed: int) -> Matrix:
    """Return what MNE's extended Infomax finds."""
    try:
        from mne.preprocessing import infomax as solve
    except ImportError as error:
        raise missing_extra("comparisons", "mne", "rivals") from error
    from boundsep.whitening import Fixed, moments

    whitener = Fixed.exact(*moments(X), n_components)
    rotation = solve(whitener.learn(X), extended=True, rng=seed, max_iter=200, verbose="error")
    return rotation @ whitener.map


RIVALS: Final[dict[str, Callable[[Matrix, int, int], Matrix]]] = {
    "FastICA, cube": lambda X, d, seed: fastica(X, d, seed, fun="cube"),
    "FastICA, logcosh": lambda X, d, seed: fastica(X, d, seed, fun="logcosh"),
    "Picard, extended": lambda X, d, seed: picard(X, d, seed, ortho=True, extended=True),
    "Picard, cube": lambda X, d, seed: picard(X, d, seed, ortho=False, extended=False, fun="cube"),
    "extended Infomax": infomax,
}


def unmix(name: str, X: Matrix, n_components: int, seed: int) -> Matrix:
    """Return the unmixing matrix that a rival finds; that it did not converge shows in what it is worth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(RIVALS[name](X, n_components, seed), dtype=np.float64)

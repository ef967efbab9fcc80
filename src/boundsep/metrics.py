"""How well were the sources recovered? From the known mixing matrix, or from signals alone.

A separator may return sources in any order, sign and scale. Every measure here first assigns outputs to sources one
to one, so that the shares that matched sources have of their outputs' energy are the largest in sum: the scale of an
output does not matter for what it is matched with.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.linalg import solve_toeplitz
from scipy.optimize import linear_sum_assignment

from boundsep._types import Matrix, Vector


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """A measure in dB: one number a source, and which output was taken for it.

    ``total`` is the energy of all matched sources at the outputs over the energy of all that is not.
    """

    per_source: Vector
    total: float
    output_of_source: NDArray[np.intp]


# --- from matrices --------------------------------------------------------------------------------------------


def sir(components: Matrix, A: Matrix, power: Vector | None = None) -> Scores:
    """Return the signal to interference ratio of an unmixing matrix, as the paper defines it.

    Output j contains ``G[j, i]`` of source i, with ``G = components @ A``. What it contains of the source that it is
    matched with is signal, what it contains of others is interference.

    Parameters
    ----------
    components : ndarray of shape (n_outputs, n_sensors)
        The unmixing matrix.
    A : ndarray of shape (n_sensors, n_sources)
        The mixing matrix.
    power : ndarray of shape (n_sources,), optional
        The variance of each source; 1 by default.

    Returns
    -------
    Scores

    Examples
    --------
    >>> sir(np.array([[1.0, 0.1], [0.0, 2.0]]), np.eye(2)).per_source.round(6).tolist()
    [20.0, inf]
    """
    energy = (np.asarray(components) @ np.asarray(A)) ** 2 * (1.0 if power is None else power)
    return _scores(energy, energy.sum(axis=1))


def amari(components: Matrix, A: Matrix) -> float:
    """Return the Amari index: 0 where ``components @ A`` is a scaled permutation, 1 where all its entries are equal.

    A dead output, a row of zeros, counts as one that holds all sources alike.

    Parameters
    ----------
    components : ndarray of shape (n_sources, n_sensors)
        The unmixing matrix.
    A : ndarray of shape (n_sensors, n_sources)
        The mixing matrix.

    Returns
    -------
    float

    Examples
    --------
    >>> amari(np.array([[0.0, 3.0], [-2.0, 0.0]]), np.eye(2)), amari(np.ones((2, 2)), np.eye(2))
    (0.0, 1.0)
    """
    G = np.abs(np.asarray(components) @ np.asarray(A))
    d = len(G)
    if G.shape != (d, d):
        raise ValueError(f"The Amari index needs as many outputs as sources. Got {G.shape[0]} and {G.shape[1]}.")
    if d == 1:
        return 0.0
    G[~G.any(axis=1)] = 1e-300
    rows = (G / G.max(axis=1, keepdims=True)).sum() - d
    columns = (G / G.max(axis=0, keepdims=True)).sum() - d
    return float((rows + columns) / (2.0 * d * (d - 1.0)))


# --- from signals ---------------------------------------------------------------------------------------------


def sinr(S: Matrix, Y: Matrix) -> Scores:
    """Return the signal to interference and noise ratio of outputs.

    Each output is regressed on all sources at once. Its part along the source that it is matched with is signal; its
    parts along the others, and what no source explains, are interference and noise.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_sources)
        The true sources.
    Y : ndarray of shape (n_samples, n_outputs)
        The outputs.

    Returns
    -------
    Scores

    Examples
    --------
    >>> S = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> sinr(S, S @ np.array([[1.0, 0.0], [0.1, 1.0]])).per_source.round(6).tolist()
    [20.0, inf]
    """
    S, Y = _centred(S, Y)
    G = np.linalg.lstsq(S, Y)[0].T
    energy = G**2 * np.mean(S**2, axis=0)
    noise = np.mean((Y - S @ G.T) ** 2, axis=0)
    # Rounding of the regression is no noise.
    noise[noise < 1e-28 * np.mean(Y**2, axis=0)] = 0.0
    return _scores(energy, energy.sum(axis=1) + noise)


def si_sdr(S: Matrix, Y: Matrix) -> Scores:
    """Return the scale-invariant signal to distortion ratio: along the source, over across it.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_sources)
        The true sources.
    Y : ndarray of shape (n_samples, n_outputs)
        The outputs.

    Returns
    -------
    Scores

    Examples
    --------
    >>> S = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> si_sdr(S, -3.0 * S + np.array([[0.3], [0.3], [-0.3], [-0.3]])).per_source.round(6).tolist()
    [20.0]
    """
    S, Y = _centred(S, Y)
    _check_varied(S)
    energy = (Y.T @ S) ** 2 / np.sum(S**2, axis=0)
    return _scores(energy, np.sum(Y**2, axis=0))


def sdr(S: Matrix, Y: Matrix, *, filter_length: int = 512) -> Scores:
    """Return the signal to distortion ratio of BSS Eval: what any short filter of the source explains, over the rest.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_sources)
        The true sources.
    Y : ndarray of shape (n_samples, n_outputs)
        The outputs.
    filter_length : int
        Taps of the filter that is forgiven; 512 is the custom in audio.

    Returns
    -------
    Scores

    Examples
    --------
    >>> S = np.random.default_rng(0).normal(size=(5000, 2))
    >>> echo = S + 0.5 * np.roll(S, 3, axis=0)
    >>> bool(sdr(S, echo).per_source.min() > 30.0), bool(si_sdr(S, echo).per_source.max() < 7.0)
    (True, True)
    """
    S, Y = _centred(S, Y)
    _check_varied(S)
    padded = next_fast_len(len(S) + filter_length)
    spectra_S, spectra_Y = rfft(S, padded, axis=0), rfft(Y, padded, axis=0)
    explained = np.empty((Y.shape[1], S.shape[1]))
    for i in range(S.shape[1]):
        autocorrelation = irfft(np.abs(spectra_S[:, i]) ** 2, padded)[:filter_length]
        for j in range(Y.shape[1]):
            cross = irfft(spectra_S[:, i].conj() * spectra_Y[:, j], padded)[:filter_length]
            explained[j, i] = cross @ solve_toeplitz(autocorrelation, cross)
    return _scores(explained, np.sum(Y**2, axis=0))


def align(S: Matrix, Y: Matrix) -> Matrix:
    """Return outputs in the order, sign, scale and offset of the sources, to compare or to draw beside them.

    Parameters
    ----------
    S : ndarray of shape (n_samples, n_sources)
        The true sources.
    Y : ndarray of shape (n_samples, n_outputs)
        The outputs, at least as many.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_sources)

    Examples
    --------
    >>> S = np.random.default_rng(0).uniform(-1, 1, (100, 2))
    >>> bool(np.allclose(align(S, 5.0 - 2.0 * S[:, ::-1]), S))
    True
    """
    centred, outputs = _centred(S, Y)
    outputs = outputs[:, si_sdr(S, Y).output_of_source]
    power = np.sum(outputs**2, axis=0)
    scale = np.sum(outputs * centred, axis=0) / np.where(power > 0.0, power, 1.0)
    return outputs * scale + np.mean(S, axis=0)


def _scores(energy: Matrix, all_energy: Vector) -> Scores:
    """Match outputs (rows) with sources (columns); the rest of an output's energy is what disturbs it."""
    share = energy / np.where(all_energy > 0.0, all_energy, 1.0)[:, None]
    outputs, sources = linear_sum_assignment(share, maximize=True)
    if len(sources) < energy.shape[1]:
        raise ValueError(f"{energy.shape[0]} outputs can't be matched with {energy.shape[1]} sources one to one.")
    output_of_source = outputs[np.argsort(sources)]
    matched = np.sort(sources)
    signal = energy[output_of_source, matched]
    rest = np.maximum(all_energy[output_of_source] - signal, 0.0)
    return Scores(_decibels(signal, rest), float(_decibels(signal.sum(), rest.sum())), output_of_source)


def _decibels(signal: Vector | float, rest: Vector | float) -> Vector:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.asarray(signal) > 0.0, 10.0 * np.log10(np.divide(signal, rest)), -np.inf)


def _centred(S: Matrix, Y: Matrix) -> tuple[Matrix, Matrix]:
    S, Y = np.asarray(S, dtype=np.float64), np.asarray(Y, dtype=np.float64)
    if S.ndim != 2 or Y.ndim != 2 or len(S) != len(Y):
        raise ValueError(f"Sources and outputs need one row a sample, both. Got shapes {S.shape} and {Y.shape}.")
    return S - S.mean(axis=0), Y - Y.mean(axis=0)


def _check_varied(S: Matrix) -> None:
    constant = np.flatnonzero(~S.any(axis=0))
    if len(constant):
        raise ValueError(f"Source {constant[0]} is constant: nothing of it can be found in an output.")

"""What the online estimators share: the verbs, what they check, and what they say of how it went."""

import numbers
import os
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any, ClassVar, Self, TypeGuard

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from boundsep import _validation as v
from boundsep._types import ArrayLike, Floats, Vector
from boundsep.fitted import POOR, FittedAttributes
from boundsep.state import State
from boundsep.whitening import Fixed, correlation_rank, moments

CHUNK = 8192  # rows gathered and learnt from at a time
MAY_CHANGE = ("forgetting", "gain_step", "gain_leak", "tracking", "n_passes", "tol", "random_state")  # between chunks
PATIENT, PATIENT_SQUARED = 4000, 60  # samples, by the number of components, before a stream is told it fails
CERTAIN = 10  # samples a channel before a stream is told that it lacks rank


class OnlineSeparator(FittedAttributes, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators whose network learns one sample at a time.

    A subclass names its parameters, checks those that are its own, and says with which rates and limits its
    `State` starts; everything else is here.
    """

    _keep_mean: ClassVar[bool] = False

    # Set by the subclass's __init__.
    n_components: int | None
    whiten: str | None
    n_passes: int | str
    tol: float
    random_state: Any

    state_: State
    n_features_in_: int
    _rank_told: bool = False
    _quality_due: float = 0.0  # the count of samples at which a stream is next told if it does not separate
    _param_names: ClassVar[tuple[str, ...]]
    _params_used: tuple[Any, ...] | None = None

    # --- what a subclass says ------------------------------------------------------------------------------

    def _check_params(self) -> None:
        owner = type(self).__name__
        v.check_count(owner, "n_components", self.n_components, none=True)
        v.check_option(owner, "whiten", self.whiten, ("auto", "exact", "online", "neural", None))
        v.check_count(owner, "n_passes", self.n_passes, option="auto")
        v.check_real(owner, "tol", self.tol, 0.0, np.inf, low_too=True)

    def _begun(self, d: int, q: int, whiten: str | Fixed | None, n_samples: int, n_passes: int) -> State:
        """Return the state before the first sample; of a stream, whose length is not known, n_samples is 0."""
        raise NotImplementedError

    def _change(self, state: State) -> None:
        """Let the state go on with steps that have changed."""
        raise NotImplementedError

    def _passes(self, n_samples: int, n_components: int) -> int:
        """Return how often `fit` goes over a record where that is left to it."""
        return 1

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        of_init = list(signature(cls.__init__).parameters.values())[1:]
        cls._param_names = tuple(p.name for p in of_init if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL))

    def _params_now(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self._param_names)

    def _check_changes(self, first: bool) -> None:
        """Raise if a parameter has changed since the stream was begun, unless it is one that may."""
        if first or self._params_used is None:
            return
        for name, was, now in zip(self._param_names, self._params_used, self._params_now(), strict=True):
            if was != now and name not in MAY_CHANGE:
                raise ValueError(v.cannot_change(type(self).__name__, name, was, now))

    # --- learning ------------------------------------------------------------------------------------------

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from a stored record, its samples in random order, `n_passes` times.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The record: rows are samples, columns are sensors.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        with self._unchanged_on_failure():
            self._check_params()
            record = self._checked(X, first=True, at_least=2)
            state, n_passes = self._start(record, record=True)
            order = check_random_state(self.random_state)
            for _ in range(n_passes):
                shuffled = order.permutation(len(record))
                for start in range(0, len(record), CHUNK):
                    chunk = record[shuffled[start : start + CHUNK]]
                    state.learn(np.ascontiguousarray(chunk, dtype=np.float64))
            self._finish(state)
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from the next chunk of a stream, its samples in the order they come.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The chunk: one sample or many; how a stream is cut changes no bit of the result. Only with
            ``whiten="exact"`` the first chunk matters: the whitening is computed from it, and stays.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        self
        """
        self.partial_fit_transform(X)
        return self

    def partial_fit_transform(self, X: ArrayLike, y: object = None) -> Floats:
        """Learn from the next chunk of a stream, and return what the network put out meanwhile.

        Each row is the network's output at that moment, within its limits: settled, or, in stage two of `BSM`, linear
        and clipped. `transform` instead applies the map that has been learnt by now to all rows alike.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The chunk.
        y : ignored
            Present for scikit-learn's pipelines.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components)
        """
        with self._unchanged_on_failure():
            first = not self.__sklearn_is_fitted__()
            changed = first or self._params_now() != self._params_used
            if changed:
                self._check_params()
                self._check_changes(first)
            chunk = self._checked(X, first=first)
            state = self._start(chunk, record=False)[0] if first else self.state_
            if changed:
                self._change(state)
                self._params_used = self._params_now()
            Y = state.learn(np.require(chunk, np.float64, ["C", "W"]))
            self.state_ = state
        self._tell_rank(state)
        self._tell_quality(state)
        return Y.astype(chunk.dtype, copy=False)

    def _start(self, X: Floats, *, record: bool) -> tuple[State, int]:
        """Return the state before the first sample, and the number of passes.

        X is the whole record, or the first chunk of a stream.
        """
        owner, q = type(self).__name__, X.shape[1]
        names = getattr(self, "feature_names_in_", None)
        whiten: str | Fixed | None = self.whiten
        if whiten == "auto":
            whiten = "exact" if record else "online"
        if record or whiten == "exact":
            if not record and len(X) <= q:
                raise ValueError(v.first_chunk_too_short(*X.shape))
            v.warn(v.looks_transposed(*X.shape))
            mean, covariance = moments(X)
            rank = min(correlation_rank(covariance, len(X)), len(X) - 1)
            if rank == 0:
                raise ValueError(v.nothing_varies(len(X)))
            found = v.rank_found(rank, covariance, len(X), names)
            d = v.check_n_components(owner, self.n_components, rank, found)
            if rank < q and self.n_components is None:
                v.warn(v.rank_used(owner, rank, covariance, len(X), names))
            if whiten is None:
                v.warn(v.not_white(None if self._keep_mean else mean, covariance, len(X)))
            elif whiten == "exact":
                v.warn(None if record else v.rough_whitening(len(X), q, d))
                whiten = Fixed.exact(mean, covariance, d, rank, keep_mean=self._keep_mean)
        else:
            d = v.check_n_components(owner, self.n_components, q, "channels of X")
        n_passes = self._passes(len(X), d) if isinstance(self.n_passes, str) else self.n_passes
        return self._begun(d, q, whiten, len(X) if record else 0, n_passes), n_passes

    def _finish(self, state: State) -> None:
        """Take the learnt state over; warn if it still moves."""
        self.state_ = state
        self._params_used = self._params_now()
        self._rank_told = False
        self._quality_due = 0
        self._tell_rank(state)
        if not self.converged_:
            v.warn(self._why_not(state), ConvergenceWarning)

    def _tell_rank(self, state: State) -> None:
        """Warn, once, if a whitener that learns has not found as many axes as there are components."""
        rank, (d, q) = state.whitener.rank, state.whitener.map.shape
        if rank < d and not self._rank_told and state.n_samples > CERTAIN * q:
            self._rank_told = True
            v.warn(v.rank_fell(rank, d, state.n_samples))

    def _tell_quality(self, state: State) -> None:
        """Warn, once, if a stream that tunes itself does not separate."""
        if not state.course.tunes or state.n_samples < self._quality_due:
            return
        d = len(state.neurons.D)
        due: float = max(PATIENT * d, PATIENT_SQUARED * d**2)
        if state.n_samples >= due:
            separates = state.quality() >= POOR
            due = 2 * state.n_samples if separates else np.inf
            v.warn(None if separates else v.not_separated(type(self).__name__, state.quality(), state.n_samples))
        self._quality_due = due

    def _checked(self, X: ArrayLike, *, first: bool = False, at_least: int = 1) -> Floats:
        """Return X as a matrix of floats, float32 left as it is; raise if it can't be used."""
        checked: Floats
        if not first and self._needs_no_conversion(X):
            checked = X
        else:
            checked = validate_data(
                self,
                X,
                reset=first,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=at_least,
            )
        v.check_finite(checked, type(self).__name__)
        return checked

    def _needs_no_conversion(self, X: Any) -> TypeGuard[Floats]:
        """Say whether X is already what scikit-learn's validation, ten times as slow as learning, would make of it."""
        return (
            type(X) is np.ndarray
            and X.dtype == np.float64
            and X.ndim == 2
            and X.shape[0] > 0
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
        )

    @contextmanager
    def _unchanged_on_failure(self) -> Iterator[None]:
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    # --- using what was learnt -------------------------------------------------------------------------------

    def transform(self, X: ArrayLike) -> Floats:
        """Separate by the linear map learnt so far; learns nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples to separate.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components)
            ``(X - mean_) @ components_.T - centre_``, each source in the box of the network's limits; without
            ``mean_`` where the method keeps the mean.
        """
        check_is_fitted(self)
        checked = self._checked(X)
        Y: Floats = (checked - self._offset) @ self.components_.T - self.centre_
        return Y.astype(checked.dtype, copy=False)

    def inverse_transform(self, Y: ArrayLike) -> Floats:
        """Mix sources back into what the sensors would have recorded.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            Sources, scaled as `transform` scales them.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            ``(Y + centre_) @ mixing_.T + mean_``; without ``mean_`` where the method keeps the mean.
        """
        check_is_fitted(self)
        checked: Floats = check_array(Y, dtype=[np.float64, np.float32], input_name="Y")
        if checked.shape[1] != self._n_features_out:
            raise ValueError(v.wrong_number_of_sources(type(self).__name__, checked.shape[1], self._n_features_out))
        mixed: Floats = (checked + self.centre_) @ self.mixing_.T + self._offset
        return mixed.astype(checked.dtype, copy=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save parameters and state to one file, whole or not at all.

        Parameters
        ----------
        path : path-like
            Where to; an older file of that name is replaced.
        """
        check_is_fitted(self)
        params = self.get_params(deep=False)
        if not (params["random_state"] is None or isinstance(params["random_state"], numbers.Integral)):
            params["random_state"] = None  # a generator can't be kept: it belongs to the caller
        names = getattr(self, "feature_names_in_", None)
        about = {
            "method": type(self).__name__,
            "params": params,
            "feature_names": None if names is None else list(names),
        }
        self.state_.save(path, about)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Load what `save` wrote, and go on where it stopped, bit for bit.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        separator : the estimator, fitted

        Raises
        ------
        StateFileError
            If the file is damaged, of an unknown version, or of another estimator.
        """
        state, about = State.load(path)
        if about.get("method") != cls.__name__:
            saved_by = about.get("method") or "a bare State"
            raise v.StateFileError(path, f"it was saved by {saved_by}, not by {cls.__name__}")
        try:
            separator = cls(**about["params"])
            separator._check_params()
            names = about["feature_names"]
        except (KeyError, TypeError, ValueError) as error:
            raise v.StateFileError(path, f"its parameters are missing or unknown ({error})") from error
        separator.state_ = state
        separator.n_features_in_ = len(state.whitener.mean)
        separator._params_used = separator._params_now()
        if names is not None:
            separator.feature_names_in_ = np.array(names, dtype=object)
        return separator

    @property
    def _offset(self) -> Vector | float:
        return 0.0 if self._keep_mean else self.state_.serving.mean

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "state_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

"""The whole state of a running separator as a value: learn from a chunk, save to one file, load, go on.

This is also the path for those who check their input themselves: no validation, no scikit-learn.
"""

import json
import os
import struct
import zipfile
import zlib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeAlias

import numpy as np

from boundsep import kernels, schedules
from boundsep._files import written_whole
from boundsep._types import Matrix, Vector
from boundsep._validation import StateFileError, check_option, check_samples, check_stored_array
from boundsep.monitor import Monitor
from boundsep.neurons import Neurons
from boundsep.whitening import MEMORY, Fixed, Online, Whitener
from boundsep.whitening_local import Neural

FORMAT: Final = "boundsep state"
VERSION: Final = 1
WHITENERS: Final[dict[str, Any]] = {"fixed": Fixed, "online": Online, "neural": Neural}
# What NumPy and zipfile raise on a file that is cut off, altered, or something else.
UNREADABLE: Final = (
    ValueError,
    TypeError,
    EOFError,
    KeyError,
    IndexError,
    NotImplementedError,
    RuntimeError,
    MemoryError,
    OverflowError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
About: TypeAlias = dict[str, Any]


@dataclass(slots=True, eq=False)
class State:
    """Whitener, neurons, rates and monitor: everything that a separator needs to go on, bit for bit.

    `State.start` makes one, `State.load` brings one back. It can be copied and pickled.

    Parameters
    ----------
    whitener : Fixed, Online or Neural
        What brings samples from the sensors to the network.
    neurons : Neurons
        W, M, D and counts.
    monitor : Monitor
        What tells whether they have settled.
    rates : ndarray of shape (6,)
        Rates of learning and limits, from `schedules`; see `set_rates`.
    euler : bool
        Whether outputs settle by integrating the differential equation.
    n_samples : int
        How many samples were learnt from.

    Examples
    --------
    >>> import numpy as np
    >>> from boundsep import State
    >>> state = State.start(2, 3, whiten="online")
    >>> chunk = np.random.default_rng(0).uniform(-1, 1, (1000, 3))
    >>> state.learn(chunk).shape
    (1000, 2)
    >>> state.components().shape
    (2, 3)
    """

    PARTS: ClassVar[dict[str, Any]] = {"neurons": Neurons, "monitor": Monitor}

    whitener: Whitener
    neurons: Neurons
    monitor: Monitor
    rates: Vector
    euler: bool = False
    n_samples: int = 0

    @classmethod
    def start(
        cls,
        n_components: int,
        n_features: int,
        *,
        whiten: str | Fixed | None = "online",
        rates: Vector | None = None,
        keep_mean: bool = False,
        euler: bool = False,
    ) -> Self:
        """Return the state before the first sample.

        Parameters
        ----------
        n_components, n_features : int
            Outputs and sensors.
        whiten : "online", "neural", None or Fixed
            How the input is whitened; a ``Fixed`` whitener is taken as it is.
        rates : ndarray, optional
            The rates of learning and the limits of the outputs, from `schedules`; the paper's by default.
        keep_mean : bool
            Leave the mean in what the network sees.
        euler : bool
            Integrate the paper's differential equation to rest, in place of solving for where it rests.

        Returns
        -------
        State
        """
        rates = schedules.paper() if rates is None else rates
        if not 1 <= n_components <= n_features:
            raise ValueError(f"n_components must be from 1 to n_features={n_features}. Got {n_components!r}.")
        if not (whiten is None or isinstance(whiten, Fixed)):
            check_option("State", "whiten", whiten, ("online", "neural", None))
        whitener: Whitener
        if isinstance(whiten, Fixed):
            whitener = whiten
        elif whiten is None:
            whitener = Fixed.nothing(n_features)
        else:
            kind = WHITENERS[whiten]
            forgetting = float(rates[kernels.FORGETTING])
            whitener = kind.start(n_components, n_features, forgetting, keep_mean=keep_mean)
        n_inputs = len(whitener.map)
        upper = float(rates[kernels.UPPER])
        neurons = Neurons.start(
            n_components,
            n_inputs,
            limit=upper if np.isfinite(upper) else 1.0,
            inverse=not euler and rates[kernels.THRESHOLD] == 0.0,
        )
        return cls(whitener, neurons, Monitor.start(n_components, n_inputs), rates, euler)

    def set_rates(self, rates: Vector) -> None:
        """Go on with other rates of learning; limits and threshold stay as they were at the start.

        Parameters
        ----------
        rates : ndarray of shape (6,)
            From `schedules`.
        """
        if not np.array_equal(rates[kernels.THRESHOLD :], self.rates[kernels.THRESHOLD :]):
            raise ValueError("Threshold and limits of a network can't change while it learns: start another.")
        self.rates = rates
        if isinstance(self.whitener, Online | Neural):
            self.whitener.forgetting = float(rates[kernels.FORGETTING]) / MEMORY

    def learn(self, X: Matrix) -> Matrix:
        """Separate the rows of X in turn, learning from each; return the network's outputs.

        Parameters
        ----------
        X : ndarray of float64, shape (n_samples, n_features), C-ordered
            Raw samples. A row that is not finite comes out as NaN and teaches nothing.

        Returns
        -------
        Y : ndarray, shape (n_samples, n_components)
            The settled outputs, within the limits of the neurons.
        """
        check_samples(X, len(self.whitener.mean))
        room = int(self.monitor.at[2]) - self.n_samples
        if len(X) < room:
            self.n_samples += len(X)
            return self.neurons.learn(self.whitener.learn(X), self.rates, euler=self.euler)
        pieces = []
        while len(X):
            piece = self.neurons.learn(self.whitener.learn(X[:room]), self.rates, euler=self.euler)
            pieces.append(piece)
            X = X[room:]
            self.n_samples += len(piece)
            if len(piece) == room:
                self.monitor.mark(self.neurons.unmixing(), self.neurons.D)
            room = int(self.monitor.at[2]) - self.n_samples
        return np.concatenate(pieces)

    def components(self) -> Matrix:
        """Return the total linear map, each row scaled so that its output fills the limits.

        Returns
        -------
        components : ndarray of shape (n_components, n_features)
        """
        reach = self.neurons.reach
        scale = np.where(reach > 0.0, reach, 1.0)
        return self.neurons.unmixing() @ self.whitener.map / scale[:, None]

    def movement(self) -> float:
        """Return how far map and gains have moved over the last part (a third to a half) of the learning.

        Returns
        -------
        movement : float
            See `boundsep.monitor`; infinity while there is nothing yet to compare with.
        """
        return self.monitor.movement(self.neurons.unmixing(), self.neurons.D)

    def save(self, path: str | os.PathLike[str], about: About | None = None) -> None:
        """Save to one file, whole or not at all: it is written beside and renamed when it is on the disk.

        Parameters
        ----------
        path : path-like
            Where to; an older file of that name is replaced.
        about : dict, optional
            What else to keep, as JSON.
        """
        kind = next(name for name, known in WHITENERS.items() if type(self.whitener) is known)
        header = {
            "format": FORMAT,
            "version": VERSION,
            "about": about or {},
            "whitener": kind,
            "euler": self.euler,
            "n_samples": self.n_samples,
        }
        arrays: dict[str, Any] = {"rates": self.rates}
        for part in ("whitener", *self.PARTS):
            for name in (f.name for f in fields(getattr(self, part)) if f.init):
                arrays[f"{part}.{name}"] = np.asarray(getattr(getattr(self, part), name))
        with written_whole(path) as file:
            np.savez(file, header=np.array(json.dumps(header, default=_plain)), **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> tuple[Self, About]:
        """Load what `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        state : State
        about : dict
            What was kept with it.

        Raises
        ------
        StateFileError
            If the file is not a state, is damaged, or is of a version that this one does not know.
        """
        try:
            with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
                arrays = {name: file[name] for name in file.files}
        except UNREADABLE as error:
            raise StateFileError(path, f"it is damaged or not a state file ({error})") from error
        try:
            return cls._from_arrays(arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise StateFileError(path, str(error)) from error

    @classmethod
    def _from_arrays(cls, arrays: dict[str, Any]) -> tuple[Self, About]:
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise ValueError(f"it holds {header['format']!r}, not {FORMAT!r}")
        if header["version"] != VERSION:
            raise ValueError(f"it is of version {header['version']}, and this boundsep reads version {VERSION}")
        sizes: dict[str, int] = {}
        parts = {}
        for part, kind in {"whitener": WHITENERS[header["whitener"]], **cls.PARTS}.items():
            values = {}
            for name in (f.name for f in fields(kind) if f.init):
                value = arrays[f"{part}.{name}"]
                check_stored_array(f"{part}.{name}", value, kind.SHAPES.get(name, ()), sizes)
                values[name] = value if name in kind.SHAPES else value.item()
            parts[part] = kind(**values)
        check_stored_array("rates", arrays["rates"], (kernels.RATES,), sizes)
        about, n_samples = header["about"], header["n_samples"]
        if not isinstance(about, dict) or not isinstance(n_samples, int):
            raise TypeError("its header holds values of the wrong type")
        if parts["monitor"].at[2] <= n_samples:
            raise ValueError("its counts contradict each other")
        return cls(**parts, rates=arrays["rates"], euler=bool(header["euler"]), n_samples=n_samples), about


def _plain(number: Any) -> Any:
    """Return a NumPy number as Python's own, for JSON."""
    return number.item()

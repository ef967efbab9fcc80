"""The file that a state is saved to: a zip of arrays, named by the part of the state and its field, and a header."""

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Final, Self, TypeAlias

import numpy as np

from boundsep import course, kernels
from boundsep._files import written_whole
from boundsep._types import Vector
from boundsep._validation import StateFileError, check_stored_array
from boundsep.whitening import Fixed, Online
from boundsep.whitening_local import Neural

FORMAT: Final = "boundsep state"
VERSION: Final = 2
LEARNING: Final[dict[str, Any]] = {"online": Online, "neural": Neural}
WHITENERS: Final[dict[str, Any]] = {"fixed": Fixed, **LEARNING}
About: TypeAlias = dict[str, Any]
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


class Stored:
    """What a state has from being stored: it saves itself, and can be loaded."""

    __slots__ = ()

    PARTS: ClassVar[dict[str, Any]]

    def save(self, path: str | os.PathLike[str], about: About | None = None) -> None:
        """Save to one file, whole or not at all: it is written beside and renamed when it is on the disk.

        Parameters
        ----------
        path : path-like
            Where to; an older file of that name is replaced.
        about : dict, optional
            What else to keep, as JSON.
        """
        state: Any = self
        header = {
            "whitener": next(name for name, known in WHITENERS.items() if type(state.whitener) is known),
            "whiten": state.whiten,
            "euler": state.euler,
            "n_samples": state.n_samples,
            "about": about or {},
        }
        write(path, header, {part: getattr(state, part) for part in ("whitener", *self.PARTS)}, {"rates": state.rates})

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
        header, arrays = read(path)
        try:
            kinds = {"whitener": WHITENERS[header["whitener"]], **cls.PARTS}
            parts = assemble(arrays, kinds, {"rates": (kernels.RATES,)})
            about, whiten, n_samples = header["about"], header["whiten"], header["n_samples"]
            if not isinstance(about, dict) or not isinstance(n_samples, int) or whiten not in (None, *LEARNING):
                raise TypeError("its header holds values of the wrong type")
            plan = parts["course"]
            if plan.stage not in range(course.TRIAL + 1):
                raise ValueError(f"it is in a stage {plan.stage} that there is not")
            if parts["monitor"].at[2] <= n_samples or not 0 <= plan.heard <= n_samples or plan.due <= plan.heard:
                raise ValueError("its counts contradict each other")
            make: Any = cls
            state: Self = make(**parts, whiten=whiten, euler=bool(header["euler"]), n_samples=n_samples)
        except (KeyError, TypeError, ValueError) as error:
            raise StateFileError(path, str(error)) from error
        return state, about


def write(
    path: str | os.PathLike[str], header: dict[str, Any], parts: Mapping[str, Any], arrays: Mapping[str, Vector]
) -> None:
    """Write parts (dataclasses of arrays and numbers), single arrays and a header, whole or not at all."""
    header = {"format": FORMAT, "version": VERSION, **header}
    stored: dict[str, Any] = dict(arrays)
    for part, value in parts.items():
        for name in _names(value):
            stored[f"{part}.{name}"] = np.asarray(getattr(value, name))
    with written_whole(path) as file:
        np.savez(file, header=np.array(json.dumps(header, default=_plain)), **stored)


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a file, as yet unchecked but for format and version."""
    try:
        with Path(path).open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except UNREADABLE as error:
        raise StateFileError(path, f"it is damaged or not a state file ({error})") from error
    try:
        header = json.loads(str(arrays["header"]))
        if header["format"] != FORMAT:
            raise ValueError(f"it holds {header['format']!r}, not {FORMAT!r}")
        if header["version"] != VERSION:
            raise ValueError(f"it is of version {header['version']}, and this boundsep reads version {VERSION}")
    except (KeyError, TypeError, ValueError) as error:
        raise StateFileError(path, str(error)) from error
    return header, arrays


def assemble(
    arrays: Mapping[str, Any], kinds: Mapping[str, Any], shapes: Mapping[str, tuple[int | str, ...]]
) -> dict[str, Any]:
    """Return the parts and the single arrays, sizes checked against each other; raise where they do not fit."""
    sizes: dict[str, int] = {}
    parts: dict[str, Any] = {}
    for part, kind in kinds.items():
        values = {}
        for name in _names(kind):
            value = arrays[f"{part}.{name}"]
            check_stored_array(f"{part}.{name}", value, kind.SHAPES.get(name, ()), sizes)
            values[name] = value if name in kind.SHAPES else value.item()
        parts[part] = kind(**values)
    for name, shape in shapes.items():
        check_stored_array(name, arrays[name], shape, sizes)
        parts[name] = arrays[name]
    return parts


def _names(part: Any) -> list[str]:
    """Return the names of the fields that make a part."""
    return [field.name for field in fields(part) if field.init]


def _plain(number: Any) -> Any:
    """Return a NumPy number as Python's own, for JSON."""
    return number.item()

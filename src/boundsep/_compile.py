"""How a plain function becomes a compiled kernel: one decision, taken in one place."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast
from zlib import crc32

from numba import njit

F = TypeVar("F", bound=Callable[..., object])

# Sums may be reordered and contracted (2 to 5 times faster), but NaN and infinity keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz"}


# No array is made in a kernel, so none is counted: counting costs 0.1 us a sample, a quarter of the time at d=10.
_OPTIONS: Any = {"fastmath": _FASTMATH, "error_model": "numpy", "nogil": True, "_nrt": False}


# Numba keeps what it compiled by the age and size of a kernel's own file. A kernel is also made of parts from other
# files, and files from a wheel are all of one age: so the name under which it is kept tells all their contents apart.
_FILES = ("_compile.py", "guard.py", "kernels.py", "sharpening.py", "whitening.py", "whitening_local.py")
_STAMP = f"{crc32(b''.join((Path(__file__).parent / name).read_bytes() for name in _FILES)):08x}"


def kernel(function: F) -> F:
    """Compile on first call, keep the result on disk, release the GIL while running."""
    function.__qualname__ += _STAMP
    return cast(F, njit(cache=True, **_OPTIONS)(function))


def exact_kernel(function: F) -> F:
    """Compile like a kernel, but with sums in the order they are written: slower, and for the bits of every sample.

    Otherwise the compiler may treat the first row of a chunk apart, and round it in another way than the others.
    """
    function.__qualname__ += _STAMP
    return cast(F, njit(cache=True, **_OPTIONS | {"fastmath": False})(function))


def part_of_kernel(function: F) -> F:
    """Compile in the place of each call in a kernel: the first call waits a tenth less for the compiler."""
    return cast(F, njit(inline="always", **_OPTIONS)(function))


def exact_part_of_kernel(function: F) -> F:
    """Compile with sums in the order they are written: for numbers that one sample hands on to the next.

    Otherwise the compiler may join two steps of a recursion, and the result depend on where a chunk begins.
    """
    return cast(F, njit(**_OPTIONS | {"fastmath": False})(function))

"""The array types that annotations name."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Floats: TypeAlias = NDArray[np.floating[Any]]

__all__ = ["ArrayLike", "Floats", "Matrix", "Vector"]

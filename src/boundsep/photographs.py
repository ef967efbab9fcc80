"""Photographs that come inside installed packages, as sources: pixels are samples."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from boundsep._types import Matrix
from boundsep._validation import missing_extra

# Those that the wheels themselves contain; others would be downloaded.
OF_SKIMAGE = (
    "astronaut",
    "brick",
    "camera",
    "chelsea",
    "coffee",
    "coins",
    "grass",
    "gravel",
    "moon",
    "rocket",
)
OF_SKLEARN = ("china", "flower")
NAMES = OF_SKIMAGE + OF_SKLEARN
_GREY = np.array([0.2125, 0.7154, 0.0721])  # luminance of red, green and blue


def photographs(
    names: str | Sequence[str] = ("camera", "grass", "coffee"), *, height: int = 256, width: int = 256
) -> Matrix:
    """Return grey photographs as sources, a column each, in rows of pixels from the top.

    ``S[:, i].reshape(height, width)`` is a picture again. Each is cut out of the middle and scaled to [-1, 1].
    Neighbouring pixels are alike: learn from them in random order, as `BSM.fit` does.

    Parameters
    ----------
    names : str or sequence of str
        Of astronaut, brick, camera, chelsea, coffee, coins, grass, gravel, moon, rocket (scikit-image; install
        ``boundsep[images]``), china, flower (scikit-learn); or paths of pictures.
    height, width : int
        The size they are cut to.

    Returns
    -------
    S : ndarray of shape (height * width, len(names))

    Examples
    --------
    >>> photographs(["china", "flower"], height=100, width=120).shape
    (12000, 2)
    """
    names = [names] if isinstance(names, str) else names
    return np.column_stack([_picture(name, height, width) for name in names])


def common_size(files: Sequence[str], most: int = 512) -> tuple[int, int]:
    """Return the height and width that pictures in files can all be cut to.

    Parameters
    ----------
    files : sequence of str
        Their paths.
    most : int
        Neither side is longer.

    Returns
    -------
    height, width : int
    """
    shapes = np.array([_read(file).shape[:2] for file in files])
    height, width = np.minimum(shapes.min(axis=0), most)
    return int(height), int(width)


def _read(path: str) -> Matrix:
    """Read a picture from a file, by whatever Pillow knows."""
    try:
        from PIL import Image
    except ImportError as error:
        raise missing_extra("pictures", "Pillow", "images") from error
    try:
        with Image.open(path) as picture:
            return np.asarray(picture.convert("RGB"), dtype=np.float64)
    except OSError as error:
        raise ValueError(f"{path!r} can't be read as a picture: {error}.") from error


def _picture(name: str, height: int, width: int) -> Matrix:
    if Path(name).suffix:
        picture = _read(name)
    elif name in OF_SKLEARN:
        from sklearn.datasets import load_sample_image

        picture = load_sample_image(f"{name}.jpg")
    elif name in OF_SKIMAGE:
        try:
            from skimage import data
        except ImportError as error:
            raise missing_extra("photographs", "scikit-image", "images") from error
        picture = getattr(data, name)()
    else:
        raise ValueError(f"There is no photograph {name!r}. There are: {', '.join(NAMES)}.")
    grey = picture @ _GREY if picture.ndim == 3 else picture.astype(np.float64)
    spare = np.array(grey.shape) - (height, width)
    if spare.min() < 0:
        raise ValueError(
            f"Picture {name!r} has {grey.shape[0]} x {grey.shape[1]} pixels, fewer than {height} x {width}."
        )
    top, left = spare // 2
    grey = grey[top : top + height, left : left + width]
    low, high = grey.min(), grey.max()
    if low == high:
        raise ValueError(f"Picture {name!r} has one value everywhere: there is nothing to separate.")
    return (2.0 * (grey - low) / (high - low) - 1.0).ravel()

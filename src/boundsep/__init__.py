"""Separate bounded signals from their mixtures, one sample at a time, by a network with local learning rules.

The path of a signal, and of this package::

    sources -> mixing -> whitening -> network -> outputs -> metrics -> report

Names are loaded when first used: what needs no scikit-learn does not wait for it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boundsep import metrics, mixing, rules, schedules, sources
    from boundsep._validation import StateFileError
    from boundsep.network import BSM
    from boundsep.nonnegative import NSM
    from boundsep.state import State

__version__ = "0.1.0"
__all__ = [
    "BSM",
    "NSM",
    "State",
    "StateFileError",
    "__version__",
    "metrics",
    "mixing",
    "rules",
    "schedules",
    "sources",
]

_HOMES = {
    "BSM": "boundsep.network",
    "NSM": "boundsep.nonnegative",
    "State": "boundsep.state",
    "StateFileError": "boundsep._validation",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"boundsep.{name}")
    raise AttributeError(f"module 'boundsep' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

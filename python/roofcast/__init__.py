"""Forecasts how long a GPU kernel takes on a given shape and GPU, and what bounds it.

    >>> import roofcast
    >>> forecast = roofcast.predict("gemm.tiled", "h200-sxm", m=4096, n=4096, k=4096)
    >>> forecast.time_s, forecast.bound

Units are SI: s, B, FLOP, Hz. The figures are those of the command `roofcast predict`.
"""

from importlib.metadata import version as _version

from . import _core
from ._core import (
    Gpu,
    InputError,
    Kernel,
    Launch,
    Occupancy,
    Prediction,
    Waves,
    collective,
    gpus,
    kernels,
    model,
    predict,
)
from ._sweep import sweep

__version__ = _version("roofcast")
__all__ = [
    "Gpu",
    "InputError",
    "Kernel",
    "Launch",
    "Occupancy",
    "Prediction",
    "Waves",
    "collective",
    "gpus",
    "kernels",
    "model",
    "predict",
    "sweep",
]

# People meet these by the package's name, in messages and in tracebacks.
for _type in (Gpu, InputError, Kernel, Launch, Occupancy, Prediction, Waves):
    _type.__module__ = __name__
del _core, _type

from ._core import Gpu as Gpu
from ._core import InputError as InputError
from ._core import Kernel as Kernel
from ._core import Launch as Launch
from ._core import Occupancy as Occupancy
from ._core import Prediction as Prediction
from ._core import Waves as Waves
from ._core import collective as collective
from ._core import gpus as gpus
from ._core import kernels as kernels
from ._core import model as model
from ._core import predict as predict
from ._sweep import sweep as sweep

__version__: str
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

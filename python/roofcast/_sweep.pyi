from collections.abc import Iterable
from os import PathLike
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import pandas  # type: ignore

from ._core import Gpu, Kernel

_Value: TypeAlias = SupportsIndex | float | str | bool | None
_Values: TypeAlias = _Value | Iterable[_Value]
_Kernel: TypeAlias = str | PathLike[str] | Kernel
_Gpu: TypeAlias = str | PathLike[str] | Gpu

@overload
def sweep(
    kernel: _Kernel | Iterable[_Kernel],
    gpus: _Gpu | Iterable[_Gpu],
    axis: dict[str, _Values] | None = None,
    *,
    dtype: str | Iterable[str] | None = None,
    cache: str | None = None,
    launch: str | None = None,
    sm_clock_hz: float | None = None,
    worked_s: float | None = None,
    as_records: Literal[False] = False,
    **parameters: _Values,
) -> pandas.DataFrame: ...
@overload
def sweep(
    kernel: _Kernel | Iterable[_Kernel],
    gpus: _Gpu | Iterable[_Gpu],
    axis: dict[str, _Values] | None = None,
    *,
    dtype: str | Iterable[str] | None = None,
    cache: str | None = None,
    launch: str | None = None,
    sm_clock_hz: float | None = None,
    worked_s: float | None = None,
    as_records: Literal[True],
    **parameters: _Values,
) -> list[dict[str, Any]]: ...

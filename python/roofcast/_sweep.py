"""Forecasts of many points as a table."""

from ._core import Gpu, InputError, Kernel, columns


def sweep(
    kernel,
    gpus,
    axis=None,
    *,
    dtype=None,
    cache=None,
    launch=None,
    sm_clock_hz=None,
    as_records=False,
    **parameters,
):
    """Forecasts of every combination of values, as `roofcast sweep` has them.

    kernel       a name, the path of a kernel file or a Kernel; or a list of these
    gpus         a name, the path of a specification or a Gpu; or a list of these
    axis         {parameter: values}; the last one changes fastest
    parameters   the same by keyword, after those of axis
    dtype        an element type, or a list of these
    cache, launch, sm_clock_hz   as in `predict`
    as_records   True: a list of dicts instead of a pandas.DataFrame, and pandas is not needed

    Values are one value, an iterable of them (a list, a range, an array of NumPy), or a text as the
    command takes it: "256:8192:256", "256:8192:*2", "=m" to follow another parameter, "=4096/m".

    Returns a table with the columns of the command's CSV, in SI units: kernel, gpu, each parameter,
    dtype, flops, …, limit_s, expected_s, low_s, high_s, …, bound, notes, error. A point without an
    answer has its reason under error. Raises InputError where no point has an answer, and for
    values that the command would refuse.
    """
    if axis is not None and not isinstance(axis, dict):
        raise InputError('axis takes a dict such as {"m": range(256, 8193, 256)}')
    asked = dict(axis or {})
    for name, values in parameters.items():
        if name in asked:
            raise InputError(f"{name!r} is given twice: in axis and by keyword")
        asked[name] = values
    options = {"dtype": dtype, "cache": cache, "launch": launch, "sm-clock": sm_clock_hz}
    figures, table = columns(_listed(kernel, Kernel), _listed(gpus, Gpu), {**asked, **options})
    if as_records:
        return [dict(zip(table, row)) for row in zip(*table.values())]
    return _frame(table, figures)


def _listed(value, single):
    """The list that `value` is, or of which it is the only element."""
    is_one = isinstance(value, (str, single)) or hasattr(value, "__fspath__")
    return [value] if is_one else list(value)


def _frame(table, figures):
    """A pandas.DataFrame whose figures are floats, NaN where there is none."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "roofcast.sweep returns a pandas.DataFrame, and pandas is not installed: "
            "install it, or give as_records=True for a list of dicts"
        ) from error
    return pandas.DataFrame(table).astype({title: float for title in figures})

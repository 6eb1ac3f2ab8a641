"""Forecasts of many points as a table."""

import itertools

from ._core import Gpu, InputError, Kernel, collective, columns, model


def sweep(
    kernel,
    gpus,
    axis=None,
    *,
    dtype=None,
    cache=None,
    launch=None,
    sm_clock_hz=None,
    worked_s=None,
    as_records=False,
    **parameters,
):
    """Forecasts of every combination of values, as `roofcast sweep` has them.

    kernel       a name, the path of a kernel file or a Kernel; or a list of these. Also collectives
                 ("collective.all_reduce") or, after "model:", models ("model:gpt2-xl")
    gpus         a name, the path of a specification or a Gpu; or a list of these
    axis         {parameter: values}; the last one changes fastest
    parameters   the same by keyword, after those of axis
    dtype        an element type, or a list of these
    cache, launch, sm_clock_hz, worked_s   as in `predict`
    as_records   True: a list of dicts instead of a pandas.DataFrame, and pandas is not needed

    Values are one value, an iterable of them (a list, a range, an array of NumPy), or a text as the
    command takes it: "256:8192:256", "256:8192:*2", "=m" to follow another parameter, "=4096/m".

    Of collectives and models every value is one value or an iterable, and the columns are the kernel,
    gpu, the values asked, expected_s, low_s, high_s, of models tokens_per_s, mfu, memory_bytes and
    fits, and error.

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
    kernels, devices = _listed(kernel, Kernel), _listed(gpus, Gpu)
    kinds = {_ask(one) for one in kernels}
    if kinds != {None}:
        if len(kinds) > 1:
            raise InputError("kernels, collectives and models each have a sweep of their own")
        if any(one is not None for one in (cache, launch, sm_clock_hz, worked_s)):
            raise InputError("cache, launch, sm_clock_hz and worked_s are for kernels")
        records = _records(kinds.pop(), kernels, devices, {**asked, **_given(dtype=dtype)})
        return records if as_records else _frame(_table(records), ())
    options = {
        "dtype": dtype, "cache": cache, "launch": launch, "sm-clock": sm_clock_hz,
        "worked": worked_s,
    }
    figures, table = columns(kernels, devices, {**asked, **options})
    if as_records:
        return [dict(zip(table, row)) for row in zip(*table.values())]
    return _frame(table, figures)


def _ask(kernel):
    """The function that answers for what is no kernel: a collective or a model."""
    if not isinstance(kernel, str):
        return None
    if kernel.startswith("model:"):
        return _model
    return collective if kernel.split(".")[0] == "collective" else None


def _model(name, gpu, **task):
    answer = model(name.removeprefix("model:"), gpu, **task)
    memory = answer["memory"]
    return {**answer, "memory_bytes": memory["total_bytes"], "fits": memory["fits"]}


def _given(**values):
    return {name: value for name, value in values.items() if value is not None}


def _records(ask, names, gpus, asked):
    """A dict for every combination of the values, the last one fastest."""
    lists = [[v] if isinstance(v, str) or not hasattr(v, "__iter__") else list(v) for v in asked.values()]
    if not all(lists):
        raise InputError("a parameter has no values: give one at least")
    figures = ["tokens_per_s", "mfu", "memory_bytes", "fits"] if ask is _model else []
    records = []
    for gpu, name in itertools.product(gpus, names):
        for values in itertools.product(*lists):
            point = dict(zip(asked, values))
            row = {"kernel": name, "gpu": gpu if isinstance(gpu, str) else gpu.name, **point}
            answer, error = {}, None
            try:
                answer = ask(name, gpu, **point)
            except InputError as refused:
                error = str(refused)
            time = answer.get("time") or {}
            for figure in ("expected_s", "low_s", "high_s"):
                row[figure] = time.get(figure)
            for figure in figures:
                row[figure] = answer.get(figure)
            if error is None and not time:
                error = "; ".join(answer.get("notes", []))
            records.append({**row, "error": error})
    if all(record["error"] for record in records):
        raise InputError(records[0]["error"])
    return records


def _table(records):
    return {title: [record[title] for record in records] for title in records[0]}


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

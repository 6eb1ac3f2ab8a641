#!/usr/bin/env python3
"""Times PyTorch's own softmax, normalization and sums over rows, to set beside this project's kernels.

  validation/torch_baseline.py -o torch.json                             the shapes of sweeps/rows.json
  validation/torch_baseline.py -o torch.json 131072x1024:fp32 4096x65536:bf16

Each time is the median of single calls between two CUDA events, L2 filled with other data before each
by reading a large buffer (writing one would leave dirty lines to be written back inside the range),
random normal inputs. `bytes` is what must cross DRAM: each input once, each output once. Writes
{"device", "torch", "cases": [{"op", "rows", "cols", "dtype", "time_s", "bytes"}]}.
"""

import argparse
import json
import pathlib
import statistics
import sys

import torch

SWEEP = pathlib.Path(__file__).parent / "sweeps" / "rows.json"
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
FLUSH_BYTES = 256 << 20
WARM_UP = 3


def shapes_of_sweep(path):
    """(rows, cols, dtype) of every group of a suite, each once, in its order."""
    shapes = {}
    for group in json.loads(path.read_text())["groups"]:
        types = group["dtype"] if isinstance(group["dtype"], list) else [group["dtype"]]
        for dtype in types:
            for shape in group["together"]:
                shapes[shape["rows"], shape["cols"], dtype] = None
    return list(shapes)


def shape_of_text(text):
    """131072x1024:fp32"""
    extents, dtype = text.split(":")
    rows, cols = extents.split("x")
    if dtype not in DTYPES:
        raise ValueError(f"{text}: the type is one of {', '.join(DTYPES)}")
    return int(rows), int(cols), dtype


def operations(x):
    """Name, call, bytes it must move."""
    rows, cols = x.shape
    size = x.element_size()
    gamma = torch.randn(cols, device=x.device, dtype=x.dtype)
    beta = torch.randn(cols, device=x.device, dtype=x.dtype)
    to = torch.empty_like(x)
    matrix, vector = rows * cols * size, cols * size
    functional = torch.nn.functional
    yield "copy", lambda: to.copy_(x), 2 * matrix
    yield "softmax", lambda: torch.softmax(x, -1), 2 * matrix
    yield "layer_norm", lambda: functional.layer_norm(x, (cols,), gamma, beta), 2 * matrix + 2 * vector
    if hasattr(functional, "rms_norm"):
        yield "rms_norm", lambda: functional.rms_norm(x, (cols,), gamma, 1e-5), 2 * matrix + vector
    yield "sum_rows", lambda: x.sum(-1), matrix + rows * size
    yield "sum_all", lambda: x.sum(), matrix + size


class Timer:
    def __init__(self):
        self.flush = torch.randn(FLUSH_BYTES // 4, device="cuda")
        self.start = torch.cuda.Event(enable_timing=True)
        self.stop = torch.cuda.Event(enable_timing=True)

    def seconds(self, call):
        self.flush.max()
        self.start.record()
        call()
        self.stop.record()
        self.stop.synchronize()
        return self.start.elapsed_time(self.stop) * 1e-3

    def median(self, call, samples):
        for _ in range(WARM_UP):
            call()
        return statistics.median(self.seconds(call) for _ in range(samples))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shapes", nargs="*", help="ROWSxCOLS:DTYPE; none: those of the sweep")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="file to write; none: stdout")
    parser.add_argument("--samples", type=int, default=15)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("torch_baseline: no usable GPU")
    try:
        shapes = [shape_of_text(text) for text in options.shapes] or shapes_of_sweep(SWEEP)
    except ValueError as error:
        parser.error(str(error))

    timer = Timer()
    cases = []
    with torch.inference_mode():
        for rows, cols, dtype in shapes:
            x = torch.randn(rows, cols, device="cuda", dtype=torch.float32).to(DTYPES[dtype])
            for name, call, moved in operations(x):
                time_s = timer.median(call, options.samples)
                cases.append(
                    {
                        "op": name,
                        "rows": rows,
                        "cols": cols,
                        "dtype": dtype,
                        "time_s": time_s,
                        "bytes": moved,
                    }
                )
                print(
                    f"{name:<10} {rows:>9} x {cols:<9} {dtype} {time_s * 1e6:10.1f} us "
                    f"{moved / time_s * 1e-12:6.3f} TB/s",
                    file=sys.stderr,
                    flush=True,
                )
            del x
            torch.cuda.empty_cache()
    result = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "cases": cases,
    }
    text = json.dumps(result, indent=1) + "\n"
    if options.output:
        options.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()

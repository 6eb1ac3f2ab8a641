#!/usr/bin/env python3
"""Attention of this project beside cuDNN and FlashAttention-2 as PyTorch has them.

    attention.py LIBRARY --gpu h100-sxm5 [-o TABLE.csv] [--pass forward|backward] [--tokens 16384] ...

LIBRARY is libroofcast_kernels_api.so (the target roofcast_kernels_api). Needs a GPU and PyTorch. Every
shape is computed by each in turn, on the same random normal data, with L2 flushed by reading a large
buffer before each call; times are medians. TABLE.csv has a line a shape and implementation:

    roofcast compare --table TABLE.csv --kernel attention.library --where kernel=attention.library --cache cold

Sizes follow the published benchmarks: 16k tokens a batch,
hidden size 2048.
"""
import argparse
import csv
import ctypes
import math
import statistics
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

TYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
LIBRARIES = {"cudnn": SDPBackend.CUDNN_ATTENTION, "fa2": SDPBackend.FLASH_ATTENTION}
FLUSHED_BYTES = 256 << 20
FLUSHES = 6  # more than one, so that the call after them is enqueued before the GPU gets to it


def addresses(tensors):
    return (ctypes.c_void_p * max(1, len(tensors)))(*[t.data_ptr() for t in tensors])


class Kernel:
    """A kernel of the project for one problem, its scratch allocated."""

    def __init__(self, api, name, dtype, values):
        self.api, self.name, self.dtype = api, name.encode(), dtype.encode()
        self.values = (ctypes.c_int64 * len(values))(*values)
        sizes = (ctypes.c_int64 * 16)()
        count = api.roofcast_scratch(self.name, self.dtype, self.values, len(values), sizes, 16)
        if count < 0:
            raise RuntimeError(f"{name} cannot run {values}")
        self.scratch = [torch.empty(max(16, sizes[i]), dtype=torch.uint8, device="cuda") for i in range(count)]

    def __call__(self, inputs, outputs):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        failed = self.api.roofcast_run(
            self.name, self.dtype, self.values, len(self.values), addresses(inputs), len(inputs),
            addresses(outputs), len(outputs), addresses(self.scratch), len(self.scratch), stream)
        if failed:
            raise RuntimeError(f"{self.name.decode()} failed")


class Case:
    """Data of one shape, and ways to compute it."""

    def __init__(self, batch, heads, kv_heads, seq_q, seq_kv, head_dim, causal, dtype, backward):
        self.sizes = [batch, heads, kv_heads, seq_q, seq_kv, head_dim, int(causal), int(backward)]
        self.causal, self.backward, self.dtype = causal, backward, dtype
        # PyTorch aligns a causal mask to the first query, this project to the last.
        self.torch_can = not causal or seq_q == seq_kv

        def normal(h, s):
            return torch.randn(batch, h, s, head_dim, device="cuda", dtype=TYPES[dtype])

        self.q, self.k, self.v = normal(heads, seq_q), normal(kv_heads, seq_kv), normal(kv_heads, seq_kv)
        self.o = torch.empty_like(self.q)
        self.lse = torch.empty(batch, heads, seq_q, device="cuda")
        self.grad = normal(heads, seq_q)
        self.gradients = [torch.empty_like(t) for t in (self.q, self.k, self.v)]

    def flops(self):
        batch, heads, _, seq_q, seq_kv, dim = self.sizes[:6]
        pairs = seq_q * seq_kv - (seq_q * (seq_q - 1) / 2 if self.causal else 0)
        return (10 if self.backward else 4) * batch * heads * pairs * dim

    def ours(self, api, name, settings=()):
        kernel = Kernel(api, name, self.dtype, self.sizes + list(settings))
        if not self.backward:
            return lambda: kernel([self.q, self.k, self.v], [self.o, self.lse])
        forward = Kernel(api, "attention.flash3", self.dtype, self.sizes[:7] + [0, 0])
        forward([self.q, self.k, self.v], [self.o, self.lse])
        inputs = [self.q, self.k, self.v, self.grad, self.o, self.lse]
        return lambda: kernel(inputs, self.gradients)

    def library(self, backend):
        grouped = self.k.shape[1] != self.q.shape[1]
        q, k, v = (t.detach().requires_grad_(self.backward) for t in (self.q, self.k, self.v))

        def forward():
            with sdpa_kernel(backend):
                return torch.nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=self.causal, enable_gqa=grouped)

        if not self.backward:
            return forward
        out = forward()
        return lambda: torch.autograd.grad(out, (q, k, v), self.grad, retain_graph=True)


def medians(ways, repeats):
    """Median seconds of each way, called alternately."""
    flushed = torch.ones(FLUSHED_BYTES // 4, device="cuda")
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    times = [[] for _ in ways]
    for repeat in range(-2, repeats):
        for way, samples in zip(ways, times):
            for _ in range(FLUSHES):
                flushed.sum()
            start.record()
            way()
            stop.record()
            torch.cuda.synchronize()
            if repeat >= 0:
                samples.append(start.elapsed_time(stop) * 1e-3)
    return [statistics.median(samples) for samples in times]


def largest_difference(a, b):
    return ((a.float() - b.float()).abs().max() / b.float().abs().max()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("api", metavar="LIBRARY")
    parser.add_argument("--gpu", required=True, help="what roofcast calls this GPU")
    parser.add_argument("-o", "--output", help="write a table here")
    parser.add_argument("--pass", dest="passes", nargs="+", default=["forward", "backward"],
                        choices=["forward", "backward"])
    parser.add_argument("--kernels", nargs="+", default=["attention.flash3", "attention.flash2"])
    parser.add_argument("--seq", type=int, nargs="+", default=[1024, 2048, 4096, 8192, 16384])
    parser.add_argument("--head-dim", type=int, nargs="+", default=[64, 128, 256])
    parser.add_argument("--tokens", type=int, default=16384)
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--dtype", default="bf16", choices=TYPES)
    parser.add_argument("--repeats", type=int, default=12)
    args = parser.parse_args()

    api = ctypes.CDLL(args.api)
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
    rows, ratios = [], {}
    for backward in [p == "backward" for p in args.passes]:
        for dim in args.head_dim:
            for causal in (False, True):
                for seq in args.seq:
                    heads = args.hidden // dim
                    case = Case(max(1, args.tokens // seq), heads, heads, seq, seq, dim, causal, args.dtype, backward)
                    ways, failed = {}, []
                    for name in args.kernels:
                        for dq in ((0, 1) if backward and "flash" in name else (0,)):
                            label = name + (".two_pass" if dq else "")
                            ways[label] = case.ours(api, name, [dq] if "flash" in name else [])
                    for library, backend in LIBRARIES.items():
                        try:
                            way = case.library(backend)
                            way()
                            ways[library] = way
                        except RuntimeError as error:
                            failed.append(f"{library}: {str(error).splitlines()[0]}")
                    seconds = dict(zip(ways, medians(list(ways.values()), args.repeats)))
                    best = min((seconds[l] for l in LIBRARIES if l in seconds), default=math.nan)
                    text = "  ".join(f"{n.removeprefix('attention.')} {case.flops() / s * 1e-12:.0f}" for n, s in seconds.items())
                    print(f"{'backward' if backward else 'forward'} d{dim} {'causal' if causal else 'full'} {seq}: {text} TFLOP/s", *failed, flush=True)
                    for name, s in seconds.items():
                        if name.startswith("attention."):
                            ratios.setdefault((name, backward, dim, causal), []).append(best / s)
                        ours = name.startswith("attention.")
                        rows.append([*case.sizes[:6], "yes" if causal else "no", "backward" if backward else "forward",
                                     args.dtype, name.removesuffix(".two_pass") if ours else "attention.library",
                                     "best" if ours else name, "two_pass" if name.endswith("two_pass") else "atomic",
                                     args.gpu, f"{s * 1e6:.3f}"])
    for (name, backward, dim, causal), values in ratios.items():
        mean = math.exp(statistics.mean(map(math.log, values)))
        print(f"{name} {'backward' if backward else 'forward'} d{dim} {'causal' if causal else 'full'}: "
              f"{mean:.3f} of the better library (least {min(values):.3f})")
    if args.output:
        with open(args.output, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal", "pass", "dtype",
                            "kernel", "library", "dq", "gpu", "time_us"])
            table.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Times what PyTorch launches for convolutions, products of 4-bit weights, products with an epilogue,
attention, caches, quantization, top-k routing, and the gradients and updates beside them.

  validation/torch_layers.py -o layers.csv --kernels kernels.csv
  validation/torch_layers.py -o layers.csv --only conv,int4
  validation/torch_layers.py -o layers.csv --seed 1 --cases 200 --only drawn_bmm,drawn_attention

Each case runs --samples times with L2 filled with other data before (cold), then as often back to
back (steady), in one range of torch.profiler. A time is the sum of the kernels of a call: the median
of the cold calls, and the mean of the steady ones; gaps between kernels are left out. Results are
checked against float32 where that is cheap; a case that fails is told and not written. Columns are
named as the parameters of the kernels in `roofcast kernels`; --kernels also writes each launch. The
groups drawn_* have --cases random shapes of --seed, and run only where --only names them.
"""

import argparse
import csv
import datetime
import functools
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
import triton
import triton.language as tl
from torch.nn.attention import SDPBackend, sdpa_kernel

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32
NAMES = {BF16: "bf16", FP16: "fp16", FP32: "fp32"}
FLUSH_BYTES = 256 << 20
GROUP = 128  # 4-bit weights that share a scale
COLUMNS = [
    "device", "driver", "cuda", "torch", "triton", "date", "kernel", "how", "pass", "form", "dtype", "kind",
    "batch", "m", "n", "k", "layout", "epilogue", "release", "images", "height", "width", "channels", "filters", "side", "stride",
    "rows", "cols", "of", "library", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal", "launches", "cold_us", "steady_us",
]  # fmt: skip
LAUNCH_COLUMNS = ["case", "position", "name", "grid", "block", "registers", "shared", "time_us"]


def normal(*shape, dtype=BF16):
    return torch.randn(*shape, device="cuda", dtype=FP32).to(dtype)


def near(found, wanted, tolerance):
    """Whether the largest error is at most `tolerance` × wanted's largest element."""
    wanted = wanted.float()
    return bool((found.float() - wanted).abs().max() <= tolerance * wanted.abs().max() + 1e-6)


# --- convolutions: forward, pixels last ---

# (height, channels, filters, side, stride) of a ResNet-50, each shape once, and odd ones.
RESNET = [
    (224, 3, 64, 7, 2), (56, 64, 64, 1, 1), (56, 64, 64, 3, 1), (56, 64, 256, 1, 1),
    (56, 256, 64, 1, 1), (56, 256, 128, 1, 1), (56, 128, 128, 3, 2), (28, 128, 512, 1, 1),
    (56, 256, 512, 1, 2), (28, 512, 128, 1, 1), (28, 128, 128, 3, 1), (28, 512, 256, 1, 1),
    (28, 256, 256, 3, 2), (14, 256, 1024, 1, 1), (28, 512, 1024, 1, 2), (14, 1024, 256, 1, 1),
    (14, 256, 256, 3, 1), (14, 1024, 512, 1, 1), (14, 512, 512, 3, 2), (7, 512, 2048, 1, 1),
    (14, 1024, 2048, 1, 2), (7, 2048, 512, 1, 1), (7, 512, 512, 3, 1),
]  # fmt: skip
ODD = [
    (16, 30, 40, 96, 200, 3, 1), (8, 37, 53, 136, 248, 3, 1), (3, 100, 70, 320, 80, 3, 1),
    (24, 64, 64, 320, 320, 3, 1), (5, 31, 33, 64, 72, 5, 1), (2, 128, 128, 512, 512, 3, 1),
    (64, 32, 32, 192, 384, 3, 2), (48, 20, 20, 672, 112, 1, 1),
]  # fmt: skip


def convolutions():
    cases = [(images, h, h, c, f, side, stride, dtype)
             for images, dtype in ((32, BF16), (128, BF16), (32, FP16)) for h, c, f, side, stride in RESNET]
    cases += [(*shape, BF16) for shape in ODD]
    for images, height, width, channels, filters, side, stride, dtype in cases:
        last = {"memory_format": torch.channels_last}
        x = normal(images, channels, height, width, dtype=dtype).contiguous(**last)
        w = normal(filters, channels, side, side, dtype=dtype).contiguous(**last)
        padding = side // 2
        result = F.conv2d(x, w, stride=stride, padding=padding)
        wanted = F.conv2d(x[:1].float(), w.float(), stride=stride, padding=padding)
        yield (
            {"kernel": "convolution.library", "how": "cudnn", "dtype": NAMES[dtype],
             "images": images, "height": height, "width": width, "channels": channels,
             "filters": filters, "side": side, "stride": stride},
            lambda: F.conv2d(x, w, stride=stride, padding=padding),
            near(result[:1], wanted, 0.02),
        )  # fmt: skip


# --- products of 4-bit weights ---


@triton.jit
def int4_kernel(a, w, scales, out, m, n, k, parts,
                BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):  # fmt: skip
    """Parts of A·W. Byte j of a group of W has rows j (low bits) and j + GROUP/2 (high bits)."""
    column, part = tl.program_id(0), tl.program_id(1)
    half: tl.constexpr = GROUP // 2
    rows = tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    depth = tl.arange(0, half)
    inside, in_n = rows[:, None] < m, columns < n
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    groups = k // GROUP
    for group in range(part * groups // parts, (part + 1) * groups // parts):
        at = a + rows[:, None] * k + group * GROUP + depth[None, :]
        low_a = tl.load(at, mask=inside, other=0.0)
        high_a = tl.load(at + half, mask=inside, other=0.0)
        packed = tl.load(w + (group * half + depth[:, None]) * n + columns[None, :], mask=in_n[None, :], other=0)
        low = ((packed & 15).to(tl.int8) - 8).to(tl.bfloat16)
        high = ((packed >> 4).to(tl.int8) - 8).to(tl.bfloat16)
        found = tl.dot(low_a, low)
        found = tl.dot(high_a, high, found)
        scale = tl.load(scales + group * n + columns, mask=in_n, other=0.0).to(tl.float32)
        sums += found * scale[None, :]
    place = out + part * m * n + rows[:, None] * n + columns[None, :]
    tl.store(place, sums, mask=inside & in_n[None, :])


def triton_int4(a, packed, scales, n, k):
    """The fastest of a few tiles and splits, as a call."""
    m = a.shape[0]
    rows = 16 if m <= 16 else 32 if m <= 32 else 64
    best = None
    for columns in (32, 64, 128):
        for parts in (1, 2, 4, 8):
            if k // GROUP < parts:
                continue
            out = torch.empty(parts, m, n, device="cuda", dtype=BF16 if parts == 1 else FP32)

            def call(columns=columns, parts=parts, out=out):
                int4_kernel[(triton.cdiv(n, columns), parts)](
                    a, packed, scales, out, m, n, k, parts, BM=rows, BN=columns, GROUP=GROUP,
                    num_warps=4, num_stages=4)  # fmt: skip
                return out[0] if parts == 1 else out.sum(0).to(BF16)

            call()
            start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            start.record()
            for _ in range(20):
                call()
            stop.record()
            stop.synchronize()
            if best is None or start.elapsed_time(stop) < best[0]:
                best = start.elapsed_time(stop), call
    return best[1]


def int4_products():
    for n, k in ((4096, 4096), (6144, 4096), (14336, 4096), (4096, 14336), (5120, 13824), (8192, 1024)):
        q = torch.randint(0, 16, (n, k), device="cuda", dtype=torch.int32)
        scale = (torch.rand(k // GROUP, n, device="cuda") * 0.02 + 0.01).to(BF16)
        widened = ((q - 8).float().view(n, k // GROUP, GROUP) * scale.t().float()[:, :, None]).view(n, k)
        bytes_ = (q[:, ::2] << 4 | q[:, 1::2]).to(torch.uint8)
        packed = torch._convert_weight_to_int4pack(bytes_, 8)
        both = torch.stack((scale, torch.zeros_like(scale)), -1).contiguous()
        halves = q.t().reshape(k // GROUP, 2, GROUP // 2, n)
        own = (halves[:, 0] | halves[:, 1] << 4).to(torch.uint8).reshape(k // 2, n).contiguous()
        for m in (1, 2, 4, 8, 16, 32, 64):
            a = normal(m, k)
            wanted = a.float() @ widened.t()
            row = {"kernel": "gemm_int4.library", "dtype": "bf16", "m": m, "n": n, "k": k}

            def torch_call():
                return torch._weight_int4pack_mm(a, packed, GROUP, both)

            yield row | {"how": "weight_int4pack_mm"}, torch_call, near(torch_call(), wanted, 0.03)
            call = triton_int4(a, own, scale, n, k)
            yield row | {"how": "triton"}, call, near(call(), wanted, 0.03)
            w = widened.to(BF16).t()
            yield row | {"kernel": "gemm.library", "how": "bf16 weights"}, lambda: a @ w, True


# --- products with an epilogue ---


def epilogues():
    shapes = ((8192, 4096, 4096), (8192, 16384, 4096), (8192, 3072, 768), (2048, 5120, 1280),
              (512, 4096, 1024), (1000, 2048, 3000), (4096, 4096, 256), (64, 14336, 4096))  # fmt: skip
    for m, n, k in shapes:
        a, b, bias = normal(m, k), normal(n, k).t(), normal(n)
        row = {"kernel": "gemm.library", "dtype": "bf16", "m": m, "n": n, "k": k}
        for name, call in (
            ("none", lambda: torch.mm(a, b)),
            ("bias", lambda: torch.addmm(bias, a, b)),
            ("relu", lambda: torch._addmm_activation(bias, a, b)),
            ("gelu", lambda: torch._addmm_activation(bias, a, b, use_gelu=True)),
        ):
            yield row | {"how": "cublaslt", "epilogue": name}, call, True
        residual = normal(m, n)
        yield row | {"how": "beta", "epilogue": "residual"}, lambda: torch.addmm(residual, a, b), True


# --- caches, quantization, routing ---


def caches():
    for rows, cols in ((1, 2048), (16, 2048), (128, 2048), (1024, 2048), (8192, 2048), (16384, 2048),
                       (64, 16384), (4096, 16384), (2000, 1152), (30000, 1000)):  # fmt: skip
        table = torch.zeros(max(2 * rows, 32768), cols, device="cuda", dtype=BF16)
        x = normal(rows, cols)
        places = torch.randperm(table.shape[0], device="cuda")[:rows]
        row = {"kernel": "layer.cache_append", "pass": "forward", "form": "fused", "dtype": "bf16",
               "rows": rows, "cols": cols}  # fmt: skip
        table.index_put_((places,), x)
        yield row | {"how": "index_put", "form": "eager"}, lambda: table.index_put_((places,), x), torch.equal(table[places], x)
        yield row | {"how": "index_copy", "form": "eager"}, lambda: table.index_copy_(0, places, x), True
        yield row | {"how": "slice"}, lambda: table[7 : 7 + rows].copy_(x), True


def quantizations():
    limit = 448.0

    def static(x, scale):
        return (x.float() * scale).clamp(-limit, limit).to(torch.float8_e4m3fn)

    def dynamic(x, scale):
        return static(x, limit / x.abs().amax().float().clamp(min=1e-12))

    def by_row(x, scale):
        return static(x, limit / x.abs().amax(-1, keepdim=True).float().clamp(min=1e-12))

    def by_row_int8(x, scale):
        largest = x.abs().amax(-1, keepdim=True).float().clamp(min=1e-12)
        return torch.round(x.float() * (127 / largest)).to(torch.int8)

    scale = torch.tensor(20.0, device="cuda")
    for rows, cols in ((8192, 4096), (16384, 8192), (2048, 14336), (512, 4096), (3000, 1536)):
        x = normal(rows, cols)
        row = {"kernel": "layer.quantize_fp8", "pass": "forward", "dtype": "bf16", "rows": rows, "cols": cols}
        yield row | {"how": "cast", "form": "static"}, lambda: x.to(torch.float8_e4m3fn), True
        rows_alone = row | {"kernel": "layer.quantize_rows", "form": "fused"}
        for function, same, how in ((static, row | {"form": "static"}, "compiled"),
                                    (dynamic, row | {"form": "dynamic"}, "compiled"),
                                    (by_row, rows_alone, "compiled"),
                                    (by_row_int8, rows_alone, "compiled int8")):  # fmt: skip
            torch._dynamo.reset()
            call = torch.compile(function, dynamic=False)
            good = near(call(x, scale), function(x, scale), 0.07)
            yield same | {"how": how}, lambda call=call: call(x, scale), good


def routed(x, chosen):
    weights, experts = torch.topk(F.softmax(x, -1, dtype=FP32), chosen, -1)
    return (weights / weights.sum(-1, keepdim=True)).to(x.dtype), experts


def routings():
    for experts, chosen in ((8, 2), (64, 8), (128, 8), (256, 8), (128, 4)):
        for tokens in (1, 16, 128, 1024, 4096, 16384):
            x = normal(tokens, experts)
            weights, _ = routed(x, chosen)
            row = {"kernel": "layer.top_k", "pass": "forward", "dtype": "bf16", "rows": tokens,
                   "cols": experts, "of": chosen}  # fmt: skip
            good = near(weights.float().sum(-1), torch.ones(tokens, device="cuda"), 0.02)
            yield row | {"how": "torch", "form": "eager"}, lambda: routed(x, chosen), good
            yield row | {"how": "topk alone", "form": "eager"}, lambda: torch.topk(x, chosen, -1), True


# --- gradients and updates ---


def norm_gradients():
    for rows, cols in ((16384, 2048), (8192, 768), (4096, 5120), (2048, 8192), (32768, 1024), (12288, 1600),
                       (300, 4096), (8192, 12288), (65536, 512), (5000, 3000)):  # fmt: skip
        x, gamma, beta, dy = normal(rows, cols), normal(cols), normal(cols), normal(rows, cols)
        ops = torch.ops.aten
        _, mean, rstd = ops.native_layer_norm(x, (cols,), gamma, beta, 1e-5)
        both = {"kernel": "layer.norm_backward", "pass": "backward", "dtype": "bf16", "rows": rows, "cols": cols}
        forward = {"kernel": "norm.library", "pass": "forward", "dtype": "bf16", "rows": rows, "cols": cols}
        yield forward | {"how": "layer_norm", "kind": "layernorm"}, lambda: F.layer_norm(x, (cols,), gamma, beta), True
        yield forward | {"how": "rms_norm", "kind": "rmsnorm"}, lambda: F.rms_norm(x, (cols,), gamma), True
        yield (
            both | {"how": "layer_norm"},
            lambda: ops.native_layer_norm_backward(dy, x, (cols,), mean, rstd, gamma, beta, [True] * 3),
            True,
        )
        if hasattr(ops, "_fused_rms_norm_backward"):
            _, root = ops._fused_rms_norm(x, (cols,), gamma, 1e-5)
            yield (
                both | {"how": "rms_norm"},
                lambda: ops._fused_rms_norm_backward(dy, x, (cols,), root, gamma, [True] * 2),
                True,
            )


def embedding_gradients():
    for rows, cols, entries in ((8192, 768, 50304), (4096, 4096, 32000), (16384, 2048, 128256),
                                (8192, 5120, 151936), (32768, 1024, 50304), (2048, 4096, 32000),
                                (1024, 2048, 128256), (5000, 1280, 50257), (8192, 1600, 1024)):  # fmt: skip
        indices = torch.randint(0, entries, (rows,), device="cuda")
        dy = normal(rows, cols)

        def call():
            return torch.ops.aten.embedding_dense_backward(dy, indices, entries, -1, False)

        wanted = torch.zeros(entries, cols, device="cuda").index_add_(0, indices, dy.float())
        yield (
            {"kernel": "layer.embedding", "how": "torch", "pass": "backward", "form": "fused",
             "dtype": "bf16", "rows": rows, "cols": cols, "of": entries},
            call, near(call(), wanted, 0.02),
        )  # fmt: skip


def llama_tensors(width, inner, layers):
    layer = [(width, width)] * 2 + [(width // 4, width)] * 2 + [(inner, width)] * 2 + [(width, inner), (width,), (width,)]
    return layer * layers + [(32000, width), (width,)]


def gpt2_tensors(width, layers):
    layer = [(width,)] * 4 + [(3 * width, width), (3 * width,), (width, width), (width,)]
    return (layer + [(4 * width, width), (4 * width,), (width, 4 * width), (width,)]) * layers + [(50304, width)]


def updates():
    lists = (("one tensor", [(20480, 1024)]), ("one tensor", [(131072, 1024)]), ("gpt2", gpt2_tensors(768, 12)),
             ("gpt2-medium", gpt2_tensors(1024, 24)), ("llama", llama_tensors(2048, 5632, 8)),
             ("small", [(300, 300)] * 40))  # fmt: skip
    for name, shapes in lists:
        for dtype in (FP32, BF16):
            parameters = [torch.nn.Parameter(normal(*shape, dtype=dtype)) for shape in shapes]
            for parameter in parameters:
                parameter.grad = normal(*parameter.shape, dtype=dtype)
            total = sum(parameter.numel() for parameter in parameters)
            for form, option in (("fused", {"fused": True}), ("foreach", {"foreach": True})):
                optimizer = torch.optim.AdamW(parameters, lr=1e-4, **option)
                optimizer.step()
                yield (
                    {"kernel": "layer.adamw", "how": f"{name}: {len(shapes)} tensors", "pass": "forward",
                     "form": form, "dtype": NAMES[dtype], "rows": total // 64, "cols": 64},
                    optimizer.step, True,
                )  # fmt: skip
                del optimizer
            del parameters


# --- random shapes ---

TYPES = {"bf16": BF16, "fp16": FP16, "fp32": FP32, "tf32": FP32}
WEIGHTS_OF_TYPES = (4, 2, 1, 1)


def log_uniform(draw, least, most):
    return round(least * (most / least) ** draw.random())


def extent(draw, least, most):
    """Log-uniform; three of four times a multiple of 8."""
    found = log_uniform(draw, least, most)
    return max(8, found // 8 * 8) if draw.random() < 0.75 else found


def type_of(draw):
    name = draw.choices(list(TYPES), WEIGHTS_OF_TYPES)[0]
    for library in (torch.backends.cuda.matmul, torch.backends.cudnn):
        library.allow_tf32 = name == "tf32"
    return name, TYPES[name]


def drawn_products(draw, cases):
    """Batches of products with operands of their own, in all four layouts."""
    most_bytes, most_flops = 2 << 30, 4e12
    while cases > 0:
        batch = log_uniform(draw, 2, 512)
        m, n, k = (extent(draw, 8, 4096) for _ in range(3))
        name, dtype = type_of(draw)
        layout = draw.choice(("nn", "nt", "tn", "tt"))
        bytes_ = batch * (m * k + k * n + m * n) * dtype.itemsize
        if bytes_ > most_bytes or 2 * batch * m * n * k > most_flops:
            continue
        cases -= 1
        a = normal(batch, k, m, dtype=dtype).mT if layout[0] == "t" else normal(batch, m, k, dtype=dtype)
        b = normal(batch, n, k, dtype=dtype).mT if layout[1] == "t" else normal(batch, k, n, dtype=dtype)
        yield (
            {"kernel": "gemm.library", "how": "bmm", "dtype": name, "batch": batch, "m": m, "n": n, "k": k,
             "layout": layout},
            lambda: torch.bmm(a, b), near(torch.bmm(a, b)[0], a[0].float() @ b[0].float(), 0.02),
        )  # fmt: skip


def drawn_convolutions(draw, cases):
    most_bytes, most_flops = 2 << 30, 2e12
    while cases > 0:
        images = log_uniform(draw, 1, 128)
        height, width = log_uniform(draw, 7, 128), log_uniform(draw, 7, 128)
        channels, filters = extent(draw, 8, 1024), extent(draw, 8, 1024)
        side, stride = draw.choice((1, 1, 3, 3, 3, 5)), draw.choice((1, 1, 1, 2))
        name, dtype = type_of(draw)
        pixels = images * height * width
        if pixels * (channels + filters) * dtype.itemsize > most_bytes:
            continue
        if 2 * pixels * channels * filters * side * side / stride**2 > most_flops:
            continue
        cases -= 1
        last = {"memory_format": torch.channels_last}
        x = normal(images, channels, height, width, dtype=dtype).contiguous(**last)
        w = normal(filters, channels, side, side, dtype=dtype).contiguous(**last)
        call = functools.partial(F.conv2d, x, w, stride=stride, padding=side // 2)
        wanted = F.conv2d(x[:1].double(), w.double(), stride=stride, padding=side // 2)
        yield (
            {"kernel": "convolution.library", "how": "cudnn", "dtype": name,
             "images": images, "height": height, "width": width, "channels": channels,
             "filters": filters, "side": side, "stride": stride},
            call, near(call()[:1], wanted, 0.02),
        )  # fmt: skip


def attended(backend, q, k, v, causal):
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])


def drawn_attention(draw, cases):
    """FlashAttention-2 and cuDNN, forward; half of the shapes causal, three in five with grouped queries."""
    most_bytes, most_flops = 1 << 30, 2e12
    backends = {"fa2": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
    while cases > 0:
        batch, kv_heads = log_uniform(draw, 1, 64), draw.choice((1, 2, 4, 8, 16))
        heads = kv_heads * draw.choice((1, 1, 2, 4, 8))
        seq, head_dim = extent(draw, 64, 8192), draw.choice((32, 64, 64, 80, 96, 128, 128, 192, 256))
        causal, name = draw.random() < 0.5, draw.choice(("bf16", "fp16"))
        library = draw.choice(("fa2", "fa2", "cudnn"))
        elements = batch * seq * head_dim
        if (2 * heads + 2 * kv_heads) * elements * 2 > most_bytes or 4 * heads * elements * seq > most_flops:
            continue
        cases -= 1
        q = normal(batch, heads, seq, head_dim, dtype=TYPES[name])
        k, v = (normal(batch, kv_heads, seq, head_dim, dtype=TYPES[name]) for _ in range(2))
        call = functools.partial(attended, backends[library], q, k, v, causal)
        one = [t[:1, :1].float() for t in (q, k, v)]
        yield (
            {"kernel": "attention.library", "how": "torch", "pass": "forward", "dtype": name, "library": library,
             "batch": batch, "heads": heads, "kv_heads": kv_heads, "seq_q": seq, "seq_kv": seq,
             "head_dim": head_dim, "causal": "yes" if causal else "no"},
            call, near(call()[:1, :1], F.scaled_dot_product_attention(*one, is_causal=causal), 0.05),
        )  # fmt: skip


def row_operations(draw, rows, cols, dtype):
    """Calls of PyTorch on rows × cols elements, by the kernel that forecasts them."""
    def tensor():
        return normal(rows, cols, dtype=dtype)
    x, gamma, beta = tensor(), normal(cols, dtype=dtype), normal(cols, dtype=dtype)
    same = {"kernel": "norm.library", "how": "torch"}
    yield same | {"kind": "layernorm"}, lambda: F.layer_norm(x, (cols,), gamma, beta)
    yield same | {"kind": "rmsnorm"}, lambda: F.rms_norm(x, (cols,), gamma)
    yield {"kernel": "softmax.library", "how": "torch", "release": "2.11"}, lambda: torch.softmax(x, -1)
    same = {"how": "torch", "pass": "forward", "form": "fused"}
    other = tensor()
    yield same | {"kernel": "layer.add"}, lambda: x + other
    yield same | {"kernel": "layer.gelu"}, lambda: F.gelu(x, approximate="tanh")
    yield same | {"kernel": "layer.swiglu", "form": "eager"}, lambda: F.silu(x) * other
    entries = log_uniform(draw, 1000, 200000)
    tokens = torch.randint(0, entries, (rows,), device="cuda")
    if dtype.itemsize * entries * cols <= 2 << 30:
        table = normal(entries, cols, dtype=dtype)
        yield same | {"kernel": "layer.embedding", "of": entries}, lambda: F.embedding(tokens, table)
    if cols <= 1024:
        gate = same | {"kernel": "layer.top_k", "form": "eager", "of": min(8, cols // 2)}
        yield gate, lambda: routed(x, gate["of"])
    places = torch.randperm(2 * rows, device="cuda")[:rows]
    cache = torch.zeros(2 * rows, cols, device="cuda", dtype=dtype)
    yield same | {"kernel": "layer.cache_append", "form": "eager"}, lambda: cache.index_copy_(0, places, x)
    yield same | {"kernel": "layer.dropout"}, lambda: torch.native_dropout(x, 0.1, True)
    # What autograd launches, by the operations themselves.
    ops, dy = torch.ops.aten, tensor()
    same = {"how": "torch", "pass": "backward", "form": "fused"}
    yield same | {"kernel": "layer.gelu"}, lambda: ops.gelu_backward(dy, x, approximate="tanh")
    kept = F.silu(x)
    yield same | {"kernel": "layer.swiglu", "form": "eager"}, lambda: (dy * kept, ops.silu_backward(dy * other, x))
    _, mean, rstd = ops.native_layer_norm(x, (cols,), gamma, beta, 1e-5)
    yield same | {"kernel": "layer.norm_backward"}, lambda: ops.native_layer_norm_backward(
        dy, x, (cols,), mean, rstd, gamma, beta, [True] * 3)
    if entries <= 60000:
        yield same | {"kernel": "layer.embedding", "of": entries}, lambda: ops.embedding_dense_backward(
            dy, tokens, entries, -1, False)


def drawn_rows(draw, cases):
    most_bytes = 1 << 30
    while cases > 0:
        rows, cols = extent(draw, 8, 65536), extent(draw, 32, 16384)
        name = draw.choices(("bf16", "fp16", "fp32"), (2, 1, 1))[0]
        dtype = TYPES[name]
        if not (1 << 20) < rows * cols * dtype.itemsize <= most_bytes:
            continue
        cases -= 1
        row, call = draw.choice(list(row_operations(draw, rows, cols, dtype)))
        yield row | {"dtype": name, "rows": rows, "cols": cols}, call, True


GROUPS = {
    "norm": norm_gradients, "embedding": embedding_gradients, "adamw": updates, "top_k": routings,
    "cache": caches, "conv": convolutions, "epilogue": epilogues, "int4": int4_products,
    "quantize": quantizations,
}  # fmt: skip
DRAWN = {
    "drawn_attention": drawn_attention, "drawn_bmm": drawn_products, "drawn_conv": drawn_convolutions,
    "drawn_rows": drawn_rows,
}  # fmt: skip


class Profile:
    """Profiles calls with torch.profiler. The flush is the only reduction over doubles."""

    def __init__(self, samples):
        self.samples = samples
        self.flush = torch.rand(FLUSH_BYTES // 8, device="cuda", dtype=torch.float64)
        self.folder = tempfile.TemporaryDirectory()

    def events(self, call):
        activities = [torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            for _ in range(self.samples):
                self.flush.max()
                call()
            self.flush.max()
            for _ in range(self.samples):
                call()
            torch.cuda.synchronize()
        path = pathlib.Path(self.folder.name) / "trace.json"
        profile.export_chrome_trace(str(path))
        found = [one for one in json.loads(path.read_text())["traceEvents"]
                 if one.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy")]  # fmt: skip
        return sorted(found, key=lambda one: one["ts"])

    @staticmethod
    def is_flush(event):
        return event["cat"] == "kernel" and "double" in event["name"] and "reduce" in event["name"]

    def measure(self, call):
        """Launches of a call, its time in µs cold and steady, and the kernels of the steady calls."""
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        calls = []
        for event in self.events(call):
            if self.is_flush(event):
                # This memset clears the flush's semaphores: it belongs to the flush.
                if calls and calls[-1] and calls[-1][-1]["cat"] == "gpu_memset":
                    calls[-1].pop()
                calls.append([])
            elif calls:
                calls[-1].append(event)
        steady = calls.pop()
        cold = statistics.median(sum(one["dur"] for one in kernels) for kernels in calls)
        return len(steady) / self.samples, cold, sum(one["dur"] for one in steady) / self.samples, steady


def driver():
    try:
        query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
        return subprocess.check_output(query, text=True).splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def launch_rows(case, steady, launches, samples):
    """A row for each launch of a call, with its mean time over the steady calls."""
    count = int(launches)
    if count != launches:
        return
    for position in range(count):
        same = steady[position::count]
        arguments = same[0].get("args", {})
        yield {
            "case": case, "position": position, "name": same[0]["name"][:160],
            "grid": "x".join(map(str, arguments.get("grid", []))),
            "block": "x".join(map(str, arguments.get("block", []))),
            "registers": arguments.get("registers per thread", ""), "shared": arguments.get("shared memory", ""),
            "time_us": f"{sum(one['dur'] for one in same) / samples:.3f}",
        }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--kernels", type=pathlib.Path, help="also write each launch of each case")
    parser.add_argument("--only", help=f"groups, of {', '.join(GROUPS | DRAWN)}")
    parser.add_argument("--seed", type=int, default=1, help="of the groups drawn_*")
    parser.add_argument("--cases", type=int, default=100, help="of each group drawn_*")
    parser.add_argument("--samples", type=int, default=11)
    parser.add_argument("--limit", type=float, default=1e9, help="seconds after which no case starts")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("torch_layers: no usable GPU")
    began = time.monotonic()
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    same = {"device": torch.cuda.get_device_name(), "driver": driver(), "cuda": torch.version.cuda,
            "torch": torch.__version__, "triton": triton.__version__,
            "date": datetime.date.today().isoformat()}  # fmt: skip
    profile = Profile(options.samples)
    case = 0
    with options.output.open("w", newline="") as out, (options.kernels or pathlib.Path("/dev/null")).open("w") as launches_out:
        table = csv.DictWriter(out, COLUMNS)
        launch_table = csv.DictWriter(launches_out, LAUNCH_COLUMNS)
        table.writeheader()
        launch_table.writeheader()
        for name in options.only.split(",") if options.only else GROUPS:
            start = time.monotonic()
            try:
                with torch.no_grad():
                    drawn = DRAWN.get(name)
                    cases = drawn(random.Random(options.seed), options.cases) if drawn else GROUPS[name]()
                    for row, call, good in cases:
                        if time.monotonic() - began > options.limit:
                            print(f"{name}: no time left", file=sys.stderr)
                            break
                        if not good:
                            print(f"wrong result: {row}", file=sys.stderr)
                            continue
                        launches, cold, steady, events = profile.measure(call)
                        row |= same | {"launches": f"{launches:g}", "cold_us": f"{cold:.3f}", "steady_us": f"{steady:.3f}"}
                        table.writerow(row)
                        launch_table.writerows(launch_rows(case, events, launches, options.samples))
                        case += 1
            except Exception as error:  # the other groups go on
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            torch.cuda.empty_cache()
            out.flush()
            launches_out.flush()
            print(f"{name}: {time.monotonic() - start:.1f} s, {case} cases", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

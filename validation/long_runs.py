#!/usr/bin/env python3
"""Times products, kernels in turn and training passes in long runs, where the power limit lowers the clock.

  validation/long_runs.py products -o heating.csv
  validation/long_runs.py mixes -o power.csv
  validation/long_runs.py passes --layers 16 --hidden 2048 --heads 32 --vocabulary 128256 -o passes.csv
  torchrun --nproc_per_node 4 validation/long_runs.py passes … --passes 4,8,16 -o passes.csv

products   bf16 products of random sizes, each repeated for a second after a pause: the mean time within the first
           20 ms, and after 0.7 s.
mixes      kernels in turn for 1.8 s after a pause: the mean time of each within the first 15 ms and in the last 0.2 s,
           with the SM clock and the board's power by NVML from 0.8 s on. A letter is a kernel, in the order of the mix:
           P, Q, R products of 8192×8192×8192, 4096×2048×8192 and 4096×16384×2048; T one of 64 rows, 8192×8192;
           C a copy of 256 MB; E lgamma of 32 M elements; I one busy warp for about 180 µs; A and D causal attention of
           32 heads (batch 2, 4096 tokens of 128; batch 4, 2048 tokens of 64); F, G and H FlashAttention-2 without a mask
           (batch 2, 4096 tokens of 128; batch 4, 4096 of 64; batch 2, 4096 of 256); M a product of 8190×8190×8190, by
           mma.sync as its rows do not begin at 16 bytes; L reads of 20 MB from L2.
passes     forward and backward passes of a Llama-like model through torch.compile, whose gradients add up, without an
           optimizer: on one GPU for seconds; on several a stage on each (1F1B), with `passes` micro-batches a step.
"""

import argparse
import csv
import ctypes
import datetime
import os
import random
import statistics
import threading
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F

PAUSE_S = 2.0


class Layer(nn.Module):
    def __init__(self, hidden, heads, kv_heads, intermediate):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, hidden // heads
        self.norm, self.norm_after = nn.RMSNorm(hidden), nn.RMSNorm(hidden)
        kv = kv_heads * self.head_dim
        self.q, self.k, self.v = (nn.Linear(hidden, n, bias=False) for n in (hidden, kv, kv))
        self.o = nn.Linear(hidden, hidden, bias=False)
        self.gate, self.up = (nn.Linear(hidden, intermediate, bias=False) for _ in range(2))
        self.down = nn.Linear(intermediate, hidden, bias=False)

    def heads_of(self, x, count, rotation=None):
        x = x.view(*x.shape[:2], count, self.head_dim).transpose(1, 2)
        if rotation is None:
            return x
        cosine, sine = rotation
        a, b = x.chunk(2, -1)
        return torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)

    def forward(self, x, rotation):
        y = self.norm(x)
        q = self.heads_of(self.q(y), self.heads, rotation)
        k = self.heads_of(self.k(y), self.kv_heads, rotation)
        v = self.heads_of(self.v(y), self.kv_heads)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.kv_heads != self.heads)
        x = x + self.o(y.transpose(1, 2).flatten(2))
        y = self.norm_after(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Stage(nn.Module):
    """Consecutive layers; the first stage begins with the embedding, the last one ends with the head."""

    def __init__(self, asked, first, last, layers):
        super().__init__()
        self.embedding = nn.Embedding(asked.vocabulary, asked.hidden) if first else None
        self.layers = nn.ModuleList(
            Layer(asked.hidden, asked.heads, asked.kv_heads, asked.intermediate) for _ in range(layers)
        )
        self.norm = nn.RMSNorm(asked.hidden) if last else None
        self.head = nn.Linear(asked.hidden, asked.vocabulary, bias=False) if last else None
        half = asked.hidden // asked.heads // 2
        angles = torch.outer(torch.arange(asked.seq).float(), 1e4 ** (-torch.arange(half).float() / half))
        self.register_buffer("cosine", angles.cos().bfloat16())
        self.register_buffer("sine", angles.sin().bfloat16())

    def forward(self, x):
        if self.embedding is not None:
            x = self.embedding(x)
        for layer in self.layers:
            x = layer(x, (self.cosine, self.sine))
        return x if self.head is None else self.head(self.norm(x))


def loss_of(logits, target):
    return F.cross_entropy(logits.float().flatten(0, 1), target.flatten())


def early_and_late(launch, seconds):
    """Mean seconds of a launch within the first 20 ms after a pause, and in the last 40% of `seconds`."""
    for _ in range(3):
        launch()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    launch()
    torch.cuda.synchronize()
    count = max(6, int(seconds / (time.perf_counter() - begin)))
    each = max(1, count // 400)
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count // each + 1)]
    time.sleep(PAUSE_S)
    events[0].record()
    for event in events[1:]:
        for _ in range(each):
            launch()
        event.record()
    torch.cuda.synchronize()
    at = [events[0].elapsed_time(event) * 1e-3 for event in events]
    early = max(1, sum(1 for t in at[1:] if t <= 0.02))
    late = next(i for i, t in enumerate(at) if t > 0.6 * at[-1]) - 1
    return at[early] / (early * each), (at[-1] - at[late]) / ((len(at) - 1 - late) * each)


def product(m, n, k):
    a, b = (torch.randn(rows, k, device="cuda", dtype=torch.bfloat16) for rows in (m, n))
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    return lambda: torch.mm(a, b.t(), out=c)


def products(asked):
    random.seed(asked.seed)
    for _ in range(asked.count):
        m, n, k = (128 * random.randint(4, 64) for _ in range(3))
        early, late = early_and_late(product(m, n, k), 1.2)
        yield {"m": m, "n": n, "k": k, "early_us": early * 1e6, "late_us": late * 1e6}


class Device(threading.Thread):
    """Reads the SM clock (MHz) and the power (W) every 10 ms."""

    class Field(ctypes.Structure):
        _fields_ = [("id", ctypes.c_uint), ("scope", ctypes.c_uint), ("at", ctypes.c_longlong)]
        _fields_ += [("latency", ctypes.c_longlong), ("type", ctypes.c_int), ("rc", ctypes.c_int)]
        _fields_ += [("value", ctypes.c_ulonglong)]

    def __init__(self):
        super().__init__(daemon=True)
        self.nvml, self.handle = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
        self.nvml.nvmlInit_v2()
        self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.handle))
        self.rows, self.ended = [], False

    def run(self):
        sm_clock, instant_power = 1, 186  # NVML_CLOCK_SM, NVML_FI_DEV_POWER_INSTANT
        while not self.ended:
            mhz, power = ctypes.c_uint(), Device.Field(id=instant_power)
            self.nvml.nvmlDeviceGetClockInfo(self.handle, sm_clock, ctypes.byref(mhz))
            self.nvml.nvmlDeviceGetFieldValues(self.handle, 1, ctypes.byref(power))
            self.rows.append((time.perf_counter(), mhz.value, (power.value & 0xFFFFFFFF) / 1e3))
            time.sleep(0.01)

    def mean_after(self, begin):
        self.ended = True
        self.join()
        return [statistics.mean(row[i] for row in self.rows if row[0] > begin) for i in (1, 2)]


def reads_of_l2(mbytes=20, passes=16, block=1024):
    import triton
    import triton.language as tl

    @triton.jit
    def read(source, sums, elements, passes, BLOCK: tl.constexpr):
        at, total = tl.program_id(0) * BLOCK, tl.zeros((BLOCK,), tl.float32)
        for _ in range(passes * elements // (tl.num_programs(0) * BLOCK)):
            total += tl.load(source + at + tl.arange(0, BLOCK), cache_modifier=".cg")
            at = (at + tl.num_programs(0) * BLOCK) % elements
        tl.store(sums + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), total)

    blocks = 1024
    source, sums = (torch.rand(n, device="cuda") for n in (mbytes << 18, blocks * block))
    return lambda: read[(blocks,)](source, sums, source.numel(), passes, BLOCK=block, num_warps=8)


def kernels_of_mixes():
    def attention(batch, seq, dim):
        q, k, v = (torch.randn(batch, 32, seq, dim, device="cuda", dtype=torch.bfloat16) for _ in range(3))
        return lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def flash2(batch, seq, dim):
        q, k, v = (torch.randn(batch, 32, seq, dim, device="cuda", dtype=torch.bfloat16) for _ in range(3))

        def run():
            with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION):
                return F.scaled_dot_product_attention(q, k, v)

        return run

    source = torch.randint(0, 255, (1 << 28,), device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    numbers = torch.rand(1 << 25, device="cuda")
    result = torch.empty_like(numbers)
    return {
        "P": product(8192, 8192, 8192),
        "Q": product(4096, 2048, 8192),
        "R": product(4096, 16384, 2048),
        "T": product(64, 8192, 8192),
        "C": lambda: target.copy_(source),
        "E": lambda: torch.lgamma(numbers, out=result),
        "I": lambda: torch.cuda._sleep(340_000),
        "A": attention(2, 4096, 128),
        "D": attention(4, 2048, 64),
        "F": flash2(2, 4096, 128),
        "G": flash2(4, 4096, 64),
        "H": flash2(2, 4096, 256),
        "M": product(8190, 8190, 8190),
        "L": reads_of_l2(),
    }


MIXES = "P Q R C E A D T RC RCC RCCCC RCCCCCCCC RE REE REEEE RI RII RIIII RIIIIIIII RA RAAA RCE RCCA QQCD AC AI EC EI AE"


def mixes(asked):
    kernels = kernels_of_mixes()
    for mix in asked.mixes.split():

        def timed(seconds, each):
            cycles = []
            for _ in range(max(2, int(seconds / each))):
                events = [torch.cuda.Event(enable_timing=True) for _ in range(len(mix) + 1)]
                events[0].record()
                for one, event in zip(mix, events[1:]):
                    kernels[one]()
                    event.record()
                cycles.append(events)
            return cycles

        timed(0, 1)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        timed(0, 1)
        torch.cuda.synchronize()
        each = (time.perf_counter() - begin) / 2
        time.sleep(1.5)
        device = Device()
        device.start()
        begin, before = time.perf_counter(), None
        early = timed(0.015, each)
        while time.perf_counter() - begin < 1.8:  # two parts of 20 ms in the queue
            part = timed(0.02, each)[-1][-1]
            if before is not None:
                before.synchronize()
            before = part
        late = timed(0.2, each)
        torch.cuda.synchronize()
        mhz, watts = device.mean_after(begin + 0.8)
        for part in sorted(set(mix)):

            def mean_us(cycles):
                pairs = ((one, a, b) for events in cycles[1:] for one, a, b in zip(mix, events, events[1:]))
                return 1e3 * statistics.mean(a.elapsed_time(b) for one, a, b in pairs if one == part)

            about = {"early_us": mean_us(early), "late_us": mean_us(late), "late_mhz": mhz, "late_w": watts}
            yield {"mix": mix, "part": part, **about}


def passes_on_one(asked):
    model = torch.compile(Stage(asked, True, True, asked.layers).cuda())
    loss, tokens, targets = torch.compile(loss_of), *tokens_of(asked, 1)
    _, late = early_and_late(lambda: loss(model(tokens), targets).backward(), 2.5)
    yield {"pp": 1, "passes": 16, "pass_ms": late * 1e3}


def passes_in_stages(asked):
    from torch.distributed.pipelining import PipelineStage, Schedule1F1B

    rank, stages = dist.get_rank(), dist.get_world_size()
    module = Stage(asked, rank == 0, rank == stages - 1, asked.layers // stages).cuda()
    stage = PipelineStage(torch.compile(module), rank, stages, torch.device("cuda", rank))
    for passes in asked.passes:
        schedule = Schedule1F1B(stage, passes, loss_fn=torch.compile(loss_of))
        tokens, targets = tokens_of(asked, passes)

        def step():
            given = (tokens,) if rank == 0 else ()
            schedule.step(*given, **({"target": targets, "losses": []} if rank == stages - 1 else {}))

        times = []
        for _ in range(8):
            dist.barrier()
            torch.cuda.synchronize()
            begin = time.perf_counter()
            step()
            dist.barrier()
            torch.cuda.synchronize()
            times.append(time.perf_counter() - begin)
        yield {"pp": stages, "passes": passes, "pass_ms": sorted(times[3:])[2] / passes * 1e3}


def tokens_of(asked, passes):
    return (torch.randint(0, asked.vocabulary, (asked.batch * passes, asked.seq), device="cuda") for _ in range(2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("products", "mixes", "passes"))
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--mixes", default=MIXES, help="parted by spaces")
    parser.add_argument("--count", type=int, default=12, help="products")
    for name, value in (("layers", 16), ("hidden", 2048), ("heads", 32), ("kv-heads", 8), ("intermediate", 8192)):
        parser.add_argument(f"--{name}", type=int, default=value)
    for name, value in (("vocabulary", 128256), ("batch", 2), ("seq", 2048)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--passes", type=lambda text: [int(one) for one in text.split(",")], default=[4, 8, 16])
    asked = parser.parse_args()
    staged = "WORLD_SIZE" in os.environ
    if staged:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl")
    if asked.what == "passes":
        torch.set_default_dtype(torch.bfloat16)
    passes = passes_in_stages if staged else passes_on_one
    measure = {"products": products, "mixes": mixes, "passes": passes}[asked.what]
    about = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "date": datetime.date.today()}
    if asked.what == "passes":
        keys = ("layers", "hidden", "heads", "kv_heads", "intermediate", "vocabulary", "batch", "seq")
        about |= {key: getattr(asked, key) for key in keys}
    rows = [{**about, **row} for row in measure(asked)]
    if not staged or dist.get_rank() == 0:
        with open(asked.output, "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    if staged:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

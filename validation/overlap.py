#!/usr/bin/env python3
"""Times kernels beside NCCL's collectives on another stream, on two GPUs, to hold the model's overlap against.

  NCCL_NVLS_ENABLE=0 validation/overlap.py -o overlap.csv

Each row is a kernel and a collective, repeated: the time of one alone, and of one while the other stream has
longer to do than what is timed. Medians of a few repetitions, on the first GPU. `blocks` and `threads` are those of
the collective's kernel, as torch.profiler sees them. Times are microseconds, bytes those of a rank's input, of
all_gather of its result.
"""

import argparse
import csv
import datetime
import json
import os
import statistics
import tempfile

import torch
import torch.distributed as dist

MIB = 1 << 20
GPUS = 2
REPEATS = 3
TIMED_S = 10e-3
LONGER = 3  # the other stream's work, as a multiple of the timed work
SLEEP_CYCLES = 60_000_000


def kernels():
    """Name, call."""
    for size in (8192, 4096, 2048):
        a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        c = torch.empty_like(a)
        yield f"product_bf16_{size}", lambda a=a, b=b, c=c: torch.mm(a, b, out=c)
    a, b = (torch.randn(4096, 4096, device="cuda") for _ in range(2))
    c = torch.empty_like(a)
    yield "product_fp32_4096", lambda: torch.mm(a, b, out=c)
    x = torch.randn(256 * MIB // 4, device="cuda")
    y = torch.empty_like(x)
    yield "copy_256MiB", lambda: y.copy_(x)


def collectives():
    """Name, bytes, call."""
    for mib in (4, 16, 64, 256):
        x = torch.randn(mib * MIB // 2, device="cuda").to(torch.bfloat16)
        part = torch.empty(x.numel() // GPUS, device="cuda", dtype=x.dtype)
        yield "all_reduce", mib * MIB, lambda x=x: dist.all_reduce(x, op=dist.ReduceOp.MAX)
        yield "all_gather", mib * MIB, lambda x=x, p=part: dist.all_gather_into_tensor(x, p)
        yield "reduce_scatter", mib * MIB, lambda x=x, p=part: dist.reduce_scatter_tensor(p, x)


def grid(call):
    """Blocks, and threads per block, of the collective's kernel."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        call()
        torch.cuda.synchronize()
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profile.export_chrome_trace(file.name)
        events = json.load(open(file.name))["traceEvents"]
    for event in events:
        if "nccl" in event.get("name", "") and "grid" in event.get("args", {}):
            return event["args"]["grid"][0], event["args"]["block"][0]
    return "", ""


def timed(call, count, stream, other=None, other_count=0, other_stream=None):
    """Median seconds per call of `count` calls on a stream, beside `other_count` calls on another."""
    times = []
    for _ in range(REPEATS):
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        torch.cuda._sleep(SLEEP_CYCLES)
        ready = torch.cuda.Event()
        ready.record()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        if other:
            with torch.cuda.stream(other_stream):
                other_stream.wait_event(ready)
                for _ in range(other_count):
                    other()
        with torch.cuda.stream(stream):
            stream.wait_event(ready)
            call()  # untimed: the other stream's first call begins
            start.record()
            for _ in range(count):
                call()
            end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3 / count)
    return statistics.median(times)


def agreed(count):
    """The same count on all ranks: collectives must match."""
    value = torch.tensor([count], device="cuda")
    dist.broadcast(value, 0)
    return max(3, min(400, int(value.item())))


def measure(rank, path):
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29533")
    torch.cuda.set_device(rank)
    torch.backends.cuda.matmul.allow_tf32 = False
    dist.init_process_group("nccl", rank=rank, world_size=GPUS, device_id=torch.device("cuda", rank))
    compute, copies = torch.cuda.Stream(), torch.cuda.Stream()
    version = ".".join(map(str, torch.cuda.nccl.version()))
    common = [torch.cuda.get_device_name(), version, datetime.date.today().isoformat()]
    sent = []
    for name, size, call in collectives():
        for _ in range(3):
            call()
        alone_s = timed(call, 30, copies)
        sent.append((name, size, call, alone_s, *grid(call)))
    header = ["device", "nccl", "date", "kernel", "collective", "gpus", "bytes", "blocks", "threads"]
    header += ["kernel_alone_us", "kernel_beside_us", "collective_alone_us", "collective_beside_us"]
    with open(path if rank == 0 else os.devnull, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(header)
        for kernel, run in kernels():
            for _ in range(3):
                run()
            alone_s = timed(run, agreed(TIMED_S / timed(run, 10, compute)), compute)
            for name, size, call, sent_s, blocks, threads in sent:
                few, many = agreed(TIMED_S / alone_s), agreed(LONGER * TIMED_S / sent_s)
                kernel_s = timed(run, few, compute, call, many, copies)
                # Each collective may have to wait for a kernel to end before its blocks get SMs.
                few, many = agreed(TIMED_S / (sent_s + alone_s)), agreed(LONGER * TIMED_S / alone_s)
                collective_s = timed(call, few, copies, run, many, compute)
                times = [alone_s, kernel_s, sent_s, collective_s]
                out.writerow(common + [kernel, name, GPUS, size, blocks, threads]
                             + [f"{time * 1e6:.2f}" for time in times])
            file.flush()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-o", "--output", required=True, help="the CSV file")
    torch.multiprocessing.spawn(measure, (parser.parse_args().output,), GPUS)


if __name__ == "__main__":
    main()

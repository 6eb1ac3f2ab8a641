#!/usr/bin/env python3
"""Times steps of Hugging Face's models: training, the forward pass over prompts, and decoding.

  validation/transformer_steps.py architectures/gpt2.json:train:eager:8x1024 … -o steps.csv --kernels kernels.csv
  torchrun --nproc_per_node 4 validation/transformer_steps.py architectures/gpt2-xl.json:train:eager:8x1024:fsdp …

A case is CONFIG:PHASE:FRAMEWORK:BATCHxTOKENS, with torchrun followed by :fsdp (FSDP2: each layer sharded by itself) or :dp
(DistributedDataParallel), BATCH then of each GPU; with PHASE train, prefill or decode (TOKENS are then in the cache) and
FRAMEWORK eager or compiled. Weights are random, in bf16; train is forward, backward and AdamW whose moments are bf16
too (PyTorch's default for eager, fused for compiled), without dropout. A decoding step adds a token to the cache, so
that later ones have a few more. `step_ms` is the mean by the host's clock of steps one after the other for --seconds;
`gpu_ms` is the sum of the kernels, and `launches` their number, of one step in torch.profiler. A case that fails is
told and not written. --kernels also writes the kernels of each step by name.
"""

import argparse
import collections
import csv
import datetime
import gc
import json
import os
import pathlib
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import transformers


def config_of(path):
    given = json.loads(pathlib.Path(path).read_text())
    config = transformers.AutoConfig.for_model(given.pop("model_type"), **given)
    for name in ("attn_pdrop", "embd_pdrop", "resid_pdrop", "dropout", "attention_dropout"):
        if hasattr(config, name):
            setattr(config, name, 0.0)
    return config


def shared(model, how):
    """The model, shared by all GPUs."""
    if how == "dp":
        return torch.nn.parallel.DistributedDataParallel(model)
    if how == "fsdp":
        lists = [one for one in model.modules() if isinstance(one, torch.nn.ModuleList)]
        for layer in max(lists, key=len):
            torch.distributed.fsdp.fully_shard(layer)
        torch.distributed.fsdp.fully_shard(model)
    return model


def step_of(config, phase, framework, batch, tokens, how):
    """A function that runs one step."""
    with torch.device("cuda"):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16, attn_implementation="sdpa")
    compiled = framework == "compiled"
    model = shared(model, how)
    call = torch.compile(model) if compiled else model
    ids = torch.randint(0, config.vocab_size, (batch, 1 if phase == "decode" else tokens), device="cuda")
    if phase == "train":
        model.train()
        optimizer = torch.optim.AdamW(model.parameters(), fused=compiled or None)

        def train():
            call(input_ids=ids, labels=ids, use_cache=False).loss.backward()
            optimizer.step()
            optimizer.zero_grad()

        return train
    model.eval()
    if phase == "prefill":
        return torch.inference_mode()(lambda: call(input_ids=ids, use_cache=False, logits_to_keep=1))
    cache = transformers.DynamicCache(config=config)
    with torch.inference_mode():
        model(input_ids=ids.expand(batch, tokens).contiguous(), past_key_values=cache, logits_to_keep=1)
    return torch.inference_mode()(lambda: call(input_ids=ids, past_key_values=cache))


def mean_seconds(step, seconds):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    step()
    torch.cuda.synchronize()
    count = torch.tensor(max(3, int(seconds / (time.perf_counter() - begin))), device="cuda")
    if dist.is_initialized():
        dist.broadcast(count, 0)
    count = int(count)
    begin = time.perf_counter()
    for _ in range(count):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count


def kernels_of(step):
    """Number and microseconds of each kernel, copy and memset of one step, by name."""
    activities = [torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        step()
        torch.cuda.synchronize()
    found = collections.defaultdict(lambda: [0, 0.0])
    for event in profile.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            found[event.name][0] += 1
            found[event.name][1] += event.device_time
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", metavar="CONFIG:PHASE:FRAMEWORK:BATCHxTOKENS")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--kernels")
    parser.add_argument("--seconds", type=float, default=1.5)
    asked = parser.parse_args()
    if dist.is_torchelastic_launched():
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl")
    gpus, rank = (dist.get_world_size(), dist.get_rank()) if dist.is_initialized() else (1, 0)
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(query, capture_output=True, text=True).stdout.split("\n")[0]
    about = {"device": torch.cuda.get_device_name(), "driver": driver, "torch": torch.__version__}
    about |= {"transformers": transformers.__version__, "date": datetime.date.today()}
    rows, kernels = [], []
    for case in asked.cases:
        path, phase, framework, shape, *how = case.split(":")
        batch, tokens = (int(one) for one in shape.split("x"))
        what = {"model": pathlib.Path(path).stem, "phase": phase, "framework": framework}
        what |= {"batch": batch, "tokens": tokens, "gpus": gpus, "shared": how[0] if how else ""}
        try:
            step = step_of(config_of(path), phase, framework, batch, tokens, what["shared"])
            step_s = mean_seconds(step, asked.seconds)
            found = kernels_of(step)
        except (RuntimeError, ValueError, TypeError, KeyError) as error:
            print(f"{case}: {error}", file=sys.stderr)
            continue
        finally:
            step = None
            gc.collect()
            torch.cuda.empty_cache()
            torch._dynamo.reset()
        count, total_us = (sum(one[i] for one in found.values()) for i in (0, 1))
        rows.append(about | what | {"launches": count, "gpu_ms": total_us / 1e3, "step_ms": step_s * 1e3})
        if rank == 0:
            print(*rows[-1].values(), flush=True)
        kernels += [what | {"kernel": name, "count": n, "total_us": us} for name, (n, us) in found.items()]
    for path, table in ((asked.output, rows), (asked.kernels, kernels)):
        if path and table and rank == 0:
            with open(path, "w", newline="") as file:
                writer = csv.DictWriter(file, table[0], lineterminator="\n")
                writer.writeheader()
                writer.writerows(table)


    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""roofcast.model, roofcast.collective and sweeps over them, against the command."""

import json

import pytest
import roofcast

TASK = {"phase": "decode", "batch": 8, "context": 4096, "dtype": "bf16"}


def test_a_model_is_what_the_command_answers(command):
    answer = roofcast.model("gpt2-xl", "h100-sxm5", phase="train", batch=8, seq=1024, fsdp=8)
    words = "model gpt2-xl --train --batch 8 --seq 1024 --fsdp 8 --gpu h100-sxm5 --format json"
    code, out, err = command(*words.split())
    assert code == 0, err
    assert answer == json.loads(out)
    with pytest.raises(roofcast.InputError, match="phase"):
        roofcast.model("gpt2-xl", "h100-sxm5", phase="pretrain")
    with pytest.raises(roofcast.InputError):
        roofcast.model("gpt2-xxl", "h100-sxm5", **TASK)


def test_a_collective_is_what_the_command_answers(command):
    answer = roofcast.collective("collective.all_reduce", "h100-sxm5", bytes=1 << 26, gpus=8)
    words = "predict collective.all_reduce --bytes 64MiB --gpus 8 --gpu h100-sxm5 --format json"
    code, out, err = command(*words.split())
    assert code == 0, err
    assert answer == json.loads(out)
    with pytest.raises(roofcast.InputError):
        roofcast.collective("collective.gather", "h100-sxm5", bytes=1, gpus=8)


def test_sweeps_over_collectives():
    rows = roofcast.sweep(
        "collective.all_reduce",
        ["h100-sxm5", "a100-sxm4-80gb"],
        axis={"bytes": [1 << 20, 1 << 26], "gpus": [2, 4, 8]},
        as_records=True,
    )
    assert len(rows) == 2 * 2 * 3
    alone = roofcast.collective("collective.all_reduce", "h100-sxm5", bytes=1 << 20, gpus=4)
    assert rows[1]["expected_s"] == alone["time"]["expected_s"]
    assert rows[1]["error"] is None


def test_sweeps_over_models():
    rows = roofcast.sweep(
        ["model:llama-3.1-8b", "model:gpt2-xl"], "h100-sxm5", batch=[1, 64],
        phase="decode", context=1024, dtype="bf16", as_records=True,
    )  # fmt: skip
    assert [(row["kernel"], row["batch"]) for row in rows] == [
        ("model:llama-3.1-8b", 1), ("model:llama-3.1-8b", 64),
        ("model:gpt2-xl", 1), ("model:gpt2-xl", 64),
    ]  # fmt: skip
    assert rows[1]["tokens_per_s"] > rows[0]["tokens_per_s"]
    assert all(row["fits"] for row in rows)


def test_mixtures_are_refused():
    with pytest.raises(roofcast.InputError, match="sweep of their own"):
        roofcast.sweep(["gemm.tiled", "collective.all_reduce"], "h100-sxm5", m=1, as_records=True)
    with pytest.raises(roofcast.InputError, match="for kernels"):
        roofcast.sweep(
            "collective.all_reduce", "h100-sxm5", axis={"bytes": 1, "gpus": 2}, cache="warm"
        )

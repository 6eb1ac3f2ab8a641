"""roofcast.Kernel: of the catalog, of a file, by keywords."""

import json

import pytest
import roofcast


def test_the_list_is_the_commands(answer):
    names = []
    for family in answer("kernels"):
        if family["name"] == "collective":
            continue  # of several GPUs: roofcast.collective(...), no Kernel
        names += [family["name"]] + [variant["name"] for variant in family["variants"]]
    assert roofcast.kernels() == names


def test_it_tells_what_it_takes(answer):
    kernel = roofcast.Kernel("gemm.tiled")
    printed = answer("kernels", "gemm.tiled")[0]
    assert kernel.to_dict() == printed
    assert (kernel.name, kernel.summary) == ("gemm.tiled", printed["summary"])
    assert kernel.dtypes == printed["dtypes"]
    assert kernel.parameters == printed["parameters"]
    assert repr(kernel) == "Kernel('gemm.tiled')"


def test_a_file_and_keywords_say_the_same(answer, examples):
    files = sorted(examples.glob("*.json"))
    assert len(files) >= 8
    for path in files:
        described = roofcast.Kernel(**json.loads(path.read_text()))
        printed = answer("predict", str(path), "--gpu", "h200-sxm")
        assert roofcast.predict(path, "h200-sxm").to_dict() == printed
        assert roofcast.predict(described, "h200-sxm").to_dict() == printed


def test_keywords_are_plain_values():
    scale = roofcast.Kernel(
        name="scale",
        parameters={"n": 1 << 20},
        launch={"grid": "n/256", "threads": 256, "registers": 16},
        work={"flops": {"fp32": "n"}, "read_bytes": "4*n", "write_bytes": "4*n"},
    )
    forecast = roofcast.predict(scale, "h200-sxm", n=1 << 22)
    assert forecast.flops == 1 << 22
    assert forecast.bytes["compulsory"] == 8 * (1 << 22)
    assert forecast.launch.grid == ((1 << 22) // 256, 1, 1)


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"name": "scale"}, "launch"),
        ({"name": "scale", "launch": {"threads": 0, "registers": 1}, "wrk": {}}, "wrk"),
        ({}, "takes one name or path"),
    ],
)
def test_refusals(keywords, message):
    with pytest.raises(roofcast.InputError, match=message):
        roofcast.Kernel(**keywords)

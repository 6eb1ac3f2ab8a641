"""roofcast.Gpu: what it is made from, and what it tells."""

import pytest
import roofcast


def test_the_list_is_the_commands(answer):
    assert roofcast.gpus() == [row["name"] for row in answer("gpus")]


def test_attributes_are_those_of_the_list(answer):
    for row in answer("gpus"):
        gpu = roofcast.Gpu(row["name"])
        assert gpu.title == row["title"]
        assert gpu.year == row["year"]
        assert gpu.sm_count == row.get("sm_count")
        assert gpu.dram_bytes == row.get("dram_bytes")
        assert gpu.dram_bandwidth == row.get("dram_bandwidth_bytes_per_s")
        assert gpu.l2_bytes == row.get("l2_bytes")
        assert gpu.calibration == row["calibration"]


def test_values_and_sources_are_the_commands(answer):
    gpu = roofcast.Gpu("h200-sxm", set={"sm_count": 144})
    rows = answer("gpus", "h200-sxm", "--set", "sm_count=144")
    assert gpu.values() == {row["key"]: row["value"] for row in rows}
    assert gpu.sources() == {row["key"]: row["source"] for row in rows}
    assert gpu.values()["chip/sm_count"] == gpu.sm_count == 144


@pytest.mark.parametrize(
    "keywords, options",
    [
        ({"datasheet": True}, ("--datasheet",)),
        ({"relative": "h100-sxm5"}, ("--relative", "h100-sxm5")),
        ({"set": {"memory/l2_bytes": 2e7}}, ("--set", "memory/l2_bytes=2e7")),
    ],
)
def test_keywords_are_the_commands_options(answer, keywords, options):
    gpu = roofcast.Gpu("h200-sxm", **keywords)
    question = ("predict", "stream.copy", "--n", "16777216", "--gpu", "h200-sxm")
    assert roofcast.predict("stream.copy", gpu, n=1 << 24).to_dict() == answer(*question, *options)


def test_an_override_adds_to_those_of_the_gpu():
    gpu = roofcast.Gpu("h200-sxm", set={"sm_count": 144, "memory/l2_bytes": 1e7})
    forecast = roofcast.predict("stream.copy", gpu, n=1 << 24, set={"sm_count": 66})
    assert forecast.gpu.sm_count == 66
    assert forecast.gpu.l2_bytes == 1e7
    assert gpu.sm_count == 144
    assert repr(forecast.gpu) == "Gpu('h200-sxm', set={'memory/l2_bytes': 10000000, 'sm_count': 66})"


def test_a_path_is_a_specification(examples):
    path = examples.parent.parent / "hw_specs" / "h200-sxm.json"
    gpu = roofcast.Gpu(path, datasheet=True)
    assert gpu.name == "h200-sxm"
    assert gpu.values() == roofcast.Gpu("h200-sxm", datasheet=True).values()


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"datasheet": True, "relative": "h100-sxm5"}, "choose one"),
        ({"overlay": "no/such/overlay.json"}, "no/such/overlay.json"),
        ({"relative": "h100"}, "h100-sxm5"),
        ({"set": {"sm_count": "many"}}, "sm_count"),
    ],
)
def test_refusals(keywords, message):
    with pytest.raises(roofcast.InputError, match=message):
        roofcast.Gpu("h200-sxm", **keywords)

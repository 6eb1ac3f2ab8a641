"""roofcast.predict against the command, and what it refuses."""

import math

import pytest
import roofcast

TILED = ("gemm.tiled", "--m", "4096", "--n", "4096", "--k", "4096", "--gpu", "h200-sxm")
SHAPE = {"m": 4096, "n": 4096, "k": 4096}


def test_the_dict_is_what_the_command_prints(answer):
    forecast = roofcast.predict("gemm.tiled", "h200-sxm", **SHAPE)
    assert forecast.to_dict() == answer("predict", *TILED)


def test_a_family_carries_its_variants(answer):
    forecast = roofcast.predict("gemm", "h200-sxm", **SHAPE, dtype="bf16")
    printed = answer("predict", "gemm", *TILED[1:], "--dtype", "bf16")
    assert forecast.to_dict() == printed
    assert forecast.time_s is None and forecast.interval is None and forecast.waves is None
    assert forecast.limit == printed["limit"]["time_s"] > 0
    timed = {one["kernel"]: one["time"]["expected_s"] for one in printed["variants"] if "time" in one}
    assert len(timed) > 1
    assert {one.kernel: one.time_s for one in forecast.variants} == timed


def test_the_attributes_are_those_of_the_dict():
    forecast = roofcast.predict("gemm.tiled", "h200-sxm", **SHAPE)
    found = forecast.to_dict()
    assert forecast.kernel == found["kernel"] == "gemm.tiled"
    assert forecast.gpu.name == found["gpu"] == "h200-sxm"
    assert forecast.problem == found["problem"]
    time = found["time"]
    assert forecast.time_s == time["expected_s"]
    assert forecast.interval == (time["low_s"], time["high_s"])
    assert forecast.interval[0] < forecast.time_s < forecast.interval[1]
    assert (forecast.limit, forecast.limit_bound) == (
        found["limit"]["time_s"],
        found["limit"]["bound"],
    )
    assert forecast.bound == time["bound"]
    assert forecast.sm_cycles == time["sm_cycles"]
    assert forecast.sm_clock_hz == time["sm_clock_hz"]
    assert forecast.terms == {term["name"]: term["time_s"] for term in time["terms"]}
    assert forecast.waterfall == {part["name"]: part["time_s"] for part in found["waterfall"]}
    assert math.isclose(sum(forecast.waterfall.values()), forecast.time_s)
    assert forecast.flops == found["work"]["flops"]
    assert forecast.flops_per_s == found["rate"]["flops_per_s"]
    assert forecast.dram_bytes_per_s == found["rate"]["dram_bytes_per_s"]
    assert forecast.fraction_of_limit == found["rate"]["fraction_of_limit"]
    assert forecast.shared_bytes == found["work"]["shared_bytes"]
    assert forecast.io_lower_bound_bytes == found["io"]["lower_bound_bytes"]
    assert forecast.notes == found["notes"]


def test_bytes_are_by_level():
    forecast = roofcast.predict("stream.copy", "h200-sxm", n=1 << 28)
    traffic = {rung["level"]: rung for rung in forecast.to_dict()["traffic"]}
    assert list(forecast.bytes) == ["requested", "l1", "l2", "dram", "compulsory"]
    for level, rung in traffic.items():
        assert forecast.read_bytes[level] == rung["read_bytes"]
        assert forecast.write_bytes[level] == rung["write_bytes"]
        assert forecast.bytes[level] == rung["read_bytes"] + rung["write_bytes"]
    # A copy reads and writes 4 B of each element.
    assert forecast.bytes["compulsory"] == 2 * 4 * (1 << 28)


def test_launch_occupancy_and_waves():
    forecast = roofcast.predict("gemm.tiled", "h200-sxm", **SHAPE)
    found = forecast.to_dict()
    for name in ("launch", "occupancy", "waves"):
        value = getattr(forecast, name)
        for key, expected in found[name].items():
            member = getattr(value, key)
            assert (list(member) if isinstance(member, tuple) else member) == expected
            assert key in repr(value)


def test_str_is_the_commands_table(command):
    forecast = roofcast.predict("gemm.tiled", "h200-sxm", **SHAPE)
    assert str(forecast) == command("predict", *TILED)[1]
    assert repr(forecast).startswith("<roofcast.Prediction gemm.tiled m=4096")


@pytest.mark.parametrize(
    "option, keyword",
    [
        (("--cache", "warm"), {"cache": "warm"}),
        (("--cache", "steady", "--launch", "graph"), {"cache": "steady", "launch": "graph"}),
        (("--sm-clock", "1.5e9"), {"sm_clock_hz": 1.5e9}),
        (("--set", "sm_count=100"), {"set": {"sm_count": 100}}),
    ],
)
def test_keywords_are_the_commands_options(answer, option, keyword):
    shape = {"rows": 512, "cols": 4096, "staging": "registers"}
    rows = ("norm.rmsnorm", "--rows", "512", "--cols", "4096", "--staging", "registers", "--gpu", "h200-sxm")
    forecast = roofcast.predict("norm.rmsnorm", "h200-sxm", **shape, **keyword)
    assert forecast.to_dict() == answer("predict", *rows, *option)
    plain = roofcast.predict("norm.rmsnorm", "h200-sxm", **shape)
    assert forecast.time_s != plain.time_s


def test_none_counts_as_not_given():
    plain = roofcast.predict("stream.copy", "h200-sxm", n=1 << 20)
    said = roofcast.predict("stream.copy", "h200-sxm", n=1 << 20, dtype=None, cache=None, set=None)
    assert said.to_dict() == plain.to_dict()


def test_whole_numbers_in_any_form():
    class Whole:
        def __index__(self):
            return 1000000

    class Real:
        def __float__(self):
            return 1e6

    forms = (10**6, 1e6, Whole(), Real())
    times = {roofcast.predict("stream.copy", "h200-sxm", n=n).time_s for n in forms}
    assert len(times) == 1


def test_a_long_run_is_slower():
    shape = {"m": 4096, "n": 4096, "k": 4096, "dtype": "bf16"}
    short = roofcast.predict("gemm.library", "h200-sxm", **shape)
    long = roofcast.predict("gemm.library", "h200-sxm", **shape, worked_s=1)
    assert long.time_s > 1.08 * short.time_s


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({"kernel": "gemm.tild"}, "did you mean 'gemm.tiled'"),
        ({"gpu": "h200-sx"}, "Did you mean 'h200-sxm'"),
        ({"gpu": "no/such/file.json"}, "no/such/file.json"),
        ({"mm": 1}, "gemm.tiled has no parameter 'mm'. Did you mean 'm'?"),
        ({"m": None}, "gemm.tiled needs m: rows of A"),
        ({"m": 0}, "m is 0: give a whole number from 1"),
        ({"m": 1.5}, "'m' takes a whole number"),
        ({"m": 1 << 70}, "beyond any size"),
        ({"m": [1, 2]}, "roofcast.sweep takes several"),
        ({"dtype": "fp33"}, "there is no element type 'fp33'"),
        ({"cache": "hot"}, "cold, warm, steady"),
        ({"set": {"sm_cont": 1}}, 'did you mean "sm_count"'),
        ({"set": 1}, "set takes a dict"),
        ({"kernel": 7}, "not as int"),
    ],
)
def test_what_has_no_answer_is_an_input_error(keywords, message):
    question = {"kernel": "gemm.tiled", "gpu": "h200-sxm", **SHAPE, **keywords}
    with pytest.raises(roofcast.InputError) as refused:
        roofcast.predict(**question)
    assert message in str(refused.value)
    assert isinstance(refused.value, ValueError)

"""roofcast.sweep against the command's CSV."""

import csv
import io
import sys

import pytest
import roofcast

VALUES = {"m": range(256, 1025, 256)}


def test_records_are_the_rows_of_the_csv(command):
    records = roofcast.sweep(
        ["gemm.tiled", "gemm.vectorized"],
        ["h200-sxm", "v100-sxm2"],
        axis=VALUES,
        n="=m",
        k=[64, 128],
        as_records=True,
    )
    code, out, err = command(
        *("sweep", "gemm.tiled", "gemm.vectorized", "--gpu", "h200-sxm,v100-sxm2"),
        *("--m", "256:1024:256", "--n", "=m", "--k", "64,128"),
    )
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(records) == len(rows) == 2 * 2 * 4 * 2
    for record, row in zip(records, rows):
        assert list(record) == list(row)
        for title, text in row.items():
            value = record[title]
            if isinstance(value, (int, float)):
                assert value == pytest.approx(float(text), rel=1e-12)
            else:
                assert (value or "") == text


def test_texts_of_the_command_and_iterables_say_the_same():
    texts = roofcast.sweep("stream.copy", "h200-sxm", n="65536:1048576:*2", as_records=True)
    lists = roofcast.sweep(
        "stream.copy", "h200-sxm", n=[65536 << i for i in range(5)], as_records=True
    )
    assert texts == lists
    assert [row["n"] for row in texts] == [65536, 131072, 262144, 524288, 1048576]


def test_types_and_assumptions():
    rows = roofcast.sweep(
        "gemm.library", "h200-sxm", m=1024, n=1024, k=1024,
        dtype=["bf16", "fp16"], cache="warm", sm_clock_hz=1.5e9, as_records=True,
    )  # fmt: skip
    assert [row["dtype"] for row in rows] == ["bf16", "fp16"]
    assert {row["sm_clock_hz"] for row in rows} == {1.5e9}
    alone = roofcast.predict(
        "gemm.library", "h200-sxm", m=1024, n=1024, k=1024,
        dtype="bf16", cache="warm", sm_clock_hz=1.5e9,
    )  # fmt: skip
    assert rows[0]["expected_s"] == alone.time_s


def test_what_has_no_answer_keeps_its_row():
    rows = roofcast.sweep("gemm.tiled", "h200-sxm", m=[0, 64], n=64, k=64, as_records=True)
    assert rows[0]["expected_s"] is None and rows[0]["error"].startswith("m is 0")
    assert rows[1]["expected_s"] > 0 and rows[1]["error"] is None


def test_a_frame_has_numbers():
    pandas = pytest.importorskip("pandas", reason="apt-get install python3-pandas")
    frame = roofcast.sweep("gemm.tiled", "h200-sxm", m=[0, 64], n=64, k=64)
    assert isinstance(frame, pandas.DataFrame)
    assert frame["expected_s"].dtype == float
    assert frame["expected_s"].isna().tolist() == [True, False]
    assert frame["m"].tolist() == [0, 64]


def test_without_pandas_it_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="as_records=True"):
        roofcast.sweep("stream.copy", "h200-sxm", n=1024)
    assert len(roofcast.sweep("stream.copy", "h200-sxm", n=1024, as_records=True)) == 1


@pytest.mark.parametrize(
    "keywords, message",
    [
        ({}, "gemm.tiled needs --m"),
        ({"mm": 1}, "no parameter 'mm'"),
        ({"m": []}, "'m' has no values"),
        ({"m": "9:1:1"}, "the range is empty"),
        ({"m": 1.5}, "'m' takes a whole number"),
        ({"axis": ["m"]}, "axis takes a dict"),
        ({"axis": {"m": 1}, "m": 2}, "given twice"),
        ({"m": "1:100000000:1"}, "take larger steps"),
        ({"m": 0, "n": 1, "k": 1}, "m is 0"),
    ],
)
def test_refusals(keywords, message):
    with pytest.raises(roofcast.InputError, match=message):
        roofcast.sweep("gemm.tiled", "h200-sxm", as_records=True, **keywords)

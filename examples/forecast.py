"""Forecasts in Python: docs/library.md explains the names."""

import roofcast

forecast = roofcast.predict("gemm.vectorized", "h200-sxm", m=4096, n=4096, k=4096)
print(forecast.time_s, forecast.interval, forecast.limit, forecast.bound)
print(forecast.bytes["dram"], forecast.waves, forecast.to_dict()["rate"])

larger = roofcast.Gpu("h200-sxm", set={"sm_count": 176})
table = roofcast.sweep(["gemm.tiled", "gemm.library"], ["a100-sxm4-80gb", larger],
                       axis={"m": range(1024, 8193, 1024)}, n="=m", k="=m")
print(table[["kernel", "gpu", "m", "expected_s", "bound"]])

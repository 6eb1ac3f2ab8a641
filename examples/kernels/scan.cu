// Prefix sums of each row of 1024 values, a block a row: in warps by shuffles, then over the warps.
#include "check.cuh"

__device__ float scan_warp(float value) {
  const int lane = threadIdx.x & 31;
  for (int step = 1; step < 32; step *= 2) {
    const float before = __shfl_up_sync(0xffffffffU, value, step);
    if (lane >= step) value += before;
  }
  return value;
}

__global__ void scan(const float* in, float* out) {
  __shared__ float sums[32];
  const size_t i = size_t(blockIdx.x) * 1024 + threadIdx.x;
  const int warp = threadIdx.x / 32;
  float value = scan_warp(in[i]);
  if ((threadIdx.x & 31) == 31) sums[warp] = value;
  __syncthreads();
  if (warp == 0) sums[threadIdx.x] = scan_warp(sums[threadIdx.x]);
  __syncthreads();
  out[i] = warp > 0 ? value + sums[warp - 1] : value;
}

int main() {
  const int rows = 65536;
  const auto in = numbers(size_t(rows) * 1024, 2);
  const Device<float> a(in), b(in.size());
  const auto launch = [&] { scan<<<rows, 1024>>>(a.data, b.data); };
  launch();
  std::vector<double> wanted(in.size());
  for (size_t i = 0; i < in.size(); ++i) wanted[i] = in[i] + (i % 1024 > 0 ? wanted[i - 1] : 0.0);
  const double error = error_of(b.host(), wanted);
  return report("scan", median_us(launch), error, 1e-5);
}

// Counts of bytes: each block counts in shared memory, then adds its counts to the result.
#include "check.cuh"

__global__ void histogram(const uint4* in, unsigned* counts, size_t vectors) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  const size_t stride = size_t(gridDim.x) * blockDim.x;
  for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < vectors; i += stride) {
    const uint4 v = in[i];
    for (unsigned word : {v.x, v.y, v.z, v.w}) {
      for (int byte = 0; byte < 4; ++byte) atomicAdd(&mine[word >> (8 * byte) & 255U], 1U);
    }
  }
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

int main() {
  const size_t n = size_t{1} << 28;
  std::vector<unsigned char> in(n);
  std::vector<unsigned> wanted(256);
  unsigned state = 1;
  for (unsigned char& byte : in) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<unsigned char>(state >> 24);
    ++wanted[byte];
  }
  const Device<unsigned char> a(in);
  const Device<unsigned> counts(256);
  const auto launch = [&] {
    histogram<<<1056, 256>>>(reinterpret_cast<const uint4*>(a.data), counts.data, n / 16);
  };
  require(cudaMemset(counts.data, 0, 1024));
  launch();
  const double error = error_of(counts.host(), wanted);
  return report("histogram", median_us(launch), error, 0);
}

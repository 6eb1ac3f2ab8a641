// out = silu(gate) * up, of rows [gate | up]; fp32.
#include "check.cuh"

__device__ float silu_times(float gate, float up) {
  return gate / (1 + __expf(-gate)) * up;
}

__global__ void swiglu(const float4* in, float4* out, int vectors) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x >= vectors) return;
  const size_t row = blockIdx.y;
  const float4 gate = in[row * 2 * vectors + x];
  const float4 up = in[row * 2 * vectors + vectors + x];
  out[row * vectors + x] = make_float4(silu_times(gate.x, up.x), silu_times(gate.y, up.y),
                                       silu_times(gate.z, up.z), silu_times(gate.w, up.w));
}

int main() {
  const int tokens = 8192, width = 4096;
  const auto in = numbers(size_t(tokens) * 2 * width, 3);
  const Device<float> a(in), b(in.size() / 2);
  const auto launch = [&] {
    swiglu<<<dim3((width / 4 + 255) / 256, tokens), 256>>>(
        reinterpret_cast<const float4*>(a.data), reinterpret_cast<float4*>(b.data), width / 4);
  };
  launch();
  std::vector<double> wanted(in.size() / 2);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const size_t at = i / width * 2 * width + i % width;
    wanted[i] = in[at] / (1 + std::exp(-double(in[at]))) * in[at + width];
  }
  const double error = error_of(b.host(), wanted);
  return report("swiglu", median_us(launch), error, 1e-5);
}

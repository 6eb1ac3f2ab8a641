// Rotary embedding of heads of 128: pairs (i, i + 64) are turned by the angle of their position.
#include "check.cuh"

__global__ void rotary(const float* in, const float2* table, float* out, int heads) {
  const int pair = threadIdx.x;
  const size_t head = size_t(blockIdx.x) * blockDim.y + threadIdx.y;
  const float2 turn = table[head / heads * 64 + pair];  // cos, sin
  const float a = in[head * 128 + pair], b = in[head * 128 + 64 + pair];
  out[head * 128 + pair] = a * turn.x - b * turn.y;
  out[head * 128 + 64 + pair] = a * turn.y + b * turn.x;
}

int main() {
  const int tokens = 8192, heads = 32;
  const auto in = numbers(size_t(tokens) * heads * 128, 7);
  std::vector<float2> table(size_t(tokens) * 64);
  for (size_t i = 0; i < table.size(); ++i) {
    const double angle = double(i / 64) * std::pow(10000.0, -double(i % 64) / 64);
    table[i] = make_float2(float(std::cos(angle)), float(std::sin(angle)));
  }
  const Device<float> a(in), b(in.size());
  const Device<float2> t(table);
  const auto launch = [&] {
    rotary<<<tokens * heads / 4, dim3(64, 4)>>>(a.data, t.data, b.data, heads);
  };
  launch();
  std::vector<double> wanted(in.size());
  for (size_t i = 0; i < in.size() / 2; ++i) {
    const size_t at = i / 64 * 128 + i % 64;
    const float2 turn = table[i / 64 / heads * 64 + i % 64];
    wanted[at] = double(in[at]) * turn.x - double(in[at + 64]) * turn.y;
    wanted[at + 64] = double(in[at]) * turn.y + double(in[at + 64]) * turn.x;
  }
  const double error = error_of(b.host(), wanted);
  return report("rotary", median_us(launch), error, 1e-6);
}

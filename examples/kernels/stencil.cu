// Five points of a grid: out = in + c (up + down + left + right - 4 in), edges kept.
#include "check.cuh"

__global__ void stencil(const float* in, float* out, int rows, int cols) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= cols) return;
  const size_t i = size_t(y) * cols + x;
  const float here = in[i];
  const bool edge = x == 0 || y == 0 || x == cols - 1 || y == rows - 1;
  out[i] =
      edge ? here : here + 0.1F * (in[i - 1] + in[i + 1] + in[i - cols] + in[i + cols] - 4 * here);
}

int main() {
  const int rows = 8192, cols = 8192;
  const auto in = numbers(size_t(rows) * cols, 1);
  const Device<float> a(in), b(in.size());
  const auto launch = [&] {
    stencil<<<dim3((cols + 255) / 256, rows), 256>>>(a.data, b.data, rows, cols);
  };
  launch();
  std::vector<double> wanted(in.begin(), in.end());
  for (int y = 1; y < rows - 1; ++y) {
    for (int x = 1; x < cols - 1; ++x) {
      const size_t i = size_t(y) * cols + x;
      wanted[i] +=
          0.1 * (double(in[i - 1]) + in[i + 1] + in[i - cols] + in[i + cols] - 4.0 * in[i]);
    }
  }
  const double error = error_of(b.host(), wanted);
  return report("stencil", median_us(launch), error, 1e-6);
}

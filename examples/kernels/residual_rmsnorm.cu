// sum = x + residual; out = sum * weight / rms(sum): a block of 256 a row of 4096, kept in
// registers.
#include "check.cuh"

__global__ void residual_rmsnorm(const float4* x, const float4* residual, const float4* weight,
                                 float4* sum, float4* out) {
  __shared__ float squares[8];
  const size_t row = size_t(blockIdx.x) * 1024;
  float4 kept[4];
  float mine = 0;
  for (int i = 0; i < 4; ++i) {
    const size_t at = row + i * 256 + threadIdx.x;
    const float4 a = x[at], b = residual[at];
    kept[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    sum[at] = kept[i];
    mine += kept[i].x * kept[i].x + kept[i].y * kept[i].y + kept[i].z * kept[i].z +
            kept[i].w * kept[i].w;
  }
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xffffffffU, mine, step);
  if (threadIdx.x % 32 == 0) squares[threadIdx.x / 32] = mine;
  __syncthreads();
  float all = 0;
  for (float part : squares) all += part;
  const float scale = rsqrtf(all / 4096 + 1e-6F);
  for (int i = 0; i < 4; ++i) {
    const float4 w = weight[i * 256 + threadIdx.x];
    out[row + i * 256 + threadIdx.x] =
        make_float4(kept[i].x * scale * w.x, kept[i].y * scale * w.y, kept[i].z * scale * w.z,
                    kept[i].w * scale * w.w);
  }
}

int main() {
  const int rows = 8192, cols = 4096;
  const size_t n = size_t(rows) * cols;
  const auto x = numbers(n, 4), r = numbers(n, 5), w = numbers(cols, 6);
  const Device<float> dx(x), dr(r), dw(w), sum(n), out(n);
  const auto vectors = [](const Device<float>& d) { return reinterpret_cast<float4*>(d.data); };
  const auto launch = [&] {
    residual_rmsnorm<<<rows, 256>>>(vectors(dx), vectors(dr), vectors(dw), vectors(sum),
                                    vectors(out));
  };
  launch();
  std::vector<double> wanted(n);
  for (int row = 0; row < rows; ++row) {
    double squares = 0;
    for (int c = 0; c < cols; ++c) {
      const size_t i = size_t(row) * cols + c;
      wanted[i] = double(x[i]) + r[i];
      squares += wanted[i] * wanted[i];
    }
    for (int c = 0; c < cols; ++c) {
      wanted[size_t(row) * cols + c] *= w[c] / std::sqrt(squares / cols + 1e-6);
    }
  }
  const double error = error_of(out.host(), wanted);
  return report("residual_rmsnorm", median_us(launch), error, 1e-5);
}

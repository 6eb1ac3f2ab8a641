// One step of AdamW: weights, first and second moments in place; fp32.
#include "check.cuh"

struct Step {
  float rate, beta1, beta2, epsilon, decay, correction1, correction2;
};

__global__ void adamw(const float* gradient, float* weight, float* m, float* v, size_t n, Step s) {
  const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float g = gradient[i];
  const float first = s.beta1 * m[i] + (1 - s.beta1) * g;
  const float second = s.beta2 * v[i] + (1 - s.beta2) * g * g;
  m[i] = first;
  v[i] = second;
  const float step = first * s.correction1 / (sqrtf(second * s.correction2) + s.epsilon);
  weight[i] -= s.rate * (step + s.decay * weight[i]);
}

int main() {
  const size_t n = size_t{1} << 26;
  const auto g = numbers(n, 8), w = numbers(n, 9);
  const Device<float> dg(g), dw(w), m(std::vector<float>(n, 0.0F)), v(std::vector<float>(n, 0.0F));
  const Step s{1e-3F, 0.9F, 0.999F, 1e-8F, 0.01F, 1 / (1 - 0.9F), 1 / (1 - 0.999F)};
  const auto launch = [&] {
    adamw<<<(n + 255) / 256, 256>>>(dg.data, dw.data, m.data, v.data, n, s);
  };
  launch();
  std::vector<double> wanted(n);
  for (size_t i = 0; i < n; ++i) {
    const double first = (1 - double(s.beta1)) * g[i];
    const double second = (1 - double(s.beta2)) * g[i] * g[i];
    const double step =
        first * s.correction1 / (std::sqrt(second * s.correction2) + double(s.epsilon));
    wanted[i] = w[i] - s.rate * (step + double(s.decay) * w[i]);
  }
  const double error = error_of(dw.host(), wanted);
  return report("adamw", median_us(launch), error, 1e-6);
}

// loss = log(sum exp(logit)) - logit[target], a block a row of the vocabulary, in one pass.
#include "check.cuh"

struct Sum {
  float most, sum;  // of exp(logit - most)
};
__device__ Sum joined(Sum a, Sum b) {
  const float most = fmaxf(a.most, b.most);
  return {most, a.sum * __expf(a.most - most) + b.sum * __expf(b.most - most)};
}

__global__ void cross_entropy(const float* logits, const int* targets, float* loss,
                              int vocabulary) {
  __shared__ Sum parts[8];
  const float* row = logits + size_t(blockIdx.x) * vocabulary;
  Sum mine{-1e30F, 0};
  for (int i = threadIdx.x; i < vocabulary; i += 256) mine = joined(mine, {row[i], 1});
  for (int step = 16; step > 0; step /= 2) {
    mine = joined(mine, {__shfl_xor_sync(0xffffffffU, mine.most, step),
                         __shfl_xor_sync(0xffffffffU, mine.sum, step)});
  }
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int i = 1; i < 8; ++i) mine = joined(mine, parts[i]);
  loss[blockIdx.x] = logf(mine.sum) + mine.most - row[targets[blockIdx.x]];
}

int main() {
  const int rows = 4096, vocabulary = 50257;
  const auto in = numbers(size_t(rows) * vocabulary, 10);
  std::vector<int> targets(rows);
  for (int row = 0; row < rows; ++row) targets[row] = row * 31 % vocabulary;
  const Device<float> a(in), loss(rows);
  const Device<int> t(targets);
  const auto launch = [&] { cross_entropy<<<rows, 256>>>(a.data, t.data, loss.data, vocabulary); };
  launch();
  std::vector<double> wanted(rows);
  for (int row = 0; row < rows; ++row) {
    const float* values = in.data() + size_t(row) * vocabulary;
    double sum = 0;
    for (int i = 0; i < vocabulary; ++i) sum += std::exp(double(values[i]));
    wanted[row] = std::log(sum) - values[targets[row]];
  }
  const double error = error_of(loss.host(), wanted);
  return report("cross_entropy", median_us(launch), error, 1e-5);
}

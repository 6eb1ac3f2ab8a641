#pragma once
// Problems of attention, and their forecasts, for the tests of its plans.
#include "model/libraries/attention.hpp"
#include "model/predict.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast::attention {

using roofcast::testing::gpu_named;

inline Problem prefill(std::int64_t batch, std::int64_t heads, std::int64_t queries,
                       std::int64_t head_dim, bool causal) {
  Problem p;
  p.dtype = DType::bf16;
  p[kBatch] = batch;
  p[kHeads] = heads;
  p[kSeqQ] = queries;
  p[kHeadDim] = head_dim;
  p[kCausal] = causal ? 1 : 0;
  return p;
}

inline Problem decode(std::int64_t batch, std::int64_t heads, std::int64_t kv_heads,
                      std::int64_t keys) {
  Problem p = prefill(batch, heads, 1, 128, false);
  p[kKvHeads] = kv_heads;
  p[kSeqKv] = keys;
  return p;
}

inline Problem backward(Problem p) {
  p[kPass] = kBackward;
  return p;
}

inline Problem of(Library library, Problem p, std::int64_t splits = kToChoose) {
  p[kLibraryChoice] = library;
  p[kSplits] = splits;
  return p;
}

inline Prediction forecast(std::string_view kernel, const Problem& p, const Gpu& gpu) {
  return predict(find_kernel(kernel), p, gpu);
}

inline Prediction forecast(const Problem& p, const Gpu& gpu) {
  return forecast("attention.library", p, gpu);
}

}  // namespace roofcast::attention

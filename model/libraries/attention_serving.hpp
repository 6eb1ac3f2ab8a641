#pragma once
// How TensorRT-LLM decodes: one query a sequence against its cache. The rules by which it shares
// out the work are public (cpp/tensorrt_llm/kernels/decoderMaskedMultiheadAttention).
#include <cstdint>

#include "model/kernels/attention/blocks.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::attention::serving {

bool decodes(const Shape& shape);

/// Whether the heads of a group are decoded together, on the tensor cores (XQA); else each head is
/// a block's, by vector arithmetic (MMHA).
bool takes_groups(const Shape& shape, const Gpu& gpu);

Tile group_tile(const Shape& shape);
/// AccessPattern::read_density of its cache: rows of more than two lines do not come whole.
double group_read_density(const Shape& shape);
Tile vector_tile(const Shape& shape, const Gpu& gpu);

/// Parts of the keys, each a block's. The last block of a head to end adds them.
std::int64_t splits(const Shape& shape, const Gpu& gpu);

}  // namespace roofcast::attention::serving

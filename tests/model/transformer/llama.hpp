#pragma once
#include "model/transformer/architecture.hpp"

namespace roofcast::testing {

/// A model with eight key-value heads of 128 elements, gated products, rotary embedding and RMS
/// norms.
inline transformer::Architecture llama_like(std::int64_t layers, std::int64_t hidden,
                                            std::int64_t intermediate, std::int64_t vocabulary) {
  transformer::Architecture model;
  model.layers = layers;
  model.hidden = hidden;
  model.heads = hidden / 128;
  model.kv_heads = 8;
  model.head_dim = 128;
  model.intermediate = intermediate;
  model.vocabulary = vocabulary;
  model.gated = model.rotary = model.rms_norm = true;
  return model;
}

}  // namespace roofcast::testing

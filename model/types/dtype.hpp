#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/types/by_key.hpp"

namespace roofcast {

/// Element types a kernel computes in. fp32: the SIMT pipes; tf32: tensor cores fed with fp32.
enum class DType : unsigned char { fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4 };

inline constexpr std::array kAllDTypes = {DType::fp64, DType::fp32, DType::tf32, DType::fp16,
                                          DType::bf16, DType::fp8,  DType::int8, DType::fp4};

constexpr std::string_view name(DType type) {
  return word_of(type, {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4"});
}

/// Bytes one element occupies in memory (tf32 is stored as fp32; fp4 packs two to a byte).
constexpr double size_bytes(DType type) {
  constexpr std::array<double, 8> sizes = {8, 4, 4, 2, 2, 1, 1, 0.5};
  return sizes[static_cast<std::size_t>(type)];
}
/// size_bytes as an integer, for types of whole bytes.
constexpr std::int64_t element_bytes(DType type) {
  return static_cast<std::int64_t>(size_bytes(type));
}

constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (const DType type : kAllDTypes) {
    if (name(type) == text) return type;
  }
  return std::nullopt;
}

}  // namespace roofcast

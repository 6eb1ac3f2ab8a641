#pragma once
// What a kernel's name says: whose it is, and what it does.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/types/dtype.hpp"

namespace roofcast::validation {

enum class Does : unsigned char {
  unknown,
  product,  ///< matrix products, convolutions as products among them
  attention,
  elementwise,  ///< maps, copies, fills
  rows,         ///< softmax, norms
  reduction,
  indexing,  ///< embeddings, gathers, scatters, sorts
  collective,
};

constexpr std::string_view name(Does does) {
  constexpr std::array<std::string_view, 8> names = {"unknown",     "product",   "attention",
                                                     "elementwise", "rows",      "reduction",
                                                     "indexing",    "collective"};
  return names[static_cast<std::size_t>(does)];
}

/// Bytes decide how long it takes.
constexpr bool is_memory_bound(Does does) {
  return does == Does::elementwise || does == Does::rows || does == Does::reduction ||
         does == Does::indexing;
}

struct KernelName {
  std::string_view
      library;  ///< "cuBLAS", "CUTLASS", "cuDNN", "FlashAttention", "PyTorch", "Inductor", …
  Does does = Does::unknown;
  bool backward = false;
};

/// By the beginnings and parts of names that these libraries give their kernels, mangled or not.
KernelName kernel_name(std::string_view name);

/// A name for a table: without return type, template arguments, parameters and namespaces that say
/// nothing.
std::string brief_kernel_name(std::string_view name);

}  // namespace roofcast::validation

#pragma once
// Library and purpose of a kernel, from its name.
#include <optional>
#include <string>
#include <string_view>

#include "model/types/dtype.hpp"

namespace roofcast::validation {

enum class Does : unsigned char {
  unknown,
  product,  ///< matrix products, and convolutions as products
  attention,
  elementwise,  ///< maps, copies, fills
  rows,         ///< softmax, norms
  reduction,
  indexing,  ///< embeddings, gathers, scatters, sorts
  collective,
};

constexpr std::string_view name(Does does) {
  return word_of(does, {"unknown", "product", "attention", "elementwise", "rows", "reduction",
                        "indexing", "collective"});
}

/// Whether the bytes moved determine the time.
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

/// Recognizes parts of the names that these libraries give their kernels, mangled or not.
KernelName kernel_name(std::string_view name);

/// A short name for a table: without return type, template arguments, parameters and namespaces.
std::string brief_kernel_name(std::string_view name);

}  // namespace roofcast::validation

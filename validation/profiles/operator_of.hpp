#pragma once
// Finds the operator that launched a kernel, and its shapes.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "validation/profiles/trace_events.hpp"

namespace roofcast::validation {

/// An operator's name and inputs as texts of TraceEvents; empty if no operator is known.
struct OperatorOf {
  std::optional<std::size_t> launched_by;  ///< position in TraceEvents::operators
  std::optional<std::uint32_t> name;
  std::uint32_t inputs = 0;
};

/// Finds a kernel's operator by its external id, else by the external id of the call that launched
/// it (correlation), else as the innermost operator running on that call's thread. If that has no
/// recorded shapes, takes the nearest enclosing operator that has them or, in a backward pass, the
/// shapes of the forward operator with the same sequence number.
class OperatorFinder {
 public:
  explicit OperatorFinder(const TraceEvents& events);
  OperatorOf find(const KernelEvent& kernel) const;

 private:
  bool has_shapes(std::size_t op) const { return shaped_[events_.operators[op].inputs]; }
  std::optional<std::size_t> launcher(const KernelEvent& kernel) const;
  std::optional<std::size_t> innermost(const LaunchEvent& launch) const;
  OperatorOf with_shapes(std::size_t op) const;

  const TraceEvents& events_;
  std::vector<bool> shaped_;  // whether inputs hold tensors, by number of text
  std::unordered_map<std::int64_t, std::size_t> by_id_, by_correlation_, forward_;
  std::vector<std::size_t> by_begin_;                // operators sorted by thread and begin
  std::vector<std::optional<std::size_t>> parents_;  // enclosing operator of each
};

}  // namespace roofcast::validation

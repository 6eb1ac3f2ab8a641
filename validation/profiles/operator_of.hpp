#pragma once
// Which operator launched a kernel, and the shapes that it was called with.
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "validation/profiles/trace_events.hpp"

namespace roofcast::validation {

/// The operator's name and inputs as texts of TraceEvents; nothing where no operator is known.
struct OperatorOf {
  std::optional<std::size_t> launched_by;  ///< of TraceEvents::operators
  std::optional<std::uint32_t> name;
  std::uint32_t inputs = 0;
};

/// An operator by the kernel's external id, else by the external id of the call that launched it
/// (correlation), else the innermost operator under way on that call's thread. Where shapes were
/// not recorded for it, those of the nearest operator around it, and for a backward pass those of
/// the forward operator with its sequence number.
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
  std::vector<bool> shaped_;  // by number of text
  std::unordered_map<std::int64_t, std::size_t> by_id_, by_correlation_, forward_;
  std::vector<std::size_t> by_begin_;                // operators, by thread and begin
  std::vector<std::optional<std::size_t>> parents_;  // of each operator
};

}  // namespace roofcast::validation

#include "model/kernels/norm/norm.hpp"

#include <algorithm>
#include <string>

#include "model/kernels/norm/passes.hpp"
#include "model/libraries/norm.hpp"

namespace roofcast::norm {
namespace {

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 64, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, 262144}};

constexpr Counts kLayernorm = {2, 2, 8, 14};
constexpr Counts kRmsnorm = {1, 1, 4, 11};

template <Kind kKind>
LaunchSequence plan(const Problem& p, const Gpu& gpu) {
  LaunchSequence program =
      p[kPass] == kForward ? plan_forward(kKind, p) : plan_backward(kKind, p, gpu);
  return program;
}

constexpr std::array<std::string_view, 2> kPasses = {"forward", "backward"};
constexpr std::array<std::string_view, 3> kStagings = {"fastest", "registers", "shared"};
constexpr roofcast::Parameter kStagingSetting = {
    "staging", "where rows arrive: in registers, or with bulk copies in shared memory, a row ahead",
    0,         kInShared,
    kChosen,   true,
    kStagings};
constexpr std::array kParameters = with_own(
    rows::kShape,
    choice("pass", "forward; or backward, from x, dy and the forward pass's statistics", kPasses,
           kForward),
    setting("vectors", "16-byte accesses a thread holds, forward: 1, 2, 4, 8; 0: the fastest", 0, 8,
            0),
    setting("cluster", "blocks that share a row, forward: 1, 2, 4, 8, 16; 0: the fastest", 0, 16,
            0),
    setting("rows_per_cluster", "rows a block takes one after the other, forward; 0: the fastest",
            0, 1024, 0),
    kStagingSetting);

constexpr std::array<KernelModel, 3> kVariants = {{
    {"norm.layernorm",
     "by mean and variance, with γ and β: the row in registers, read once",
     kParameters,
     kTypes,
     plan<Kind::layernorm>,
     {},
     candidates},
    {"norm.rmsnorm",
     "by the root mean square, with γ: the row in registers, read once",
     kParameters,
     kTypes,
     plan<Kind::rmsnorm>,
     {},
     candidates},
    kLibrary,
}};

}  // namespace

const Counts& counts_of(Kind kind) {
  return kind == Kind::layernorm ? kLayernorm : kRmsnorm;
}

void add_sector_reason(Plan& plan) {
  const Work issued = issued_by_launch(plan);
  if (issued.l1.total_bytes() > 1.01 * issued.requested.total_bytes()) {
    plan.notes.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector, and one value a row for the statistics"});
  }
}

void check_streams(const Problem& p) {
  if (!rows_are_aligned(p)) {
    throw InputError("rows of " + std::to_string(p[rows::kCols]) +
                     " elements are no multiple of 16 bytes, as bulk copies need: use staging "
                     "registers");
  }
}

void check_layout(const Problem& p, const rows::Layout& layout, std::int64_t most) {
  if (layout.vectors > most || rows::power_of_two_from(layout.vectors) != layout.vectors) {
    throw InputError("vectors is " + std::to_string(layout.vectors) +
                     ": give a power of two, at most " + std::to_string(most));
  }
  if (rows::power_of_two_from(layout.cluster) != layout.cluster) {
    throw InputError("cluster is " + std::to_string(layout.cluster) +
                     ": give 1, 2, 4, 8 or 16 blocks, or 0 for the fastest");
  }
  if (layout.threads > kMostThreads) {
    throw InputError("a row of " + std::to_string(p[rows::kCols]) +
                     " elements does not fit the registers of " + std::to_string(layout.cluster) +
                     " blocks: use a larger cluster (at most 16) or shorter rows");
  }
}

constinit const KernelFamily kFamily = {"norm",      "y = γ·(x - μ)·r + β, a row at a time",
                                        kParameters, kTypes,
                                        nullptr,     streaming,
                                        kVariants,   kValidated};

}  // namespace roofcast::norm

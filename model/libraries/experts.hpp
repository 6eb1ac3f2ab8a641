#pragma once
// The feed-forward part of a layer whose tokens pass some of its experts alone, on one GPU:
// routing, rows put in the experts' order, two grouped products with the gate between them, and the
// sum over experts.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/types/kernel_model.hpp"

namespace roofcast::experts {

/// Positions in Problem.
enum Parameter : std::size_t {
  kTokens,
  kHidden,
  kIntermediate,
  kExperts,
  kPerToken,
  kGpus,
  kRouting,
  kTileRows,
  kTileColumns
};

inline constexpr std::array<std::string_view, 3> kRoutingNames = {"balanced", "power_law_1.01",
                                                                  "power_law_1.2"};

inline constexpr std::array kShape = {
    roofcast::Parameter{"tokens", "that are routed, of all GPUs that share the experts", 1,
                        std::int64_t{1} << 20},
    roofcast::Parameter{"hidden", "elements of a token", 16, std::int64_t{1} << 17},
    roofcast::Parameter{"intermediate", "inner width of an expert on this GPU: divided by tp", 16,
                        std::int64_t{1} << 17},
    roofcast::Parameter{"experts", "of all GPUs together", 1, 1024},
    roofcast::Parameter{"per_token", "experts that a token passes", 1, 64},
    roofcast::Parameter{"ep", "GPUs that share the experts; the forecast is of the busiest", 1,
                        4096, 1},
    choice("routing",
           "how often the experts are chosen: each alike, or by a power law with that exponent",
           kRoutingNames, 0)};

inline constexpr std::array kTypes = {DType::bf16, DType::fp16, DType::fp8};

LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);
std::vector<Problem> library_candidates(const Problem& problem, const Gpu& gpu);

inline constexpr std::array kLibraryParameters =
    with_own(kShape,
             setting("tile_rows", "rows of a tile, all of one expert; 0: to choose", kToChoose, 256,
                     kToChoose),
             setting("tile_columns", "columns of a tile; 0: to choose", kToChoose, 256, kToChoose));

inline constexpr std::array<std::size_t, 2> kOwnChoice = {kTileRows, kTileColumns};

/// Shapes of the table that the forecasts are held against: tests/validation/comparison.
inline constexpr std::array kValidated = {
    ValidatedRange{kTokens, 1, 65536},        ValidatedRange{kHidden, 2048, 7168},
    ValidatedRange{kIntermediate, 32, 16384}, ValidatedRange{kExperts, 8, 512},
    ValidatedRange{kPerToken, 1, 10},         ValidatedRange{kGpus, 1, 256}};

inline constexpr KernelModel kLibrary = {
    .name = "moe.library",
    .summary = "what TensorRT-LLM launches: routing, grouped products by CUTLASS, sum",
    .parameters = kLibraryParameters,
    .dtypes = kTypes,
    .plan = plan_library,
    .candidates = library_candidates,
    .own_choice = kOwnChoice};

inline constexpr std::array kVariants = {kLibrary};

extern const KernelFamily kFamily;

}  // namespace roofcast::experts

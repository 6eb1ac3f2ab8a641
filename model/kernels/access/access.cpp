#include "model/kernels/access/access.hpp"

#include "model/kernels/access/plans.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::access {
namespace {

constexpr roofcast::Parameter kN = {"n", "elements of y", 1, kMaxElements, std::nullopt};

constexpr std::array kStridedParameters = {
    kN,
    roofcast::Parameter{"stride", "elements from one access to the next", 1, 65536, std::nullopt},
    roofcast::Parameter{"width", "elements of an access: 1, 2, 4 or 8", 1, 8, 1}};
constexpr std::array kOffsetParameters = {
    kN, roofcast::Parameter{"offset", "elements before the first that is read", 0, 1 << 20,
                            std::nullopt}};
constexpr std::array kGatherParameters = {
    kN,
    roofcast::Parameter{"window", "elements among which an index is drawn: a power of two", 1,
                        std::int64_t{1} << 32, std::int64_t{1} << 20},
    choice("distribution",
           "shuffled: a permutation inside each window; uniform: independent draws from a table of "
           "one window",
           gather::kDistributions, gather::kUniform)};
constexpr std::array kMatrixParameters = {
    roofcast::Parameter{"rows", "rows of x and y", 1, std::int64_t{1} << 24, std::nullopt},
    roofcast::Parameter{"cols", "elements of a row", 1, std::int64_t{1} << 24, std::nullopt}};
constexpr std::array kSharedParameters = {
    kN,
    roofcast::Parameter{"stride", "words from one lane to the next", 0, shared::kMaxStride,
                        std::nullopt},
    roofcast::Parameter{"width", "words of an access: 1, 2 or 4", 1, 4, 1},
    roofcast::Parameter{"repeats", "accesses of a thread: a multiple of 8", 8, 65536, 64}};

constexpr std::array kTypes = {DType::fp32, DType::fp64, DType::fp16, DType::bf16};
constexpr std::array kFp32 = {DType::fp32};

constexpr std::array<KernelModel, 6> kVariants = {{
    {"access.strided", "y[i] = x[i·stride]", kStridedParameters, kTypes, plan_strided},
    {"access.offset", "y[i] = x[i + offset]", kOffsetParameters, kTypes, plan_offset},
    {"access.gather", "y[i] = x[index[i]]", kGatherParameters, kTypes, plan_gather},
    {"access.row_wise", "y = x, lanes along the rows", kMatrixParameters, kTypes, plan_row_wise},
    {"access.column_wise", "y = x, lanes down the columns", kMatrixParameters, kTypes,
     plan_column_wise},
    {"access.shared", "strided loads from shared memory: bank conflicts", kSharedParameters, kFp32,
     plan_shared},
}};

}  // namespace

constinit const KernelFamily kFamily = {"access",  "one element in, one out, in various orders",
                                        {},        kTypes,
                                        nullptr,   streaming,
                                        kVariants, {}};

}  // namespace roofcast::access

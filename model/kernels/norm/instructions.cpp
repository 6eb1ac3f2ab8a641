// Instructions of the normalization kernels: least squares of the counters, mostly within 5%.
#include "model/kernels/norm/passes.hpp"

namespace roofcast::norm {
namespace {

using rows::Instructions;

/// In fp32, and in 16-bit types.
using ByWidth = std::array<Instructions, 2>;
using ByKind = std::array<ByWidth, 2>;

// Vector, idle, shifted, warp, merge, start.
constexpr ByKind kOneRow = {
    {{Instructions{78, 0, 24, 127, 75, 0}, Instructions{151, 76, 35, 127, 75, 0}},
     {Instructions{50, 17, 16, 76, 63, 0}, Instructions{98, 76, 36, 19, 72, 0}}}};
constexpr ByKind kInTurn = {
    {{Instructions{130, 60, 25, 240, 0, 100}, Instructions{89, 0, 29, 416, 0, 108}},
     {Instructions{100, 60, 16, 167, 0, 50}, Instructions{69, 29, 20, 227, 0, 45}}}};
constexpr ByKind kStreamed = {
    {{Instructions{58, 50, 0, 4, 22, 274}, Instructions{115, 44, 0, 2, 0, 282}},
     {Instructions{43, 49, 0, 4, 0, 170}, Instructions{96, 31, 0, 0, 0, 58}}}};
constexpr ByKind kBackwardHeld = {
    {{Instructions{140, 40, 0, 0, 26, 486}, Instructions{230, 100, 0, 0, 26, 486}},
     {Instructions{154, 0, 0, 0, 6, 154}, Instructions{209, 100, 0, 0, 1, 126}}}};
constexpr ByKind kBackwardStreamed = {
    {{Instructions{97, 97, 0, 0, 24, 0}, Instructions{204, 100, 0, 0, 17, 739}},
     {Instructions{82, 82, 0, 0, 17, 0}, Instructions{172, 157, 0, 0, 21, 543}}}};
// A vector here is one element of each of 32 threads.
constexpr ByKind kBackwardByElement = {
    {{Instructions{50, 10, 0, 0, 26, 486}, Instructions{47, 38, 0, 0, 26, 486}},
     {Instructions{53, 6, 0, 0, 6, 154}, Instructions{42, 40, 0, 0, 1, 126}}}};

// In the order of Form.
constexpr std::array kByForm = {kOneRow,       kInTurn,           kStreamed,
                                kBackwardHeld, kBackwardStreamed, kBackwardByElement};

}  // namespace

const Instructions& instructions_of(Form form, Kind kind, const Problem& p) {
  return kByForm[static_cast<std::size_t>(form)][static_cast<std::size_t>(kind)][narrow(p) ? 1 : 0];
}

}  // namespace roofcast::norm

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "validation/profiles/operations.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::validation {
namespace {

// The integers of a list such as "[3, 3]"; nothing for any other text.
std::optional<std::vector<std::int64_t>> list_of(const TracedCall& call, std::size_t position) {
  if (position >= call.values.size()) return std::nullopt;
  std::string_view text = call.values[position];
  if (!text.starts_with('[') || !text.ends_with(']')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<std::int64_t> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const auto number = number_of<std::int64_t>(text.substr(0, end));
    if (!number) return std::nullopt;
    found.push_back(*number);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (text.starts_with(' ')) text.remove_prefix(1);
  }
  return found;
}

// Pixels per image of the result.
std::optional<double> result_pixels(const TracedCall& call, const TensorShape& input,
                                    const TensorShape& weight) {
  constexpr std::size_t kPadding = 2, kStride = 3, kDilation = 4;
  const auto padding = list_of(call, kPadding), stride = list_of(call, kStride),
             dilation = list_of(call, kDilation);
  const std::size_t extents = input.dims.size() - 2;
  for (const auto& list : {padding, stride, dilation}) {
    if (!list || list->size() != extents) return std::nullopt;
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 40U;
  double pixels = 1;
  for (std::size_t i = 0; i < extents; ++i) {
    const std::array all = {input.dims[i + 2], weight.dims[i + 2], (*padding)[i], (*stride)[i],
                            (*dilation)[i]};
    const bool sizes =
        std::all_of(all.begin(), all.end(), [](auto one) { return one >= 0 && one <= kMost; });
    if (!sizes || (*stride)[i] < 1) return std::nullopt;
    const double span =
        static_cast<double>(input.dims[i + 2]) + 2 * static_cast<double>((*padding)[i]) -
        static_cast<double>((*dilation)[i]) * static_cast<double>(weight.dims[i + 2] - 1) - 1;
    if (span < 0) return std::nullopt;
    pixels *= std::floor(span / static_cast<double>((*stride)[i])) + 1;
  }
  return pixels;
}

bool are_tensors_of_one(const TensorShape& input, const TensorShape& weight) {
  const auto sizes = [](const TensorShape& one) {
    return std::all_of(one.dims.begin(), one.dims.end(), [](auto dim) { return dim > 0; });
  };
  return input.dims.size() > 2 && input.dims.size() == weight.dims.size() && sizes(input) &&
         sizes(weight);
}

// cuDNN may compute fp32 in TF32.
FlopsByType on_tensor_cores(DType type, double flops) {
  FlopsByType found;
  found[type == DType::fp32 ? DType::tf32 : type] = flops;
  return found;
}

Recognized bounded(const TracedCall& call, const Traffic& bytes, DType type, double flops) {
  Recognized found = moving(call.name, bytes, Does::product, on_tensor_cores(type, flops));
  found.bound_alone = true;
  return found;
}

// FLOPs: 2 × results × weights of one filter (all weights ÷ filters).
double product_flops(double results, const TensorShape& weight) {
  return 2 * results * elements_of(weight) / static_cast<double>(weight.dims[0]);
}

bool every(const std::optional<std::vector<std::int64_t>>& list, std::int64_t value) {
  return list && std::all_of(list->begin(), list->end(), [&](auto one) { return one == value; });
}

/// The catalogue's convolution: of 2D images, with square filters over all channels, no dilation,
/// and padding with which the result has ⌈extent ÷ stride⌉ pixels along each axis.
std::optional<Recognized> catalogued(const TracedCall& call, DType type, double pixels) {
  constexpr std::size_t kStride = 3, kDilation = 4, kTf32 = 8;
  const TensorShape &input = call.inputs[0], &weight = call.inputs[1];
  const auto stride = list_of(call, kStride);
  const bool plain = input.dims.size() == 4 && weight.dims[1] == input.dims[1] &&
                     weight.dims[2] == weight.dims[3] && every(stride, stride->front()) &&
                     every(list_of(call, kDilation), 1);
  if (!plain) return std::nullopt;
  if (type == DType::fp32 && call.values.size() > kTf32 && call.values[kTf32] == "True") {
    type = DType::tf32;
  }
  const KernelRef kernel = find_kernel("convolution.library");
  Recognized found{kernel, problem_with_fallbacks(kernel, type), Does::product};
  const std::array given = {
      std::pair("images", input.dims[0]),   std::pair("height", input.dims[2]),
      std::pair("width", input.dims[3]),    std::pair("channels", input.dims[1]),
      std::pair("filters", weight.dims[0]), std::pair("side", weight.dims[2]),
      std::pair("stride", stride->front())};
  for (const auto& [name, value] : given) set_parameter(kernel, found.problem, name, value);
  const auto extent = [&](std::size_t i) {
    return std::ceil(static_cast<double>(input.dims[i]) / static_cast<double>(stride->front()));
  };
  if (pixels != extent(2) * extent(3)) return std::nullopt;
  try {
    check(kernel, found.problem, ~0U);
  } catch (const InputError&) {
    return std::nullopt;
  }
  return found;
}

std::optional<Recognized> forward(const TracedCall& call) {
  if (call.inputs.size() < 2) return std::nullopt;
  const TensorShape &input = call.inputs[0], &weight = call.inputs[1];
  const auto type = dtype_of(input);
  if (!type || !are_tensors_of_one(input, weight)) return std::nullopt;
  const auto pixels = result_pixels(call, input, weight);
  if (!pixels) return std::nullopt;
  if (auto found = catalogued(call, *type, *pixels)) return found;
  const double results =
      static_cast<double>(input.dims[0]) * static_cast<double>(weight.dims[0]) * *pixels;
  const Traffic bytes{bytes_of(input) + bytes_of(weight),
                      results * static_cast<double>(size_bytes(*type))};
  return bounded(call, bytes, *type, product_flops(results, weight));
}

std::optional<Recognized> backward(const TracedCall& call) {
  constexpr std::size_t kTransposed = 7, kMask = 10;
  if (call.inputs.size() < 3 || call.values.size() <= kMask) return std::nullopt;
  const TensorShape &gradient = call.inputs[0], &input = call.inputs[1], &weight = call.inputs[2];
  const auto type = dtype_of(input);
  const bool known = type && are_tensors_of_one(input, weight) &&
                     are_tensors_of_one(gradient, weight) && call.values[kTransposed] == "False";
  if (!known) return std::nullopt;
  const bool of_input = call.values[kMask].starts_with("[True");
  const bool of_weight =
      call.values[kMask].find("True, True") == 1 || call.values[kMask].starts_with("[False, True");
  Traffic bytes{bytes_of(gradient), 0};
  double products = 0;
  for (const auto& [wanted, read, written] :
       {std::tuple(of_input, &weight, &input), std::tuple(of_weight, &input, &weight)}) {
    if (!wanted) continue;
    ++products;
    bytes.read_bytes += bytes_of(*read);
    bytes.write_bytes += bytes_of(*written);
  }
  if (products == 0) return std::nullopt;
  return bounded(call, bytes, *type, products * product_flops(elements_of(gradient), weight));
}

}  // namespace

std::optional<Recognized> recognize_convolution(const TracedCall& call) {
  if (call.name == "aten::cudnn_convolution") return forward(call);
  if (call.name == "aten::convolution_backward") return backward(call);
  return std::nullopt;
}

}  // namespace roofcast::validation

#include "validation/sass/operations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "validation/sass/opcodes.hpp"

namespace roofcast::sass {
namespace {

constexpr double kWarp = 32;
constexpr double kWarpgroupWarps = 4;

struct Accessing {
  std::string_view opcode;
  Space space;
  Direction direction;
};

constexpr std::array kAccesses = {Accessing{"LD", Space::global, Direction::load},
                                  Accessing{"LDG", Space::global, Direction::load},
                                  Accessing{"LDGMC", Space::global, Direction::load},
                                  Accessing{"ST", Space::global, Direction::store},
                                  Accessing{"STG", Space::global, Direction::store},
                                  Accessing{"USTGR", Space::global, Direction::store},
                                  Accessing{"LDGSTS", Space::global, Direction::copy},
                                  Accessing{"UBLKCP", Space::global, Direction::copy},
                                  Accessing{"UTMALDG", Space::global, Direction::copy},
                                  Accessing{"UTMASTG", Space::global, Direction::store},
                                  Accessing{"UTMAREDG", Space::global, Direction::atomic},
                                  Accessing{"UBLKRED", Space::global, Direction::atomic},
                                  Accessing{"ATOM", Space::global, Direction::atomic},
                                  Accessing{"ATOMG", Space::global, Direction::atomic},
                                  Accessing{"RED", Space::global, Direction::atomic},
                                  Accessing{"REDG", Space::global, Direction::atomic},
                                  Accessing{"UREDGR", Space::global, Direction::atomic},
                                  Accessing{"LDS", Space::shared, Direction::load},
                                  Accessing{"LDSM", Space::shared, Direction::load},
                                  Accessing{"STS", Space::shared, Direction::store},
                                  Accessing{"STSM", Space::shared, Direction::store},
                                  Accessing{"STAS", Space::shared, Direction::store},
                                  Accessing{"ATOMS", Space::shared, Direction::atomic},
                                  Accessing{"REDAS", Space::shared, Direction::atomic},
                                  Accessing{"LDL", Space::local, Direction::load},
                                  Accessing{"STL", Space::local, Direction::store}};

constexpr std::array<std::pair<std::string_view, std::int64_t>, 10> kWidths = {{{"256", 32},
                                                                                {"128", 16},
                                                                                {"64", 8},
                                                                                {"U16", 2},
                                                                                {"S16", 2},
                                                                                {"U8", 1},
                                                                                {"S8", 1},
                                                                                {"F32x4", 16},
                                                                                {"F32x2", 8},
                                                                                {"F16x8", 16}}};

std::int64_t width_of(std::string_view opcode) {
  const std::string_view what = base(opcode);
  const bool bulk = what.starts_with("UBLK") || what.starts_with("UTMA");
  if (bulk) return 0;
  if (what == "LDSM" || what == "STSM") {
    // 1, 2 or 4 matrices of 8 × 8 elements of 2 B: 4 B per thread and matrix.
    if (has_modifier(opcode, "4")) return 16;
    return has_modifier(opcode, "2") ? 8 : 4;
  }
  for (const auto& [word, bytes] : kWidths) {
    if (has_modifier(opcode, word)) return bytes;
  }
  return 4;
}

std::string name_of(std::string_view opcode, std::int64_t bytes) {
  std::string text(base(opcode));
  if (bytes > 0) text += '.' + std::to_string(8 * bytes);
  return text;
}

/// Whether one of the first two sources is the zero register; the result is the operand before
/// them.
bool has_zero_factor(std::string_view operands) {
  std::size_t comma = operands.find(',');
  for (int source = 0; source < 2 && comma != std::string_view::npos; ++source) {
    std::string_view rest = operands.substr(comma + 1);
    comma = operands.find(',', comma + 1);
    rest = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.find_first_not_of(" -|"), rest.size()));
    if (rest.starts_with("RZ") || rest.starts_with("URZ")) return true;
  }
  return false;
}

std::optional<Arithmetic> vector_arithmetic(const Instruction& instruction) {
  struct Operation {
    std::string_view opcode;
    DType type;
    double flops;
  };
  constexpr std::array operations = {
      Operation{"FADD", DType::fp32, 1},    Operation{"FMUL", DType::fp32, 1},
      Operation{"FFMA", DType::fp32, 2},    Operation{"FADD32I", DType::fp32, 1},
      Operation{"FMUL32I", DType::fp32, 1}, Operation{"FFMA32I", DType::fp32, 2},
      Operation{"FADD2", DType::fp32, 2},   Operation{"FMUL2", DType::fp32, 2},
      Operation{"FFMA2", DType::fp32, 4},   Operation{"DADD", DType::fp64, 1},
      Operation{"DMUL", DType::fp64, 1},    Operation{"DFMA", DType::fp64, 2},
      Operation{"HADD2", DType::fp16, 2},   Operation{"HMUL2", DType::fp16, 2},
      Operation{"HFMA2", DType::fp16, 4}};
  const std::string_view what = base(instruction.opcode);
  const auto* const found =
      std::find_if(operations.begin(), operations.end(),
                   [what](const Operation& operation) { return operation.opcode == what; });
  if (found == operations.end() || has_zero_factor(instruction.operands)) return std::nullopt;
  Arithmetic result;
  result.type = found->type;
  result.flops = found->flops;
  const bool bf16 = has_modifier(instruction.opcode, "BF16_V2") ||
                    has_modifier(instruction.opcode, "BF16") ||
                    has_modifier(instruction.opcode, "BF16x2");
  if (result.type == DType::fp16 && bf16) result.type = DType::bf16;
  return result;
}

DType tensor_type(std::string_view opcode) {
  const std::string_view what = base(opcode);
  if (what.find("IMMA") != std::string_view::npos || what == "IGMMA") return DType::int8;
  if (what.find("QMMA") != std::string_view::npos || what == "QGMMA") return DType::fp8;
  if (what.find("OMMA") != std::string_view::npos) return DType::fp4;
  if (what == "DMMA") return DType::fp64;
  if (has_modifier(opcode, "TF32")) return DType::tf32;
  return has_modifier(opcode, "BF16") ? DType::bf16 : DType::fp16;
}

/// Multiply-adds of a warp from the digits of m, n and k: "16816" is 16 × 8 × 16.
std::optional<double> warp_products(std::string_view digits) {
  constexpr std::array<std::pair<std::string_view, double>, 9> shapes = {
      {{"884", 8 * 8 * 4},
       {"1684", 16 * 8 * 4},
       {"1688", 16 * 8 * 8},
       {"16816", 16 * 8 * 16},
       {"16832", 16 * 8 * 32},
       {"16864", 16 * 8 * 64},
       {"8816", 8 * 8 * 16},
       {"8832", 8 * 8 * 32},
       {"168128", 16 * 8 * 128}}};
  for (const auto& [shape, products] : shapes) {
    if (shape == digits) return products;
  }
  return std::nullopt;
}

/// Multiply-adds of a shape as in "64x128x16", of a warpgroup or of a warp.
std::optional<double> group_products(std::string_view shape) {
  double products = 1;
  for (int i = 0; i < 3; ++i) {
    std::int64_t size = 0;
    const auto [end, error] = std::from_chars(shape.data(), shape.data() + shape.size(), size);
    constexpr std::int64_t kMost = 4096;
    if (error != std::errc() || size < 1 || size > kMost) return std::nullopt;
    products *= static_cast<double>(size);
    shape.remove_prefix(static_cast<std::size_t>(end - shape.data()));
    if (i == 2) return shape.empty() ? std::optional(products) : std::nullopt;
    if (!shape.starts_with('x')) return std::nullopt;
    shape.remove_prefix(1);
  }
  return std::nullopt;
}

Arithmetic tensor_arithmetic(std::string_view opcode) {
  const std::string_view what = base(opcode);
  Arithmetic result;
  result.type = tensor_type(opcode);
  result.tensor = true;
  result.by_warp = what.find("GMMA") == std::string_view::npos && !what.starts_with("UTC");
  std::string_view shape = opcode.substr(std::min(what.size() + 1, opcode.size()));
  shape = shape.substr(0, shape.find('.'));
  if (const auto products = warp_products(shape)) {
    result.flops = 2 * *products / kWarp;
  } else if (const auto of_group = group_products(shape)) {
    result.flops = 2 * *of_group / kWarp / (result.by_warp ? 1 : kWarpgroupWarps);
  } else {
    result.unknown_shape = true;
  }
  return result;
}

}  // namespace

std::optional<Access> access_of(const Instruction& instruction) {
  const std::string_view what = base(instruction.opcode);
  const auto* const found = std::find_if(kAccesses.begin(), kAccesses.end(),
                                         [what](const Accessing& a) { return a.opcode == what; });
  if (found == kAccesses.end()) return std::nullopt;
  Access access{found->space, found->direction, width_of(instruction.opcode), {}};
  access.name = name_of(instruction.opcode, access.bytes);
  // "UBLKCP.G.S": from shared to global memory, the destination first.
  if (what == "UBLKCP" && instruction.opcode.starts_with("UBLKCP.G")) {
    access.direction = Direction::store;
  }
  return access;
}

std::optional<Arithmetic> arithmetic_of(const Instruction& instruction) {
  if (pipe_of(base(instruction.opcode)) == Pipe::tensor) {
    return tensor_arithmetic(instruction.opcode);
  }
  return vector_arithmetic(instruction);
}

}  // namespace roofcast::sass

#include "validation/sass/mix.hpp"

#include <algorithm>

namespace roofcast::sass {
namespace {

void add_global(Mix& mix, const Access& access) {
  const auto bytes = static_cast<double>(access.bytes);
  const bool reads = access.direction != Direction::store;
  const bool writes = access.direction == Direction::store || access.direction == Direction::atomic;
  mix.reads_global = mix.reads_global || reads;
  mix.writes_global = mix.writes_global || writes;
  mix.copies_in_bulk = mix.copies_in_bulk || access.bytes == 0;
  if (reads) mix.read_bytes += bytes;
  if (writes) mix.write_bytes += bytes;
  if (access.direction != Direction::copy) return;
  mix.uses_shared = true;
  mix.shared_bytes += bytes;
}

void add_access(Mix& mix, const Access& access) {
  ++mix.accesses[access.name];
  constexpr double warp = 32;
  constexpr double cycle_bytes = 128;
  const auto bytes = static_cast<double>(access.bytes);
  mix.lsu_cycles += std::max(1.0, bytes * warp / cycle_bytes);
  switch (access.space) {
    case Space::global:
      add_global(mix, access);
      break;
    case Space::shared:
      mix.uses_shared = true;
      mix.shared_bytes += bytes;
      break;
    case Space::local:
      ++(access.direction == Direction::load ? mix.local_loads : mix.local_stores);
      break;
  }
}

}  // namespace

void Mix::add(const Instruction& instruction) {
  const std::string_view what = base(instruction.opcode);
  const auto pipe = pipe_of(what);
  if (!pipe) ++unknown[std::string(what)];
  ++by_pipe[pipe.value_or(Pipe::other)];
  ++instructions;
  if (what == "MUFU") ++special_results;
  if (what == "BAR") ++block_barriers;
  if (const auto access = access_of(instruction)) {
    add_access(*this, *access);
  } else if (pipe == Pipe::lsu) {
    lsu_cycles += 1;
  }
  if (const auto arithmetic = arithmetic_of(instruction)) {
    (arithmetic->tensor ? tensor_flops : flops)[arithmetic->type] += arithmetic->flops;
    if (arithmetic->unknown_shape) {
      unknown_tensor_shape = true;
      unknown_tensor_type = arithmetic->type;
    }
    tensor_by_warps = tensor_by_warps || arithmetic->by_warp;
  }
}

}  // namespace roofcast::sass

#pragma once
// The pipe of each opcode.
//
// Opcodes: CUDA Binary Utilities, "Instruction Set Reference", the lists of Turing, Ampere and Ada,
// Hopper, and Blackwell. Pipes: Nsight Compute, "Profiling Guide", table of pipelines; CUDA C++
// Programming Guide, table of arithmetic throughput (population count, leading zeros and reversal
// run at the rate of special functions).
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "model/types/by_key.hpp"

namespace roofcast::sass {

enum class Pipe : unsigned char {
  fma,         ///< fp32, fp16 and bf16 arithmetic, integer multiplication
  alu,         ///< integers, logic, comparisons, moves
  fp64,        ///< double precision
  tensor,      ///< matrix instructions
  special,     ///< reciprocals, exponentials, sines, bit counts
  conversion,  ///< between number formats
  lsu,         ///< loads, stores, atomics, copies, shuffles, textures
  uniform,     ///< the scalar pipe of a warp
  branch,      ///< branches, calls, reconvergence
  barrier,     ///< barriers, fences and waits
  other        ///< constants, special registers, unknown opcodes: only an issue slot
};

inline constexpr std::array kAllPipes = {Pipe::fma,     Pipe::alu,        Pipe::fp64, Pipe::tensor,
                                         Pipe::special, Pipe::conversion, Pipe::lsu,  Pipe::uniform,
                                         Pipe::branch,  Pipe::barrier,    Pipe::other};

constexpr std::string_view name(Pipe pipe) {
  return word_of(pipe, {"fma", "alu", "fp64", "tensor", "special", "conversion", "lsu", "uniform",
                        "branch", "barrier", "other"});
}

struct OpcodePipe {
  std::string_view opcode;  ///< without modifiers
  Pipe pipe;
};

// clang-format off
inline constexpr auto kOpcodes = [] {
  using enum Pipe;
  std::array table = std::to_array<OpcodePipe>({
      {"FADD", fma}, {"FADD2", fma}, {"FADD32I", fma}, {"FFMA", fma}, {"FFMA2", fma},
      {"FFMA32I", fma}, {"FHADD", fma}, {"FHFMA", fma}, {"FMUL", fma}, {"FMUL2", fma},
      {"FMUL32I", fma}, {"FSWZADD", fma}, {"HADD2", fma}, {"HADD2_32I", fma}, {"HFMA2", fma},
      {"HFMA2_32I", fma}, {"HMUL2", fma}, {"HMUL2_32I", fma}, {"IDP", fma}, {"IDP4A", fma},
      {"IMAD", fma}, {"IMUL", fma}, {"IMUL32I", fma},

      {"BMSK", alu}, {"F2FP", alu}, {"FCHK", alu}, {"FMNMX", alu}, {"FMNMX3", alu}, {"FSEL", alu},
      {"FSET", alu}, {"FSETP", alu}, {"HMNMX2", alu}, {"HSET2", alu}, {"HSETP2", alu},
      {"I2FP", alu}, {"IABS", alu}, {"IADD", alu}, {"IADD3", alu}, {"IADD32I", alu},
      {"IMNMX", alu}, {"ISCADD", alu}, {"ISCADD32I", alu}, {"ISETP", alu}, {"LEA", alu},
      {"LOP", alu}, {"LOP3", alu}, {"LOP32I", alu}, {"MOV", alu}, {"MOV32I", alu}, {"P2R", alu},
      {"PLOP3", alu}, {"PRMT", alu}, {"PSETP", alu}, {"R2P", alu}, {"SEL", alu}, {"SGXT", alu},
      {"SHF", alu}, {"SHL", alu}, {"SHR", alu}, {"VABSDIFF", alu}, {"VABSDIFF4", alu},
      {"VHMNMX", alu}, {"VIADD", alu}, {"VIADDMNMX", alu}, {"VIMNMX", alu}, {"VIMNMX3", alu},
      {"VOTE", alu}, {"VOTE_VTG", alu},

      {"DADD", fp64}, {"DFMA", fp64}, {"DMUL", fp64}, {"DSETP", fp64},

      {"BGMMA", tensor}, {"BMMA", tensor}, {"DMMA", tensor}, {"HGMMA", tensor}, {"HMMA", tensor},
      {"IGMMA", tensor}, {"IMMA", tensor}, {"OMMA", tensor}, {"QGMMA", tensor}, {"QMMA", tensor},
      {"UTCHMMA", tensor}, {"UTCIMMA", tensor}, {"UTCOMMA", tensor}, {"UTCQMMA", tensor},

      {"BREV", special}, {"CREDUX", special}, {"FLO", special}, {"MUFU", special},
      {"POPC", special}, {"REDUX", special},

      {"F2F", conversion}, {"F2I", conversion}, {"F2IP", conversion}, {"FRND", conversion},
      {"I2F", conversion}, {"I2I", conversion}, {"I2IP", conversion},

      {"ATOM", lsu}, {"ATOMG", lsu}, {"ATOMS", lsu}, {"LD", lsu}, {"LDG", lsu}, {"LDGMC", lsu},
      {"LDGSTS", lsu}, {"LDL", lsu}, {"LDS", lsu}, {"LDSM", lsu}, {"LDT", lsu}, {"LDTM", lsu},
      {"MATCH", lsu}, {"MEMSET", lsu}, {"MOVM", lsu}, {"QSPC", lsu}, {"RED", lsu}, {"REDAS", lsu},
      {"REDG", lsu}, {"SHFL", lsu}, {"ST", lsu}, {"STAS", lsu}, {"STG", lsu}, {"STL", lsu},
      {"STS", lsu}, {"STSM", lsu}, {"STT", lsu}, {"STTM", lsu}, {"SUATOM", lsu}, {"SULD", lsu},
      {"SURED", lsu}, {"SUST", lsu}, {"TEX", lsu}, {"TLD", lsu}, {"TLD4", lsu}, {"TMML", lsu},
      {"TXD", lsu}, {"TXQ", lsu}, {"UBLKCP", lsu}, {"UBLKPF", lsu}, {"UBLKRED", lsu},
      {"UREDGR", lsu}, {"USTGR", lsu}, {"UTCCP", lsu}, {"UTCSHIFT", lsu}, {"UTMALDG", lsu},
      {"UTMAPF", lsu}, {"UTMAREDG", lsu}, {"UTMASTG", lsu},

      {"ELECT", uniform}, {"LDCU", uniform}, {"R2UR", uniform}, {"S2UR", uniform},
      {"VOTEU", uniform},

      {"BMOV", branch}, {"BPT", branch}, {"BRA", branch}, {"BREAK", branch}, {"BRX", branch},
      {"BRXU", branch}, {"BSSY", branch}, {"BSYNC", branch}, {"CALL", branch},
      {"ENDCOLLECTIVE", branch}, {"EXIT", branch}, {"JMP", branch}, {"JMX", branch},
      {"JMXU", branch}, {"KILL", branch}, {"RET", branch}, {"RPCMOV", branch}, {"RTT", branch},
      {"WARPSYNC", branch}, {"YIELD", branch},

      {"ACQBULK", barrier}, {"ARRIVES", barrier}, {"BAR", barrier}, {"CCTL", barrier},
      {"CCTLL", barrier}, {"CCTLT", barrier}, {"CGAERRBAR", barrier}, {"DEPBAR", barrier},
      {"ERRBAR", barrier}, {"FENCE", barrier}, {"LDGDEPBAR", barrier}, {"MEMBAR", barrier},
      {"NANOSLEEP", barrier}, {"PREEXIT", barrier}, {"SYNCS", barrier}, {"UCGABAR_ARV", barrier},
      {"UCGABAR_WAIT", barrier}, {"USETMAXREG", barrier}, {"UTCBAR", barrier},
      {"UTMACCTL", barrier}, {"UTMACMDFLUSH", barrier}, {"WARPGROUP", barrier},
      {"WARPGROUPSET", barrier},

      {"B2R", other}, {"CS2R", other}, {"CSMTEST", other}, {"GETLMEMBASE", other}, {"LDC", other},
      {"LEPC", other}, {"NOP", other}, {"PMTRIG", other}, {"R2B", other}, {"S2R", other},
      {"SETCTAID", other}, {"SETLMEMBASE", other},
  });
  std::sort(table.begin(), table.end(),
            [](const OpcodePipe& a, const OpcodePipe& b) { return a.opcode < b.opcode; });
  return table;
}();
// clang-format on

/// The pipe of an opcode without modifiers. By NVIDIA's naming, unlisted opcodes that begin with U
/// run on the uniform pipe. Nothing for any other unlisted one.
constexpr std::optional<Pipe> pipe_of(std::string_view opcode) {
  const auto* const found =
      std::lower_bound(kOpcodes.begin(), kOpcodes.end(), opcode,
                       [](const OpcodePipe& a, std::string_view b) { return a.opcode < b; });
  if (found != kOpcodes.end() && found->opcode == opcode) return found->pipe;
  if (opcode.starts_with('U')) return Pipe::uniform;
  return std::nullopt;
}

}  // namespace roofcast::sass

#include "validation/sass/mix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw_specs/loader.hpp"
#include "tests/validation/sass/listings.hpp"
#include "validation/sass/pipe_shares.hpp"

namespace roofcast::sass {
namespace {

using testing::code_of;
using ::testing::Pair;
using testing::report;
using ::testing::UnorderedElementsAre;

Mix mix_of(const std::vector<std::string>& lines) {
  Mix mix;
  for (const Instruction& instruction : code_of(lines)) mix.add(instruction);
  return mix;
}

TEST(SassOpcodes, EachStandsOnceInTheTable) {
  for (std::size_t i = 1; i < kOpcodes.size(); ++i) {
    EXPECT_LT(kOpcodes[i - 1].opcode, kOpcodes[i].opcode);
  }
  for (const auto& [opcode, pipe] : kOpcodes) EXPECT_EQ(pipe_of(opcode), pipe) << opcode;
}

TEST(SassOpcodes, PipesAreThoseOfTheManuals) {
  EXPECT_EQ(pipe_of("FFMA"), Pipe::fma);
  EXPECT_EQ(pipe_of("IMAD"), Pipe::fma);
  EXPECT_EQ(pipe_of("LOP3"), Pipe::alu);
  EXPECT_EQ(pipe_of("DFMA"), Pipe::fp64);
  EXPECT_EQ(pipe_of("HGMMA"), Pipe::tensor);
  EXPECT_EQ(pipe_of("UTCHMMA"), Pipe::tensor);
  EXPECT_EQ(pipe_of("MUFU"), Pipe::special);
  EXPECT_EQ(pipe_of("UTMALDG"), Pipe::lsu);
  EXPECT_EQ(pipe_of("UIADD3"), Pipe::uniform);
  EXPECT_EQ(pipe_of("UNHEARDOF"), Pipe::uniform);
  EXPECT_EQ(pipe_of("BRA"), Pipe::branch);
  EXPECT_EQ(pipe_of("SYNCS"), Pipe::barrier);
  EXPECT_FALSE(pipe_of("NEWOPCODE"));
}

TEST(SassOpcodes, StoredListingsHaveNoOthers) {
  for (const char* file : {"ampere", "hopper", "blackwell", "spills", "fat"}) {
    for (const KernelReport& one : testing::reports_of(testing::listing(file))) {
      EXPECT_TRUE(one.whole.unknown.empty()) << file << ": " << one.whole.unknown.begin()->first;
    }
  }
}

TEST(SassMix, AnOpcodeOfNoListIsCountedAndNamed) {
  const Mix mix = mix_of({"NEWOPCODE.X R1, R2", "EXIT"});
  EXPECT_THAT(mix.unknown, UnorderedElementsAre(Pair("NEWOPCODE", 1)));
  EXPECT_EQ(mix[Pipe::other], 1);
  EXPECT_EQ(mix.instructions, 2);
}

TEST(SassMix, AccessesHaveTheirWidths) {
  const Mix mix =
      mix_of({"LDG.E.128.CONSTANT R4, [R2.64]", "LDG.E R4, [R2.64]", "LDG.E.U8 R4, [R2.64]",
              "STG.E.64 [R2.64], R4", "LDGSTS.E.BYPASS.LTC128B.128 [R1], [R2.64]",
              "LDSM.16.M88.4 R4, [R1]", "STS.U16 [R1], R2", "LDL.64 R2, [R1]", "STL [R1], R2",
              "UBLKCP.S.G [UR4], [UR6], UR8", "RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2.64], R4"});
  EXPECT_THAT(mix.accesses,
              UnorderedElementsAre(Pair("LDG.128", 1), Pair("LDG.32", 1), Pair("LDG.8", 1),
                                   Pair("STG.64", 1), Pair("LDGSTS.128", 1), Pair("LDSM.128", 1),
                                   Pair("STS.16", 1), Pair("LDL.64", 1), Pair("STL.32", 1),
                                   Pair("UBLKCP", 1), Pair("RED.32", 1)));
  EXPECT_EQ(mix.local_loads, 1);
  EXPECT_EQ(mix.local_stores, 1);
  EXPECT_EQ(mix.read_bytes, 16 + 4 + 1 + 16 + 4);
  EXPECT_EQ(mix.write_bytes, 8 + 4);
  EXPECT_EQ(mix.shared_bytes, 16 + 16 + 2);
  EXPECT_TRUE(mix.copies_in_bulk);
}

TEST(SassMix, FlopsAreThoseOfAThread) {
  const Mix mix = mix_of(
      {"FFMA R1, R2, R3, R4", "FADD R1, R2, -R3", "FMUL R1, R2, 2",
       "FFMA2 R2, R4.F32x2.HI_LO, R6.F32x2.HI_LO, R8.F32x2.HI_LO", "DFMA R2, R4, R6, R8",
       "HFMA2 R1, R2, R3, R4", "HFMA2.BF16_V2 R1, R2, R3, R4",
       // These move values: a constant, a negation, half to single.
       "HFMA2.MMA R0, -RZ, RZ, 0, 5.9e-08", "FADD R1, -RZ, R2", "HADD2.F32 R0, -RZ, R0.H0_H0"});
  EXPECT_EQ(mix.flops[DType::fp32], 2 + 1 + 1 + 4);
  EXPECT_EQ(mix.flops[DType::fp64], 2);
  EXPECT_EQ(mix.flops[DType::fp16], 4);
  EXPECT_EQ(mix.flops[DType::bf16], 4);
}

TEST(SassMix, ProductsAreSharedOutAmongThreads) {
  const auto flops = [](const std::string& line, DType type) {
    return mix_of({line}).tensor_flops[type];
  };
  EXPECT_EQ(flops("HMMA.16816.F32 R8, R4, R20, R8", DType::fp16), 2 * 16 * 8 * 16 / 32);
  EXPECT_EQ(flops("HMMA.1688.F32.TF32 R8, R4, R20, R8", DType::tf32), 2 * 16 * 8 * 8 / 32);
  EXPECT_EQ(flops("IMMA.16832.S8.S8 R8, R4, R20, R8", DType::int8), 2 * 16 * 8 * 32 / 32);
  EXPECT_EQ(flops("DMMA.884 R8, R4, R20, R8", DType::fp64), 2 * 8 * 8 * 4 / 32);
  EXPECT_EQ(flops("HGMMA.64x128x16.F32.BF16 R24, gdesc[UR8], R24", DType::bf16),
            2 * 64 * 128 * 16 / 128);
  EXPECT_EQ(flops("QGMMA.64x256x32.F32.E4M3.E4M3 R24, gdesc[UR8], R24", DType::fp8),
            2 * 64 * 256 * 32 / 128);
  const Mix fifth = mix_of({"UTCHMMA gdesc[UR4], gdesc[UR26], tmem[UR7], tmem[UR8]"});
  EXPECT_TRUE(fifth.unknown_tensor_shape);
  EXPECT_EQ(fifth.tensor_flops[DType::fp16], 0);
  EXPECT_TRUE(mix_of({"HMMA.99999.F32 R8, R4"}).unknown_tensor_shape);
  EXPECT_TRUE(mix_of({"HMMA"}).unknown_tensor_shape);
}

TEST(SassMix, SpillsAreSeen) {
  const KernelReport spilled = report("spills", "spilled");
  EXPECT_GT(spilled.whole.local_stores, 0);
  EXPECT_GT(spilled.loops.at(0).own.local_loads, 0);
  EXPECT_GT(spilled.resources->stack_bytes, 0);
}

Gpu shipped(std::string_view name) {
  const specs::Embedded* one = specs::find_embedded(name);
  return specs::load({std::string(name), std::string(one->text), "", "", {}, true});
}

TEST(SassShares, TheBusiestPipeBounds) {
  const Gpu h100 = shipped("h100-sxm5");
  // 4 warp instructions a clock: 2 FFMA take half a clock of 128 lanes, and so do the slots.
  const auto fma = *shares_of(mix_of({"FFMA R1, R2, R3, R4", "FFMA R5, R2, R3, R4"}), h100);
  EXPECT_EQ(fma.bound, "issue");
  EXPECT_DOUBLE_EQ(*fma[Pipe::fma], 1);
  EXPECT_DOUBLE_EQ(*fma.issue, 1);
  // A load of 16 B a thread takes 4 clocks of 128 B, an addition of integers half a clock.
  const auto load = *shares_of(mix_of({"LDS.128 R4, [R1]", "IADD3 R1, R2, R3, RZ"}), h100);
  EXPECT_EQ(load.bound, "lsu");
  EXPECT_DOUBLE_EQ(*load[Pipe::lsu], 1);
  EXPECT_DOUBLE_EQ(*load[Pipe::alu], 0.125);
  EXPECT_DOUBLE_EQ(*load.issue, 0.125);
}

TEST(SassShares, ProductsOfAWarpReachTheirShare) {
  const Gpu h100 = shipped("h100-sxm5");
  const auto warp = *shares_of(mix_of({"HMMA.16816.F32 R8, R4, R20, R8"}), h100);
  EXPECT_EQ(warp.bound, "tensor");
  EXPECT_DOUBLE_EQ(*warp[Pipe::tensor], *h100.sm.mma_sync_share);
  const auto group = *shares_of(mix_of({"HGMMA.64x128x16.F32 R24, gdesc[UR8], R24"}), h100);
  EXPECT_DOUBLE_EQ(*group[Pipe::tensor], 1);
  const auto unknown = *shares_of(mix_of({"UTCHMMA gdesc[UR4], gdesc[UR26]"}), h100);
  EXPECT_FALSE(unknown[Pipe::tensor]);
}

TEST(SassShares, NothingWithoutInstructionsOrRates) {
  EXPECT_FALSE(shares_of(Mix{}, shipped("h100-sxm5")));
  EXPECT_FALSE(shares_of(mix_of({"NOP"}), shipped("tpu-v4")));
}

}  // namespace
}  // namespace roofcast::sass

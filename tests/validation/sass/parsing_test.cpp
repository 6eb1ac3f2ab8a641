#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/types/problem.hpp"
#include "tests/validation/sass/listings.hpp"

namespace roofcast::sass {
namespace {

using ::testing::HasSubstr;
using testing::report;
using testing::reports_of;

TEST(SassInstruction, IsReadWithGuardOperandsAndTarget) {
  const auto branch = parse_instruction(
      "        /*00c0*/              @!P0 BRA 0x3a0 ;      /* 0x0000000000b48947 */");
  ASSERT_TRUE(branch);
  EXPECT_EQ(branch->address, 0xc0U);
  EXPECT_EQ(branch->guard, "!P0");
  EXPECT_EQ(branch->opcode, "BRA");
  EXPECT_EQ(branch->target, 0x3a0U);
  const auto load = parse_instruction("/*0130*/ LDG.E.128 R12, desc[UR6][R4.64] ;");
  ASSERT_TRUE(load);
  EXPECT_EQ(base(load->opcode), "LDG");
  EXPECT_TRUE(has_modifier(load->opcode, "128"));
  EXPECT_FALSE(has_modifier(load->opcode, "LDG"));
  EXPECT_FALSE(has_modifier("LDGSTS.E.LTC128B.64", "128"));
  EXPECT_EQ(load->operands, "R12, desc[UR6][R4.64]");
  EXPECT_FALSE(load->target);
  EXPECT_EQ(parse_instruction("/*03f0*/ BRA 0x3f0;")->target, 0x3f0U);
}

TEST(SassInstruction, OtherLinesAreNone) {
  for (const char* line : {"", "   ", "/* 0x000fe200000000f0 */", "\tcode for sm_80",
                           ".headerflags @\"EF_CUDA\"", "/*unclosed", "/*xyz*/ MOV R1, R2 ;"}) {
    EXPECT_FALSE(parse_instruction(line)) << line;
  }
}

TEST(SassInstruction, AnAddressWithoutAnInstructionIsRefused) {
  for (const char* line :
       {"/*0010*/", "/*0010*/ ;", "/*0010*/ @P0 ;", "/*0010*/ mov R1, R2 ;", "/*0010*/ 0x12 ;"}) {
    EXPECT_THROW(parse_instruction(line), InputError) << line;
  }
}

/// The message of what the text is refused with.
std::string refusal(const std::string& text) {
  try {
    reports_of(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SassListing, MalformedTextIsRefusedByLine) {
  EXPECT_THAT(refusal("/*0000*/ NOP ;\n"), HasSubstr("line 1"));
  EXPECT_THAT(refusal("Function : f\n/*0010*/ NOP ;\n/*0010*/ EXIT ;\n"),
              HasSubstr("line 3 of the disassembly: the addresses of f do not ascend"));
  EXPECT_THAT(refusal("Function : \n"), HasSubstr("no name"));
  EXPECT_THAT(refusal("Function : f\n/*0010*/ ;\n"), HasSubstr("line 2"));
  EXPECT_THAT(refusal("  REG:24\n"), HasSubstr("of no function"));
  EXPECT_THAT(refusal(" Function f:\n  REG:many\n"), HasSubstr("'REG:many' has no whole number"));
  EXPECT_THAT(refusal(" Function f:\n  REG:-4\n"), HasSubstr("no whole number"));
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal("nothing of the tool's\n\n"), "");
}

TEST(SassListing, AFunctionThatIsNotWantedIsPassedOver) {
  int functions = 0;
  ListingReader reader([](const FunctionName& name) { return name.symbol == "g"; },
                       [&](const Function& function) {
                         ++functions;
                         EXPECT_EQ(function.code.size(), 1U);
                       });
  for (const char* line : {"code for sm_80", "Function : f", "/*0000*/ ;", "Function : g",
                           "/*0000*/ EXIT ;", "/*0010*/ BRA 0x10;", "/*0020*/ NOP;"}) {
    reader.line(line);
  }
  reader.finish();
  EXPECT_EQ(functions, 1);
}

TEST(SassListing, EachBinaryOfAFileHasItsOwnResources) {
  const auto reports = reports_of(testing::listing("fat"));
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].name, (FunctionName{0, "sm_80", "copy16"}));
  EXPECT_EQ(reports[1].name, (FunctionName{1, "sm_90a", "copy16"}));
  EXPECT_EQ(reports[0].resources->registers, 12);
  EXPECT_EQ(reports[1].resources->registers, 18);
  EXPECT_EQ(reports[1].resources->constant_bytes, 548);
}

TEST(SassListing, NamesAreThoseOfCpp) {
  const KernelReport tiled = report("ampere", "void sample::tiled<float>(float const*");
  EXPECT_EQ(tiled.name.symbol, "_ZN6sample5tiledIfEEvPKT_S3_PS1_i");
  EXPECT_EQ(readable("copy16"), "copy16");
  EXPECT_EQ(readable("_Znonsense"), "_Znonsense");
}

// ptxas -v: 2048 bytes of each; the tool adds the system's kibibyte from sm_90 on.
TEST(SassResources, SharedMemoryIsTheKernelsOwn) {
  for (const char* file : {"ampere", "hopper"}) {
    const KernelReport tiled = report(file, "void sample::tiled<float>");
    EXPECT_EQ(own_shared_bytes(*tiled.resources, tiled.name.architecture), 2048) << file;
  }
  EXPECT_EQ(own_shared_bytes(Resources{}, "sm_100a"), 0);
  const KernelReport fifth = report("blackwell", "fifth");
  EXPECT_EQ(own_shared_bytes(*fifth.resources, "sm_100a"), 16384 + 8 + 4);
}

}  // namespace
}  // namespace roofcast::sass

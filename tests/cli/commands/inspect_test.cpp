#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::contents;
using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::run_program;

const std::string kListings = ROOFCAST_SASS_LISTINGS;

json inspected(const std::string& words) {
  const Outcome outcome = run_program("inspect " + words + " --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json::parse(outcome.out).at("kernels");
}

TEST(Inspect, TellsWhatAKernelHoldsAndWhatItsLoopsDo) {
  const json kernels = inspected(kListings + "/hopper.sass --kernel tiled");
  ASSERT_EQ(kernels.size(), 1U);
  const json& tiled = kernels[0];
  EXPECT_EQ(tiled.at("kernel"),
            "void sample::tiled<float>(float const*, float const*, float*, int)");
  EXPECT_EQ(tiled.at("architecture"), "sm_90a");
  EXPECT_EQ(tiled.at("registers"), 20);
  EXPECT_EQ(tiled.at("shared_bytes"), 2048);
  EXPECT_EQ(tiled.at("local_stores"), 0);
  ASSERT_EQ(tiled.at("loops").size(), 2U);
  const json& inner = tiled["loops"][1];
  EXPECT_EQ(inner.at("inside_loop"), 0);
  EXPECT_EQ(inner.at("pipes").at("fma"), 2);
  EXPECT_EQ(inner.at("accesses"), json({{"LDS.32", 4}}));
  // 4 loads of 128 B take 4 clocks, 11 instructions 11/4, 2 products 2 · 32/128.
  EXPECT_EQ(inner.at("at_best").at("bound"), "lsu");
  EXPECT_DOUBLE_EQ(inner["at_best"].at("issue"), 11.0 / 16);
  EXPECT_DOUBLE_EQ(inner["at_best"].at("fma"), 0.125);
}

TEST(Inspect, ThePartsAddUpToTheWhole) {
  for (const char* file : {"ampere", "hopper", "blackwell", "spills"}) {
    for (const json& kernel : inspected(kListings + "/" + file + ".sass")) {
      std::int64_t sum = kernel.at("outside_loops").at("instructions").get<std::int64_t>();
      for (const json& loop : kernel.at("loops")) {
        sum += loop.at("instructions").get<std::int64_t>();
      }
      EXPECT_EQ(sum, kernel.at("whole").at("instructions")) << kernel.at("kernel");
    }
  }
}

TEST(Inspect, ItsTextHasARowForEachLoop) {
  const Outcome outcome = run_program("inspect " + kListings + "/spills.sass --kernel spilled");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("spilled registers"));
  EXPECT_THAT(outcome.out, HasSubstr("loop 1 at 0x"));
  EXPECT_THAT(outcome.out, HasSubstr("LDL.32"));
  EXPECT_THAT(outcome.out, HasSubstr("at best, on a100"));
}

TEST(Inspect, WhatADescriptorHoldsIsNotKnown) {
  const Outcome outcome = run_program("inspect " + kListings + "/blackwell.sass");
  EXPECT_THAT(outcome.out, HasSubstr("tensor not known"));
  const json fifth = inspected(kListings + "/blackwell.sass")[0];
  EXPECT_EQ(fifth.at("loops")[0].at("tensor_shape_known"), false);
  EXPECT_FALSE(fifth["loops"][0].at("at_best").contains("tensor"));
}

TEST(Inspect, AListingMayComeFromAPipe) {
  const Outcome outcome =
      run_program("inspect - --format json", contents(kListings + "/hopper.sass"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("kernels").size(), 2U);
}

TEST(Inspect, AGpuOfTheUsersGivesTheRates) {
  const std::string listing = kListings + "/hopper.sass --kernel copy16 --gpu ";
  EXPECT_EQ(inspected(listing + "a100-sxm4-80gb")[0].at("gpu"), "a100-sxm4-80gb");
}

/// The forecast of the kernel file that inspect writes.
json predicted(const std::string& listing, const std::string& words) {
  const Folder folder;
  const std::string file = folder.file("kernel.json");
  const Outcome written = run_program("inspect " + kListings + "/" + listing + " -o " + file);
  EXPECT_EQ(written.code, 0) << written.err;
  const Outcome outcome = run_program("predict " + file + " " + words + " --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err << contents(file);
  return json::parse(outcome.out);
}

TEST(Inspect, WritesAKernelFileThatPredictReads) {
  const json forecast =
      predicted("hopper.sass --kernel tiled",
                "--blocks 4096 --threads 256 --repeats_1 64 --repeats_2 8 --read_bytes 8388608 "
                "--write_bytes 4194304 --gpu h100-sxm5");
  EXPECT_EQ(forecast.at("launch").at("registers"), 20);
  // Unrolled by 2, the inner loop has 2 multiply-adds, 4 FLOP; a thread runs it 8 × 64 times.
  EXPECT_DOUBLE_EQ(forecast.at("work").at("flops"), 4.0 * 8 * 64 * 256 * 4096);
}

TEST(Inspect, WhatCodeDoesNotTellHasToBeGiven) {
  const Folder folder;
  const std::string file = folder.file("kernel.json");
  ASSERT_EQ(run_program("inspect " + kListings + "/hopper.sass --kernel copy16 -o " + file).code,
            0);
  const Outcome outcome = run_program("predict " + file + " --gpu h100-sxm5");
  EXPECT_NE(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("blocks"));
}

TEST(Inspect, ProductsOfUnknownShapeAreAParameter) {
  const json forecast =
      predicted("blackwell.sass",
                "--blocks 148 --threads 128 --repeats_1 16 --repeats_2 1 --read_bytes 1048576 "
                "--write_bytes 1024 --tensor_flops 1000000000 --gpu b200");
  EXPECT_DOUBLE_EQ(forecast.at("work").at("flops"), 1e9);
}

/// A kernel of nested loops, the same number of loops one after the other, or both.
std::string loops_listing(int nested, int in_a_row) {
  std::string code = "code for sm_90a\nFunction : loops\n";
  int address = 0;
  const auto add = [&](const std::string& instruction) {
    code += fmt::format("/*{:04x}*/ {} ;\n", address, instruction);
    address += 16;
  };
  add("MOV R1, R2");
  for (int i = 0; i < nested; ++i) add("FFMA R1, R2, R3, R1");
  for (int i = 0; i < nested; ++i) add(fmt::format("@P0 BRA 0x{:x}", 16 * (nested - i)));
  for (int i = 0; i < in_a_row; ++i) {
    add("FADD R1, R1, R2");
    add(fmt::format("@P0 BRA 0x{:x}", address - 16));
  }
  add("EXIT");
  return code;
}

TEST(Inspect, AKernelFileTakesNoMoreLoopsThanItCanName) {
  for (const auto& [nested, in_a_row] : {std::pair{8, 0}, {20, 0}, {0, 60}, {5, 200}}) {
    const Folder folder;
    const std::string listing = folder.write("loops.sass", loops_listing(nested, in_a_row));
    const std::string file = folder.file("loops.json");
    const Outcome outcome = run_program("inspect " + listing + " --format json -o " + file);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out)["kernels"][0]["loops"].size(),
              static_cast<std::size_t>(nested + in_a_row));
    const json parameters = json::parse(contents(file)).at("parameters");
    EXPECT_LE(parameters.size(), 2U + 8U);
    std::string words = " --blocks 1 --threads 32 --gpu h100-sxm5";
    for (const auto& [name, ignored] : parameters.items()) {
      if (name.starts_with("repeats_")) words += " --" + name + " 1";
    }
    // Each loop once: 32 threads run every product and sum in the code.
    const Outcome forecast = run_program("predict " + file + words + " --format json");
    ASSERT_EQ(forecast.code, 0) << forecast.err;
    EXPECT_EQ(json::parse(forecast.out)["work"]["flops"], 32 * (2 * nested + in_a_row));
  }
}

TEST(Inspect, RefusesWhatItCannotRead) {
  const Folder folder;
  expect_refusal("inspect", testing::kUsage, "which file");
  expect_refusal("inspect /no/such/file", testing::kBadInput, "no file");
  expect_refusal("inspect " + folder.write("empty.sass", "\n"), testing::kBadInput,
                 "no CUDA machine code");
  expect_refusal("inspect " + folder.write("bad.sass", "Function : f\n /*0000*/ ;\n"),
                 testing::kBadInput, "line 2");
  const std::string listing = kListings + "/hopper.sass";
  expect_refusal("inspect " + listing + " --kernel nope", testing::kBadInput, "copy16  sm_90a");
  expect_refusal("inspect " + listing + " --arch sm_75", testing::kBadInput, "no kernel");
  expect_refusal("inspect " + listing + " -o " + folder.file("k.json"), testing::kBadInput,
                 "2 fit");
  expect_refusal("inspect " + listing + " --format xml", testing::kUsage, "json");
  EXPECT_FALSE(fs::exists(folder.file("k.json")));
}

TEST(Inspect, AnExactNameGoesBeforeOnesThatHaveIt) {
  const Folder folder;
  const std::string two = folder.write(
      "two.sass",
      "code for sm_80\nFunction : f\n/*0000*/ EXIT ;\nFunction : ff\n/*0000*/ EXIT ;\n");
  EXPECT_EQ(inspected(two + " --kernel f").size(), 1U);
  EXPECT_EQ(inspected(two).size(), 2U);
}

/// A folder with programs of the toolkit's names: cuobjdump prints the listing of its file's name.
void write_toolkit(const Folder& folder, const std::string& cuobjdump) {
  for (const char* name : {"cuobjdump", "nvdisasm"}) {
    fs::permissions(folder.write(name, "#!/bin/sh\n" + cuobjdump), fs::perms::owner_all);
  }
}

TEST(Inspect, RunsTheToolOfPathOnABinary) {
  const Folder folder;
  write_toolkit(folder, "test \"$1 $2\" = '-sass -res-usage' && cat " + kListings + "/fat.sass\n");
  // A name that a shell would break.
  const std::string binary = folder.write("a b;'c.cubin", std::string("\177ELF\0\0", 6));
  const Outcome outcome = run_program("inspect \"" + binary + "\" --arch sm_80 --format json", "",
                                      "PATH=" + folder.file("") + ":$PATH");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("kernels").size(), 1U);
}

TEST(Inspect, SaysWhatTheToolSays) {
  const Folder folder;
  write_toolkit(folder, "echo 'no device code in here' >&2; exit 3\n");
  const std::string binary = folder.write("x.cubin", std::string("\177ELF\0\0", 6));
  const Outcome outcome =
      run_program("inspect " + binary, "", "PATH=" + folder.file("") + ":$PATH");
  EXPECT_EQ(outcome.code, testing::kBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("no device code in here"));
}

TEST(Inspect, NamesThePackageOfAMissingTool) {
  if (fs::exists("/usr/local/cuda/bin/cuobjdump")) GTEST_SKIP() << "the toolkit is installed";
  const Folder folder;
  const std::string binary = folder.write("x.cubin", std::string("\177ELF\0\0", 6));
  const Outcome outcome = run_program("inspect " + binary, "", "PATH=" + folder.file("none"));
  EXPECT_EQ(outcome.code, testing::kBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("cuda-cuobjdump"));
}

TEST(Inspect, ReadsWhatNvccCompiles) {
  const std::string path = "PATH=$PATH:/usr/local/cuda/bin";
  const auto finds = [&path](const std::string& name) {
    return std::system((path + "; command -v " + name + " >/dev/null").c_str()) == 0;
  };
  for (const char* tool : {"nvcc", "cuobjdump", "nvdisasm"}) {
    if (!finds(tool)) GTEST_SKIP() << tool << " was not found";
  }
  const Folder folder;
  const std::string object = folder.file("samples.o");
  const std::string compile =
      path + " nvcc -gencode arch=compute_80,code=sm_80 -c " + kListings + "/../samples.cu -o ";
  ASSERT_EQ(std::system((compile + object).c_str()), 0);
  const json kernels = inspected(object + " --kernel copy16");
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].at("architecture"), "sm_80");
  EXPECT_EQ(kernels[0].at("whole").at("accesses").at("LDG.128"), 1);
  EXPECT_EQ(kernels[0].at("loops").size(), 1U);
}

}  // namespace
}  // namespace roofcast::cli

// Sweeps drawn as charts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::contents;
using testing::Folder;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::run_program;

json drawn(const std::string& words) {
  const Outcome outcome = run_program("sweep " + words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json::parse(outcome.out);
}

std::vector<std::string> lines(const json& chart) {
  std::vector<std::string> names;
  for (const json& row : chart.at("datasets").at("forecasts")) {
    const std::string name = row.at("line");
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

/// The file of a run with one case, measured at 5 µs.
std::string written_run(const Folder& folder, std::string_view kernel, const Problem& problem,
                        CacheState cache) {
  validation::Run run;
  run.suite = "test";
  run.date = "2025-01-02T03:04:05Z";
  run.build = "0.1.0";
  run.device.gpu = "h200-sxm";
  run.device.device = "NVIDIA H200";
  validation::Case item;
  item.kernel = kernel;
  item.problem = problem;
  item.cache = cache;
  item.timing.samples_s = {5e-6};
  run.cases.push_back(item);
  return folder.write("run.json", validation::to_json(run));
}

TEST(SweepPlot, OneLineAKernelAndOneForWhatElseVaries) {
  const json kernels = drawn("stream.copy stream.add --n 1024:65536:*2 --gpu h200-sxm --plot time");
  EXPECT_THAT(lines(kernels), ::testing::ElementsAre("stream.copy", "stream.add"));
  EXPECT_EQ(kernels.at("datasets").at("forecasts").size(), 14U);
  const json types = drawn(
      "stream.copy --n 1024:65536:*2 --dtype fp32,bf16 --threads 128,256 --gpu h200-sxm,h100-sxm5 "
      "--plot bandwidth");
  EXPECT_EQ(lines(types).size(), 8U);
  EXPECT_EQ(lines(types).front(), "stream.copy threads=128 fp32 on h200-sxm");
}

TEST(SweepPlot, TheAxisIsTheFirstThatVariesOrTheOneChosen) {
  const std::string words =
      "stream.copy --n 1024,2048 --threads 128,256 --gpu h200-sxm --plot time";
  EXPECT_EQ(lines(drawn(words)).front(), "stream.copy threads=128");
  EXPECT_EQ(lines(drawn(words + " --x threads")).front(), "stream.copy n=1024");
  const json tied = drawn("gemm.tiled --m 64,128 --n =m --k =m --gpu h200-sxm --plot rate");
  EXPECT_EQ(lines(tied), std::vector<std::string>{"gemm.tiled"});
}

TEST(SweepPlot, SeriesByAlignmentTellSizesApart) {
  const json chart = drawn(
      "gemm.library --m 1024,1790:1800:1,1920 --n =m --k =m --dtype bf16 --gpu a100-sxm4-80gb "
      "--tile_m 128 --tile_n 256 --split_k 1 --plot rate --series alignment");
  const auto line_at = [&chart](int x) {
    for (const json& row : chart.at("datasets").at("forecasts")) {
      if (row.at("x") == x) return row.at("line").get<std::string>();
    }
    return std::string();
  };
  EXPECT_EQ(line_at(1791), "1 (odd)");
  EXPECT_EQ(line_at(1790), "2");
  EXPECT_EQ(line_at(1796), "4");
  EXPECT_EQ(line_at(1800), "8");
  EXPECT_EQ(line_at(1792), "128 or more");
  EXPECT_EQ(line_at(1920), "128 or more");
  EXPECT_EQ(lines(chart).front(), "1 (odd)");
  EXPECT_EQ(lines(chart).back(), "128 or more");
  // 108 SMs: the 98 tiles of 1792 are one wave, the 120 of 1793 are two.
  const json& waves = chart.at("datasets").at("waves");
  ASSERT_EQ(waves.size(), 1U);
  EXPECT_EQ(waves.at(0).at("x"), 1793);
  EXPECT_EQ(waves.at(0).at("waves"), "2");
  const json chosen = drawn(
      "gemm.library --m 2048,3072,4096,4097,6145 --n =m --k =m --dtype bf16 --gpu h200-sxm --plot "
      "rate "
      "--series alignment");
  const json& colour = chosen.at("layer").back().at("encoding").at("color");
  EXPECT_EQ(colour.at("scale").at("domain").size(), 8U);
  EXPECT_THAT(colour.at("legend").at("values"), ::testing::ElementsAre("1 (odd)", "128 or more"));
  EXPECT_THAT(chosen.at("title").at("subtitle").at(1).get<std::string>(),
              HasSubstr("each point with its own tile"));
}

TEST(SweepPlot, WavesAreMarkedOnALine) {
  // 8 rows of tiles on 132 SMs: 16 columns of them fit one wave, 17 do not.
  const std::string words =
      "gemm.library --m 1024 --n 2048:8448:256 --k 4096 --tile_m 128 --tile_n 256 --split_k 1 "
      "--dtype bf16 --gpu h200-sxm --plot rate";
  const json chart = drawn(words + " --waves");
  const json& waves = chart.at("datasets").at("waves");
  ASSERT_EQ(waves.size(), 1U);
  EXPECT_EQ(waves.at(0).at("x"), 17 * 256);
  EXPECT_EQ(lines(chart), std::vector<std::string>{"gemm.library"});
  EXPECT_FALSE(drawn(words).at("datasets").contains("waves"));
}

TEST(SweepPlot, MarksWhatARunMeasured) {
  const Folder folder;
  const std::string file =
      written_run(folder, "stream.copy", {.values = {1 << 20, 256, 16, 1}}, CacheState::steady);
  const std::string words =
      "stream.copy --n 524288,1048576 --loads 1 --gpu h200-sxm --plot time --run " + file;
  const json marked = drawn(words).at("datasets").at("measured");
  ASSERT_EQ(marked.size(), 1U);
  EXPECT_EQ(marked[0].at("x"), 1 << 20);
  EXPECT_EQ(marked[0].at("y"), 5e-6);
  const Outcome cold = run_program("sweep " + words + " --cache cold");
  EXPECT_EQ(cold.code, 0);
  EXPECT_THAT(cold.err, HasSubstr("measured none of these points"));
}

TEST(SweepPlot, AMeasuredLibraryIsMarkedWhateverTilesItIsTakenToChoose) {
  const Folder folder;
  const Problem product = {.dtype = DType::bf16, .values = {512, 512, 512, 64, 16, 2, 0, 1}};
  const std::string file = written_run(folder, "gemm.library", product, CacheState::cold);
  const json marked = drawn(
                          "gemm.library --m 512,1024 --n 512 --k 512 --dtype bf16 --gpu h200-sxm "
                          "--plot time --run " +
                          file)
                          .at("datasets")
                          .at("measured");
  ASSERT_EQ(marked.size(), 1U);
  EXPECT_EQ(marked[0].at("x"), 512);
}

TEST(SweepPlot, SettingsThatAreLeftOpenMayBeThoseOfTheRunsDay) {
  const Folder folder;
  // Tiles of 64x64, which are no candidate for so large a product.
  Problem product = {.dtype = DType::bf16, .values = {4096, 4096, 4096, 64, 64, 64, 1, 0, 1}};
  product.values[12] = product.values[13] = product.values[14] = 1;
  const std::string file = written_run(folder, "gemm.wgmma", product, CacheState::cold);
  const auto marked = [&file](const std::string& settings) {
    return drawn(
               "gemm.wgmma --m 2048,4096 --n 4096 --k 4096 --transposed_b 1 --dtype bf16 "
               "--gpu h200-sxm --plot time " +
               settings + "--run " + file)
        .at("datasets");
  };
  ASSERT_EQ(marked("").at("measured").size(), 1U);
  EXPECT_EQ(marked("").at("measured")[0].at("x"), 4096);
  EXPECT_EQ(marked("--tile_m 64 ").at("measured").size(), 1U);
  EXPECT_TRUE(marked("--tile_m 128 ").at("measured").empty());
}

TEST(SweepPlot, TheNameSaysTheFormat) {
  const Folder folder;
  const std::string words = "sweep stream.copy --n 1024,65536 --gpu h200-sxm -o ";
  const std::string chart = folder.file("chart.json");
  EXPECT_EQ(run_program(words + chart + " --plot time").code, 0);
  EXPECT_THAT(contents(chart), HasSubstr("vega-lite"));
  const std::string table = folder.file("table.json");
  EXPECT_EQ(run_program(words + table).code, 0);
  EXPECT_EQ(json::parse(contents(table)).size(), 2U);
  EXPECT_EQ(run_program(words + folder.file("t.csv") + " --plot time").code, 2);
}

TEST(SweepPlot, Refusals) {
  const std::string words = "sweep stream.copy --gpu h200-sxm ";
  EXPECT_EQ(run_program(words + "--n 1024 --plot time").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --plot tme").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --plot time --x m").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --x n").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --series alignment").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --plot time --series alignmen").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --waves").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --threads 128,256 --plot time --waves").code, 2);
  EXPECT_EQ(
      run_program(words + "--n 1024,2048 --threads 128,256 --plot time --series alignment").code,
      2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --plot time --format csv").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --threads 32:384:32 --plot time").code, 2);
  EXPECT_EQ(run_program(words + "--n 1024,2048 --plot time --threads 5").code, 3);
}

}  // namespace
}  // namespace roofcast::cli

// The commands that list, chart and compare.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run_program.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::contents;
using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using testing::Outcome;
using testing::run_program;

validation::Run run_of(std::vector<double> samples_s, std::int64_t n) {
  validation::Run run;
  run.suite = "test";
  run.date = "2025-01-02T03:04:05Z";
  run.build = "0.1.0";
  run.device.gpu = "h200-sxm";
  run.device.device = "NVIDIA H200";
  run.device.driver = "1";
  run.device.cuda_runtime = "13.0";
  validation::Case item;
  item.kernel = "stream.copy";
  item.problem.dtype = DType::fp32;
  item.problem.values = {n, 256, 16, 4};
  item.timing.samples_s = std::move(samples_s);
  run.cases.push_back(item);
  return run;
}

std::string run_file(const Folder& folder, const std::string& name, double seconds,
                     std::int64_t n = 1 << 28) {
  return folder.write(name, validation::to_json(run_of({seconds, seconds * 1.01}, n)));
}

constexpr double kPlausible = 600e-6;  // 2 GiB at about 3.6 TB/s
constexpr double kImpossible = 1e-6;

TEST(Calibrations, OfSeveralDevicesStandInAColumn) {
  const std::string words =
      "predict stream.copy --n 1048576 --gpu h200-sxm,a100-pcie-80gb,p100,tpu-v4";
  const Outcome table = run_program(words);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, MatchesRegex("(.|\n)*gpu +calibration +limit(.|\n)*"
                                      "h200-sxm +measured (.|\n)*a100-pcie-80gb +published "
                                      "(.|\n)*p100 +of h[12]00-sxm5? (.|\n)*tpu-v4 +none (.|\n)*"));
  const Outcome csv = run_program(words + " --format csv");
  EXPECT_THAT(csv.out, HasSubstr(",bound,calibration,notes,error\n"));
  for (const char* cell : {",measured,", ",published,", ",of h", ",none,"}) {
    EXPECT_THAT(csv.out, HasSubstr(cell));
  }
  std::istringstream lines(run_program(words + " --format json").out);
  std::vector<std::string> kinds;
  for (std::string line; std::getline(lines, line);) {
    kinds.push_back(json::parse(line)["calibration"]["kind"]);
  }
  EXPECT_THAT(kinds, ElementsAre("measured", "published", "relative", "none"));
}

TEST(Calibrations, ARelativeTakesThePlaceOfTheOwn) {
  const std::string words = "predict stream.copy --n 1048576 --gpu a100-pcie-80gb --format json";
  const json own = json::parse(run_program(words).out);
  const json forced = json::parse(run_program(words + " --relative h200-sxm").out);
  EXPECT_EQ(own["calibration"]["kind"], "published");
  EXPECT_EQ(forced["calibration"]["kind"], "relative");
  EXPECT_EQ(forced["calibration"]["from"], "h200-sxm");
  EXPECT_NE(own["time"]["expected_s"], forced["time"]["expected_s"]);
  const Outcome both = run_program(words + " --relative h200-sxm --datasheet");
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("choose one"));
  EXPECT_EQ(run_program(words + " --relative h200").code, 2);
  const Outcome unmeasured = run_program(words + " --relative k80");
  EXPECT_EQ(unmeasured.code, 3);
  EXPECT_THAT(unmeasured.err, HasSubstr("\"k80\" was not measured by this project"));
}

TEST(Lists, KernelsAndDevices) {
  EXPECT_THAT(run_program("kernels").out, HasSubstr("gemm.tiled"));
  EXPECT_THAT(run_program("kernels gemm.tiled").out, HasSubstr("--tile_m"));
  EXPECT_THAT(run_program("show gemm.tiled").out, HasSubstr("--tile_m"));
  EXPECT_THAT(run_program("gpus").out, HasSubstr("h200-sxm"));
  EXPECT_THAT(run_program("gpus h200-sxm").out, HasSubstr("sm_count"));
  EXPECT_THAT(run_program("show h200-sxm").out, HasSubstr("sm_count"));
  EXPECT_THAT(run_program("gpus h200-sxm v100-sxm2").out, HasSubstr("v100-sxm2"));
  EXPECT_THAT(run_program("gpus h200-sxm --set sm_count=7 --format csv").out,
              HasSubstr("sm_count,7,"));
  for (const char* words : {"kernels --format json", "kernels gemm --format json",
                            "gpus --format json", "gpus h200-sxm v100-sxm2 --format json"}) {
    const Outcome outcome = run_program(words);
    EXPECT_EQ(outcome.code, 0) << words;
    EXPECT_TRUE(json::accept(outcome.out)) << words;
  }
}

TEST(Roofline, JsonHoldsTheKernels) {
  const Folder folder;
  const std::string path = folder.file("roof.json");
  const Outcome outcome = run_program(
      "roofline --gpu h200-sxm --kernel gemm.tiled:m=512,n=512,k=512 --kernel gemm.vectorized "
      "--m 1024 --n 1024 --k 1024 -o " +
      path);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  const std::string chart = contents(path);
  EXPECT_TRUE(json::accept(chart));
  EXPECT_THAT(chart, HasSubstr("gemm.tiled m=512"));
  EXPECT_THAT(chart, HasSubstr("gemm.vectorized m=1024"));
}

TEST(Roofline, PlacesARun) {
  const Folder folder;
  const Outcome outcome = run_program("roofline --run " + run_file(folder, "r.json", kPlausible));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(json::accept(outcome.out));
}

TEST(Roofline, DrawsAndTellsSeveralGpus) {
  const std::string asked = "roofline --gpu p100,b200 --kernel gemm:m=4096,n=4096,k=4096";
  const Outcome chart = run_program(asked);
  EXPECT_EQ(chart.code, 0) << chart.err;
  const json spec = json::parse(chart.out);
  EXPECT_EQ(spec.at("datasets").at("predicted").size(), 2U);
  EXPECT_EQ(spec.at("title").at("text"), "Rooflines of p100, b200");
  const Outcome table = run_program(asked + " --format table");
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("7.7 TB/s"));
  EXPECT_THAT(table.out, HasSubstr("(limit)"));
  EXPECT_EQ(run_program("roofline --gpu p100 --format csv").code, 2);
  // A GPU that cannot run the kernel is reported, and the other one is drawn.
  const Outcome some = run_program(
      "roofline --gpu p100,h100-sxm5 --kernel gemm.wgmma:m=4096,n=4096,k=4096,dtype=bf16");
  EXPECT_EQ(some.code, 0);
  EXPECT_THAT(some.err, HasSubstr("p100: "));
  EXPECT_EQ(json::parse(some.out).at("datasets").at("predicted").size(), 1U);
}

TEST(Roofline, PlacesAFamilysLimit) {
  const Outcome outcome = run_program(
      "roofline --gpu h200-sxm --kernel gemm:m=64,n=64,k=64 --kernel stream.copy:n=1024");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json datasets = json::parse(outcome.out).at("datasets");
  EXPECT_EQ(datasets.at("predicted").at(0).at("shape"), "square");
  EXPECT_EQ(datasets.at("bandwidths").size(), 1U);
}

TEST(Gpus, DrawMemoryAndGenerations) {
  const json memory = json::parse(run_program("gpus h200-sxm -o -").out);
  EXPECT_EQ(memory.at("datasets").at("Size").size(), 4U);
  const json generations = json::parse(run_program("gpus -o -").out);
  EXPECT_GE(generations.at("datasets").at("ridges").size(), 6U);
  EXPECT_EQ(run_program("gpus -o x.svg --format csv").code, 2);
}

TEST(Roofline, Refusals) {
  EXPECT_EQ(run_program("roofline --kernel gemm.tiled").code, 2);
  EXPECT_EQ(run_program("roofline --gpu h200-sxm --kernel gemm.tiled:mm=1").code, 2);
  EXPECT_EQ(run_program("roofline --gpu h200-sxm -o roof.pdf").code, 2);
  const Folder folder;
  const std::string run = run_file(folder, "r.json", kPlausible);
  const Outcome two = run_program("roofline --gpu p100,b200 --run " + run);
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("names 2 devices (p100, b200)"));
}

TEST(Compare, SaysHowFarOff) {
  const Folder folder;
  const std::string file = run_file(folder, "r.json", kPlausible);
  const Outcome table = run_program("compare " + file);
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("stream"));
  EXPECT_THAT(table.out, HasSubstr("worst cases"));
  const json data = json::parse(run_program("compare --format json " + file).out);
  EXPECT_EQ(data.at("comparisons").at(0).at("rows").size(), 1U);
  EXPECT_THAT(run_program("compare --format csv " + file).out,
              HasSubstr("\nh200-sxm,stream.copy,"));
}

TEST(Compare, DrawsOneRun) {
  const Folder folder;
  const std::string file = run_file(folder, "r.json", kPlausible);
  const json times = json::parse(run_program("compare --plot times " + file).out);
  EXPECT_EQ(times.at("datasets").at("cases").size(), 1U);
  const json errors = json::parse(run_program("compare --plot errors " + file).out);
  EXPECT_EQ(errors.at("title").at("text"), "Error by family and regime");
  EXPECT_EQ(run_program("compare --plot ratio " + file).code, 2);
  const Outcome two = run_program("compare --plot errors " + file + " " + file);
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("one run"));
}

TEST(Compare, ExitsWithOneWhereARuleIsBroken) {
  const Folder folder;
  EXPECT_EQ(run_program("compare " + run_file(folder, "fast.json", kImpossible)).code, 1);
  const std::string file = run_file(folder, "slow.json", 10 * kPlausible);
  EXPECT_EQ(run_program("compare " + file).code, 0);
  const Outcome strict = run_program("compare --tolerance 10% " + file);
  EXPECT_EQ(strict.code, 1);
  EXPECT_THAT(strict.err, HasSubstr("all"));
  EXPECT_EQ(run_program("compare --tolerance stream=1000% " + file).code, 0);
}

TEST(Compare, PublishedTables) {
  const Folder folder;
  const std::string file = folder.write("t.csv",
                                        "gpu,dtype,op,rows,cols,time_us\n"
                                        "v100-sxm2,fp32,copy,1024,65536,700\n"
                                        "h200-sxm,fp32,copy,1024,65536,200\n"
                                        "h200-sxm,fp32,other,1024,65536,1\n");
  const std::string words =
      "compare --table " + file + " --kernel stream.copy --column n=rows*cols --where op=copy";
  const Outcome all = run_program(words + " --format csv");
  EXPECT_EQ(std::count(all.out.begin(), all.out.end(), '\n'), 3) << all.err;
  const Outcome one = run_program(words + " --gpu h200-sxm --format csv");
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 2) << one.err;
  EXPECT_EQ(run_program("compare --where op=copy run.json").code, 2);
  EXPECT_EQ(run_program("compare --launch-us 24 run.json").code, 2);

  // --launch-us is the launch cost in the table's times: the forecast includes it.
  const auto predicted_s = [&words](const std::string& more) {
    std::istringstream csv(run_program(words + " --gpu h200-sxm --format csv" + more).out);
    std::string line;
    std::getline(csv, line);
    std::getline(csv, line);
    std::istringstream cells(line);
    for (int cell = 0; cell < 7; ++cell) std::getline(cells, line, ',');
    return std::stod(line);
  };
  EXPECT_NEAR(predicted_s(" --launch-us 30") - predicted_s(" --launch-us 10"), 20e-6, 1e-8);
  EXPECT_NE(predicted_s(" --launch-us 30"), predicted_s(""));
  const Outcome wrong = run_program(words + " --launch-us soon");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--launch-us takes microseconds"));
}

TEST(Merge, JoinsShards) {
  const Folder folder;
  const auto shard = [&](const char* name, std::size_t index, std::int64_t n) {
    const std::string file = run_file(folder, name, kPlausible, n);
    validation::Run run = validation::parse_run(file, contents(file));
    run.suite_cases = 2;
    run.shard = {index, 2};
    run.cases.at(0).position = static_cast<std::int64_t>(index);
    return folder.write(name, validation::to_json(run));
  };
  const std::string a = shard("a.json", 0, 1 << 26);
  const std::string b = shard("b.json", 1, 1 << 27);
  const std::string path = folder.file("all.json");
  EXPECT_EQ(run_program("merge " + a + " " + b + " -o " + path).code, 0);
  EXPECT_EQ(validation::parse_run(path, contents(path)).cases.size(), 2U);
  EXPECT_EQ(run_program("merge " + a + " " + a).code, 3);
  const std::string table = folder.write("table.csv", "kernel,n\nstream.copy,1\n");
  EXPECT_EQ(run_program("merge " + table).code, 3);
  const std::string of_sweep =
      folder.write("shard.csv", run_program("sweep stream.copy --n 64,128 --gpu h100-sxm5 --shard "
                                            "0/2 --format csv")
                                    .out);
  EXPECT_THAT(run_program("merge " + of_sweep + " " + a).err, HasSubstr("do not join"));
  const Outcome missing = run_program("merge " + b);
  EXPECT_EQ(missing.code, 3);
  EXPECT_THAT(missing.err, HasSubstr("shard 0/2 is missing"));
}

TEST(Validate, WithoutAGpuSaysSo) {
  const Folder folder;
  const Outcome outcome = run_program("validate --suite quick -o " + folder.file("run.json"), "",
                                      "CUDA_VISIBLE_DEVICES=");
  EXPECT_EQ(outcome.code, 4) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(folder.names(), IsEmpty());
  EXPECT_EQ(run_program("validate --suite no-such-suite").code, 3);
  EXPECT_EQ(run_program("validate --shard 4/4").code, 3);
}

TEST(Predict, WarmStandsBetween) {
  const auto seconds = [](const std::string& cache) {
    const Outcome outcome = run_program(
        "predict norm.rmsnorm --rows 2048 --cols 2048 --staging registers --dtype bf16 --gpu "
        "h200-sxm "
        "--format json --cache " +
        cache);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto answer = nlohmann::json::parse(outcome.out);
    EXPECT_GE(answer["time"]["expected_s"], answer["limit"]["time_s"]);
    return answer["time"]["expected_s"].get<double>();
  };
  EXPECT_LT(seconds("warm"), seconds("cold"));
  const Outcome line = run_program(
      "predict --queries -",
      R"({"kernel":"norm.rmsnorm","gpu":"h200-sxm","rows":2048,"cols":2048,"staging":"registers","dtype":"bf16","cache":"warm"})"
      "\n");
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(line.out)["time"]["expected_s"], seconds("warm"));
  const Outcome wrong = run_program("predict stream.copy --n 5 --gpu h200-sxm --cache hot");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("warm"));
}

TEST(Predict, TakesTheWayKernelsAreLaunched) {
  const auto seconds = [](const std::string& launch) {
    const Outcome answer = run_program(
        "predict elementwise.gelu.unfused --n 65536 --gpu h100-sxm5 --format json --launch " +
        launch);
    EXPECT_EQ(answer.code, 0) << answer.err;
    return nlohmann::json::parse(answer.out)["time"]["expected_s"].get<double>();
  };
  EXPECT_LT(seconds("graph"), seconds("stream"));
  EXPECT_LT(seconds("pdl"), seconds("graph"));
  const Outcome query = run_program(
      "predict --queries -",
      R"({"kernel":"elementwise.gelu.unfused","gpu":"h100-sxm5","n":65536,"launch":"graph"})"
      "\n");
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(query.out)["time"]["expected_s"].get<double>(),
                   seconds("graph"));
  const Outcome wrong = run_program("predict stream.copy --n 5 --gpu h200-sxm --launch grpah");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("graph"));
}

TEST(Validate, ListsTheCasesOfASuiteAsQueries) {
  const Outcome listed = run_program("validate --suite quick --list --gpu h200-sxm");
  ASSERT_EQ(listed.code, 0) << listed.err;
  const Outcome answers = run_program("predict --queries -", listed.out);
  EXPECT_EQ(answers.code, 0) << answers.err;
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(answers.out), lines(listed.out));
  EXPECT_EQ(run_program("validate --suite quick --list").code, 0);
  const Outcome half = run_program("validate --suite quick --list --shard 1/2");
  EXPECT_EQ(lines(half.out), lines(listed.out) / 2);
}

TEST(Validate, DrawsTheSameCasesForTheSameSeed) {
  const std::string draw = "validate --suite random --gpu h100-sxm5 --list --cases 50 --seed ";
  const Outcome first = run_program(draw + "7");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(std::count(first.out.begin(), first.out.end(), '\n'), 50);
  EXPECT_EQ(run_program(draw + "7").out, first.out);
  EXPECT_NE(run_program(draw + "8").out, first.out);
  EXPECT_EQ(run_program("predict --queries -", first.out).code, 0);
}

TEST(Validate, SeedsAndNumbersOfCasesBelongToDrawnSuites) {
  const auto refused = [](const std::string& words, int code, const char* says) {
    const Outcome outcome = run_program("validate " + words);
    EXPECT_EQ(outcome.code, code) << words;
    EXPECT_THAT(outcome.err, HasSubstr(says)) << words;
    EXPECT_THAT(outcome.out, IsEmpty()) << words;
  };
  refused("--suite quick --seed 1", 2, "--seed");
  refused("--cases 10", 2, "--cases");
  refused("--suite random", 2, "--seed 7");
  refused("--suite random --seed x", 2, "--seed");
  refused("--suite random --seed -1", 2, "--seed is -1");
  refused("--suite random --seed 1 --cases 0", 2, "--cases is 0");
  refused("--suite random --seed 1 --cases 15001", 2, "15000");
  refused("--suite random --seed 1 --list", 2, "--gpu");
  refused("--suite random --seed 1 --list --gpu k80", 3, "k80");
}

}  // namespace
}  // namespace roofcast::cli

// Serving against published measurements of dense models. Nothing was fitted to any row.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "architectures/loader.hpp"
#include "model/transformer/serving.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

struct Group {
  double sum = 0, rows = 0, inside = 0;
};

// Of a dense model on the first GPU of the table; those of the other one come from other collections.
bool is_asked(const std::vector<std::string>& words) {
  const bool few = words[2] == "vllm" && words[3] == "fp8";  // two rows
  return words[0] == "h100-sxm5" && words[1].find("235B") == std::string::npos && !few;
}

TEST(ReferenceServing, TimeBetweenTokensOfDenseModels) {
  const std::string text = reference_text("serving.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  std::map<std::string, Group> groups;
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(fields, word, ',');) words.push_back(word);
    if (!is_asked(words)) continue;
    const std::string model =
        words[1].find("32B") != std::string::npos ? "qwen3-32b" : "llama-3.1-8b";
    transformer::Service service;
    service.dtype = words[3] == "bf16" ? DType::bf16 : DType::fp8;
    service.input = std::stoll(words[4]);
    service.output = std::stoll(words[5]);
    service.concurrency = std::stoll(words[6]);
    service.tp = std::stoll(words[7]);
    // Its requests begin and end at a time: their first tokens wait for half of the prompts.
    if (words[2] == "sglang") service.prompts = transformer::Prompts::together;
    const auto answer =
        predict_serving(architectures::load(model, architectures::find_embedded(model)->text),
                        service, testing::gpu_named(words[0]));
    const double measured_s = std::stod(words[10]) * 1e-3;
    Group& group = groups[model + ' ' + words[2] + ' ' + words[3]];
    group.sum += std::abs(answer.between_tokens_s / measured_s - 1);
    group.inside += measured_s >= answer.low_s && measured_s <= answer.high_s ? 1 : 0;
    ++group.rows;
  }
  ASSERT_EQ(groups.size(), 4U);
  for (const auto& [name, group] : groups) {
    std::printf("%-26s %3.0f rows: mean error %4.1f%%, %3.0f%% in the interval\n", name.c_str(),
                group.rows, 100 * group.sum / group.rows, 100 * group.inside / group.rows);
    EXPECT_LE(group.sum / group.rows, 0.10) << name;
    EXPECT_GE(group.inside / group.rows, 0.88) << name;
  }
}

}  // namespace
}  // namespace roofcast::validation

// Whole steps in fp32 against published measurements. No software constant: nothing was fitted to any row.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "architectures/loader.hpp"
#include "model/transformer/step.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

using transformer::Framework;
using transformer::Phase;
using transformer::Task;

// Of one GPU of a kind with a calibration of that architecture; models that are shipped.
bool is_asked(const std::vector<std::string>& words,
              const std::map<std::string, const char*>& models) {
  return models.contains(words[2]) && words[0] != "p100" &&
         (words[6] == "none" || words[6] == "fusion");
}

TEST(ReferenceSteps, Fp32OnOneGpu) {
  const std::string text = reference_text("steps_fp32.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  const std::map<std::string, const char*> models = {
      {"bert_large", "bert-large"}, {"gpt2_large", "gpt2-large"}, {"opt_13", "opt-1.3b"}};
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  double sum = 0, rows = 0;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(fields, word, ',');) words.push_back(word);
    if (!is_asked(words, models)) continue;
    const char* model = models.at(words[2]);
    Task task;
    task.dtype = DType::fp32;
    task.phase = words[3] == "train" ? Phase::train : Phase::prefill;
    task.all_logits = task.phase == Phase::prefill;  // a forward pass has them all
    task.framework = words[6] == "none" ? Framework::eager : Framework::compiled;
    task.seq = std::stoll(words[4]);
    task.batch = std::stoll(words[5]);
    const auto step =
        predict_step(architectures::load(model, architectures::find_embedded(model)->text), task,
                     testing::gpu_named(words[0]));
    const double error = step.expected_s / (std::stod(words.back()) * 1e-3) - 1;
    std::printf("%-17s %-11s %-5s %-6s %+5.1f%%\n", words[0].c_str(), model, words[3].c_str(),
                words[6].c_str(), 100 * error);
    sum += std::abs(error);
    ++rows;
  }
  ASSERT_EQ(rows, 14);
  std::printf("mean error %.1f%%\n", 100 * sum / rows);
  EXPECT_LE(sum / rows, 0.10);
}

}  // namespace
}  // namespace roofcast::validation

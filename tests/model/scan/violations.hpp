#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace roofcast::testing {

/// Violations by kernel and what was changed, each group with its worst example.
class Violations {
 public:
  void add(const std::string& group, double size, const std::function<std::string()>& example) {
    Group& of = groups_[group];
    ++of.count;
    if (size > of.worst) {
      of.worst = size;
      of.example = example();
    }
  }
  /// Fails with a line a group, the worst first.
  void report(const char* rule) const {
    if (groups_.empty()) return;
    std::vector<std::pair<std::string, Group>> sorted(groups_.begin(), groups_.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.second.worst > b.second.worst; });
    std::string lines;
    for (const auto& [name, group] : sorted) {
      lines += "\n  " + name + ": " + std::to_string(group.count) + ", worst " +
               std::to_string(group.worst) + ": " + group.example;
    }
    ADD_FAILURE() << rule << lines;
  }

 private:
  struct Group {
    int count = 0;
    double worst = 0;
    std::string example;
  };
  std::map<std::string, Group> groups_;
};

}  // namespace roofcast::testing

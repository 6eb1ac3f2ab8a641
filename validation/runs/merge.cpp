#include "validation/runs/merge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "validation/runs/run_file.hpp"

namespace roofcast::validation {
namespace {

void expect_same_conditions(const std::vector<NamedRun>& runs) {
  for (const NamedRun& one : runs) {
    if (one.run.shard.is_whole()) {
      throw InputError(fmt::format(
          "{}: is a whole run, no shard of one. Mend: merge the files of `validate --shard i/n`.",
          one.file));
    }
    auto differs = difference(runs.front().run, one.run);
    const Shard& shard = runs.front().run.shard;
    if (!differs && shard.count != one.run.shard.count) {
      differs = {"number of shards", std::to_string(shard.count),
                 std::to_string(one.run.shard.count)};
    }
    if (differs) {
      throw InputError(fmt::format(
          "{} and {}: differ in the {}: \"{}\" and \"{}\". Mend: merge shards of one run only.",
          runs.front().file, one.file, differs->what, differs->a, differs->b));
    }
  }
}

void expect_every_shard(const std::vector<NamedRun>& runs) {
  std::vector<const NamedRun*> sorted;
  for (const NamedRun& one : runs) sorted.push_back(&one);
  std::stable_sort(sorted.begin(), sorted.end(), [](const NamedRun* a, const NamedRun* b) {
    return a->run.shard.index < b->run.shard.index;
  });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i - 1]->run.shard == sorted[i]->run.shard) {
      throw InputError(fmt::format("{} and {}: both are shard {}. Mend: give each shard once.",
                                   sorted[i - 1]->file, sorted[i]->file,
                                   text_of(sorted[i]->run.shard)));
    }
  }
  const std::size_t count = runs.front().run.shard.count;
  for (std::size_t i = 0; i < count; ++i) {
    if (i < sorted.size() && sorted[i]->run.shard.index == i) continue;
    const std::string missing = text_of(Shard{i, count});
    throw InputError(
        fmt::format("shard {} is missing: {} of {} were given. Mend: add its run file, or measure "
                    "it with `validate --shard {}`.",
                    missing, runs.size(), count, missing));
  }
}

void expect_every_case(const NamedRun& one) {
  // parse_run has checked that each position is in the suite, of this shard, and present once.
  const std::size_t missing = missing_cases(one.run);
  if (missing == 0) return;
  const std::size_t found = one.run.cases.size() + one.run.failures.size();
  const std::string shard = text_of(one.run.shard);
  throw InputError(fmt::format(
      "{}: shard {} holds {} of its {} cases. Mend: run `validate --shard {}` with this file "
      "again: it goes on where it stopped.",
      one.file, shard, found, found + missing, shard));
}

template <class Item>
void sort_by_position(std::vector<Item>& items) {
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.position < b.position; });
}

}  // namespace

Run merge(const std::vector<NamedRun>& runs) {
  if (runs.empty()) throw InputError("there is no run to merge. Mend: name the run files.");
  if (runs.size() == 1 && runs.front().run.shard.is_whole()) return runs.front().run;
  expect_same_conditions(runs);
  expect_every_shard(runs);
  Run out = runs.front().run;
  out.shard = {};
  out.cases.clear();
  out.failures.clear();
  for (const NamedRun& one : runs) {
    expect_every_case(one);
    out.date = std::min(out.date, one.run.date);
    out.cases.insert(out.cases.end(), one.run.cases.begin(), one.run.cases.end());
    out.failures.insert(out.failures.end(), one.run.failures.begin(), one.run.failures.end());
  }
  sort_by_position(out.cases);
  sort_by_position(out.failures);
  return out;
}

}  // namespace roofcast::validation

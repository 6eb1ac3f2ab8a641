#include "model/traffic_ladder.hpp"

#include <array>

#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

// Figures have three digits: smaller differences are invisible.
constexpr int kDigits = 3;
constexpr double kNoticeable = 0.005;

bool more(double value, double than) {
  return value > than * (1 + kNoticeable);
}

/// The plan's own reasons for the level, each once: launches may repeat them.
std::string planned(const Prediction& prediction, Level level) {
  std::string text;
  for (const TrafficReason& reason : prediction.traffic_reasons) {
    if (reason.level != level || text.find(reason.text) != std::string::npos) continue;
    text += (text.empty() ? "" : "; ") + reason.text;
  }
  return text;
}

std::string requested_text(const Work& work, double requested) {
  const double compulsory = work.compulsory.total_bytes();
  if (more(compulsory, requested)) return "less than all of the arrays";
  if (compulsory <= 0 || !more(requested, compulsory)) return "compulsory: each byte once";
  return "each byte is asked for " + figure_text(requested / compulsory, kDigits) +
         " times on average" +
         (work.shared_bytes > 0 ? "; shared memory answers the other repeats" : "");
}

std::string l1_text(double requested, double l1) {
  if (more(requested, l1)) return "lanes of a warp share what they read";
  if (!more(l1, requested)) return "full sectors";
  return "whole sectors: " + figure_text(l1 / requested, kDigits) + " B moved for each byte used";
}

std::string l2_text(double l1, double l2) {
  if (more(l1, l2)) return "L1 answers the repeats";
  return more(l2, l1) ? "sectors leave L1 before all of them is used"
                      : "nothing is found again in L1";
}

std::string dram_text(double l2, double dram, double least) {
  if (more(dram, l2)) {
    return "whole accesses: " + figure_text(dram / l2, kDigits) + " B read for each byte used";
  }
  if (!more(l2, dram)) return "nothing is found again in L2";
  if (least <= 0 || !more(dram, least)) return "L2 answers repeats";
  return "L2 answers repeats, not all: each byte is read " + figure_text(dram / least, kDigits) +
         " times";
}

/// Share of the writes that never reaches DRAM: dirty lines at the end, lines rewritten later.
std::string kept_writes(const Work& work, std::int64_t launches) {
  const double written = work.dram_footprint.write_bytes;
  const double kept = written - work.dram.write_bytes;
  if (!more(written, written - kept)) return "";
  const bool all = kept >= written * (1 - kNoticeable);
  return (all ? "" : figure_text(100 * kept / written, kDigits) + "% of ") +
         "what is written stays in L2" + (launches == 1 ? " when the kernel ends" : "");
}

std::string in_words(const Work& work, Level level) {
  const double requested = work.requested.total_bytes(), l1 = work.l1.total_bytes();
  switch (level) {
    case Level::requested:
      return requested_text(work, requested);
    case Level::l1:
      return l1_text(requested, l1);
    case Level::l2:
      return l2_text(l1, work.l2.total_bytes());
    default:
      return dram_text(work.l2.read_bytes, work.dram.read_bytes, work.dram_footprint.read_bytes);
  }
}

std::string reason_of(const Prediction& prediction, Level level) {
  std::string text = planned(prediction, level);
  if (text.empty()) text = in_words(prediction.work, level);
  if (level != Level::dram) return text;
  const std::string kept = kept_writes(prediction.work, prediction.launches);
  return kept.empty() ? text : text + "; " + kept;
}

}  // namespace

std::vector<Rung> traffic_ladder(const Prediction& prediction) {
  const Work& work = prediction.work;
  const double requested = work.requested.total_bytes();
  std::vector<Rung> rungs;
  if (requested <= 0) return rungs;
  const std::array<Traffic, 4> levels = {work.requested, work.l1, work.l2, work.dram};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto level = static_cast<Level>(i);
    const double bytes = levels[i].total_bytes(), above = i > 0 ? levels[i - 1].total_bytes() : 0;
    rungs.push_back({level, levels[i], {}, bytes / requested, reason_of(prediction, level)});
    if (above > 0) rungs.back().to_above = bytes / above;
  }
  return rungs;
}

}  // namespace roofcast

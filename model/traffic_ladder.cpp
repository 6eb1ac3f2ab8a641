#include "model/traffic_ladder.hpp"

#include <utility>

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

// What the numbers say about the level: `above` and `here` bytes cross before it and at it.
std::string in_words(const Work& work, Level level, double above, double here) {
  const auto times = [](double bytes, double of) { return figure_text(bytes / of, kDigits); };
  switch (level) {
    case Level::requested:
      if (more(above, here)) return "less than all of the arrays";
      if (above <= 0 || !more(here, above)) return "compulsory: each byte once";
      return "each byte is asked for " + times(here, above) + " times on average" +
             (work.shared_bytes > 0 ? "; shared memory answers the other repeats" : "");
    case Level::l1:
      if (more(above, here)) return "lanes of a warp share what they read";
      if (!more(here, above)) return "full sectors";
      return "whole sectors: " + times(here, above) + " B moved for each byte used";
    case Level::l2:
      if (more(above, here)) return "L1 answers the repeats";
      return more(here, above) ? "sectors leave L1 before all of them is used"
                               : "nothing is found again in L1";
    case Level::dram:
      break;
  }
  const double l2 = work.l2.read_bytes, dram = work.dram.read_bytes;
  const double least = work.dram_footprint.read_bytes;
  if (more(dram, l2)) return "whole accesses: " + times(dram, l2) + " B read for each byte used";
  if (!more(l2, dram)) return "nothing is found again in L2";
  if (least <= 0 || !more(dram, least)) return "L2 answers repeats";
  return "L2 answers repeats, not all: each byte is read " + times(dram, least) + " times";
}

/// "; …" on the writes that never reach DRAM: dirty lines at the end, lines rewritten later.
std::string kept_writes(const Work& work, std::int64_t launches) {
  const double written = work.dram_footprint.write_bytes;
  const double kept = written - work.dram.write_bytes;
  if (!more(written, written - kept)) return "";
  const bool all = kept >= written * (1 - kNoticeable);
  return "; " + (all ? "" : figure_text(100 * kept / written, kDigits) + "% of ") +
         "what is written stays in L2" + (launches == 1 ? " when the kernel ends" : "");
}

}  // namespace

std::vector<Rung> traffic_ladder(const Prediction& prediction) {
  const Work& work = prediction.work;
  const double requested = work.requested.total_bytes();
  std::vector<Rung> rungs;
  if (requested <= 0) return rungs;
  double above = work.compulsory.total_bytes();
  for (const auto& [level, traffic] :
       {std::pair{Level::requested, work.requested}, std::pair{Level::l1, work.l1},
        std::pair{Level::l2, work.l2}, std::pair{Level::dram, work.dram}}) {
    const double bytes = traffic.total_bytes();
    std::string reason = planned(prediction, level);
    if (reason.empty()) reason = in_words(work, level, above, bytes);
    if (level == Level::dram) reason += kept_writes(work, prediction.launches);
    Rung& rung = rungs.emplace_back(Rung{level, traffic, {}, bytes / requested, reason});
    if (level != Level::requested && above > 0) rung.to_above = bytes / above;
    above = bytes;
  }
  return rungs;
}

}  // namespace roofcast

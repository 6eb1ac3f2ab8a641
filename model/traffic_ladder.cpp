#include "model/traffic_ladder.hpp"

#include <array>

#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

// Figures are shown with three digits: what is nearer to 1 than that is no difference.
constexpr double kNoticeable = 0.005;

std::optional<double> ratio(double over, double under) {
  return under > 0 ? std::optional(over / under) : std::nullopt;
}

bool more(double value, double than) {
  return value > than * (1 + kNoticeable);
}

void separate(std::string& text) {
  if (!text.empty()) text += "; ";
}

/// The plan's own, each once: a chain's launches may repeat theirs.
void append_planned(std::string& text, const Prediction& prediction, Level level) {
  for (const TrafficReason& reason : prediction.traffic_reasons) {
    if (reason.level != level || text.find(reason.text) != std::string::npos) continue;
    separate(text);
    text += reason.text;
  }
}

void append_requested(std::string& text, const Work& work) {
  const double compulsory = work.compulsory.total_bytes();
  const double requested = work.requested.total_bytes();
  if (more(compulsory, requested)) {
    text += "less than all of the arrays";
  } else if (compulsory <= 0 || !more(requested, compulsory)) {
    text += "compulsory: each byte once";
  } else {
    text += "each byte is asked for ";
    append_figure(text, requested / compulsory);
    text += " times on average";
    if (work.shared_bytes > 0) text += "; shared memory answers the other repeats";
  }
}

void append_l1(std::string& text, const Work& work) {
  const double requested = work.requested.total_bytes();
  const double l1 = work.l1.total_bytes();
  if (more(requested, l1)) {
    text += "lanes of a warp share what they read";
  } else if (!more(l1, requested)) {
    text += "full sectors";
  } else {
    text += "whole sectors: ";
    append_figure(text, l1 / requested);
    text += " B moved for each byte used";
  }
}

void append_l2(std::string& text, const Work& work) {
  const double l1 = work.l1.total_bytes();
  const double l2 = work.l2.total_bytes();
  if (more(l1, l2)) {
    text += "L1 answers the repeats";
  } else {
    text += more(l2, l1) ? "sectors leave L1 before all of them is used"
                         : "nothing is found again in L1";
  }
}

void append_dram(std::string& text, const Work& work) {
  const double l2 = work.l2.read_bytes;
  const double dram = work.dram.read_bytes;
  const double least = work.dram_footprint.read_bytes;
  if (more(dram, l2)) {
    text += "whole accesses: ";
    append_figure(text, dram / l2);
    text += " B read for each byte used";
  } else if (!more(l2, dram)) {
    text += "nothing is found again in L2";
  } else {
    text += "L2 answers repeats";
    if (least <= 0 || !more(dram, least)) return;
    text += ", not all: each byte is read ";
    append_figure(text, dram / least);
    text += " times";
  }
}

/// Written bytes that DRAM does not see: dirty lines at the end, and what a chain overwrites.
void append_kept_writes(std::string& text, const Work& work, std::int64_t launches) {
  const double written = work.dram_footprint.write_bytes;
  const double kept = written - work.dram.write_bytes;
  if (!more(written, written - kept)) return;
  separate(text);
  if (kept < written * (1 - kNoticeable)) {
    append_figure(text, 100 * kept / written);
    text += "% of ";
  }
  text += "what is written stays in L2";
  if (launches == 1) text += " when the kernel ends";
}

void append_own(std::string& text, const Work& work, Level level) {
  switch (level) {
    case Level::requested:
      return append_requested(text, work);
    case Level::l1:
      return append_l1(text, work);
    case Level::l2:
      return append_l2(text, work);
    case Level::dram:
      return append_dram(text, work);
  }
}

}  // namespace

std::vector<Rung> traffic_ladder(const Prediction& prediction) {
  constexpr std::size_t kUsualLength = 128;
  const Work& work = prediction.work;
  const double requested = work.requested.total_bytes();
  std::vector<Rung> rungs;
  if (requested <= 0) return rungs;
  const std::array<Traffic, 4> levels = {work.requested, work.l1, work.l2, work.dram};
  rungs.resize(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    Rung& rung = rungs[i];
    rung.level = static_cast<Level>(i);
    rung.traffic = levels[i];
    if (i > 0) rung.to_above = ratio(levels[i].total_bytes(), levels[i - 1].total_bytes());
    rung.to_requested = ratio(levels[i].total_bytes(), requested);
    rung.reason.reserve(kUsualLength);
    append_planned(rung.reason, prediction, rung.level);
    if (rung.reason.empty()) append_own(rung.reason, work, rung.level);
    if (rung.level == Level::dram) append_kept_writes(rung.reason, work, prediction.launches);
  }
  return rungs;
}

}  // namespace roofcast

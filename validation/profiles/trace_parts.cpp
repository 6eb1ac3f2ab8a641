#include "validation/profiles/trace_parts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "hw_specs/loader.hpp"

namespace roofcast::validation {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kChunk = std::size_t{1} << 22U;
constexpr std::size_t kLongestEvent = std::size_t{1} << 26U;
constexpr std::size_t kDeepest = 1000;

constexpr std::array<bool, 256> kStructural = [] {
  std::array<bool, 256> marks{};
  for (const char c : {'"', '{', '}', '[', ']', ',', ':'})
    marks[static_cast<unsigned char>(c)] = true;
  return marks;
}();

class Splitter {
 public:
  Splitter(ByteStream& stream, const std::string& file, const TakeTrace& take)
      : stream_(stream), file_(file), take_(take) {}

  void run() {
    while (!done_ && refill()) {
      while (at_ < end_ && !done_) step();
    }
    if (done_) return;
    if (!begun_) refuse("expected a trace of torch.profiler as JSON, found nothing");
    refuse("the file ends in the middle, after " + std::to_string(events_) + " whole events");
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw specs::SpecError(file_, "", "a trace of torch.profiler as JSON (" + what + ")",
                           "export it again with export_chrome_trace; a file cut off cannot be "
                           "read");
  }

  // Drops what is done, keeps the current part, and reads on behind it.
  bool refill() {
    const std::size_t keep = std::min({part_, key_, at_});
    buffer_.erase(0, keep);
    at_ -= keep;
    end_ -= keep;
    if (part_ != kNone) part_ -= keep;
    if (key_ != kNone) key_ -= keep;
    if (end_ > kLongestEvent) refuse("an event is longer than 64 MiB");
    buffer_.resize(end_ + kChunk + kReadableBehind);
    const std::size_t got = stream_.read(buffer_.data() + end_, kChunk);
    end_ += got;
    return got > 0;
  }

  void step() {
    if (in_string_) return string_step();
    const auto* text = reinterpret_cast<const unsigned char*>(buffer_.data());
    while (at_ < end_ && !kStructural[text[at_]]) ++at_;
    if (at_ < end_) structural(buffer_[at_]);
  }

  void string_step() {
    while (at_ < end_) {
      const char c = buffer_[at_++];
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
        if (key_ == kNone) return;
        name_ = buffer_.substr(key_, at_ - 1 - key_);
        key_ = kNone;
        return;
      }
    }
  }

  void structural(char c) {
    const std::size_t place = at_++;
    if (c == '"') {
      in_string_ = true;
      if (open_.size() == 1 && open_[0] == '{' && key_due_) key_ = at_;
    } else if (c == ',' || c == ':') {
      if (open_.size() == 1) key_due_ = c == ',';
    } else if (c == '{' || c == '[') {
      open(c, place);
    } else {
      close(c);
    }
  }

  bool in_events() const { return open_ == "[" || (open_ == "{[" && name_ == "traceEvents"); }

  void open(char c, std::size_t place) {
    begun_ = true;
    const bool event = c == '{' && in_events();
    const bool devices = c == '[' && open_ == "{" && name_ == "deviceProperties";
    if (event || devices) {
      part_ = place;
      part_depth_ = open_.size();
    }
    open_.push_back(c);
    key_due_ = open_.size() == 1;
    if (open_.size() > kDeepest) refuse("brackets are nested more than 1000 deep");
  }

  void close(char c) {
    if (open_.empty() || (open_.back() == '{') != (c == '}')) refuse("brackets do not match");
    open_.pop_back();
    if (part_ != kNone && open_.size() == part_depth_) {
      const std::string_view text = std::string_view(buffer_).substr(part_, at_ - part_);
      part_ = kNone;
      if (in_events()) {
        ++events_;
        take_.event(text);
      } else {
        take_.device_properties(text);
      }
    }
    done_ = open_.empty();
  }

  ByteStream& stream_;
  const std::string& file_;
  const TakeTrace& take_;
  std::string buffer_;
  std::size_t at_ = 0, end_ = 0;  // the buffer's next byte, and its end
  std::size_t part_ = kNone, part_depth_ = 0;
  std::size_t key_ = kNone;  // where the current key of the outermost object begins
  std::string name_;         // the last such key
  std::string open_;         // the open brackets
  std::size_t events_ = 0;
  bool in_string_ = false, escaped_ = false, key_due_ = false, begun_ = false, done_ = false;
};

}  // namespace

void split_trace(ByteStream& stream, const std::string& file, const TakeTrace& take) {
  Splitter(stream, file, take).run();
}

}  // namespace roofcast::validation

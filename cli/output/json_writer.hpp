#pragma once
// Appends JSON text to a buffer; no document is built. The caller keeps the nesting right.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>

#include "cli/output/utf8.hpp"

namespace roofcast::cli {

class JsonWriter {
 public:
  explicit JsonWriter(fmt::memory_buffer& out) : out_(out) {}

  void begin_object() { open('{'); }
  /// Begins the object of a key, unchecked as key().
  [[gnu::always_inline]] void begin_object(std::string_view name) {
    key(name);
    open('{');
  }
  void end_object() { out_.push_back('}'); }
  void begin_array() { open('['); }
  /// Begins the array of a key, unchecked as key().
  [[gnu::always_inline]] void begin_array(std::string_view name) {
    key(name);
    open('[');
  }
  void end_array() { out_.push_back(']'); }
  void newline() { out_.push_back('\n'); }

  /// An array: `write` writes the value of each item.
  template <class Items, class Write>
  void array(std::string_view name, const Items& items, const Write& write) {
    begin_array(name);
    for (const auto& item : items) write(item);
    end_array();
  }
  /// An array of objects: `members` writes those of each item.
  template <class Items, class Members>
  void objects(std::string_view name, const Items& items, const Members& members) {
    array(name, items, [&](const auto& item) {
      begin_object();
      members(item);
      end_object();
    });
  }
  template <class Texts>
  void strings(std::string_view name, const Texts& texts) {
    array(name, texts, [this](const auto& text) { string(text); });
  }

  /// A key of this program's own that needs no escapes, written unchecked. Inlined, so that the
  /// compiler knows a literal's length.
  [[gnu::always_inline]] void key(std::string_view name) {
    char* to = quoted(name);
    *to++ = ':';
    advance(to);
  }

  /// A text of this program's own, written unchecked: UTF-8 without control characters, quotation
  /// marks and backslashes.
  void word(std::string_view text) { advance(quoted(text)); }

  /// A key of foreign text, with escapes.
  void foreign_key(std::string_view name) {
    string(name);
    out_.push_back(':');
  }

  void string(std::string_view text) {
    separate();
    out_.push_back('"');
    if (is_plain(text)) {
      out_.append(text.data(), text.data() + text.size());
    } else {
      append_escaped(text);
    }
    out_.push_back('"');
  }

  void number(std::int64_t value) {
    char* to = comma(room(kLongestNumber));
    advance(fmt::format_to(to, FMT_COMPILE("{}"), value));
  }

  /// The shortest text that reads back as the same number; null for infinities and NaN.
  void number(double value) {
    // Whole numbers below 2^53 print faster as integers, and without an exponent.
    constexpr double kExactIntegers = 9007199254740992.0;
    if (std::abs(value) < kExactIntegers &&
        value == static_cast<double>(static_cast<std::int64_t>(value))) {
      number(static_cast<std::int64_t>(value));
    } else if (std::isfinite(value)) {
      advance(shortest(comma(room(kLongestNumber)), value));
    } else {
      null();
    }
  }

  void boolean(bool value) {
    separate();
    raw(value ? "true" : "false");
  }

  void boolean(std::string_view name, bool value) {
    key(name);
    boolean(value);
  }

  void null() {
    separate();
    raw("null");
  }
  void null(std::string_view name) {
    key(name);
    null();
  }

  [[gnu::always_inline]] void member(std::string_view name, double value) {
    key(name);
    number(value);
  }
  [[gnu::always_inline]] void member(std::string_view name, std::int64_t value) {
    key(name);
    number(value);
  }
  [[gnu::always_inline]] void member(std::string_view name, std::string_view text) {
    key(name);
    string(text);
  }
  [[gnu::always_inline]] void word_member(std::string_view name, std::string_view text) {
    key(name);
    word(text);
  }

 private:
  static char* shortest(char* to, double value) {
#ifdef __cpp_lib_to_chars
    constexpr double kLeastPlain = 1e-4, kMostPlain = 1e16;
    const double size = std::abs(value);
    const bool plain = size >= kLeastPlain && size < kMostPlain;
    return std::to_chars(to, to + kLongestNumber - 1, value,
                         plain ? std::chars_format::fixed : std::chars_format::scientific)
        .ptr;
#else
    // libc++ 14, used for WebAssembly, has no to_chars for floating point.
    return fmt::format_to(to, FMT_COMPILE("{}"), value);
#endif
  }

  /// Characters around a key: a comma, two quotation marks, a colon.
  static constexpr std::size_t kPunctuation = 4;
  /// Characters of a number: "-1.7976931348623157e+308" with room to spare.
  static constexpr std::size_t kLongestNumber = 64;

  /// Reserves `size` characters and returns where they go: writing through a pointer saves a check
  /// of the capacity for each.
  char* room(std::size_t size) {
    out_.reserve(out_.size() + size);
    return out_.data() + out_.size();
  }
  void advance(const char* end) {
    out_.resize(static_cast<std::size_t>(end - out_.data()));
  }

  /// Writes a comma unless the last character opens a level, follows a key or ends a line; no
  /// finished value ends in one of these.
  char* comma(char* to) const {
    if (out_.size() == 0) return to;
    const char last = out_.data()[out_.size() - 1];
    if (last != '{' && last != '[' && last != ':' && last != '\n') *to++ = ',';
    return to;
  }

  [[gnu::always_inline]] char* quoted(std::string_view text) {
    char* to = comma(room(text.size() + kPunctuation));
    *to++ = '"';
    to = std::copy(text.begin(), text.end(), to);
    *to++ = '"';
    return to;
  }

  void separate() {
    advance(comma(room(1)));
  }

  void open(char bracket) {
    separate();
    out_.push_back(bracket);
  }

  void raw(std::string_view text) {
    out_.append(text.data(), text.data() + text.size());
  }

  /// Whether the text needs no escapes: printable ASCII without quotation marks and backslashes.
  /// Eight bytes at a time, the high bit of each flags one that is not plain. The borrow of a
  /// flagged byte may flag its neighbour too, which does not change the answer.
  static bool is_plain(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kHighBits = 0x80 * kOnes;
    const auto is_zero = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes; };
    const auto specials = [&](std::uint64_t bytes) {
      return bytes | (bytes - ' ' * kOnes) | is_zero(bytes ^ 0x7f * kOnes) |
             is_zero(bytes ^ '"' * kOnes) | is_zero(bytes ^ '\\' * kOnes);
    };
    std::uint64_t special = 0;
    std::uint64_t bytes = 0;
    for (; text.size() >= sizeof(bytes); text.remove_prefix(sizeof(bytes))) {
      std::memcpy(&bytes, text.data(), sizeof(bytes));
      special |= specials(bytes);
    }
    bytes = ' ' * kOnes;
    std::memcpy(&bytes, text.data(), text.size());
    special |= specials(bytes);
    return (special & kHighBits) == 0;
  }

  void append_escaped(std::string_view text) {
    while (!text.empty()) {
      const auto byte = static_cast<unsigned char>(text[0]);
      if (byte == '"' || byte == '\\') {
        out_.push_back('\\');
        out_.push_back(text[0]);
        text.remove_prefix(1);
      } else if (byte < 0x20 || byte == 0x7f) {
        fmt::format_to(std::back_inserter(out_), FMT_COMPILE("\\u{:04x}"), byte);
        text.remove_prefix(1);
      } else if (byte == 0xc2 && utf8_length(text) == 2 &&
                 static_cast<unsigned char>(text[1]) < 0xa0) {
        // JSON allows C1 controls, but a terminal would obey them.
        fmt::format_to(std::back_inserter(out_), FMT_COMPILE("\\u{:04x}"),
                       static_cast<unsigned char>(text[1]));
        text.remove_prefix(2);
      } else if (const std::size_t length = utf8_length(text); length > 0) {
        raw(text.substr(0, length));
        text.remove_prefix(length);
      } else {
        raw("\xEF\xBF\xBD");
        text.remove_prefix(1);
      }
    }
  }

  fmt::memory_buffer& out_;
};

/// The JSON that `write` writes to the writer, as text.
template <class Write>
std::string json_text(const Write& write) {
  fmt::memory_buffer out;
  JsonWriter json(out);
  write(json);
  return fmt::to_string(out);
}

}  // namespace roofcast::cli

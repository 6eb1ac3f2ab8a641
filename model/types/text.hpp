#pragma once
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace roofcast {

/// A short text stored in place: a struct that contains it stays a plain value.
class Text {
 public:
  static constexpr std::size_t kMaxBytes = 255;

  constexpr Text() = default;
  /// Throws std::length_error beyond kMaxBytes.
  constexpr explicit Text(std::string_view text) : size_(static_cast<unsigned char>(text.size())) {
    if (text.size() > kMaxBytes) throw std::length_error("a text of more than 255 bytes");
    for (std::size_t i = 0; i < text.size(); ++i) bytes_[i] = text[i];
  }

  constexpr std::string_view view() const { return {bytes_.data(), size_}; }
  constexpr bool empty() const { return size_ == 0; }
  friend constexpr bool operator==(const Text& a, const Text& b) { return a.view() == b.view(); }

 private:
  std::array<char, kMaxBytes> bytes_{};
  unsigned char size_ = 0;
};

}  // namespace roofcast

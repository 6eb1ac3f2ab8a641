#pragma once
#include <array>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <string_view>

namespace roofcast {

/// The word at the enumerator's position; enumerators count from 0.
template <class Key>
constexpr std::string_view word_of(Key key, std::initializer_list<std::string_view> words) {
  return std::data(words)[static_cast<std::size_t>(key)];
}

/// One value per enumerator of Key; enumerators count from 0.
template <class Key, class Value, std::size_t kKeys>
class ByKey {
 public:
  constexpr Value& operator[](Key key) { return at(static_cast<std::size_t>(key)); }
  constexpr const Value& operator[](Key key) const { return at(static_cast<std::size_t>(key)); }
  constexpr Value& at(std::size_t key) { return values_[key]; }
  constexpr const Value& at(std::size_t key) const { return values_[key]; }
  constexpr auto begin() const { return values_.begin(); }
  constexpr auto end() const { return values_.end(); }

  constexpr Value total() const { return std::accumulate(begin(), end(), Value{}); }
  constexpr ByKey& operator+=(const ByKey& other) {
    for (std::size_t i = 0; i < kKeys; ++i) values_[i] += other.values_[i];
    return *this;
  }
  friend constexpr bool operator==(const ByKey&, const ByKey&) = default;
  friend constexpr ByKey operator*(double n, ByKey a) {
    for (Value& value : a.values_) value *= n;
    return a;
  }

 private:
  std::array<Value, kKeys> values_{};
};

}  // namespace roofcast

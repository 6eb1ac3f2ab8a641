#pragma once
// Prices of GPU hours, and the order in which several GPUs are listed.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/input/options.hpp"

namespace roofcast::cli {

enum class Order : unsigned char {
  asked,  ///< as the command line names them
  time,   ///< the least expected time first
  cost,   ///< time × price
  energy  ///< time × the power limit of the board: an upper bound
};

/// Prices per hour by the GPU's name, all in one currency.
class Prices {
 public:
  Prices() = default;
  /// Throws UsageError for a price that is no number above 0.
  void add(std::string_view where, const std::string& gpu, double per_hour);
  bool empty() const { return per_hour_.empty(); }
  std::optional<double> per_second(const std::string& gpu) const;
  /// UsageError, with similar names, for a price of a GPU that is neither shipped nor asked about.
  void check_names(std::span<const std::string> asked) const;

 private:
  std::map<std::string, double> per_hour_;
};

/// The request of --sort and --price: prices without --sort order by cost.
struct Ranking {
  Order order = Order::asked;
  Prices prices;
  /// Whether rows have the cost and energy of a call.
  bool tells_expense() const { return !prices.empty() || order == Order::energy; }
};

std::vector<Option> ranking_options();
/// Throws UsageError for unknown words, for --sort cost without a price, and as Prices does;
/// InputError for a price file that cannot be read.
Ranking read_ranking(const Options& options);

}  // namespace roofcast::cli

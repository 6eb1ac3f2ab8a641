#include "cli/commands/ranking.hpp"

#include <algorithm>
#include <limits>

namespace roofcast::cli {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

void tell_expense(Candidate& row, const Ranking& ranking) {
  if (!row.prediction || !row.prediction->time) return;
  const double seconds = row.prediction->time->expected_s;
  Expense expense;
  if (const auto price = ranking.prices.per_second(row.gpu->name)) {
    expense.cost = *price * seconds;
  }
  if (row.gpu->power_w) expense.most_energy_j = *row.gpu->power_w * seconds;
  row.expense = expense;
}

/// The figure by which rows are sorted: cost, energy (J) or expected time (s); infinity if unknown.
double figure(const Candidate& row, Order order) {
  if (!row.prediction || !row.prediction->time) return kNever;
  const Expense expense = row.expense.value_or(Expense{});
  if (order == Order::cost) return expense.cost.value_or(kNever);
  if (order == Order::energy) return expense.most_energy_j.value_or(kNever);
  return row.prediction->time->expected_s;
}

double figure(const Answered& answer, Order order) {
  double least = figure(answer.itself, order);
  for (const Candidate& variant : answer.variants) least = std::min(least, figure(variant, order));
  return least;
}

template <class Rows>
void sort_by(Rows& rows, Order order) {
  std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
    return figure(a, order) < figure(b, order);
  });
}

}  // namespace

std::vector<std::string> rank(std::vector<Answered>& answers, const Ranking& ranking) {
  std::vector<std::string> without_price;
  for (Answered& answer : answers) {
    if (ranking.tells_expense()) {
      tell_expense(answer.itself, ranking);
      for (Candidate& variant : answer.variants) tell_expense(variant, ranking);
    }
    const std::string& gpu = answer.itself.gpu->name;
    const bool known =
        ranking.prices.empty() || ranking.prices.per_second(gpu) ||
        std::find(without_price.begin(), without_price.end(), gpu) != without_price.end();
    if (!known) without_price.push_back(gpu);
    if (ranking.order != Order::asked) sort_by(answer.variants, ranking.order);
  }
  if (ranking.order != Order::asked) sort_by(answers, ranking.order);
  return without_price;
}

}  // namespace roofcast::cli

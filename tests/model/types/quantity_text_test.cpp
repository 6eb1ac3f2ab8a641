#include "model/types/quantity_text.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace roofcast {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Figure, SignificantDigitsAndEveryDigitBeforeThePoint) {
  EXPECT_EQ(figure_text(1.5), "1.5");
  EXPECT_EQ(figure_text(0), "0");
  EXPECT_EQ(figure_text(12345.6), "12346");
  EXPECT_EQ(figure_text(0.012345), "0.01235");
  EXPECT_EQ(figure_text(-2.5), "-2.5");
  EXPECT_EQ(figure_text(341.6667, 3), "342");
  EXPECT_EQ(figure_text(0.0625, 3), "0.0625");
  EXPECT_EQ(figure_text(0.0002, 3), "0.0002");
  EXPECT_EQ(figure_text(2e28, 3), "2e+28");
  EXPECT_EQ(figure_text(kNone), "–");
}

TEST(Figure, RoundsIntoTheNextDecade) {
  EXPECT_EQ(figure_text(99.94, 3), "99.9");
  EXPECT_EQ(figure_text(99.96, 3), "100");
  EXPECT_EQ(figure_text(9.994, 3), "9.99");
  EXPECT_EQ(figure_text(9.996, 3), "10");
  EXPECT_EQ(figure_text(0.9996, 3), "1");
  EXPECT_EQ(figure_text(999.6, 3), "1000");
  EXPECT_EQ(figure_text(999.6, 4), "999.6");
  EXPECT_EQ(figure_text(999.96, 4), "1000");
}

TEST(Si, PrefixKeepsTheNumberFromOneToAThousand) {
  EXPECT_EQ(si_text(137438953472.0, "FLOP"), "137.4 GFLOP");
  EXPECT_EQ(si_text(989.4e12, "FLOP/s"), "989.4 TFLOP/s");
  EXPECT_EQ(si_text(2.05e-3, "s"), "2.05 ms");
  EXPECT_EQ(si_text(1.5e-6, "s"), "1.5 µs");
  EXPECT_EQ(si_text(1e-12, "s"), "1 ps");
  EXPECT_EQ(si_text(-3e3, "B"), "-3 kB");
  EXPECT_EQ(si_text(0, "B"), "0 B");
  EXPECT_EQ(si_text(1e-20, "s"), "1e-20 s");
  EXPECT_EQ(si_text(5, ""), "5");
  EXPECT_EQ(si_text(1500, ""), "1.5 k");
}

TEST(Si, RoundsUpIntoTheNextPrefix) {
  EXPECT_EQ(si_text(999.6, "B", 3), "1 kB");
  EXPECT_EQ(si_text(999.4, "B", 3), "999 B");
  EXPECT_EQ(si_text(999.6, "B", 4), "999.6 B");
  EXPECT_EQ(si_text(999.96, "B", 4), "1 kB");
  EXPECT_EQ(si_text(999.96e3, "B", 4), "1 MB");
  EXPECT_EQ(si_text(999.7e9, "B/s", 3), "1 TB/s");
}

TEST(Si, EachPrefixIsAThousandOfTheNext) {
  const char* const kSigns[] = {"E", "P", "T", "G", "M", "k", "", "m", "µ", "n", "p"};
  double scale = 1e18;
  for (const char* sign : kSigns) {
    EXPECT_EQ(si_text(2.5 * scale, "B"), std::string("2.5 ") + sign + "B");
    EXPECT_EQ(si_text(1.001 * scale, "B"), std::string("1.001 ") + sign + "B");
    scale /= 1000;
  }
}

TEST(Si, HasNoNumberForWhatIsNone) {
  EXPECT_EQ(si_text(kNone, "s"), "–");
  EXPECT_EQ(si_text(-kInfinity, "s"), "–");
}

TEST(Percent, OneDecimalAndTheSign) {
  EXPECT_EQ(percent(0.0634), "6.3%");
  EXPECT_EQ(signed_percent(0.0634), "+6.3%");
  EXPECT_EQ(signed_percent(-0.0634), "−6.3%");
  EXPECT_EQ(signed_percent(-0.0004), "0.0%");
  EXPECT_EQ(signed_percent(kInfinity), "–");
}

}  // namespace
}  // namespace roofcast

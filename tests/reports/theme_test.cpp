#include "reports/theme.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace roofcast::reports {
namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

/// Full colour vision, then protanopia, deuteranopia and tritanopia as linear RGB sees them: G. M.
/// Machado, M. M. Oliveira and L. A. F. Fernandes, "A Physiologically-based Model for Simulation of
/// Color Vision Deficiency", IEEE TVCG 15(6), 2009, severity 1.
constexpr std::array<Matrix, 4> kVisions = {{
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868},
      {0.114503, 0.786281, 0.099216},
      {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968},
      {0.280085, 0.672501, 0.047413},
      {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779},
      {-0.078411, 0.930809, 0.147602},
      {0.004733, 0.691367, 0.303900}}},
}};

Triple times(const Matrix& m, const Triple& v) {
  Triple result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) result[i] += m[i][j] * v[j];
  }
  return result;
}

Triple linear_rgb(const std::string& hex) {
  Triple rgb{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = std::stoi(hex.substr(1 + 2 * i, 2), nullptr, 16) / 255.0;
    rgb[i] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  }
  return rgb;
}

/// CIELAB under D65.
Triple lab(Triple rgb) {
  for (double& c : rgb) c = std::clamp(c, 0.0, 1.0);
  constexpr Matrix kXyz = {{{0.4124564, 0.3575761, 0.1804375},
                            {0.2126729, 0.7151522, 0.0721750},
                            {0.0193339, 0.1191920, 0.9503041}}};
  constexpr Triple kWhite = {0.95047, 1, 1.08883};
  Triple f = times(kXyz, rgb);
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = f[i] / kWhite[i];
    f[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

double degrees(double a, double b) {
  const double angle = std::atan2(b, a) * 180 / std::numbers::pi;
  return angle < 0 ? angle + 360 : angle;
}

double cosine(double degrees) {
  return std::cos(degrees * std::numbers::pi / 180);
}

/// CIEDE2000, after G. Sharma, W. Wu and E. N. Dalal, Color Research & Application 30(1), 2005.
double difference(Triple p, Triple q) {
  const auto seventh = [](double c) {
    return std::sqrt(std::pow(c, 7) / (std::pow(c, 7) + std::pow(25, 7)));
  };
  const double mean = (std::hypot(p[1], p[2]) + std::hypot(q[1], q[2])) / 2;
  const double g = 0.5 * (1 - seventh(mean));
  p[1] *= 1 + g;
  q[1] *= 1 + g;
  const double c1 = std::hypot(p[1], p[2]), c2 = std::hypot(q[1], q[2]);
  const double h1 = degrees(p[1], p[2]), h2 = degrees(q[1], q[2]);
  double dh = h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  double hue = (h1 + h2) / 2;
  if (std::abs(h1 - h2) > 180) hue += h1 + h2 < 360 ? 180 : -180;
  if (c1 * c2 == 0) dh = 0, hue = h1 + h2;
  const double dl = q[0] - p[0], dc = c2 - c1;
  const double dhue = 2 * std::sqrt(c1 * c2) * std::sin(dh / 2 * std::numbers::pi / 180);
  const double l = (p[0] + q[0]) / 2 - 50, c = (c1 + c2) / 2;
  const double t = 1 - 0.17 * cosine(hue - 30) + 0.24 * cosine(2 * hue) +
                   0.32 * cosine(3 * hue + 6) - 0.20 * cosine(4 * hue - 63);
  const double sl = 1 + 0.015 * l * l / std::sqrt(20 + l * l), sc = 1 + 0.045 * c,
               sh = 1 + 0.015 * c * t;
  const double turn = 60 * std::exp(-std::pow((hue - 275) / 25, 2));
  const double rt = -2 * seventh(c) * std::sin(turn * std::numbers::pi / 180);
  return std::sqrt(std::pow(dl / sl, 2) + std::pow(dc / sc, 2) + std::pow(dhue / sh, 2) +
                   rt * (dc / sc) * (dhue / sh));
}

double luminance(const std::string& hex) {
  const Triple rgb = linear_rgb(hex);
  return 0.2126729 * rgb[0] + 0.7151522 * rgb[1] + 0.0721750 * rgb[2];
}

double contrast(const std::string& a, const std::string& b) {
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

std::vector<std::string> range(Theme theme, const char* name) {
  return chart_config(theme).at("range").at(name).get<std::vector<std::string>>();
}

TEST(ColourDifference, IsThatOfThePublishedPairs) {
  // Pairs 1, 13 and 25 of the table in Sharma, Wu and Dalal.
  EXPECT_NEAR(difference({50, 2.6772, -79.7751}, {50, 0, -82.7485}), 2.0425, 1e-4);
  EXPECT_NEAR(difference({50, 2.49, -0.001}, {50, -2.49, 0.0009}), 7.1792, 1e-4);
  EXPECT_NEAR(difference({60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}), 1.2644, 1e-4);
}

TEST(Theme, AnyTwoColoursAreToldApartWhateverTheColourVision) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    for (const char* name : {"category", "ordinal"}) {
      const auto colours = range(theme, name);
      for (const Matrix& vision : kVisions) {
        for (std::size_t i = 0; i < colours.size(); ++i) {
          for (std::size_t j = 0; j < i; ++j) {
            EXPECT_GE(difference(lab(times(vision, linear_rgb(colours[i]))),
                                 lab(times(vision, linear_rgb(colours[j])))),
                      10)
                << colours[i] << " and " << colours[j] << " of " << name;
          }
        }
      }
    }
  }
}

TEST(Theme, ColoursStandOutFromTheSurface) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const std::string surface = chart_config(theme).at("background");
    for (const auto& colour : range(theme, "category")) EXPECT_GE(contrast(colour, surface), 3);
    for (const auto& colour : range(theme, "ordinal")) EXPECT_GE(contrast(colour, surface), 2);
  }
}

TEST(Theme, TheRampIsOrderedByLightness) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const auto ramp = range(theme, "ordinal");
    for (std::size_t i = 1; i < ramp.size(); ++i) {
      const double step = lab(linear_rgb(ramp[i]))[0] - lab(linear_rgb(ramp[i - 1]))[0];
      EXPECT_GT(theme == Theme::dark ? step : -step, 1) << ramp[i];
    }
  }
}

}  // namespace
}  // namespace roofcast::reports

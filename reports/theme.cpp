#include "reports/theme.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace roofcast::reports {
namespace {

constexpr std::string_view kFont =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif";

struct Palette {
  std::string_view page;
  std::string_view surface;
  std::string_view ink;
  std::string_view muted;
  std::string_view line;
  std::string_view grid;
  std::string_view roof;
  std::string_view roof_weak;
  std::string_view attainable;
  std::string_view accent;
  std::string_view good;
  std::string_view warn;
  std::string_view bad;
  /// Found by search: any two differ by ΔE (CIEDE2000) ≥ 10 with full colour vision and with each
  /// of its three deficiencies, and each has contrast ≥ 3 with the surface.
  std::array<std::string_view, 10> series;
  /// Colours of ordered values, by lightness: contrast with the surface is ≥ 2, strongest last.
  std::array<std::string_view, 8> ramp;
};

constexpr Palette kLight = {
    "#f5f6f8",
    "#ffffff",
    "#1b2130",
    "#5b6477",
    "#d5d9e2",
    "#eceef3",
    "#39435a",
    "#8791a6",
    "#3f6fd1",
    "#2f5fd0",
    "#1b7f4d",
    "#a86500",
    "#c22f3d",
    {"#0f96d5", "#b02500", "#988a0c", "#bb66a2", "#3b00eb", "#294732", "#780000", "#a00073",
     "#77515e", "#2a065f"},
    {"#98bf2a", "#7ca0b5", "#2e9771", "#3b70f7", "#6a6381", "#154c92", "#523757", "#12007f"}};

constexpr Palette kDark = {
    "#12151c",
    "#1a1e27",
    "#e8ebf2",
    "#9aa4b8",
    "#363d4c",
    "#272d39",
    "#c3cbdb",
    "#77829a",
    "#6f9bff",
    "#7da5ff",
    "#4cc38a",
    "#e0a13a",
    "#ff7b84",
    {"#99fefb", "#fd4536", "#dec023", "#9a78e1", "#4cc4aa", "#ff7a8d", "#a4e388", "#8c9fb8",
     "#bb1d9e", "#578e66"},
    {"#6700ff", "#3b6690", "#0078ff", "#009a6c", "#46c300", "#aacb7c", "#4fff2e", "#ffe8ff"}};

const Palette& palette(Theme theme) {
  return theme == Theme::light ? kLight : kDark;
}

Json text_style(std::string_view colour, double size) {
  return {{"color", colour}, {"fontSize", size}, {"font", kFont}};
}

Json line_style(std::string_view colour, double width) {
  return {{"color", colour}, {"strokeWidth", width}, {"opacity", 1}};
}

Json styles(const Palette& p) {
  // Drawn under a label so that no line crosses the text.
  Json halo = text_style(p.surface, 12);
  halo.update(Json{{"stroke", p.surface}, {"strokeWidth", 4}, {"strokeJoin", "round"}});
  Json sustained = line_style(p.roof, 1.3);
  sustained["strokeDash"] = {5, 4};
  return {
      {"memory-roof", line_style(p.roof, 1.8)},
      {"tensor-roof", line_style(p.roof, 1.8)},
      {"vector-roof", line_style(p.roof_weak, 1.4)},
      {"sustained-roof", sustained},
      {"other-roof", line_style(p.line, 1.2)},
      {"join", {{"strokeWidth", 1.2}, {"opacity", 0.9}}},
      {"level", {{"strokeWidth", 1.6}, {"opacity", 1}}},
      {"bandwidth", {{"color", p.accent}, {"opacity", 0.35}}},
      {"part", {{"opacity", 0.9}}},
      {"wave", {{"opacity", 0.9}, {"stroke", p.surface}, {"strokeWidth", 1}}},
      {"bar-text", text_style(p.ink, 12)},
      {"point-name", text_style(p.ink, 12)},
      {"fault", text_style(p.bad, 12)},
      {"other-roof-label", text_style(p.muted, 12)},
      {"roof-label", text_style(p.ink, 12)},
      {"roof-label-halo", halo},
      {"leader", line_style(p.roof_weak, 1)},
      {"attainable", {{"color", p.attainable}, {"opacity", 0.06}}},
      {"ridge", {{"color", p.roof}, {"opacity", 1}}},
      {"arrow", {{"strokeWidth", 1.6}, {"opacity", 0.85}}},
      {"predicted", {{"strokeWidth", 2}, {"opacity", 1}}},
      {"measured", {{"stroke", p.surface}, {"strokeWidth", 1}, {"opacity", 1}}},
      {"tolerance", {{"color", p.attainable}, {"opacity", 0.12}}},
      {"reference", line_style(p.roof, 1.2)},
      {"forecast", {{"strokeWidth", 2}, {"opacity", 1}}},
      {"interval", {{"opacity", 0.14}}},
      {"interval-outline",
       {{"fillOpacity", 0.03},
        {"strokeOpacity", 0.8},
        {"strokeWidth", 0.9},
        {"strokeDash", {2, 2}}}},
      {"name-leader", {{"strokeWidth", 1}, {"opacity", 0.7}}},
      {"error-bar", {{"strokeWidth", 1.3}}},
      {"panel-title", {{"fill", p.ink}, {"font", kFont}, {"fontSize", 13}, {"fontWeight", 600}}},
  };
}

std::string variables(const Palette& p) {
  const std::array<std::pair<std::string_view, std::string_view>, 10> names = {{
      {"page", p.page},
      {"surface", p.surface},
      {"ink", p.ink},
      {"muted", p.muted},
      {"line", p.line},
      {"grid", p.grid},
      {"accent", p.accent},
      {"good", p.good},
      {"warn", p.warn},
      {"bad", p.bad},
  }};
  std::string css;
  for (const auto& [name, value] : names) css += fmt::format("--{}:{};", name, value);
  return css;
}

}  // namespace

Json chart_config(Theme theme) {
  const Palette& p = palette(theme);
  return {
      {"background", p.surface},
      {"font", kFont},
      {"padding", 16},
      {"view", {{"stroke", nullptr}}},
      {"title",
       {{"anchor", "start"},
        {"frame", "group"},
        {"color", p.ink},
        {"fontSize", 15},
        {"fontWeight", 600},
        {"offset", 14},
        {"subtitleColor", p.muted},
        {"subtitleFontSize", 12},
        {"subtitlePadding", 7}}},
      {"axis",
       {{"labelColor", p.muted},
        {"labelFontSize", 12},
        {"labelPadding", 6},
        {"titleColor", p.ink},
        {"titleFontSize", 12},
        {"titleFontWeight", "normal"},
        {"titlePadding", 10},
        {"gridColor", p.grid},
        {"domainColor", p.line},
        {"tickColor", p.line}}},
      {"legend",
       {{"labelColor", p.ink},
        {"labelFontSize", 12},
        {"labelLimit", 240},
        {"titleColor", p.muted},
        {"titleFontSize", 12},
        {"titleFontWeight", "normal"},
        {"symbolSize", 90},
        {"symbolOpacity", 1},
        {"symbolStrokeWidth", 2},
        {"columnPadding", 18},
        {"rowPadding", 4},
        {"offset", 14}}},
      {"range", {{"category", p.series}, {"ordinal", p.ramp}}},
      {"style", styles(p)},
  };
}

std::string theme_css() {
  return fmt::format(
      ":root{{color-scheme:light;--font:{0};{1}}}"
      "@media screen and (prefers-color-scheme:dark){{:root{{color-scheme:dark;{2}}}}}",
      kFont, variables(kLight), variables(kDark));
}

}  // namespace roofcast::reports

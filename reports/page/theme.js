// A chart in the colours of a theme, with its own margins and places of legends.
export function themed(spec, theme) {
  const { padding, legend } = spec.config ?? theme;
  return { ...spec, config: { ...theme, padding, legend: { ...theme.legend, layout: legend.layout } } };
}

// A chart in the colours of a theme, with its own margins and places of legends.
export function themed(spec, theme) {
  const { padding, legend } = spec.config ?? theme;
  // A key without a value would be taken for one.
  const layout = legend?.layout ? { layout: legend.layout } : {};
  return { ...spec, config: { ...theme, padding: padding ?? theme.padding, legend: { ...theme.legend, ...layout } } };
}

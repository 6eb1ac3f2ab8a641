import embed from "vega-embed";
import * as vega from "vega";
import { compile } from "vega-lite";
import { expressionInterpreter } from "vega-interpreter";

const dark = matchMedia("(prefers-color-scheme: dark)");

// Expressions are interpreted, not compiled: the page's security policy allows no eval.
const options = {
  renderer: "svg",
  ast: true,
  expr: expressionInterpreter,
  actions: { export: true, source: true, compiled: false, editor: false },
  defaultStyle: true,
};

export const whenThemeChanges = (redraw) => dark.addEventListener("change", redraw);

// Draws in the theme of the page; the view, or nothing where the chart cannot be drawn.
export async function drawChart(place, spec, themes, name) {
  try {
    const { view } = await embed(
      place,
      dark.matches ? { ...spec, config: themes.dark } : spec,
      { ...options, downloadFileName: `roofcast-${name}`, tooltip: { theme: dark.matches ? "dark" : "light" } },
    );
    return view;
  } catch (error) {
    const fault = document.createElement("p");
    fault.className = "fault";
    fault.textContent = `This chart cannot be drawn: ${error.message}`;
    place.replaceChildren(fault);
    return undefined;
  }
}

const draw = ({ id, spec }, themes) => drawChart(document.querySelector(`#${id} .screen`), spec, themes, id);

// The print event waits for nothing, so the light copies are drawn without vega-embed's promises.
function drawForPrint({ id, spec }) {
  const place = document.createElement("div");
  place.className = "printed";
  document.getElementById(id).prepend(place);
  const runtime = vega.parse(compile(spec).spec, null, { ast: true });
  new vega.View(runtime, { renderer: "svg", expr: expressionInterpreter }).initialize(place).run();
}

export function drawCharts({ charts, themes }) {
  const drawAll = () => Promise.all(charts.map((chart) => draw(chart, themes)));
  const ready = drawAll();
  ready.then(() => document.documentElement.setAttribute("data-charts", "ready"));
  whenThemeChanges(drawAll);
  addEventListener("beforeprint", () => {
    if (dark.matches) charts.forEach(drawForPrint);
  });
  addEventListener("afterprint", () => {
    document.querySelectorAll(".printed").forEach((copy) => copy.remove());
  });
}

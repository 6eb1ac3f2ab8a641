import embed from "vega-embed";
import * as vega from "vega";
import { compile } from "vega-lite";
import { expressionInterpreter } from "vega-interpreter";
import { themed } from "./theme.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
// A chart for a wide screen shrinks to this before its texts are too small to read.
const kWide = 760;

// Expressions are interpreted, not compiled: the page's security policy allows no eval.
const options = {
  renderer: "svg",
  ast: true,
  expr: expressionInterpreter,
  actions: { export: true, source: true, compiled: false, editor: false },
  defaultStyle: true,
};

// The narrow variant takes from the wide one what both hold.
function fitting({ spec, narrow }, width) {
  if (!narrow || width >= kWide) return spec;
  return { ...narrow, config: themed(narrow, spec.config).config, datasets: { ...spec.datasets, ...narrow.datasets } };
}

// Draws in the theme of the page; a chart that cannot be drawn says why.
async function draw(chart, themes) {
  const box = document.getElementById(chart.id);
  const place = box.querySelector(".screen");
  const spec = fitting(chart, box.clientWidth);
  try {
    await embed(
      place,
      dark.matches ? themed(spec, themes.dark) : spec,
      { ...options, downloadFileName: `roofcast-${chart.id}`, tooltip: { theme: dark.matches ? "dark" : "light" } },
    );
  } catch (error) {
    const fault = document.createElement("p");
    fault.className = "fault";
    fault.textContent = `This chart cannot be drawn: ${error.message}`;
    place.replaceChildren(fault);
  }
}

// The print event waits for nothing, so the copies for paper, wide and light, are drawn without
// vega-embed's promises.
function drawForPrint({ id, spec }) {
  const place = document.createElement("div");
  place.className = "printed";
  document.getElementById(id).prepend(place);
  const runtime = vega.parse(compile(spec).spec, null, { ast: true });
  new vega.View(runtime, { renderer: "svg", expr: expressionInterpreter }).initialize(place).run();
}

export function drawCharts({ charts, themes }) {
  const width = () => document.querySelector(".chart")?.clientWidth ?? 0;
  const drawAll = () => Promise.all(charts.map((chart) => draw(chart, themes)));
  drawAll().then(() => document.documentElement.setAttribute("data-charts", "ready"));
  let wide = width() >= kWide;
  dark.addEventListener("change", drawAll);
  addEventListener("resize", () => {
    if (width() >= kWide === wide) return;
    wide = !wide;
    drawAll();
  });
  addEventListener("beforeprint", () => {
    if (dark.matches || !wide) charts.forEach(drawForPrint);
  });
  addEventListener("afterprint", () => {
    document.querySelectorAll(".printed").forEach((copy) => copy.remove());
  });
}

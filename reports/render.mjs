// Draws the Vega-Lite specification on stdin as SVG or PNG on stdout: node render.mjs svg|png
import { readFileSync, writeSync } from "node:fs";
import { createRequire } from "node:module";

const format = process.argv[2];
const require = createRequire(import.meta.url);

// Vega measures text on a canvas; without one it takes every letter for a wide one. Widths of
// DejaVu Sans, in em.
function textWidth(item, text) {
  let em = 0;
  for (const c of String(text)) {
    em += /[ .,:;|'!()/ilIjft·]/.test(c) ? 0.36 : /[mwMW%@±○●]/.test(c) ? 0.92 : /[A-Z]/.test(c) ? 0.69 : 0.62;
  }
  const weight = item.fontWeight === "bold" || item.fontWeight >= 600 ? 1.1 : 1;
  return em * weight * (item.fontSize ?? 11);
}

async function svgOf(specification) {
  const vega = await import("vega");
  const { compile } = await import("vega-lite");
  vega.textMetrics.width = textWidth;
  // A specification can name addresses and files; a chart needs none, so none is read.
  const loader = vega.loader();
  const refused = [];
  loader.load = async (uri) => {
    refused.push(uri);
    return "[]";
  };
  const view = new vega.View(vega.parse(compile(specification).spec), { loader, renderer: "none" });
  const svg = await view.toSVG();
  // Vega draws on without data that did not load; an empty chart would pass for the answer.
  if (refused.length > 0) {
    throw new Error(`the chart refers to ${refused[0]}: put its data into the specification`);
  }
  return svg;
}

async function pngOf(svg) {
  const { Resvg } = await import("@resvg/resvg-js");
  // The same picture on every machine, with or without fonts of its own.
  const font = (name) => require.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`);
  const picture = new Resvg(svg, {
    fitTo: { mode: "zoom", value: 2 },
    font: {
      loadSystemFonts: false,
      fontFiles: [font("DejaVuSans"), font("DejaVuSans-Bold")],
      defaultFontFamily: "DejaVu Sans",
      sansSerifFamily: "DejaVu Sans",
    },
  });
  return picture.render().asPng();
}

function writeAll(bytes) {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

try {
  if (format !== "svg" && format !== "png") throw new Error("usage: node render.mjs svg|png");
  const svg = await svgOf(JSON.parse(readFileSync(0, "utf8")));
  writeAll(format === "svg" ? Buffer.from(svg) : await pngOf(svg));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

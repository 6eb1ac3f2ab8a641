// Vega-Lite takes every chart without a warning and draws what the specification holds.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import * as vega from "vega";
import { compile } from "vega-lite";

const samples = process.env.ROOFCAST_SAMPLES;

function collector() {
  const said = [];
  const logger = { level: () => logger, error: say, warn: say, info: () => logger, debug: () => logger };
  function say(...words) {
    said.push(words.join(" "));
    return logger;
  }
  return { logger, said };
}

// Items of every mark, by the mark's name.
function count(mark, counts = {}) {
  if (mark.name) counts[mark.name] = (counts[mark.name] ?? 0) + mark.items.length;
  for (const item of mark.items) {
    for (const inner of item.items ?? []) if (inner.items) count(inner, counts);
  }
  return counts;
}

async function draw(specification) {
  const { logger, said } = collector();
  const compiled = compile(specification, { logger }).spec;
  const view = new vega.View(vega.parse(compiled), { renderer: "none", logger });
  const svg = await view.toSVG();
  assert.deepEqual(said, [], "warnings");
  assert.match(svg, /^<svg/);
  assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  return { svg, counts: count(view.scenegraph().root) };
}

const charts = readdirSync(samples).filter((name) => name.endsWith(".json"));
const specification = (name) => JSON.parse(readFileSync(join(samples, name), "utf8"));

for (const name of charts) {
  test(`${name} draws without a warning`, () => draw(specification(name)));
}

test("a roofline has a mark for each roof, label and point", async () => {
  const spec = specification("roofline.json");
  const { svg, counts } = await draw(spec);
  const rows = (data) => spec.datasets[data].length;
  assert.equal(counts["predicted_marks"], 6);
  assert.equal(counts["measured_marks"], 6);
  assert.equal(counts["arrows_marks"], rows("arrows"));
  assert.equal(counts["memory_roofs_marks"], 3);
  assert.equal(counts["sustained_roofs_marks"], 2);
  assert.equal(counts["tensor_roofs_marks"] + counts["vector_roofs_marks"], 9);
  for (const { text } of [...spec.datasets["slope labels"], ...spec.datasets["level labels"]]) {
    assert.ok(svg.includes(`>${text}<`), text);
  }
});

test("axes read in units", async () => {
  const roofline = (await draw(specification("roofline.json"))).svg;
  assert.ok(roofline.includes(">10 TFLOP/s<"));
  assert.ok(roofline.includes(">1 PFLOP/s<"));
  const times = (await draw(specification("times.json"))).svg;
  assert.ok(times.includes(">100 µs<"));
  assert.ok(times.includes(">0%<"));
});

test("predicted against measured has a point and two bars for each case", async () => {
  const { counts } = await draw(specification("times.json"));
  for (const mark of ["cases", "errors", "measured-spread", "predicted-interval"]) {
    const name = Object.keys(counts).find((key) => key.endsWith(`${mark.replace("-", "_")}_marks`));
    assert.equal(counts[name], 80, mark);
  }
});

test("labels of roofs do not overlap", async () => {
  const labels = specification("roofline.json").datasets["level labels"];
  const axis = specification("roofline.json").layer[0].encoding.y.scale.domain;
  const pixel = ({ y }) => (460 * Math.log(y / axis[0])) / Math.log(axis[1] / axis[0]);
  const places = labels.map(pixel).sort((a, b) => a - b);
  places.slice(1).forEach((y, i) => assert.ok(y - places[i] > 14));
});

test("a scattered sweep has a mark for each point, measurement and wave", async () => {
  const { counts } = await draw(specification("scattered-sweep.json"));
  assert.equal(counts["points_marks"], 16);
  assert.equal(counts["measured_marks"], 16);
  assert.equal(counts["waves_marks"], 2);
  assert.equal(counts["wave_counts_marks"], 2);
});

// Vega-Lite takes every chart without a warning and draws what the specification holds.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
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

// Upright texts of all marks and axes, with their boxes in the picture.
function texts(item, at = { x: 0, y: 0 }, found = []) {
  for (const mark of item.items ?? []) {
    if (mark.marktype === "group") {
      for (const group of mark.items) {
        texts(group, { x: at.x + (group.x ?? 0), y: at.y + (group.y ?? 0) }, found);
      }
    } else if (mark.marktype === "text") {
      for (const text of mark.items) {
        if (!text.text || text.angle || text.opacity === 0 || text.stroke) continue;
        const { x1, y1, x2, y2 } = text.bounds;
        // Half a point of air is part of a box.
        found.push({ text: String(text.text), x1: at.x + x1 + 0.5, y1: at.y + y1 + 0.5, x2: at.x + x2 - 0.5, y2: at.y + y2 - 0.5 });
      }
    }
  }
  return found;
}

for (const name of charts.filter((chart) => !chart.startsWith("hostile"))) {
  test(`${name} has no texts over each other and none under 9 px at 830 px`, async () => {
    vega.textMetrics.width = (item, text) => 0.6 * (item.fontSize ?? 11) * String(text).length;
    const view = new vega.View(vega.parse(compile(specification(name)).spec), { renderer: "none" });
    const svg = await view.toSVG();
    const found = texts(view.scenegraph().root.items[0]);
    found.forEach((a, i) => found.slice(0, i).forEach((b) => {
      const over = a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;
      assert.ok(!over || a.text === b.text, `'${a.text}' lies over '${b.text}'`);
    }));
    // README shows pictures 830 px wide.
    const width = Number(/viewBox="0 0 ([0-9.]+)/.exec(svg)[1]);
    const smallest = Math.min(...[...svg.matchAll(/font-size="([0-9.]+)px"/g)].map((m) => Number(m[1])));
    assert.ok(smallest * Math.min(1, 830 / width) >= 8.9, `${smallest} px of ${width}`);
  });
}

for (const name of charts.filter((chart) => chart.startsWith("narrow-"))) {
  test(`${name} fits a screen of 400 px`, async () => {
    const view = new vega.View(vega.parse(compile(specification(name)).spec), { renderer: "none" });
    const [, width] = /viewBox="0 0 ([0-9.]+)/.exec(await view.toSVG());
    assert.ok(Number(width) <= 372, `${width} px`);
    const limited = [];
    (function walk(item) {
      for (const inner of item.items ?? []) walk(inner);
      // A text longer than its limit is cut with an ellipsis.
      if (item.limit > 0 && item.text !== undefined && vega.textMetrics.width(item, String(item.text)) > item.limit) limited.push(item.text);
    })(view.scenegraph().root);
    assert.deepEqual(limited, []);
  });
}

for (const name of charts.filter((chart) => /^(narrow-)?(three-)?rooflines?\.json$/.test(chart))) {
  test(`${name} has its marks and the names of points and slopes inside the frame`, async () => {
    const spec = specification(name);
    const view = new vega.View(vega.parse(compile(spec).spec), { renderer: "none" });
    await view.toSVG();
    let looked = 0;
    (function walk(mark) {
      const inside = /(names_point_name|slope_roof_label|predicted|measured|levels)_marks$/.test(mark.name ?? "");
      for (const item of mark.items ?? []) {
        if (item.items) walk(item);
        if (!inside || item.opacity === 0) continue;
        const { x1, y1, x2, y2 } = item.bounds;
        assert.ok(x1 >= -4 && y1 >= -4 && x2 <= spec.width + 4 && y2 <= spec.height + 4, `${mark.name}: ${item.text ?? item.shape} at ${x1} to ${x2}, ${y1} to ${y2}`);
        looked += 1;
      }
    })(view.scenegraph().root);
    assert.ok(looked > 3);
    const [low, high] = spec.layer[0].encoding.x.scale.domain;
    for (const { intensity } of spec.datasets.predicted) assert.ok(intensity > low && intensity < high);
  });
}

// Points and bars of all plots; those at the ends of lines stand beside the frame.
function outside(item, found = [], seen = { marks: 0 }) {
  for (const mark of item.items ?? []) {
    if (mark.marktype === "group" && mark.role !== "legend") {
      for (const group of mark.items) outside(group, found, seen);
    }
    if (mark.role !== "mark" || !["symbol", "rect"].includes(mark.marktype) || /line_name/.test(mark.name)) continue;
    for (const { bounds: { x1, y1, x2, y2 }, opacity } of mark.items) {
      const kHalf = 7; // of a point on the edge
      seen.marks += 1;
      const inside = x1 >= -kHalf && y1 >= -kHalf && x2 <= item.width + kHalf && y2 <= item.height + kHalf;
      if (opacity !== 0 && !inside && !mark.clip) found.push(`${mark.name}: ${x1} to ${x2} of ${item.width}, ${y1} to ${y2} of ${item.height}`);
    }
  }
  return found;
}

for (const name of charts) {
  test(`${name} has its points and bars inside the frame`, async () => {
    const view = new vega.View(vega.parse(compile(specification(name)).spec), { renderer: "none" });
    await view.toSVG();
    const seen = { marks: 0 };
    assert.deepEqual(outside({ items: [view.scenegraph().root] }, [], seen), []);
    assert.ok(seen.marks > 0 || /^(bare|empty)-/.test(name));
  });
}

test("a second run writes the same bytes", () => {
  const again = mkdtempSync(join(tmpdir(), "roofcast-samples-"));
  execFileSync(process.env.ROOFCAST_WRITE_SAMPLES, [again]);
  const names = readdirSync(samples);
  assert.deepEqual(readdirSync(again), names);
  for (const name of names) assert.ok(readFileSync(join(again, name)).equals(readFileSync(join(samples, name))), name);
  rmSync(again, { recursive: true });
});

test("labels of roofs do not overlap", async () => {
  const labels = specification("roofline.json").datasets["level labels"];
  const axis = specification("roofline.json").layer[0].encoding.y.scale.domain;
  const pixel = ({ y }) => (430 * Math.log(y / axis[0])) / Math.log(axis[1] / axis[0]);
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

// Times of the explorer's page in Chromium, for the closing note; no test, since machines differ:
//   ROOFCAST_PROGRAM=… node explorer_speed.mjs       beside the packages, in build/…/reports/web
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = mkdtempSync(join(tmpdir(), "roofcast-speed-"));
const file = join(folder, "page.html");
execFileSync(process.env.ROOFCAST_PROGRAM, ["explore", "-o", file]);
const browser = await chromium.launch({
  executablePath: process.env.ROOFCAST_CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const firsts = [];
let page;
for (let i = 0; i < 5; ++i) {
  await page?.close();
  page = await browser.newPage({ viewport: { width: 1400, height: 1000 } });
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector("html[data-charts=ready]");
  // From the start of the navigation to the end of the first drawing.
  firsts.push(await page.evaluate(() => { const [first] = performance.getEntriesByName("redraw"); return first.startTime + first.duration; }));
}
const times = await page.evaluate(async () => {
  const measured = {};
  const fieldset = (i) => document.querySelectorAll("#settings fieldset")[i];
  // From the event to the end of the drawing, without the browser's painting.
  async function repeat(name, count, act) {
    measured[name] = [];
    for (let i = 0; i < count; ++i) {
      performance.clearMeasures("redraw");
      act(i);
      while (performance.getEntriesByName("redraw").length === 0) await new Promise((resolve) => { setTimeout(resolve, 1); });
      measured[name].push(performance.getEntriesByName("redraw").at(-1).duration);
      await new Promise((resolve) => { setTimeout(resolve, 30); });
    }
  }
  const set = (control, value, event) => { control.value = value; control.dispatchEvent(new Event(event, { bubbles: true })); };
  const slide = (setting) => (i) => set(fieldset(setting).querySelector("input[type=range]"), 60 + i, "input");
  const kernels = ["gemm.tiled", "softmax.online", "gemm.wgmma", "norm.layernorm", "gemm.library"];
  await repeat("slider, one setting", 20, slide(0));
  await repeat("kernel", 20, (i) => set(fieldset(0).querySelectorAll("select")[0], kernels[i % kernels.length], "change"));
  const gpus = ["a100-sxm4-80gb", "b200", "h100-sxm5", "h200-sxm"];
  await repeat("GPU", 20, (i) => set(fieldset(0).querySelectorAll("select")[1], gpus[i % gpus.length], "change"));
  await repeat("a further setting", 3, () => document.getElementById("add").click());
  await repeat("slider, four settings", 20, slide(3));
  return measured;
});
const shown = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return `least ${sorted[0].toFixed(1)} ms, median ${sorted[Math.floor(sorted.length / 2)].toFixed(1)} ms, longest ${sorted.at(-1).toFixed(1)} ms of ${list.length}`;
};
console.log(`${(statSync(file).size / 1e6).toFixed(2)} MB`);
console.log(`first drawing: ${shown(firsts)}`);
for (const [name, list] of Object.entries(times)) console.log(`${name}: ${shown(list)}`);
await browser.close();
rmSync(folder, { recursive: true, force: true });

// Pages that the command writes from hostile files: a run, a kernel file, the config.json of a model and the
// trace of a profile. Whatever they hold stays text.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const executablePath = process.env.ROOFCAST_CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath)) {
  console.log(`skipped: no Chromium at ${executablePath} (apt install chromium, or ROOFCAST_CHROMIUM)`);
  process.exit(77);
}
const source = process.env.ROOFCAST_SOURCE;
const folder = mkdtempSync(join(tmpdir(), "roofcast-hostile-"));
const kHostile = "</script><img src=x onerror=\"document.title='owned'\"><!--";
const kFileName = "<img src=x onerror=document.title='owned'>.json"; // no slash: of a folder's
let browser;

before(async () => {
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});
after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

const json = (path) => JSON.parse(readFileSync(join(source, path), "utf8"));

function roofcast(...words) {
  const { status, stderr } = spawnSync(process.env.ROOFCAST_PROGRAM, words, { cwd: folder, encoding: "utf8" });
  return { status, stderr };
}

// The page runs nothing of the files, draws its charts, and shows `text` as it stands.
async function opensSafely(name, text) {
  const page = await browser.newPage({ viewport: { width: 1240, height: 900 } });
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  const address = pathToFileURL(join(folder, name)).href;
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(address);
  await page.waitForSelector("html[data-charts=ready]");
  assert.equal(await page.locator("img").count(), 0);
  assert.notEqual(await page.title(), "owned");
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests.filter((url) => url !== address && !url.startsWith("data:")), []);
  assert.ok((await page.locator("main").textContent()).includes(text), text);
  await page.setViewportSize({ width: 400, height: 900 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is cut off at 400 px`);
  await page.close();
}

test("a hostile run file", async () => {
  const run = json("validation/measured/h200-sxm-default-2026-11-21.json");
  run.cases = run.cases.slice(0, 40);
  run.suite = run.build = kHostile;
  Object.assign(run.device, { device: kHostile, driver: kHostile, cuda_runtime: kHostile });
  const { kernel, problem } = run.cases.pop();
  run.failures = [{ kernel, problem, reason: kHostile }];
  const refused = { ...run, cases: [{ ...run.cases[0], kernel: kHostile }, ...run.cases.slice(1)] };
  writeFileSync(join(folder, "run.json"), JSON.stringify(run));
  for (const words of [["report", "run.json"], ["roofline", "--run", "run.json", "--gpu", "h200-sxm"]]) {
    const { status, stderr } = roofcast(...words, "-o", "run.html");
    assert.equal(status, 0, stderr);
    await opensSafely("run.html", words[0] === "report" ? kHostile : "H200");
  }
  // A kernel that the catalog does not know is refused.
  writeFileSync(join(folder, "unknown.json"), JSON.stringify(refused));
  const { status, stderr } = roofcast("report", "unknown.json", "-o", "unknown.html");
  assert.equal(status, 3);
  assert.match(stderr, /expected a kernel of the catalog/);
  assert.ok(!existsSync(join(folder, "unknown.html")));
});

test("a hostile kernel file", async () => {
  const kernel = json("examples/kernels/swiglu.json");
  kernel.summary = kernel.parameters.tokens.meaning = kernel.arrays[0].name = kHostile;
  writeFileSync(join(folder, kFileName), JSON.stringify(kernel));
  for (const [words, text] of [[["explain"], "swiglu"], [["sweep", "--tokens", "256:4096:*2", "--plot", "time"], kHostile]]) {
    const [command, ...options] = words;
    const { status, stderr } = roofcast(command, `./${kFileName}`, ...options, "--gpu", "h200-sxm", "-o", "kernel.html");
    assert.equal(status, 0, stderr);
    await opensSafely("kernel.html", text);
  }
});

test("a hostile config.json of a model", async () => {
  const config = { ...json("architectures/gpt2.json"), _name_or_path: kHostile, architectures: [kHostile] };
  writeFileSync(join(folder, kFileName), JSON.stringify(config));
  const { status, stderr } = roofcast("model", `./${kFileName}`, "--train", "--batch", "4,8", "--seq", "512", "--gpu", "h200-sxm", "-o", "model.html");
  assert.equal(status, 0, stderr);
  await opensSafely("model.html", "onerror");
});

test("a hostile trace of a profile", async () => {
  const kernels = [`gemm_${kHostile}`, kHostile].map((name, i) => ({ ph: "X", cat: "kernel", name, ts: 100 * i, dur: 50 + i }));
  writeFileSync(join(folder, "trace.json"), JSON.stringify({ deviceProperties: [{ name: kHostile }], traceEvents: kernels }));
  const { status, stderr } = roofcast("import", "trace.json", "--gpu", "h100-sxm5", "-o", "trace.html");
  assert.equal(status, 0, stderr);
  await opensSafely("trace.html", kHostile);
});

// The explorer's page in a browser without a network, for its tests.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const program = process.env.ROOFCAST_PROGRAM;
const executablePath = process.env.ROOFCAST_CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath)) {
  console.log(`skipped: no Chromium at ${executablePath} (apt install chromium, or ROOFCAST_CHROMIUM)`);
  process.exit(77);
}
export const source = process.env.ROOFCAST_SOURCE;
export const folder = mkdtempSync(join(tmpdir(), "roofcast-explorer-"));
export const file = join(folder, "page.html");
export const address = pathToFileURL(file).href;
let context;

// Of a file of tests: the page is written and a browser started before them.
export function useExplorer() {
  before(async () => {
    execFileSync(program, ["explore", "-o", file]);
    context = await chromium.launchPersistentContext(join(folder, "profile"), {
      executablePath,
      headless: true,
      offline: true,
      viewport: { width: 1400, height: 1000 },
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
  });

  after(async () => {
    await context?.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

export const ready = (page) => page.waitForSelector("html[data-charts=ready]", { timeout: 60000 });
export const hashOf = (queries) => `#${encodeURIComponent(JSON.stringify(queries))}`;
// The address follows within 150 ms: browsers refuse one that changes at every step of a slider.
export async function stateOf(page) {
  await page.waitForTimeout(200);
  return page.evaluate(() => JSON.parse(decodeURIComponent(location.hash.slice(1))));
}

export async function open(queries, options = {}) {
  const page = await context.newPage();
  await page.emulateMedia({ colorScheme: options.scheme ?? "light" });
  if (options.width) await page.setViewportSize({ width: options.width, height: 900 });
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  const requests = [];
  page.on("request", (request) => requests.push(request.url()));
  await page.goto(address + (queries ? hashOf(queries) : ""));
  await ready(page);
  // What the page may not do, it also does not try.
  const check = () => {
    assert.deepEqual(complaints, []);
    assert.deepEqual(requests.filter((url) => !url.startsWith(address) && !/^(data|blob):/.test(url)), []);
  };
  check();
  return { page, check };
}
// The figures of a row, a number a setting; null where there is none.
export const figures = (page, name) => page.$$eval("#answers tbody tr", (rows, wanted) =>
  [...rows.find((row) => row.cells[0].textContent === wanted).cells].slice(1)
    .map(({ dataset }) => (dataset.value ? Number(dataset.value) : null)), name);
export async function go(page, queries) {
  await page.evaluate((hash) => { location.hash = hash; }, hashOf(queries));
  await page.waitForFunction((count) => document.querySelectorAll("#settings fieldset").length === count, queries.length);
  await ready(page);
}

// The command line's answers to the same queries.
export function asked(queries) {
  const lines = join(folder, "queries.jsonl");
  writeFileSync(lines, queries.map((query) => JSON.stringify(query)).join("\n"));
  try {
    return execFileSync(program, ["predict", "--queries", lines], { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    if (error.status === 3) return error.stdout; // a line without an answer says so in its place
    throw error;
  }
}
export const answersTo = (queries) => asked(queries).trim().split("\n").map((line) => JSON.parse(line));

export function assertClose(page, command, what) {
  if (command === undefined || command === null) return assert.equal(page, null, what);
  assert.ok(Math.abs(page - command) <= 1e-12 * Math.abs(command), `${what}: ${page} in the page, ${command} on the command line`);
}

export const newPage = () => context.newPage();

export const product = { kernel: "gemm.tiled", gpu: "h200-sxm", m: 2048, n: 2048, k: 2048, dtype: "fp32" };

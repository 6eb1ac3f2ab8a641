// The explorer in a browser without a network: its numbers are the command line's, its controls move
// them, the address holds them, and nothing from outside runs.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const program = process.env.ROOFCAST_PROGRAM;
const executablePath = process.env.ROOFCAST_CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath)) {
  console.log(`skipped: no Chromium at ${executablePath} (apt install chromium, or ROOFCAST_CHROMIUM)`);
  process.exit(77);
}

const folder = mkdtempSync(join(tmpdir(), "roofcast-explorer-"));
const file = join(folder, "page.html");
const address = pathToFileURL(file).href;
let context;

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

const ready = (page) => page.waitForSelector("html[data-charts=ready]", { timeout: 60000 });
const hashOf = (queries) => `#${encodeURIComponent(JSON.stringify(queries))}`;
const stateOf = (page) => page.evaluate(() => JSON.parse(decodeURIComponent(location.hash.slice(1))));

async function open(queries, options = {}) {
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
const figures = (page, name) => page.$$eval("#answers tbody tr", (rows, wanted) =>
  [...rows.find((row) => row.cells[0].textContent === wanted).cells].slice(1)
    .map(({ dataset }) => (dataset.value ? Number(dataset.value) : null)), name);

async function go(page, queries) {
  await page.evaluate((hash) => { location.hash = hash; }, hashOf(queries));
  await page.waitForFunction((count) => document.querySelectorAll("#settings fieldset").length === count, queries.length);
  await ready(page);
}

// The command line's answers to the same queries.
function asked(queries) {
  const lines = join(folder, "queries.jsonl");
  writeFileSync(lines, queries.map((query) => JSON.stringify(query)).join("\n"));
  try {
    return execFileSync(program, ["predict", "--queries", lines], { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
  } catch (error) {
    if (error.status === 3) return error.stdout; // a line without an answer says so in its place
    throw error;
  }
}

const answersTo = (queries) => asked(queries).trim().split("\n").map((line) => JSON.parse(line));

function assertClose(page, command, what) {
  if (command === undefined || command === null) return assert.equal(page, null, what);
  assert.ok(Math.abs(page - command) <= 1e-12 * Math.abs(command), `${what}: ${page} in the page, ${command} on the command line`);
}

async function compare(page, queries) {
  const expected = answersTo(queries);
  for (let at = 0; at < queries.length; at += 4) {
    const some = queries.slice(at, at + 4);
    await go(page, some);
    const [times, limits, rates, bytes] = [await figures(page, "Expected time"), await figures(page, "Limit"),
      await figures(page, "Rate"), await figures(page, "DRAM bandwidth")];
    some.forEach((query, i) => {
      const answer = expected[at + i];
      const what = JSON.stringify(query);
      if (answer.error) return assert.equal(limits[i], null, what);
      assertClose(times[i], answer.time?.expected_s, what);
      assertClose(limits[i], answer.limit.time_s, what);
      assertClose(rates[i], answer.rate.flops_per_s, what);
      assertClose(bytes[i], answer.rate.dram_bytes_per_s, what);
    });
  }
}

test("the page is one file under 3 MB", () => {
  assert.ok(statSync(file).size < 3e6, `${statSync(file).size} bytes`);
  assert.doesNotMatch(readFileSync(file, "utf8").slice(0, 4000), /(src|href)=/);
});

test("every kernel's numbers are the command line's to 12 digits, on every GPU some", async () => {
  const { page, check } = await open();
  const kernel = page.locator("#settings fieldset select").first();
  const names = await kernel.locator("option").evaluateAll((options) => options.map(({ value }) => value));
  const gpus = await page.locator("#settings fieldset select").nth(1).locator("option")
    .evaluateAll((options) => options.map(({ value }) => value));
  assert.ok(names.length > 50 && gpus.length > 10);
  const queries = [];
  for (const name of names) {
    await kernel.selectOption(name);
    queries.push((await stateOf(page))[0]);
  }
  assert.deepEqual(queries.map((query) => query.kernel), names);
  await compare(page, queries);
  const spread = gpus.flatMap((gpu, i) => [0, 1, 2].map((j) => ({ ...queries[(7 * i + 23 * j) % queries.length], gpu })));
  await compare(page, spread);
  check();
  await page.close();
});

const product = { kernel: "gemm.tiled", gpu: "h200-sxm", m: 2048, n: 2048, k: 2048, dtype: "fp32" };

test("each control moves the right number", async () => {
  const { page, check } = await open([product]);
  const [before] = await figures(page, "Work");
  await page.getByLabel("m", { exact: true }).fill("4096");
  await ready(page);
  assert.equal((await figures(page, "Work"))[0], 2 * before);
  assert.equal((await stateOf(page))[0].m, 4096);
  const slider = page.getByLabel("m, as a slider", { exact: true });
  await slider.focus();
  await page.keyboard.press("End");
  await ready(page);
  assert.equal((await stateOf(page))[0].m > 100000, true);
  await page.getByLabel("m", { exact: true }).fill("2048");

  const [limit] = await figures(page, "Limit");
  await page.getByText("What if the GPU were different?").click();
  await page.getByText("Override a value of the GPU").click();
  await page.getByLabel("value to override").fill("sm_count");
  await page.getByLabel("its value").fill("264");
  await ready(page);
  assert.ok(Math.abs((await figures(page, "Limit"))[0] / limit - 0.5) < 1e-6);
  assert.deepEqual((await stateOf(page))[0].set, { sm_count: 264 });
  assert.match(await page.locator("#commands").innerText(), /--set sm_count=264/);
  check();
  await page.close();
});

test("up to four settings are compared, and the command line shown gives the same", async () => {
  const { page, check } = await open([product]);
  for (let i = 0; i < 3; ++i) await page.locator("#add").click();
  assert.ok(await page.locator("#add").isDisabled());
  await page.locator("#settings fieldset").nth(3).locator("select").nth(1).selectOption("a100-sxm4-80gb");
  await ready(page);
  const times = await figures(page, "Expected time");
  assert.equal(times.length, 4);
  assert.equal(times[0], times[2]);
  assert.notEqual(times[0], times[3]);
  assert.equal(await page.locator(".chart[id^=roofline]").count(), 2);
  const command = (await page.locator("#commands").innerText()).trim().split("\n")[3];
  const answer = JSON.parse(execFileSync(program, [...command.split(" ").slice(1), "--format", "json"], { encoding: "utf8" }));
  assertClose(times[3], answer.time.expected_s, command);
  await page.locator("#settings fieldset").nth(1).getByRole("button", { name: /remove setting/ }).click();
  await ready(page);
  assert.equal((await figures(page, "Expected time")).length, 3);
  check();
  await page.close();
});

test("a link restores the setting, a broken one does no harm, and names stay text", async () => {
  const { page } = await open([{ ...product, m: 777 }]);
  assert.equal(await page.getByLabel("m", { exact: true }).inputValue(), "777");
  const hostile = "<img src=x onerror=\"document.title='owned'\">";
  await go(page, [{ ...product, kernel: hostile, gpu: hostile, set: { [hostile]: 1 }, dtype: hostile }]);
  assert.match(await page.locator("#answers .fault").first().innerText(), /no kernel is named/);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.title(), "roofcast explorer");
  await page.close();
  for (const hash of ["#%", "#[]", "#[null]", "#{\"a\":1}"]) {
    const broken = await context.newPage();
    await broken.goto(address + hash);
    await ready(broken);
    assert.equal((await figures(broken, "Expected time")).length, 1, hash);
    await broken.close();
  }
});

test("exports hold the answers and the picture", async () => {
  const { page, check } = await open([product]);
  const saved = async (id) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.locator(id).click()]);
    return readFileSync(await download.path());
  };
  assert.equal(JSON.parse(await saved("#export-json"))[0].kernel, "gemm.tiled");
  assert.match((await saved("#export-svg")).toString(), /^<svg/);
  assert.equal((await saved("#export-png")).subarray(1, 4).toString(), "PNG");
  check();
  await page.close();
});

for (const [width, scheme] of [[400, "light"], [400, "dark"], [1400, "dark"]]) {
  test(`nothing is cut off at ${width} px, ${scheme}`, async () => {
    const { page, check } = await open([product], { width, scheme });
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(overflow <= 0, `${overflow} px`);
    const cut = await page.$$eval(".chart", (charts) => charts.filter((chart) => {
      const svg = chart.querySelector("svg.marks").getBoundingClientRect();
      const box = chart.getBoundingClientRect();
      return svg.right > box.right + 1 || svg.left < box.left - 1;
    }).map(({ id }) => id));
    assert.deepEqual(cut, []);
    const small = await page.$$eval(".chart svg.marks", (svgs) => svgs.flatMap((svg) => {
      const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
      return [...svg.querySelectorAll("text")].map((text) => scale * parseFloat(getComputedStyle(text).fontSize)).filter((size) => size < 8.9);
    }));
    assert.deepEqual(small, []);
    if (process.env.ROOFCAST_SHOTS) await page.screenshot({ path: join(process.env.ROOFCAST_SHOTS, `explorer-${width}-${scheme}.png`), fullPage: true });
    check();
    await page.close();
  });
}

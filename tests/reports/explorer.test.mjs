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
const source = process.env.ROOFCAST_SOURCE;
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
// The address follows within 150 ms: browsers refuse one that changes at every step of a slider.
async function stateOf(page) {
  await page.waitForTimeout(200);
  return page.evaluate(() => JSON.parse(decodeURIComponent(location.hash.slice(1))));
}

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

// Four settings at a time, as a reader would compare them: the figures of each in the page's table.
function figuresOfAll(page, queries) {
  return page.evaluate(async (all) => {
    const shown = [];
    const names = ["Expected time", "Limit", "Rate", "DRAM bandwidth", "DRAM bytes", "Waves"];
    for (let at = 0; at < all.length; at += 4) {
      const some = all.slice(at, at + 4);
      const heads = document.querySelector("#answers thead");
      location.hash = `#${encodeURIComponent(JSON.stringify(some))}`;
      while (document.contains(heads) || document.documentElement.dataset.charts !== "ready") {
        await new Promise((resolve) => { setTimeout(resolve, 0); });
      }
      const rows = [...document.querySelectorAll("#answers tbody tr")];
      const figures = names.map((name) => [...rows.find((row) => row.cells[0].textContent === name).cells].slice(1)
        .map(({ dataset }) => (dataset.value ? Number(dataset.value) : null)));
      some.forEach((_, i) => shown.push(figures.map((row) => row[i])));
    }
    return shown;
  }, queries);
}
async function compare(page, queries) {
  const expected = answersTo(queries);
  const shown = await figuresOfAll(page, queries);
  assert.equal(expected.length, shown.length);
  let answered = 0;
  queries.forEach((query, i) => {
    const { time, limit, rate, work, waves, error } = expected[i];
    const what = JSON.stringify(query);
    if (error) return assert.deepEqual(shown[i], [null, null, null, null, null, null], what);
    answered += 1;
    const bytes = work.dram_read_bytes + work.dram_write_bytes;
    [time?.expected_s, limit.time_s, rate.flops_per_s, rate.dram_bytes_per_s, bytes, waves?.count].forEach((value, j) =>
      assertClose(shown[i][j], value, what));
  });
  return answered;
}

test("the page is one file under 3 MB", () => {
  assert.ok(statSync(file).size < 3e6, `${statSync(file).size} bytes`);
  assert.doesNotMatch(readFileSync(file, "utf8").slice(0, 4000), /(src|href)=/);
});
test("every kernel's numbers are the command line's to 12 digits on every GPU", async () => {
  const { page, check } = await open();
  const kernel = page.locator("#settings fieldset select").first();
  const names = (await kernel.locator("option").evaluateAll((options) => options.map(({ value }) => value)))
    .filter((name) => !name.startsWith("model "));
  const gpus = await page.locator("#settings fieldset select").nth(1).locator("option")
    .evaluateAll((options) => options.map(({ value }) => value));
  assert.ok(names.length > 50 && gpus.length > 10);
  const queries = await page.evaluate(async (all) => {
    const asked = [];
    for (const name of all) {
      const select = document.querySelector("#settings fieldset select");
      select.value = name;
      select.dispatchEvent(new Event("change"));
      let state;
      do {
        await new Promise((resolve) => { setTimeout(resolve, 5); });
        [state] = JSON.parse(decodeURIComponent(location.hash.slice(1)));
      } while (state.kernel !== name);
      asked.push(state);
    }
    return asked;
  }, names);
  assert.deepEqual(queries.map((query) => query.kernel), names);
  const all = gpus.flatMap((gpu) => queries.map((query) => ({ ...query, gpu })));
  const answered = await compare(page, all);
  console.log(`${answered} of ${all.length} questions have an answer`);
  assert.ok(answered > all.length / 2);
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

const spec = (name) => JSON.parse(readFileSync(join(source, "hw_specs", `${name}.json`), "utf8"));
const kernelFile = (name) => JSON.parse(readFileSync(join(source, "examples/kernels", `${name}.json`), "utf8"));
const configuration = (name) => JSON.parse(readFileSync(join(source, "architectures", `${name}.json`), "utf8"));

async function paste(page, value) {
  await page.evaluate(() => { document.getElementById("own").open = true; });
  await page.fill("#own-text", typeof value === "string" ? value : JSON.stringify(value));
  await page.click("#own-take");
  await ready(page);
}

// The command as it is shown, in a folder with the files that it names.
async function runShown(page, files) {
  const place = mkdtempSync(join(folder, "own-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(place, name), JSON.stringify(content));
  const command = (await page.locator("#commands").innerText()).trim();
  return JSON.parse(execFileSync(program, [...command.split(" ").slice(1), "--format", "json"], { cwd: place, encoding: "utf8" }));
}

test("a pasted specification and a pasted kernel file answer as the command shown", async () => {
  const { page, check } = await open([product]);
  const gpu = { ...spec("h200-sxm"), name: "mine", title: "Mine" };
  gpu.memory.l2_bytes = { ...gpu.memory.l2_bytes, value: 3e7 };
  const kernel = kernelFile("swiglu");
  await paste(page, gpu);
  await paste(page, kernel);
  await page.getByLabel("tokens", { exact: true }).fill("1024");
  await ready(page);
  const answer = await runShown(page, { "mine.json": gpu, "swiglu.json": kernel });
  assertClose((await figures(page, "Expected time"))[0], answer.time.expected_s, "own files");
  assert.equal(await page.locator("#files button").count(), 2);
  // The address restores both.
  const state = await stateOf(page);
  assert.equal(state[0].gpu.memory.l2_bytes.value, 3e7);
  const { page: other } = await open(state);
  assertClose((await figures(other, "Expected time"))[0], answer.time.expected_s, "restored");
  assert.equal(await other.getByLabel("tokens", { exact: true }).inputValue(), "1024");
  await other.close();
  check();
  await page.close();
});

test("a dropped config.json of a model has its step, and its controls move the numbers", async () => {
  const { page, check } = await open([product]);
  const text = JSON.stringify(configuration("llama-3.1-8b"));
  const data = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([content], "config.json"));
    return transfer;
  }, text);
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
  await page.waitForFunction(() => document.querySelector("#answers").textContent.includes("Tokens a second"));
  const same = async () => {
    const answer = await runShown(page, { "config.json": JSON.parse(text) });
    assertClose((await figures(page, "Expected time"))[0], answer.time.expected_s, "model");
    assertClose((await figures(page, "Tokens a second"))[0], answer.tokens_per_s, "model");
    assertClose((await figures(page, "Memory of a GPU"))[0], answer.memory.total_bytes, "model");
    assert.equal(await page.locator("#steps tbody tr").count(), answer.parts.length);
    return answer;
  };
  const train = await same();
  await page.getByLabel("batch", { exact: true }).fill("4");
  await ready(page);
  assert.ok((await same()).memory.activations_bytes < train.memory.activations_bytes);
  for (const phase of ["decode", "prefill", "train"]) {
    await page.getByLabel("phase").selectOption(phase);
    await ready(page);
    await same();
  }
  await page.locator("#settings fieldset select").first().selectOption("model gpt2-xl");
  await ready(page);
  assert.match(await page.locator("#commands").innerText(), /^roofcast model gpt2-xl --train /);
  await page.locator("#settings fieldset select").first().selectOption("stream.copy");
  await ready(page);
  assert.equal(await page.locator("#steps table").count(), 0);
  check();
  await page.close();
});

test("hostile files stay text, and what is wrong with a file is said", async () => {
  const { page, check } = await open([product]);
  const hostile = "</script><img src=x onerror=\"document.title='owned'\">";
  const wrong = { ...kernelFile("swiglu"), summary: hostile };
  for (const text of ["", "{", "[]", "{}", hostile, JSON.stringify({ model_type: hostile }), JSON.stringify({ ...spec("p100"), name: hostile }),
    JSON.stringify({ ...configuration("gpt2"), n_head: hostile }), JSON.stringify({ ...wrong, name: hostile })]) {
    await paste(page, text);
    assert.equal(await page.locator("#own-said.fault").count(), 1, text);
    assert.ok((await page.locator("#own-said").innerText()).length > 20, text);
  }
  assert.deepEqual(await stateOf(page), [product]);
  await paste(page, { ...spec("p100"), title: hostile });
  await paste(page, { ...wrong, arrays: wrong.arrays.map((array) => ({ ...array, name: hostile })) });
  await paste(page, wrong);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.title(), "roofcast explorer");
  assert.ok((await page.locator("#charts-place").textContent()).includes("onerror"));
  check();
  await page.close();
});

test("all of it works by keyboard", async () => {
  const { page, check } = await open([product]);
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const { activeElement: at } = document;
      return at.id || at.getAttribute("aria-label") || at.closest("label")?.firstChild.textContent.trim() || at.textContent.trim();
    }));
  }
  for (const name of ["kernel", "GPU", "type", "m", "m, as a slider", "cache", "add", "commands", "copy", "link", "export-json",
    "which", "export-svg", "export-png", "export-spec", "Bring your own GPU, kernel or model"]) {
    assert.ok(reached.has(name), `${name} is not reached; ${[...reached].join("; ")}`);
  }
  await page.getByLabel("m, as a slider", { exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await ready(page);
  assert.ok((await stateOf(page))[0].m > 2048);
  await page.locator("#add").focus();
  await page.keyboard.press("Enter");
  await ready(page);
  assert.equal((await stateOf(page)).length, 2);
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
  await page.locator("#which").selectOption("traffic");
  assert.match((await saved("#export-svg")).toString(), /Where the bytes go/);
  assert.equal(JSON.parse(await saved("#export-spec")).title.text, "Where the bytes go");
  check();
  await page.close();
});

for (const [width, scheme] of [[400, "light"], [400, "dark"], [520, "light"], [700, "light"], [1000, "light"], [1400, "light"], [1400, "dark"]]) {
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

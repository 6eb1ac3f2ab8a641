// The explorer in a browser without a network: its numbers are the command line's, the address holds its
// settings, and nothing is cut off.
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { address, answersTo, assertClose, figures, file, go, newPage, open, product, ready, useExplorer } from "./explorer_page.mjs";

useExplorer();

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

test("every kernel's numbers are the command line's to 12 digits, on every fourth GPU in turn", async () => {
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
  const all = gpus.flatMap((gpu, at) => queries.filter((_, i) => (i + at) % 4 === 0).map((query) => ({ ...query, gpu })));
  const answered = await compare(page, all);
  console.log(`${answered} of ${all.length} questions have an answer`);
  assert.ok(answered > all.length / 2);
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
    const broken = await newPage();
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

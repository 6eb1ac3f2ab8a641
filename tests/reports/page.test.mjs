// The pages in a browser without a network: quiet, complete, sortable, and deaf to hostile names.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const samples = process.env.ROOFCAST_SAMPLES;
const executablePath = process.env.ROOFCAST_CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath)) {
  console.log(`skipped: no Chromium at ${executablePath} (apt install chromium, or ROOFCAST_CHROMIUM)`);
  process.exit(77);
}

const profile = mkdtempSync(join(tmpdir(), "roofcast-chromium-"));
let context;

before(async () => {
  context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    offline: true,
    viewport: { width: 1240, height: 900 },
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
});

after(async () => {
  await context?.close();
  rmSync(profile, { recursive: true, force: true });
});

async function open(name, colorScheme = "light", width = 1240) {
  const page = await context.newPage();
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme });
  const complaints = [];
  const requests = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("request", (request) => requests.push(request.url()));
  const address = pathToFileURL(join(samples, name)).href;
  await page.goto(address);
  await page.waitForSelector("html[data-charts=ready]", { timeout: 60000 });
  assert.deepEqual(complaints, []);
  assert.deepEqual(requests.filter((url) => url !== address && !url.startsWith("data:")), []);
  return page;
}

const backgroundOf = (locator) => locator.evaluate((svg) => getComputedStyle(svg).backgroundColor);
const column = (page, table, index) =>
  page.$$eval(`#${table} tbody tr`, (rows, at) => rows.map((row) => row.cells[at].textContent), index);
const values = (page, table, index) =>
  page.$$eval(`#${table} tbody tr`, (rows, at) => rows.map((row) => Number(row.cells[at].dataset.value)), index);

for (const scheme of ["light", "dark"]) {
  test(`a chart page opens offline, ${scheme}`, async () => {
    const page = await open("roofline.html", scheme);
    assert.equal(await page.locator("svg.marks").count(), 1);
    assert.equal(await page.locator("svg .mark-symbol.measured_marks path").count(), 6);
    const background = await backgroundOf(page.locator("svg.marks"));
    assert.equal(background === "rgb(255, 255, 255)", scheme === "light");
    await page.close();
  });
}

test("a dark page lays its charts out as a light one does", async () => {
  const sizes = [];
  for (const scheme of ["light", "dark"]) {
    for (const width of [400, 1240]) {
      const page = await open("report.html", scheme, width);
      sizes.push(await page.$$eval("svg.marks", (all) => all.map((svg) => svg.getAttribute("viewBox"))));
      await page.close();
    }
  }
  assert.deepEqual(sizes.slice(2), sizes.slice(0, 2));
  assert.notDeepEqual(sizes[0], sizes[1]);
});

test("a report holds its charts, every case and where it came from", async () => {
  const page = await open("report.html");
  assert.equal(await page.locator("svg.marks").count(), await page.locator(".chart").count());
  for (const id of ["times", "errors", "roofline-0", "memory"]) assert.equal(await page.locator(`#${id} svg.marks`).count(), 1, id);
  assert.equal(await page.locator("svg .cases_marks path").count(), 80);
  assert.equal(await page.locator("#cases tbody tr").count(), 80);
  const text = await page.locator("main").innerText();
  for (const fact of ["570.86", "0.1.0 (sample)", "run of 2025-11-20 on one device", "wrong output"]) {
    assert.ok(text.includes(fact), fact);
  }
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(overflow <= 0, "the page does not scroll sideways");
  await page.close();
});

test("the table sorts both ways, by number and by text, and filters", async () => {
  const page = await open("report.html");
  const measured = await page.$$eval("#cases thead th", (ths) =>
    ths.findIndex((th) => th.textContent === "Measured"));
  const button = page.locator("#cases thead th button").nth(measured);
  await button.click();
  const down = await values(page, "cases", measured);
  assert.deepEqual(down, [...down].sort((a, b) => b - a));
  await button.click();
  const up = await values(page, "cases", measured);
  assert.deepEqual(up, [...down].reverse());
  assert.equal(await page.locator("#cases th[aria-sort=ascending]").count(), 1);

  await page.locator("#cases thead th button").first().click();
  const names = await column(page, "cases", 0);
  assert.deepEqual(names, [...names].sort((a, b) => a.localeCompare(b, "en", { numeric: true })));

  const library = await page.$$eval("#cases thead th", (ths) =>
    ths.findIndex((th) => th.textContent === "To library"));
  for (let click = 0; click < 2; ++click) {
    await page.locator("#cases thead th button").nth(library).click();
    const shares = await column(page, "cases", library);
    assert.equal(shares.indexOf("–"), shares.filter((text) => text !== "–").length);
  }

  await page.fill("#filter", "gemm tensor");
  assert.match(await page.locator("output").innerText(), /^16 of 80/);
  assert.equal(await page.locator("#cases tbody tr:visible").count(), 16);
  await page.close();
});

test("a dark page prints light", async () => {
  const page = await open("roofline.html", "dark");
  await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await backgroundOf(page.locator(".printed svg.marks")), "rgb(255, 255, 255)");
  assert.equal(await page.locator("svg.marks:visible").count(), 1);
  await page.evaluate(() => dispatchEvent(new Event("afterprint")));
  assert.equal(await page.locator(".printed").count(), 0);
  await page.close();
});

test("names that look like HTML stay text", async () => {
  const page = await open("hostile.html");
  assert.notEqual(await page.title(), "owned");
  assert.ok((await page.title()).includes("</script>"));
  assert.equal(await page.locator("img").count(), 0);
  assert.ok((await column(page, "cases", 0))[0].includes("<img src=x"));
  await page.locator("svg .cases_marks path").first().hover({ force: true });
  assert.equal(await page.locator("img").count(), 0);
  assert.notEqual(await page.title(), "owned");
  await page.close();
});

for (const scheme of ["light", "dark"]) {
  for (const name of ["report.html", "roofline.html", "sweep.html"]) {
    test(`${name} is reflowed at 400 px, ${scheme}`, async () => {
      const page = await open(name, scheme, 400);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      const cut = await page.$$eval(".chart", (all) => all.filter((chart) => {
        const svg = chart.querySelector("svg.marks").getBoundingClientRect();
        const box = chart.getBoundingClientRect();
        return svg.right > box.right + 1 || svg.left < box.left - 1;
      }).map(({ id }) => id));
      assert.deepEqual(cut, []);
      const small = await page.$$eval("svg.marks", (svgs) => svgs.flatMap((svg) => {
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        return [...svg.querySelectorAll("text")].map((text) => scale * parseFloat(getComputedStyle(text).fontSize)).filter((size) => size < 8.9);
      }));
      assert.deepEqual(small, []);
      if (process.env.ROOFCAST_SHOTS) await page.screenshot({ path: join(process.env.ROOFCAST_SHOTS, `${name}-400-${scheme}.png`), fullPage: true });
      await page.close();
    });
  }
}

test("Measured and Error are in sight without scrolling, on a wide screen and on a phone's", async () => {
  for (const width of [400, 1240]) {
    const page = await open("report.html", "light", width);
    for (const table of ["#cases", "#worst"]) {
      const seen = await page.$$eval(`${table} thead th`, (heads, room) => heads
        .filter((head) => head.getBoundingClientRect().right <= room).map((head) => head.textContent), width);
      for (const name of ["Kernel", "Predicted", "Measured", "Error"]) assert.ok(seen.includes(name), `${name} at ${width} px of ${table}: ${seen}`);
    }
    await page.close();
  }
});

test("on paper nothing is cut off", async () => {
  const page = await open("report.html", "light", 1240);
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize({ width: 1030, height: 700 }); // A4 landscape within its margins
  const wide = await page.$$eval("main, .chart svg.marks, .table table", (all) =>
    all.filter((one) => one.getBoundingClientRect().right > innerWidth + 1).map(({ id, className }) => id || String(className.baseVal ?? className)));
  assert.deepEqual(wide, []);
  await page.close();
});

test("a report hands out its run", async () => {
  const page = await open("report.html");
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#save-run").click()]);
  assert.deepEqual(JSON.parse(readFileSync(await download.path(), "utf8")), { note: "</script><img src=x>" });
  assert.equal(await page.locator("img").count(), 0);
  await page.close();
});

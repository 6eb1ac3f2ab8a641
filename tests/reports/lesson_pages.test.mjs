// The lessons as pages: every link opens the explorer at settings that have answers.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const executablePath = process.env.ROOFCAST_CHROMIUM ?? "/usr/bin/chromium";
if (!existsSync(executablePath) || spawnSync("cmark", ["--version"]).error) {
  console.log("skipped: needs Chromium and cmark (scripts/setup --test)");
  process.exit(77);
}
const folder = mkdtempSync(join(tmpdir(), "roofcast-lessons-"));
const source = process.env.ROOFCAST_SOURCE;
let browser;

before(async () => {
  execFileSync(join(source, "scripts/lesson_pages"), [folder], { env: { ...process.env, ROOFCAST: process.env.ROOFCAST_PROGRAM } });
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

test("each lesson has its picture and a link to settings that have answers", async () => {
  const page = await browser.newPage({ viewport: { width: 400, height: 800 } });
  await page.goto(pathToFileURL(join(folder, "lessons.html")).href);
  const links = await page.$$eval("p.explorer a", (found) => found.map(({ href }) => href));
  const commands = readFileSync(join(source, "docs/lessons.md"), "utf8").match(/^roofcast sweep .* -o docs\/gallery/gm);
  assert.equal(links.length, commands.length);
  const broken = await page.$$eval("img", (all) => all.filter((image) => !(image.complete && image.naturalWidth > 0)).map(({ src }) => src));
  assert.deepEqual(broken, []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "cut off at 400 px");
  const explorer = await browser.newPage();
  for (const link of links) {
    await explorer.goto("about:blank");
    await explorer.goto(link);
    await explorer.waitForSelector("html[data-charts=ready]");
    assert.deepEqual(await explorer.locator("#answers .fault").allInnerTexts(), [], decodeURIComponent(link));
  }
});

test("no texts of the lessons' pictures lie over each other or are under 9 px at README's width", async () => {
  const page = await browser.newPage({ viewport: { width: 830, height: 800 } });
  const pictures = readdirSync(join(source, "docs/gallery")).filter((name) => name.endsWith(".svg"));
  assert.ok(pictures.length > 20);
  for (const name of pictures) {
    await page.setContent(`<body style="margin:0">${readFileSync(join(source, "docs/gallery", name), "utf8")}</body>`);
    const { over, smallest } = await page.evaluate(() => {
      const svg = document.querySelector("svg");
      const scale = Math.min(1, 830 / svg.viewBox.baseVal.width);
      const texts = [...svg.querySelectorAll("text")].filter((text) =>
        text.textContent && text.getAttribute("opacity") !== "0" && !/rotate/.test(text.getAttribute("transform")));
      // Half a point of air is part of a box; the letters of a line are lower than it.
      const boxes = texts.map((text) => text.getBoundingClientRect()).map(({ left, right, top, bottom }) =>
        ({ left: left + 0.5, right: right - 0.5, top: top + 2, bottom: bottom - 2 }));
      const found = [];
      boxes.forEach((a, i) => boxes.slice(0, i).forEach((b, j) => {
        if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom && texts[i].textContent !== texts[j].textContent) {
          found.push(`${texts[i].textContent} / ${texts[j].textContent}`);
        }
      }));
      return { over: found, smallest: Math.min(...texts.map((text) => scale * parseFloat(getComputedStyle(text).fontSize))) };
    });
    assert.deepEqual(over, [], name);
    assert.ok(smallest >= 8.9, `${name}: ${smallest} px`);
  }
  await page.close();
});

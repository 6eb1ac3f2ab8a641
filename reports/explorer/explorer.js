import { drawChart, whenThemeChanges } from "../page/charts.js";
import { element, settingControls } from "./controls.js";
import { loadModel } from "./model.js";
import { showAnswers, showNotes } from "./results.js";
import { commandOf, firstOf, readAddress, writeAddress } from "./state.js";

const byId = (id) => document.getElementById(id);
const { themes } = JSON.parse(byId("charts").textContent);
const kMost = 4;
let model;
let catalog;
let queries;
let answered = { answers: [], charts: [] };
const views = new Map();
const known = new Map();

function valuesOf(gpu) {
  if (!known.has(gpu)) known.set(gpu, catalog.gpus.some(({ name }) => name === gpu) ? model.values(gpu) : []);
  return known.get(gpu);
}

function frameWidth() {
  // The names of levels stand to the right of a frame of this width or more.
  const room = byId("charts-place").clientWidth;
  return room < 640 ? Math.max(180, room - 165) : Math.min(620, room - 340);
}

async function drawCharts() {
  const place = byId("charts-place");
  const wanted = new Set(answered.charts.map(({ id }) => id));
  for (const old of [...place.children]) if (!wanted.has(old.id)) old.remove();
  for (const { id, spec } of answered.charts) {
    let box = byId(id);
    if (!box) {
      box = element("div", { class: "chart", id }, element("div", { class: "screen" }));
      place.append(box);
    }
    views.set(id, await drawChart(box.firstChild, spec, themes, id));
  }
}

let drawing = false;
let stale = false;

// One drawing at a time; what changes meanwhile is drawn after it, once.
async function redraw() {
  if (drawing) {
    stale = true;
    return;
  }
  drawing = true;
  document.documentElement.removeAttribute("data-charts");
  do {
    stale = false;
    await drawCharts();
  } while (stale);
  drawing = false;
  document.documentElement.setAttribute("data-charts", "ready");
}

function answer() {
  writeAddress(queries);
  try {
    answered = model.answer(queries, frameWidth());
  } catch (error) {
    answered = { answers: [{ error: { message: error.message } }], charts: [] };
  }
  showAnswers(byId("answers"), answered.answers);
  showNotes(byId("notes"), answered.answers);
  byId("commands").textContent = queries.map(commandOf).join("\n");
  return redraw();
}

function showSettings() {
  const cards = queries.map((query, i) => settingControls({ catalog, valuesOf }, query, i,
    (next, controls) => {
      queries[i] = next;
      if (controls) showSettings();
      answer();
    },
    queries.length > 1 ? () => { queries.splice(i, 1); showSettings(); answer(); } : null));
  const open = [...byId("settings").querySelectorAll("details")].map((details) => details.open);
  byId("settings").replaceChildren(...cards);
  [...byId("settings").querySelectorAll("details")].forEach((details, i) => { details.open ||= open[i] ?? false; });
  byId("add").disabled = queries.length >= kMost;
}

function save(name, content) {
  const link = element("a", { href: content, download: name });
  link.click();
}

const said = (text) => { byId("said").textContent = text; };
const copy = (text, what) => navigator.clipboard.writeText(text).then(() => said(`${what} copied`), () => said("Copying is not allowed here: select the text"));

function enableTools() {
  byId("add").addEventListener("click", () => {
    queries.push(structuredClone(queries.at(-1)));
    showSettings();
    answer();
  });
  byId("copy").addEventListener("click", () => copy(byId("commands").textContent, "Commands"));
  byId("link").addEventListener("click", () => copy(location.href, "Link"));
  byId("export-json").addEventListener("click", () =>
    save("roofcast.json", URL.createObjectURL(new Blob([JSON.stringify(answered.answers, null, 1)], { type: "application/json" }))));
  byId("export-svg").addEventListener("click", async () =>
    save("roofline.svg", URL.createObjectURL(new Blob([await views.get("roofline-1").toSVG()], { type: "image/svg+xml" }))));
  byId("export-png").addEventListener("click", async () => save("roofline.png", await views.get("roofline-1").toImageURL("png", 2)));
  addEventListener("hashchange", () => {
    const next = readAddress();
    if (!next || JSON.stringify(next) === JSON.stringify(queries)) return;
    queries = next;
    showSettings();
    answer();
  });
  whenThemeChanges(redraw);
  let width = frameWidth();
  addEventListener("resize", () => {
    if (frameWidth() === width) return;
    width = frameWidth();
    answer();
  });
}

async function start() {
  model = await loadModel();
  catalog = model.catalog();
  queries = readAddress() ?? [firstOf(catalog)];
  showSettings();
  enableTools();
  await answer();
}

start().catch((error) => {
  byId("notes").replaceChildren(element("p", { class: "fault" }, `The model did not start: ${error.message}`));
});

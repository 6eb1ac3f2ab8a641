import { LiveChart } from "../page/live.js";
import { themed } from "../page/theme.js";
import { element, settingControls } from "./controls.js";
import { loadModel } from "./model.js";
import { Own } from "./own.js";
import { showAnswers, showNotes, showSteps } from "./results.js";
import { commandOf, firstOf, fitted, readAddress, stepOf, writeAddress } from "./state.js";

const byId = (id) => document.getElementById(id);
const { themes } = JSON.parse(byId("charts").textContent);
const dark = matchMedia("(prefers-color-scheme: dark)");
const kMost = 4;
const kNarrow = 330; // a frame narrower than this has no names beside it
let model;
let catalog;
let own;
let queries;
let current = 0; // the setting that was touched last: what is dropped goes there
let answered = { answers: [], charts: [] };
const charts = new Map();
const known = new Map();

function valuesOf(gpu) {
  const key = JSON.stringify(gpu);
  if (!known.has(key)) {
    try {
      known.set(key, model.values(gpu));
    } catch {
      known.set(key, []); // the answer says what is wrong with the GPU
    }
  }
  return known.get(key);
}

function frameWidth() {
  // The names of levels stand to the right of a wide frame, and inside a narrow one.
  const room = byId("charts-place").clientWidth;
  return room < kNarrow + 340 ? Math.min(kNarrow - 1, Math.max(180, room - 165)) : Math.min(620, room - 340);
}

function chartOf(id) {
  if (!charts.has(id)) {
    const screen = element("div", { class: "screen" });
    byId("charts-place").append(element("div", { class: "chart", id }, screen));
    charts.set(id, new LiveChart(screen));
  }
  return charts.get(id);
}

function showChoice(ids) {
  const select = byId("which");
  if ([...select.options].map(({ value }) => value).join() === ids.join()) return;
  const held = select.value;
  select.replaceChildren(...ids.map((id) => element("option", { value: id }, id.replace("-", " "))));
  if (ids.includes(held)) select.value = held;
}

async function drawCharts() {
  const ids = answered.charts.map(({ id }) => id);
  for (const id of charts.keys()) byId(id).hidden = !ids.includes(id);
  showChoice(ids);
  for (const { id, spec } of answered.charts) {
    try {
      await chartOf(id).draw(dark.matches ? themed(spec, themes.dark) : spec, dark.matches);
    } catch (error) {
      console.error(`${id} cannot be drawn: ${error.message}`);
    }
  }
  // In the order of the answer, whatever was drawn first.
  const order = [...ids.map(byId)];
  if (order.some((box, i) => byId("charts-place").children[i] !== box)) byId("charts-place").prepend(...order);
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

async function answer() {
  const began = performance.now();
  writeAddress(queries);
  try {
    answered = model.answer(queries, frameWidth());
  } catch (error) {
    answered = { answers: [{ error: { message: error.message } }], charts: [] };
  }
  showAnswers(byId("answers"), answered.answers);
  showSteps(byId("steps"), answered.answers);
  showNotes(byId("notes"), answered.answers);
  byId("commands").textContent = queries.map(commandOf).join("\n");
  showFiles();
  await redraw();
  performance.measure("redraw", { start: began, end: performance.now() });
}

// The commands read the reader's own files: each can be saved under the name that they use.
function showFiles() {
  const links = [...own.files(queries)].map(([name, content]) => {
    const file = element("button", { type: "button", onclick: () => save(name, content) }, `Save ${name}`);
    return file;
  });
  byId("files").replaceChildren(...links);
}

function showSettings() {
  const cards = queries.map((query, i) => {
    const card = settingControls({ catalog, own, valuesOf }, query, i,
      (next, controls) => {
        current = i;
        queries[i] = next;
        if (controls) showSettings();
        answer();
      },
      queries.length > 1 ? () => { queries.splice(i, 1); current = 0; showSettings(); answer(); } : null);
    card.addEventListener("focusin", () => { current = i; });
    return card;
  });
  const open = [...byId("settings").querySelectorAll("details")].map((details) => details.open);
  const focus = [...byId("settings").querySelectorAll("select,input,button")].indexOf(document.activeElement);
  byId("settings").replaceChildren(...cards);
  [...byId("settings").querySelectorAll("details")].forEach((details, i) => { details.open ||= open[i] ?? false; });
  byId("settings").querySelectorAll("select,input,button")[focus]?.focus();
  byId("add").disabled = queries.length >= kMost;
}

function take(text) {
  try {
    const { kind, name, content, entry } = own.add(text);
    const query = queries[current] ?? queries[0];
    const next = kind === "gpu" ? { ...query, gpu: content, set: undefined } : kind === "model" ? stepOf(query, content) : fitted(query, entry, content);
    queries[queries[current] ? current : 0] = next;
    showSettings();
    answer();
    byId("own-said").className = "";
    byId("own-said").textContent = `${name} taken as a ${{ gpu: "GPU", kernel: "kernel", model: "model" }[kind]}`;
    return true;
  } catch (error) {
    byId("own-said").className = "fault";
    byId("own-said").textContent = error.message;
    return false;
  }
}

async function takeFile(file) {
  if (file) take(await file.text());
}

function enableOwn() {
  byId("own-take").addEventListener("click", () => { if (take(byId("own-text").value)) byId("own-text").value = ""; });
  byId("own-file").addEventListener("change", async ({ target }) => {
    await takeFile(target.files[0]);
    target.value = "";
  });
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => {
    event.preventDefault();
    byId("own").open = true;
    takeFile(event.dataTransfer.files[0]);
  });
}

function download(name, address) {
  element("a", { href: address, download: name }).click();
}
function save(name, content) {
  const text = typeof content === "string" ? content : JSON.stringify(content, null, 1);
  const address = URL.createObjectURL(new Blob([text], { type: name.endsWith(".svg") ? "image/svg+xml" : "application/json" }));
  download(name, address);
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

const said = (text) => { byId("said").textContent = text; };
const copy = (text, what) => navigator.clipboard.writeText(text).then(() => said(`${what} copied`), () => said("Copying is not allowed here: select the text"));

function enableTools() {
  byId("add").addEventListener("click", () => {
    queries.push(structuredClone(queries.at(-1)));
    current = queries.length - 1;
    showSettings();
    answer();
  });
  byId("copy").addEventListener("click", () => copy(byId("commands").textContent, "Commands"));
  byId("link").addEventListener("click", () => copy(location.href, "Link"));
  byId("export-json").addEventListener("click", () => save("roofcast.json", answered.answers));
  const which = () => byId("which").value;
  byId("export-spec").addEventListener("click", () => save(`${which()}.json`, answered.charts.find(({ id }) => id === which()).spec));
  byId("export-svg").addEventListener("click", async () => save(`${which()}.svg`, await charts.get(which()).toSVG()));
  byId("export-png").addEventListener("click", async () => download(`${which()}.png`, await charts.get(which()).toPNG()));
  addEventListener("hashchange", ({ newURL }) => {
    // Not what stands there now: a change just before may be written only after this event was sent.
    const next = readAddress(new URL(newURL));
    if (!next || JSON.stringify(next) === JSON.stringify(queries)) return;
    queries = next;
    current = 0;
    queries.forEach((query) => own.addFrom(query));
    showSettings();
    answer();
  });
  dark.addEventListener("change", redraw);
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
  own = new Own(model);
  queries = readAddress() ?? [firstOf(catalog)];
  queries.forEach((query) => own.addFrom(query));
  showSettings();
  enableOwn();
  enableTools();
  await answer();
}

start().catch((error) => {
  byId("notes").replaceChildren(element("p", { class: "fault" }, `The model did not start: ${error.message}`));
});

// The answers as a table: a row a figure, a column a setting.
import { element } from "./controls.js";

const kPrefixes = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];

export function si(value, unit) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return `0 ${unit}`;
  const [scale, prefix] = kPrefixes.find(([least]) => Math.abs(value) >= 0.9995 * least) ?? kPrefixes.at(-1);
  return `${Number((value / scale).toPrecision(4))} ${prefix}${unit}`;
}

const percent = (share) => (share === null || share === undefined ? "–" : `${(100 * share).toFixed(1)}%`);

// A box a wave, the last filled as far as its blocks go.
function waveBoxes({ count, full, tail_utilization: tail }) {
  const shown = element("span", { class: "wave", "aria-hidden": "true" });
  const boxes = Math.min(12, Math.ceil(count));
  for (let i = 0; i < boxes; ++i) {
    const share = i < full ? 1 : tail;
    const box = element("i");
    box.style.setProperty("--full", `${100 * share}%`);
    shown.append(box);
  }
  return shown;
}

const dramBytes = (a) => a.work.dram_read_bytes + a.work.dram_write_bytes;
const isModel = (answer) => answer.model !== undefined;

// Name, text, and where the row is a number, that.
const kTimes = [
  ["Expected time", (a) => a.time && si(a.time.expected_s, "s"), (a) => a.time?.expected_s],
  ["Interval", (a) => a.time && `${si(a.time.low_s, "s")} to ${si(a.time.high_s, "s")}`],
];
const kKernel = [
  ["Bound by", (a) => (a.time ?? a.limit).bound],
  ["Limit", (a) => si(a.limit.time_s, "s"), (a) => a.limit.time_s],
  ["Of the limit", (a) => percent(a.rate.fraction_of_limit), (a) => a.rate.fraction_of_limit],
  ["Rate", (a) => si(a.rate.flops_per_s, "FLOP/s"), (a) => a.rate.flops_per_s],
  ["DRAM bandwidth", (a) => si(a.rate.dram_bytes_per_s, "B/s"), (a) => a.rate.dram_bytes_per_s],
  ["Work", (a) => si(a.work.flops, "FLOP"), (a) => a.work.flops],
  ["DRAM bytes", (a) => si(dramBytes(a), "B"), dramBytes],
  ["DRAM intensity", (a) => si(a.arithmetic_intensity.dram, "FLOP/B"), (a) => a.arithmetic_intensity.dram],
  ["Blocks an SM", (a) => a.occupancy && `${a.occupancy.blocks_per_sm}, limited by ${a.occupancy.limited_by.replace("_", " ")}`,
    (a) => a.occupancy?.blocks_per_sm],
  ["Waves", (a) => a.waves && element("span", {}, `${Number(a.waves.count.toPrecision(4))}, efficiency ${percent(a.waves.efficiency)}`, waveBoxes(a.waves)),
    (a) => a.waves?.count],
];
const kModel = [
  ["Tokens a second", (a) => si(a.tokens_per_s, ""), (a) => a.tokens_per_s],
  ["MFU", (a) => percent(a.mfu), (a) => a.mfu],
  ["Memory of a GPU", (a) => `${si(a.memory.total_bytes, "B")}${a.memory.fits ? "" : ": does not fit"}`, (a) => a.memory.total_bytes],
];

function figureRow(answers, [name, text, value], applies) {
  return element("tr", {}, element("th", { scope: "row" }, name), ...answers.map((answer) => {
    if (answer.error || !applies(answer)) return element("td", {}, "–");
    return element("td", { "data-value": value?.(answer) ?? "" }, text(answer) ?? "–");
  }));
}

export function showAnswers(table, answers) {
  const named = (answer, fallback) => answer.kernel ?? answer.model ?? fallback;
  const heads = answers.map((answer, i) =>
    element("th", { scope: "col" }, answers.length > 1 ? `${i + 1}: ${named(answer, "no forecast")}` : named(answer, "No forecast")));
  const some = answers.some(isModel);
  const rows = [
    ...kTimes.map((figure) => figureRow(answers, figure, () => true)),
    ...(answers.every(isModel) ? [] : kKernel.map((figure) => figureRow(answers, figure, (a) => !isModel(a)))),
    ...(some ? kModel.map((figure) => figureRow(answers, figure, isModel)) : []),
  ];
  const faults = answers.filter(({ error }) => error).map(({ error }) =>
    element("tr", {}, element("td", { class: "fault", colspan: answers.length + 1 }, error.message)));
  table.replaceChildren(element("thead", {}, element("tr", {}, element("th"), ...heads)), element("tbody", {}, ...faults, ...rows));
}

// The parts of each step of a model, largest first, with a bar of their share.
export function showSteps(place, answers) {
  const tables = answers.filter(({ parts }) => parts).map(({ model, gpu, parts }) => {
    const rows = [...parts].sort((a, b) => b.time_s - a.time_s).map(({ name, time_s: time, share, bound }) => {
      const bar = element("span", { class: "bar" });
      bar.style.width = `${Math.round(90 * share)}px`;
      return element("tr", {}, element("th", { scope: "row" }, name), element("td", { "data-value": time }, si(time, "s")),
        element("td", {}, bar, percent(share)), element("td", { class: "text" }, bound));
    });
    const heads = ["Part", "Time", "Share", "Bound by"].map((name) => element("th", { scope: "col" }, name));
    return element("div", { class: "table steps" }, element("table", {}, element("caption", {}, `A step of ${model} on ${gpu}`),
      element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows)));
  });
  place.replaceChildren(...tables);
}

export function showNotes(place, answers) {
  const notes = new Set(answers.flatMap((answer) => answer.notes ?? []));
  place.replaceChildren(...[...notes].map((note) => element("p", {}, note)));
}

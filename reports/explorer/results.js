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

const kFigures = [
  ["Expected time", (a) => a.time && si(a.time.expected_s, "s"), (a) => a.time?.expected_s],
  ["Interval", (a) => a.time && `${si(a.time.low_s, "s")} to ${si(a.time.high_s, "s")}`],
  ["Bound by", (a) => (a.time ?? a.limit).bound],
  ["Limit", (a) => si(a.limit.time_s, "s"), (a) => a.limit.time_s],
  ["Of the limit", (a) => percent(a.rate.fraction_of_limit), (a) => a.rate.fraction_of_limit],
  ["Rate", (a) => si(a.rate.flops_per_s, "FLOP/s"), (a) => a.rate.flops_per_s],
  ["DRAM bandwidth", (a) => si(a.rate.dram_bytes_per_s, "B/s"), (a) => a.rate.dram_bytes_per_s],
  ["Work", (a) => si(a.work.flops, "FLOP"), (a) => a.work.flops],
  ["DRAM bytes", (a) => si(a.work.dram_read_bytes + a.work.dram_write_bytes, "B")],
  ["DRAM intensity", (a) => si(a.arithmetic_intensity.dram, "FLOP/B"), (a) => a.arithmetic_intensity.dram],
  ["Blocks an SM", (a) => a.occupancy && `${a.occupancy.blocks_per_sm}, limited by ${a.occupancy.limited_by.replace("_", " ")}`],
  ["Waves", (a) => a.waves && element("span", {}, `${Number(a.waves.count.toPrecision(4))}, efficiency ${percent(a.waves.efficiency)}`, waveBoxes(a.waves))],
];

export function showAnswers(table, answers) {
  const heads = answers.map((answer, i) =>
    element("th", { scope: "col" }, answers.length > 1 ? `${i + 1}: ${answer.kernel ?? "no forecast"}` : (answer.kernel ?? "No forecast")));
  const rows = kFigures.map(([name, text, value]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...answers.map((answer) => {
      if (answer.error) return element("td", {}, "–");
      return element("td", { "data-value": value?.(answer) ?? "" }, text(answer) ?? "–");
    })));
  const faults = answers.filter(({ error }) => error).map(({ error }) =>
    element("tr", {}, element("td", { class: "fault", colspan: answers.length + 1 }, error.message)));
  table.replaceChildren(element("thead", {}, element("tr", {}, element("th"), ...heads)), element("tbody", {}, ...faults, ...rows));
}

export function showNotes(place, answers) {
  const notes = new Set(answers.flatMap((answer) => answer.notes ?? []));
  place.replaceChildren(...[...notes].map((note) => element("p", {}, note)));
}

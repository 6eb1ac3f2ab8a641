// Reads the lessons as HTML, writes the page: after each command a link to the explorer at its setting.
// ROOFCAST names the program, which says whether a setting has an answer.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

const kDrawn = new Set(["plot", "run", "x", "series", "o", "waves"]); // of the picture, not of the setting
const kMost = 4; // settings that the explorer compares
const entities = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&" };
const plain = (html) => html.replace(/&(lt|gt|quot|amp);/g, (entity) => entities[entity]);
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const words = (command) => [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2]);

function parsed(command) {
  const kernels = [];
  const options = {};
  const rest = words(command).slice(2);
  while (rest.length > 0) {
    const word = rest.shift();
    if (!word.startsWith("-")) kernels.push(word);
    else if (word !== "--waves") options[word.replace(/^-+/, "")] = rest.shift();
  }
  return { kernels, options };
}

const isNumber = (text) => /^[0-9]+$/.test(text);

// "4:16:*2" is 4, 8, 16; "4:16:4" is 4, 8, 12, 16.
function spread(part) {
  const [first, last, step] = part.split(":");
  if (last === undefined) return [Number(part)];
  const next = step.startsWith("*") ? (value) => value * Number(step.slice(1)) : (value) => value + Number(step);
  const values = [];
  for (let value = Number(first); value <= Number(last); value = next(value)) values.push(value);
  return values;
}

// "1024:16384:*2,7" in order, without the last `back` of them; "fp32,bf16" as it stands.
function valuesOf(text, back) {
  const parts = text.split(",");
  if (!parts.every((part) => /^[0-9:*]+$/.test(part))) return parts;
  const numbers = [...new Set(parts.flatMap(spread))].sort((a, b) => a - b);
  return numbers.slice(0, Math.max(1, numbers.length - back));
}

// "=m", "=134217728/cols"
function derived(text, query) {
  const [left, right] = text.slice(1).split("/").map((one) => (isNumber(one) ? Number(one) : query[one]));
  return right === undefined ? left : Math.floor(left / right);
}

// The first, the last and what is between them at equal distances.
function evenly(list, most) {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, i) => list[Math.round((i * (list.length - 1)) / (most - 1))]);
}

// A setting a kernel at the largest values; of one kernel each of the types, or sizes from the smallest to
// the largest.
function settingsAt(command, back) {
  const { kernels, options } = parsed(command);
  const { gpu, ...values } = options;
  const given = Object.entries(values).filter(([key]) => !kDrawn.has(key));
  let queries = evenly(kernels, kMost).map((kernel) => ({ kernel, gpu }));
  const lists = given.filter(([, text]) => !text.startsWith("=")).map(([key, text]) => [key, valuesOf(text, back)]);
  const varied = lists.filter(([, all]) => all.length > 1);
  const named = varied.some(([, all]) => !isNumber(String(all[0])));
  const most = Math.max(2, Math.floor(kMost ** (1 / Math.max(1, varied.length))));
  for (const [key, all] of lists) {
    // Names are compared before sizes are.
    const several = kernels.length === 1 && (!named || !isNumber(String(all[0])));
    const choices = several ? evenly(all, named ? kMost : most) : [all.at(-1)];
    queries = queries.flatMap((query) => choices.map((value) => ({ ...query, [key]: isNumber(String(value)) ? Number(value) : value })));
  }
  if (queries.length > kMost) queries = queries.slice(-kMost);
  for (const [key, text] of given.filter(([, value]) => value.startsWith("="))) {
    for (const query of queries) query[key] = derived(text, query);
  }
  return queries;
}

function haveAnswers(queries) {
  const { status, error, stderr } = spawnSync(process.env.ROOFCAST, ["predict", "--queries", "-"], {
    input: queries.map((query) => JSON.stringify(query)).join("\n"), encoding: "utf8", maxBuffer: 1 << 26 });
  if (error) throw error;
  const kRefused = 3;
  if (status !== 0 && status !== kRefused) throw new Error(stderr);
  return status === 0;
}

// The largest values that all of the kernels take.
function settings(command) {
  const kMostSteps = 8;
  for (let back = 0; back < kMostSteps; ++back) {
    const queries = settingsAt(command, back);
    if (haveAnswers(queries)) return queries;
  }
  throw new Error(`no value has an answer of every kernel: ${command}`);
}

const link = (command) => `explorer.html#${encodeURIComponent(JSON.stringify(settings(command)))}`;
const body = readFileSync(0, "utf8").replace(/<pre><code>(roofcast sweep [^<]*)<\/code><\/pre>/g, (block, commands) => {
  const links = plain(commands).trim().split("\n").map((command, i) =>
    `<p class="explorer"><a href="${escaped(link(command))}">Open ${i > 0 ? "this one" : "this lesson"} in the explorer</a></p>`);
  return block + links.join("");
});
process.stdout.write(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>roofcast: lessons</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.55 system-ui, sans-serif; margin: 0 auto; max-width: 900px; padding: 24px 16px 60px; }
img { max-width: 100%; height: auto; background: #fff; border-radius: 8px; }
pre { overflow-x: auto; padding: 10px 12px; border: 1px solid #8886; border-radius: 8px; font-size: 13px; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: 4px 10px; border: 1px solid #8886; }
p.explorer { margin: -6px 0 16px; font-weight: 600; }
@media print { pre { white-space: pre-wrap; } img { break-inside: avoid; } }
</style>
</head>
<body>
${body}</body>
</html>
`);

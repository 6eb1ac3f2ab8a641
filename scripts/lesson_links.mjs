// Reads the lessons as HTML, writes the page: after each command a link to the explorer at its setting.
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

// "1024:16384:*2,7" by its first and its last value; "fp32,bf16" as it stands.
function ends(text) {
  const parts = text.split(",");
  if (!parts.every((part) => /^[0-9:*]+$/.test(part))) return parts;
  const numbers = parts.flatMap((part) => (part.includes(":") ? part.split(":").slice(0, 2) : [part])).map(Number);
  return [...new Set([Math.min(...numbers), Math.max(...numbers)])];
}

// "=m", "=134217728/cols"
function derived(text, query) {
  const [left, right] = text.slice(1).split("/").map((one) => (isNumber(one) ? Number(one) : query[one]));
  return right === undefined ? left : Math.floor(left / right);
}

// The first, the last and what is between them at equal distances.
function evenly(list) {
  if (list.length <= kMost) return list;
  return Array.from({ length: kMost }, (_, i) => list[Math.round((i * (list.length - 1)) / (kMost - 1))]);
}

// A setting a kernel at the largest values; of one kernel also at the smallest, and each of the types.
export function settings(command) {
  const { kernels, options } = parsed(command);
  const { gpu, ...values } = options;
  const given = Object.entries(values).filter(([key]) => !kDrawn.has(key));
  let queries = evenly(kernels).map((kernel) => ({ kernel, gpu }));
  const named = given.some(([, text]) => ends(text).length > 1 && !isNumber(String(ends(text)[0])));
  for (const [key, text] of given.filter(([, value]) => !value.startsWith("="))) {
    const all = ends(text);
    // Names are compared before sizes are.
    const several = kernels.length === 1 && (!named || !isNumber(String(all[0])));
    const choices = several ? all : [all.at(-1)];
    queries = queries.flatMap((query) => choices.map((value) => ({ ...query, [key]: isNumber(String(value)) ? Number(value) : value })));
  }
  if (queries.length > kMost) queries = queries.slice(-kMost);
  for (const [key, text] of given.filter(([, value]) => value.startsWith("="))) {
    for (const query of queries) query[key] = derived(text, query);
  }
  return queries;
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

// The table of this project's kernels as compiled, model/kernels/compiled.inc.
//   node compiled_kernels.mjs write COMPILER TABLE INSPECTION...   of what `roofcast inspect` told, as JSON
//   node compiled_kernels.mjs check COMPILER TABLE LIBRARY         against the machine code in a binary
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const kArchitecture = "sm_90a";

// What only tests run, or what runs where addresses are not those that plans count with; passes over
// rows whose registers plans guess; gemm.wgmma, whose launch bounds set them.
const kLeftOut =
  /(reference|probe|fill|extremes|worst_row|index|statistics|scalar|interpret|uniform|elements?_kernel|_elements|prepare|convert_dq|mma::round|mma::rows|wgmma_kernel)\w*[<(]/;

const kTypes = {
  double: "fp64", float: "fp32", __half: "fp16", __nv_bfloat16: "bf16", __nv_fp8_e4m3: "fp8",
  "signed char": "int8",
};
// Elements that are only moved, by their bytes.
const kBytes = { "unsigned char": 1, "unsigned short": 2, "unsigned int": 4, "unsigned long": 8 };

// The position after the bracket that closes the one at `from`.
function closed(text, from) {
  let depth = 0;
  for (let i = from; i < text.length; ++i) {
    if ("<{(".includes(text[i])) ++depth;
    if (">})".includes(text[i]) && --depth === 0) return i + 1;
  }
  return text.length;
}

// "a, b<c, d>" as ["a", "b<c, d>"].
function split(list) {
  const parts = [""];
  for (let i = 0; i < list.length; ++i) {
    if (list[i] === ",") {
      parts.push("");
    } else if ("<{(".includes(list[i])) {
      const end = closed(list, i);
      parts[parts.length - 1] += list.slice(i, end);
      i = end - 1;
    } else {
      parts[parts.length - 1] += list[i];
    }
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

// An argument of a template: numbers and types of elements as they are, those of a tile one by one,
// an operation by its name. The name of a table of tiles tells nothing.
function flat(argument) {
  const text = argument.replace(/^\([\w:]+\)/, "").replace(/ const$/, "");
  if (text in kTypes) return [kTypes[text]];
  if (text in kBytes) return [kBytes[text]];
  if (text === "true" || text === "false") return [text === "true" ? 1 : 0];
  if (/^\d+u?l?$/.test(text)) return [parseInt(text, 10)];
  const open = text.search(/[<{]/);
  if (open >= 0) return split(text.slice(open + 1, closed(text, open) - 1)).flatMap(flat);
  return /(^|:)k[A-Z]\w*$/.test(text) ? [] : [{ operation: text }];
}

// "void roofcast::cuda::softmax::held_kernel<float, 8>(...)" is softmax::held_kernel, [fp32, 8]. A
// kernel of an operation has the operation's name: map::map_vectors<stream::Add, float, 16, 2> is
// stream::Add, [fp32, 16, 2]. An operation for 16-bit types alone, elementwise::Exp16, stands as
// elementwise::Exp of these types.
function keyOf(function_name) {
  const plain = function_name
    .replace(/^void /, "")
    .replaceAll("(anonymous namespace)::", "")
    .replace(/roofcast::(cuda::)?/g, "")
    .replaceAll("hopper::", "");
  const open = plain.search(/[<(]/);
  const is_template = plain[open] === "<";
  const all = is_template ? split(plain.slice(open + 1, closed(plain, open) - 1)).flatMap(flat) : [];
  const operation = all.find((one) => one.operation)?.operation;
  const name = operation?.replace(/^(elementwise::\D+)16$/, "$1") ?? plain.slice(0, open);
  return { name, arguments: all.filter((one) => !one.operation) };
}

// A copy of 16-bit elements moves bits: one kernel for both types, which stands as that of fp16.
function standingKeyOf(function_name) {
  const key = keyOf(function_name);
  if (key.name === "stream::Copy" && key.arguments[0] === 2) key.arguments[0] = "fp16";
  return key;
}

// What stands for a key. A kernel of bf16 that is compiled as that of fp16 has no line of its own.
const standsFor = (key, lines) => lines.get(key) ?? lines.get(key.replace("bf16", "fp16"));

const kOrder = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8", "fp4"]; // of DType
const number = (argument) => (typeof argument === "string" ? kOrder.indexOf(argument) : argument);

function before(a, b) {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  for (let i = 0; i < Math.max(a.arguments.length, b.arguments.length); ++i) {
    const difference = number(a.arguments[i] ?? 0) - number(b.arguments[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function fail(text) {
  console.error(`compiled_kernels: ${text}`);
  process.exit(1);
}

// The table's lines by what stands before their numbers. A kernel that several sources
// instantiate is compiled alike in all of them.
function linesOf(kernels) {
  const lines = kernels
    .filter((kernel) => !kLeftOut.test(kernel.name))
    .map((kernel) => ({ ...standingKeyOf(kernel.name), values: kernel.values }))
    .sort(before);
  const found = new Map();
  for (const { name, arguments: all, values } of lines) {
    const key = `{"${name}", {${all.join(", ")}}`;
    if ((found.get(key) ?? values) !== values) fail(`${key} has ${found.get(key)} and ${values}`);
    found.set(key, values);
  }
  return found;
}

// Registers of a thread, instructions of the main way outside all loops, and of a turn of each of the
// first loops without those in it.
function valuesOf({ registers, main_way_instructions: main_way, loops }) {
  const kLoops = 6;
  const turns = loops.slice(0, kLoops).map((loop) => loop.instructions);
  return `${registers}, ${main_way}${turns.length > 0 ? `, {${turns.join(", ")}}` : ""}`;
}

function write(compiler, table, inspections) {
  const kernels = inspections
    .flatMap((path) => JSON.parse(readFileSync(path)).kernels)
    .filter((kernel) => kernel.architecture === kArchitecture)
    .map((kernel) => ({ name: kernel.kernel, values: valuesOf(kernel) }));
  if (kernels.length === 0) fail(`no kernel is compiled for ${kArchitecture}`);
  const head = [
    `// Compiled by ${compiler}, for ${kArchitecture}.`,
    "// Written by scripts/count_instructions. Name, arguments of the template, registers of a thread;",
    "// instructions of the main way outside loops, and of a turn of each of the first six loops.",
    "// bf16 has a line only where it differs from fp16.",
  ];
  const all = linesOf(kernels);
  const lines = [...all]
    .filter(([key, values]) => !key.includes("bf16") || all.get(key.replace("bf16", "fp16")) !== values)
    .map(([key, values]) => `${key}, ${values}},`);
  writeFileSync(table, [...head, ...lines].join("\n") + "\n");
  console.log(`${compiler}: ${lines.length} kernels`);
}

// Each cubin in a file: an ELF object for a GPU, whose section .nv.info has the registers of symbols.
function kernelsOf(path) {
  const file = readFileSync(path);
  const kMagic = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
  const kCuda = 190;
  const kRegisterCount = 0x2f04; // EIATTR_REGCOUNT, then the size of what follows
  const kernels = [];
  for (let at = file.indexOf(kMagic); at >= 0; at = file.indexOf(kMagic, at + 4)) {
    if (file.readUInt16LE(at + 18) !== kCuda || file[at + 49] !== 90) continue;
    const text = (from) => file.toString("latin1", from, file.indexOf(0, from));
    const headers = at + Number(file.readBigUInt64LE(at + 40));
    const sections = Array.from({ length: file.readUInt16LE(at + 60) }, (_, i) => {
      const header = headers + i * 64;
      const offset = at + Number(file.readBigUInt64LE(header + 24));
      return { name: file.readUInt32LE(header), offset, size: Number(file.readBigUInt64LE(header + 32)) };
    });
    const names = sections[file.readUInt16LE(at + 62)].offset;
    const section = (name) => sections.find((one) => text(names + one.name) === name);
    const info = section(".nv.info");
    const length = (i) => (file[i] === 4 ? 4 + file.readUInt16LE(i + 2) : 4);
    for (let i = info.offset; i < info.offset + info.size; i += length(i)) {
      if (file.readUInt16LE(i) !== kRegisterCount) continue;
      const symbol = section(".symtab").offset + file.readUInt32LE(i + 4) * 24;
      const name = text(section(".strtab").offset + file.readUInt32LE(symbol));
      kernels.push({ symbol: name, values: `${file.readUInt32LE(i + 8)}` });
    }
  }
  const readable = spawnSync("c++filt", {
    input: kernels.map((kernel) => kernel.symbol).join("\n"), encoding: "utf8", maxBuffer: 1 << 26,
  });
  if (readable.status !== 0) fail("c++filt is not there: install binutils");
  return readable.stdout.split("\n").map((name, i) => ({ ...kernels[i], name }));
}

function check(compiler, table, library) {
  const [first, , , , ...lines] = readFileSync(table, "utf8").trimEnd().split("\n");
  if (!first.includes(compiler)) {
    console.log(`SKIPPED: the table is of another compiler than ${compiler}`);
    return;
  }
  const kernels = kernelsOf(library);
  if (kernels.length === 0) {
    console.log(`SKIPPED: ${library} has no uncompressed code for ${kArchitecture}`);
    return;
  }
  const compiled = linesOf(kernels);
  const stands = new Map(lines.map((line) => /^(\{".*", \{.*\}), (\d+)/.exec(line).slice(1)));
  const differ = [...new Set([...compiled.keys(), ...stands.keys()])].filter(
    (key) => compiled.get(key) !== standsFor(key, stands),
  );
  for (const key of differ) {
    console.error(`${key}: ${standsFor(key, stands) ?? "not"} in the table, ${compiled.get(key) ?? "not"} compiled`);
  }
  if (differ.length > 0) fail("write the table again: scripts/count_instructions model/kernels/compiled.inc");
  console.log(`${compiled.size} kernels have the registers that the table says`);
}

const [what, compiler, table, ...files] = process.argv.slice(2);
if (what === "write") write(compiler, table, files);
else check(compiler, table, files[0]);

// The settings of the page: read from and written to the address after #.
import { fileName } from "./own.js";

// Shapes that show something; a parameter without a default starts here.
const kStart = { m: 4096, n: 4096, k: 4096, rows: 4096, cols: 4096, seq_q: 4096, seq_kv: 4096, heads: 32, batch: 1, head_dim: 128 };
const kVector = 67108864;

// A product on the newest GPU whose forecasts rest on measurements.
export function firstOf({ gpus, kernels }) {
  const calibrated = gpus.filter((gpu) => gpu.calibrated);
  const [gpu] = [...(calibrated.length > 0 ? calibrated : gpus)].sort((a, b) => b.year - a.year);
  const kernel = kernels.find(({ name }) => name === "gemm.library") ?? kernels[0];
  return fitted({ gpu: gpu.name, m: 4096, n: 4096, k: 4096, dtype: "bf16" }, kernel);
}

export function startOf(parameter, kernel) {
  const only = kernel.parameters.filter((p) => p.fallback === undefined).length === 1;
  const value = only && parameter.name === "n" ? kVector : (kStart[parameter.name] ?? parameter.minimum);
  return Math.min(parameter.maximum, Math.max(parameter.minimum, value));
}

// What the kernel takes of an earlier setting, and a start for what it lacks. `named` stands in the
// query for the kernel: its name, or a kernel file.
export function fitted(query, kernel, named = kernel.name) {
  const next = { kernel: named, gpu: query.gpu };
  for (const parameter of kernel.parameters) {
    const { name, choices, text } = parameter;
    const had = query[name];
    const fits = choices ? choices.includes(had) : text ? typeof had === "string" : Number.isInteger(had);
    if (fits) next[name] = had;
    else if (parameter.fallback === undefined) next[name] = choices ? choices[0] : startOf(parameter, kernel);
  }
  next.dtype = kernel.dtypes.includes(query.dtype) ? query.dtype : kernel.dtypes[0];
  if (query.cache) next.cache = query.cache;
  if (query.set && Object.keys(query.set).length > 0) next.set = query.set;
  return next;
}

// A step of a model on the same GPU.
export function stepOf(query, model) {
  const next = { model, gpu: query.gpu, phase: query.phase ?? "train", dtype: query.model ? query.dtype : "bf16" };
  next.batch = query.model ? query.batch : 8;
  if (next.phase === "decode") next.context = query.context ?? 4096;
  else next.seq = query.seq ?? 1024;
  if (query.set && Object.keys(query.set).length > 0) next.set = query.set;
  return next;
}

const isNamed = (value) => typeof value === "string" || (value !== null && typeof value === "object");
const isUsable = (query) =>
  query !== null && typeof query === "object" && isNamed(query.kernel ?? query.model) && isNamed(query.gpu);

export function readAddress({ hash } = location) {
  try {
    const queries = JSON.parse(decodeURIComponent(hash.slice(1)));
    if (Array.isArray(queries) && queries.length > 0 && queries.every(isUsable)) return queries.slice(0, 4);
  } catch {
    // No setting in the address, or a broken one.
  }
  return null;
}

// Browsers refuse an address that changes hundreds of times in seconds, as under a slider.
const kPause = 150;
let written = 0;
let waiting;

export function writeAddress(queries) {
  clearTimeout(waiting);
  const write = () => {
    written = performance.now();
    history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(queries))}`);
  };
  const rest = written + kPause - performance.now();
  if (rest <= 0) write();
  else waiting = setTimeout(write, rest);
}

const quoted = (text) => (/^[\w.,:+=/-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`);
const named = (kind, value) => quoted(typeof value === "object" ? fileName(kind, value) : value);

export function commandOf({ kernel, model, gpu, set, phase, ...rest }) {
  const words = ["roofcast", ...(model ? ["model", named("model", model), `--${phase}`] : ["predict", named("kernel", kernel)])];
  for (const [key, value] of Object.entries(rest)) {
    words.push(`--${model ? key.replaceAll("_", "-") : key}`, quoted(String(value)));
  }
  words.push("--gpu", named("gpu", gpu));
  for (const [key, value] of Object.entries(set ?? {})) words.push("--set", quoted(`${key}=${value}`));
  return words.join(" ");
}

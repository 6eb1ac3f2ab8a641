// The controls of one setting. All text is set as text: names come from the address too.
import { fitted, stepOf } from "./state.js";

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

function select(options, value, change) {
  const made = element("select", { onchange: (event) => change(event.target.value) });
  made.append(...options);
  made.value = value;
  return made;
}

const option = (name, title = name) => element("option", { value: name }, title);

const kOwn = "own: ";
const ownGroup = (label, names) =>
  names.length > 0 ? [element("optgroup", { label }, ...names.map((name) => option(kOwn + name, name)))] : [];

function kernelOptions({ kernels, models }, own) {
  const groups = new Map();
  for (const { name, family } of kernels) {
    if (!groups.has(family)) groups.set(family, element("optgroup", { label: family }));
    groups.get(family).append(option(name, name === family ? `${name}: the limit` : name));
  }
  const whole = (name) => option(`model ${name}`, name);
  return [
    ...ownGroup("your kernels", own.names("kernel")),
    ...ownGroup("your models", own.names("model").map((name) => `model ${name}`)),
    ...groups.values(),
    element("optgroup", { label: "a step of a model" }, ...models.map(whole)),
  ];
}

function gpuOptions({ gpus }, own) {
  return [...ownGroup("your GPUs", own.names("gpu")), ...gpus.map(({ name, title }) => option(name, title || name))];
}

// What stands in a query for the text of an option.
function chosen(own, kind, value) {
  return value.startsWith(kOwn) ? own.content(kind, value.slice(kOwn.length)) : value;
}
const shown = (value) => (typeof value === "object" ? kOwn + value.name : value);

const kSteps = 8; // of a slider, for each doubling

function sized(parameter, query, change) {
  const { name, minimum, maximum, fallback } = parameter;
  const number = element("input", {
    type: "number", min: minimum, max: maximum, step: 1, value: query[name] ?? "",
    placeholder: fallback === "0" && parameter.configures ? "auto" : fallback,
    "aria-label": name,
    oninput: (event) => {
      const value = event.target.value === "" ? undefined : Number(event.target.value);
      if (value !== undefined) slider.value = kSteps * Math.log2(Math.max(1, value));
      change(name, Number.isInteger(value) ? value : undefined);
    },
  });
  const slider = element("input", {
    type: "range", min: kSteps * Math.log2(Math.max(1, minimum)), max: kSteps * Math.log2(Math.min(maximum, 2 ** 31)),
    value: kSteps * Math.log2(Math.max(1, query[name] ?? Number(fallback ?? 1))), step: 1,
    "aria-label": `${name}, as a slider`,
    oninput: (event) => {
      // Even sizes where they are large: odd ones are a question of their own, for the number.
      const exact = 2 ** (event.target.value / kSteps);
      const value = exact < 64 ? Math.round(exact) : 16 * Math.round(exact / 16);
      number.value = Math.min(maximum, Math.max(minimum, value));
      change(name, Number(number.value));
    },
  });
  const wide = maximum > 64;
  return element("label", { title: parameter.meaning, class: wide ? "sized" : undefined }, name, number, wide ? slider : null);
}

function parameterControl(parameter, query, change) {
  const { name, choices, text, meaning, fallback } = parameter;
  if (choices) {
    const made = select(choices.map((choice) => option(choice)), query[name] ?? fallback, (value) => change(name, value));
    return element("label", { title: meaning }, name, made);
  }
  if (text) {
    const input = element("input", { value: query[name] ?? "", oninput: (event) => change(name, event.target.value || undefined) });
    return element("label", { title: meaning }, name, input);
  }
  return sized(parameter, query, change);
}

function overrides(query, index, values, change) {
  const list = element("datalist", { id: `keys-${index}` }, ...values.map(({ key }) => option(key)));
  const rows = element("div");
  const set = { ...query.set };
  const store = () => change("set", Object.keys(set).length > 0 ? { ...set } : undefined);
  const row = (key = "", value = "") => {
    let held = key;
    const number = element("input", { type: "number", step: "any", value, "aria-label": "its value", oninput: update });
    const name = element("input", { list: list.id, value: key, placeholder: "sm_count", "aria-label": "value to override", oninput: () => {
      const known = values.find((one) => one.key === name.value);
      if (known && number.value === "") number.value = known.value;
      update();
    } });
    function update() {
      delete set[held];
      held = name.value;
      if (held && number.value !== "") set[held] = Number(number.value);
      store();
    }
    const remove = element("button", { type: "button", "aria-label": "remove this override", onclick: () => {
      delete set[held];
      made.remove();
      store();
    } }, "×");
    const made = element("div", { class: "override" }, name, number, remove);
    return made;
  };
  for (const [key, value] of Object.entries(set)) rows.append(row(key, value));
  const add = element("button", { type: "button", onclick: () => rows.append(row()) }, "Override a value of the GPU");
  return element("details", { open: Object.keys(set).length > 0 }, element("summary", {}, "What if the GPU were different?"), list, rows, add);
}

// What a step of a model takes: names and ranges of `predict --queries`.
const numbered = (name, fallback, maximum, meaning) => ({ name, fallback, minimum: 1, maximum, meaning });
const picked = (name, choices, meaning) => ({ name, choices, fallback: choices[0], meaning });
const kPhases = ["train", "prefill", "decode"];

function stepParameters(phase) {
  return [
    picked("dtype", ["bf16", "fp16", "fp32", "fp8"], "of weights, activations and cache"),
    numbered("batch", "1", 2 ** 20, "sequences of one GPU at a time"),
    phase === "decode" ? numbered("context", undefined, 2 ** 24, "keys that the cache holds") : numbered("seq", "1024", 2 ** 20, "tokens of a sequence"),
    picked("framework", ["eager", "compiled", "ideal"], "what software adds"),
    ...(phase === "train" ? [picked("checkpointing", ["none", "selective", "full"], "what the backward pass computes again: nothing, what lies between products, or the layer")] : []),
    numbered("tp", "1", 8, "GPUs that share each product"),
    numbered("dp", "1", 8, "copies of the model"),
    numbered("fsdp", "1", 8, "GPUs that share weights, gradients and optimizer states"),
    numbered("ep", "1", 64, "GPUs that share the experts, of dp times fsdp or else of tp"),
  ];
}

function modelControls(query, keep, whole) {
  const phase = select(kPhases.map((name) => option(name)), query.phase, (next) => {
    const asked = { ...query, phase: next };
    for (const key of ["checkpointing", "grad_accum", "logits", ...(next === "decode" ? ["seq"] : ["context"])]) delete asked[key];
    whole(stepOf(asked, query.model));
  });
  return [element("label", {}, "phase", phase), ...stepParameters(query.phase).map((parameter) => parameterControl(parameter, query, keep))];
}

function kernelControls(kernel, query, keep) {
  const controls = (list) => list.map((parameter) => parameterControl(parameter, query, keep));
  const tiles = kernel.parameters.filter((p) => p.configures);
  return [
    element("label", {}, "type", select(kernel.dtypes.map((type) => option(type)), query.dtype ?? kernel.dtypes[0],
      (dtype) => keep("dtype", dtype))),
    ...controls(kernel.parameters.filter((p) => !p.configures)),
    element("label", {}, "cache", select(["cold", "warm", "steady", "repeated"].map((state) => option(state)), query.cache ?? "cold",
      (cache) => keep("cache", cache === "cold" ? undefined : cache))),
    tiles.length > 0 ? element("details", {}, element("summary", {}, "Configuration of the kernel"), ...controls(tiles)) : null,
  ];
}

// `change(query, redraw)`: redraw where other controls are needed.
export function settingControls({ catalog, own, valuesOf }, query, index, change, remove) {
  const kernel = query.model ? null : (own.entry(query.kernel) ?? catalog.kernels.find(({ name }) => name === query.kernel) ?? catalog.kernels[0]);
  const keep = (key, value) => {
    if (value === undefined) delete query[key];
    else query[key] = value;
    change(query, false);
  };
  const whole = (next) => change(next, true);
  const choose = (value) => {
    const modelled = value.replace(/^own: model /, kOwn);
    if (value.startsWith("model ")) return whole(stepOf(query, value.slice("model ".length)));
    if (modelled !== value) return whole(stepOf(query, chosen(own, "model", modelled)));
    const named = chosen(own, "kernel", value);
    return whole(fitted(query, own.entry(named) ?? catalog.kernels.find((k) => k.name === value), named));
  };
  const value = query.model ? (typeof query.model === "object" ? `${kOwn}model config.json` : `model ${query.model}`) : shown(query.kernel);
  return element("fieldset", { class: "setting", "aria-label": `setting ${index + 1}` },
    element("header", {}, `Setting ${index + 1}`,
      remove ? element("button", { type: "button", onclick: remove, "aria-label": `remove setting ${index + 1}` }, "Remove") : null),
    element("label", {}, "kernel", select(kernelOptions(catalog, own), value, choose)),
    element("label", {}, "GPU", select(gpuOptions(catalog, own), shown(query.gpu),
      (gpu) => whole({ ...query, gpu: chosen(own, "gpu", gpu), set: undefined }))),
    ...(query.model ? modelControls(query, keep, whole) : kernelControls(kernel, query, keep)),
    overrides(query, index, valuesOf(query.gpu), keep));
}

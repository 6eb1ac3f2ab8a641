// Charts that are drawn again at every change. Two specifications of one form differ in data and in
// the values of parameters alone: their view is made once and then kept up to date.
import * as vega from "vega";
import { expressionInterpreter } from "vega-interpreter";
import { compile } from "vega-lite";
import { Handler } from "vega-tooltip";

const kMostForms = 6;
const isPair = (list) => list.length === 2 && list.every((one) => typeof one === "number");

// The specification with a parameter in place of each domain, tick, angle and heading.
export function parted({ datasets, width, height, title, config, ...rest }) {
  const params = [];
  const named = new Map();
  // Layers that share a scale say the same of it: one parameter for one value.
  const parameter = (value) => {
    const said = JSON.stringify(value);
    if (!named.has(said)) {
      named.set(said, `value_${params.length}`);
      params.push({ name: named.get(said), value });
    }
    return { expr: named.get(said) };
  };
  function visit(node, key) {
    if (Array.isArray(node)) {
      if (key === "domain") return isPair(node) ? node.map(parameter) : [parameter(node)];
      return key === "values" ? parameter(node) : node.map((one) => visit(one));
    }
    if (key === "angle" && typeof node === "number") return parameter(node);
    if (node === null || typeof node !== "object") return node;
    return Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, visit(inner, name)]));
  }
  const spec = { ...visit(rest), title: { ...title, text: parameter(title.text), subtitle: parameter(title.subtitle) }, config };
  return { spec, params, datasets, size: { width, height }, form: JSON.stringify([spec, Object.keys(datasets), width === undefined]) };
}

// A list that is one parameter: Vega-Lite leaves it in a list of its own.
function settleDomains({ scales = [], marks = [] }) {
  for (const scale of scales) {
    if (Array.isArray(scale.domain) && scale.domain.length === 1 && scale.domain[0]?.signal) [scale.domain] = scale.domain;
  }
  marks.forEach(settleDomains);
}

function newView({ spec, params, datasets, size }, dark) {
  const compiled = compile({ ...spec, ...size, params, datasets }).spec;
  settleDomains(compiled);
  // Expressions are interpreted, not compiled: the page's security policy allows no eval.
  const view = new vega.View(vega.parse(compiled, null, { ast: true }), { renderer: "svg", expr: expressionInterpreter });
  view.tooltip(new Handler({ theme: dark ? "dark" : "light" }).call);
  // Without the sets that no layer draws.
  return { view, sets: compiled.data.map(({ name }) => name).filter((name) => name in datasets) };
}

export class LiveChart {
  #place;
  #shown;
  #forms = new Map();

  constructor(place) {
    this.#place = place;
  }

  async draw(spec, dark) {
    const parts = parted(spec);
    let form = this.#forms.get(parts.form);
    if (form) {
      this.#update(form, parts);
    } else {
      form = { element: document.createElement("div"), ...newView(parts, dark) };
      form.said = parts.params.map(({ value }) => JSON.stringify(value));
      form.view.initialize(form.element);
      this.#keep(parts.form, form);
    }
    if (this.#shown !== form) this.#place.replaceChildren(form.element);
    this.#shown = form;
    await form.view.runAsync();
  }

  #update(form, { params, datasets, size }) {
    const { view, sets } = form;
    params.forEach(({ name, value }, i) => {
      const said = JSON.stringify(value);
      if (said !== form.said[i]) view.signal(name, value);
      form.said[i] = said;
    });
    if (size.width !== undefined) view.width(size.width).height(size.height);
    for (const name of sets) view.data(name, datasets[name]);
  }

  #keep(key, form) {
    this.#forms.set(key, form);
    if (this.#forms.size <= kMostForms) return;
    const [oldest, { view }] = this.#forms.entries().next().value;
    this.#forms.delete(oldest);
    view.finalize();
  }

  toSVG() {
    return this.#shown.view.toSVG();
  }

  toPNG() {
    return this.#shown.view.toImageURL("png", 2);
  }
}

// The reader's own specifications, kernel files and configurations: pasted, dropped or in the address.
export class Own {
  #model;
  #held = { kernel: new Map(), gpu: new Map(), model: new Map() };

  constructor(model) {
    this.#model = model;
  }

  // Throws what is wrong with the text.
  add(text) {
    const found = this.#model.identify(text);
    this.#held[found.kind].set(found.name, found);
    return found;
  }

  // What a query holds as an object.
  addFrom(query) {
    for (const kind of ["kernel", "gpu", "model"]) {
      if (query[kind] === null || typeof query[kind] !== "object") continue;
      try {
        this.add(JSON.stringify(query[kind]));
      } catch {
        // The answer to the query says what is wrong.
      }
    }
  }

  names(kind) {
    return [...this.#held[kind].keys()];
  }

  content(kind, name) {
    return this.#held[kind].get(name).content;
  }

  // The catalog's entry of a kernel file.
  entry(kernel) {
    return this.#held.kernel.get(kernel?.name)?.entry;
  }

  files(queries) {
    const files = new Map();
    for (const query of queries) {
      for (const kind of ["kernel", "gpu", "model"]) {
        const content = query[kind];
        if (content !== null && typeof content === "object") files.set(fileName(kind, content), content);
      }
    }
    return files;
  }
}

export const fileName = (kind, content) => (kind === "model" ? "config.json" : `${content.name}.json`);

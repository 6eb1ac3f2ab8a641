// Bundles a page's script and writes its template as C++:
//   node build.mjs OUTPUT.cpp                      the page around charts, kPageTemplate
//   node build.mjs OUTPUT.cpp explorer MODEL.js    the explorer with its model, kExplorerTemplate;
//                                                  MODEL.wasm lies beside MODEL.js
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));
const [output, folder = "page", model] = process.argv.slice(2);
const isExplorer = folder === "explorer";
const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

// Emscripten's file makes a factory for a global name or a CommonJS module; the bundler reads modules.
const modelModule = {
  name: "roofcast-model",
  resolveId: (id) => (id === "roofcast-model" ? id : null),
  load: (id) => (id === "roofcast-model" ? "export default globalThis.roofcastModel;" : null),
};

async function bundle() {
  const [built] = await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    plugins: [modelModule],
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      write: false,
      target: "es2022",
      lib: { entry: `${here}/${folder}/${folder}.js`, formats: ["iife"], name: "roofcast" },
      chunkSizeWarningLimit: 4096,
    },
  });
  // Neither may stand in a script element, whatever the language around it.
  const glue = isExplorer ? `${readFileSync(model, "utf8")}\nglobalThis.roofcastModel = roofcastModel;\n` : "";
  return (glue + built.output[0].code).replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

// Adjacent literals join; pieces keep each under the length that compilers promise to take.
function literal(text) {
  const pieces = [];
  for (let at = 0; at < text.length; at += 16000) {
    pieces.push(`R"roofcast(${text.slice(at, at + 16000)})roofcast"`);
  }
  return pieces.join("\n");
}

const script = await bundle();
// The binary is data of the page: compressed, and as letters.
const packed = (file) => gzipSync(readFileSync(file), { level: 9 }).toString("base64");
const built = {
  script,
  model: isExplorer ? packed(model.replace(/\.js$/, ".wasm")) : "",
  style: read("page/page.css") + (isExplorer ? read("explorer/explorer.css") : ""),
  "script-hash": `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
};
const template = read(`${folder}/template.html`).replace(/<!--build:([a-z-]+)-->/g, (_, name) => built[name]);
writeFileSync(
  output,
  `#include "reports/${isExplorer ? "explorer_page" : "page"}.hpp"

namespace roofcast::reports {
const std::string_view ${isExplorer ? "kExplorerTemplate" : "kPageTemplate"} =
${literal(template)};
}  // namespace roofcast::reports
`,
);

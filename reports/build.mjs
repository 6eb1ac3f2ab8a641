// Bundles the page's script and writes the page template as C++: node build.mjs OUTPUT.cpp
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));
const page = (name) => readFileSync(new URL(`page/${name}`, import.meta.url), "utf8");

async function bundle() {
  const [{ output }] = await build({
    root: here,
    configFile: false,
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      write: false,
      target: "es2022",
      lib: { entry: `${here}/page/page.js`, formats: ["iife"], name: "roofcast" },
      chunkSizeWarningLimit: 4096,
    },
  });
  // Neither may stand in a script element, whatever the language around it.
  return output[0].code.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
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
const built = {
  script,
  style: page("page.css"),
  "script-hash": `'sha256-${createHash("sha256").update(script).digest("base64")}'`,
};
const template = page("template.html").replace(/<!--build:([a-z-]+)-->/g, (_, name) => built[name]);
writeFileSync(
  process.argv[2],
  `#include "reports/page.hpp"

namespace roofcast::reports {
const std::string_view kPageTemplate =
${literal(template)};
}  // namespace roofcast::reports
`,
);

// The model in WebAssembly: questions and answers as JSON.
import roofcastModel from "roofcast-model";

// The page holds the binary compressed, as base64: nothing is fetched.
async function binary() {
  const letters = atob(document.getElementById("model").textContent);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer();
}

export async function loadModel() {
  const module = await roofcastModel({ wasmBinary: await binary() });
  const ask = (name, argument) => {
    const types = argument === undefined ? [] : ["string"];
    const reply = JSON.parse(module.ccall(name, "string", types, argument === undefined ? [] : [argument]));
    if (!reply.ok) throw new Error(reply.error);
    return reply.result;
  };
  return {
    catalog: () => ask("roofcast_catalog"),
    // Of a name, or of a specification as an object.
    values: (gpu) => ask("roofcast_values", typeof gpu === "string" ? gpu : JSON.stringify(gpu)).values,
    identify: (text) => ask("roofcast_identify", text),
    answer: (queries, width) => ask("roofcast_answer", JSON.stringify({ queries, width })),
  };
}

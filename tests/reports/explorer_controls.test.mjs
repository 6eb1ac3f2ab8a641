// The explorer's controls: each moves the right number, by pointer and by keyboard; what the reader brings is
// taken, and stays text.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { assertClose, figures, folder, go, open, product, program, ready, source, stateOf, useExplorer } from "./explorer_page.mjs";

useExplorer();

test("each control moves the right number", async () => {
  const { page, check } = await open([product]);
  const [before] = await figures(page, "Work");
  await page.getByLabel("m", { exact: true }).fill("4096");
  await ready(page);
  assert.equal((await figures(page, "Work"))[0], 2 * before);
  assert.equal((await stateOf(page))[0].m, 4096);
  const slider = page.getByLabel("m, as a slider", { exact: true });
  await slider.focus();
  await page.keyboard.press("End");
  await ready(page);
  assert.equal((await stateOf(page))[0].m > 100000, true);
  await page.getByLabel("m", { exact: true }).fill("2048");

  const [limit] = await figures(page, "Limit");
  await page.getByText("What if the GPU were different?").click();
  await page.getByText("Override a value of the GPU").click();
  await page.getByLabel("value to override").fill("sm_count");
  await page.getByLabel("its value").fill("264");
  await ready(page);
  assert.ok(Math.abs((await figures(page, "Limit"))[0] / limit - 0.5) < 1e-6);
  assert.deepEqual((await stateOf(page))[0].set, { sm_count: 264 });
  assert.match(await page.locator("#commands").innerText(), /--set sm_count=264/);
  check();
  await page.close();
});

const spec = (name) => JSON.parse(readFileSync(join(source, "hw_specs", `${name}.json`), "utf8"));
const kernelFile = (name) => JSON.parse(readFileSync(join(source, "examples/kernels", `${name}.json`), "utf8"));
const configuration = (name) => JSON.parse(readFileSync(join(source, "architectures", `${name}.json`), "utf8"));

async function paste(page, value) {
  await page.evaluate(() => { document.getElementById("own").open = true; });
  await page.fill("#own-text", typeof value === "string" ? value : JSON.stringify(value));
  await page.click("#own-take");
  await ready(page);
}

// The command as it is shown, in a folder with the files that it names.
async function runShown(page, files) {
  const place = mkdtempSync(join(folder, "own-"));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(place, name), JSON.stringify(content));
  const command = (await page.locator("#commands").innerText()).trim();
  return JSON.parse(execFileSync(program, [...command.split(" ").slice(1), "--format", "json"], { cwd: place, encoding: "utf8" }));
}

// Moves one control as a reader would: the next choice, twice the number, a slider a step of eight on.
function moveControl(page, at) {
  return page.evaluate((index) => {
    document.querySelectorAll("#settings details").forEach((details) => { details.open = true; });
    const control = document.querySelectorAll("#settings fieldset label select, #settings fieldset label input")[index];
    const { tagName, type, value, placeholder, max } = control;
    if (tagName === "SELECT") {
      control.selectedIndex = (control.selectedIndex + 1) % control.options.length;
    } else if (type === "range") {
      control.value = Number(value) + (Number(value) + 8 <= Number(max) ? 8 : -8);
    } else if (type === "number") {
      const next = 2 * (Number(value || placeholder) || 2);
      control.value = next <= Number(max) ? next : 1;
    } else {
      control.value = "sqrt(x)";
    }
    control.dispatchEvent(new Event(tagName === "SELECT" ? "change" : "input"));
    return control.getAttribute("aria-label") ?? control.closest("label").firstChild.textContent;
  }, at);
}

// The figure of the command shown; null where it is refused, as the page says then.
async function expectedOfShown(page) {
  const command = (await page.locator("#commands").innerText()).trim();
  const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2]);
  try {
    const answer = JSON.parse(execFileSync(program, [...words.slice(1), "--format", "json"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    return answer.time?.expected_s ?? null;
  } catch (error) {
    assert.ok([2, 3].includes(error.status), command);
    return null;
  }
}

for (const query of [{ ...product, kernel: "gemm.library", dtype: "bf16" }, { kernel: "attention.flash2", gpu: "h100-sxm5", heads: 16, seq_q: 2048, dtype: "bf16" },
  { kernel: "elementwise.expr.fused", gpu: "a100-sxm4-80gb", expression: "sin(x)", n: 1048576, dtype: "fp32" },
  { model: "llama-3.1-8b", gpu: "h100-sxm5", phase: "train", dtype: "bf16", batch: 1, seq: 1024 }]) {
  test(`every control of ${query.kernel ?? query.model} moves the numbers as the command shown`, async () => {
    const { page, check } = await open([query]);
    const count = await page.locator("#settings fieldset label select, #settings fieldset label input").count();
    let answered = 0;
    for (let at = 1; at < count; ++at) { // 0 is the kernel: every one of them is asked above
      const name = await moveControl(page, at);
      await ready(page);
      const state = await stateOf(page);
      assert.notDeepEqual(state, [query], name);
      const expected = await expectedOfShown(page);
      answered += expected === null ? 0 : 1;
      assertClose((await figures(page, "Expected time"))[0], expected, `${name}: ${JSON.stringify(state)}`);
      await go(page, [query]);
    }
    assert.ok(2 * answered > count, `${answered} of ${count} have an answer`);
    check();
    await page.close();
  });
}

test("a pasted specification and a pasted kernel file answer as the command shown", async () => {
  const { page, check } = await open([product]);
  const gpu = { ...spec("h200-sxm"), name: "mine", title: "Mine" };
  gpu.memory.l2_bytes = { ...gpu.memory.l2_bytes, value: 3e7 };
  const kernel = kernelFile("swiglu");
  await paste(page, gpu);
  await paste(page, kernel);
  await page.getByLabel("tokens", { exact: true }).fill("1024");
  await ready(page);
  const answer = await runShown(page, { "mine.json": gpu, "swiglu.json": kernel });
  assertClose((await figures(page, "Expected time"))[0], answer.time.expected_s, "own files");
  assert.equal(await page.locator("#files button").count(), 2);
  // The address restores both.
  const state = await stateOf(page);
  assert.equal(state[0].gpu.memory.l2_bytes.value, 3e7);
  const { page: other } = await open(state);
  assertClose((await figures(other, "Expected time"))[0], answer.time.expected_s, "restored");
  assert.equal(await other.getByLabel("tokens", { exact: true }).inputValue(), "1024");
  await other.close();
  check();
  await page.close();
});

test("a dropped config.json of a model has its step, and its controls move the numbers", async () => {
  const { page, check } = await open([product]);
  const text = JSON.stringify(configuration("llama-3.1-8b"));
  const data = await page.evaluateHandle((content) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([content], "config.json"));
    return transfer;
  }, text);
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
  await page.waitForFunction(() => document.querySelector("#answers").textContent.includes("Tokens a second"));
  const same = async () => {
    const answer = await runShown(page, { "config.json": JSON.parse(text) });
    assertClose((await figures(page, "Expected time"))[0], answer.time.expected_s, "model");
    assertClose((await figures(page, "Tokens a second"))[0], answer.tokens_per_s, "model");
    assertClose((await figures(page, "Memory of a GPU"))[0], answer.memory.total_bytes, "model");
    assert.equal(await page.locator("#steps tbody tr").count(), answer.parts.length);
    return answer;
  };
  const train = await same();
  await page.getByLabel("batch", { exact: true }).fill("4");
  await ready(page);
  assert.ok((await same()).memory.activations_bytes < train.memory.activations_bytes);
  for (const phase of ["decode", "prefill", "train"]) {
    await page.getByLabel("phase").selectOption(phase);
    await ready(page);
    await same();
  }
  await page.locator("#settings fieldset select").first().selectOption("model gpt2-xl");
  await ready(page);
  assert.match(await page.locator("#commands").innerText(), /^roofcast model gpt2-xl --train /);
  await page.locator("#settings fieldset select").first().selectOption("stream.copy");
  await ready(page);
  assert.equal(await page.locator("#steps table").count(), 0);
  check();
  await page.close();
});

test("hostile files stay text, and what is wrong with a file is said", async () => {
  const { page, check } = await open([product]);
  const hostile = "</script><img src=x onerror=\"document.title='owned'\">";
  const wrong = { ...kernelFile("swiglu"), summary: hostile };
  for (const text of ["", "{", "[]", "{}", hostile, JSON.stringify({ model_type: hostile }), JSON.stringify({ ...spec("p100"), name: hostile }),
    JSON.stringify({ ...configuration("gpt2"), n_head: hostile }), JSON.stringify({ ...wrong, name: hostile })]) {
    await paste(page, text);
    assert.equal(await page.locator("#own-said.fault").count(), 1, text);
    assert.ok((await page.locator("#own-said").innerText()).length > 20, text);
  }
  assert.deepEqual(await stateOf(page), [product]);
  await paste(page, { ...spec("p100"), title: hostile });
  await paste(page, { ...wrong, arrays: wrong.arrays.map((array) => ({ ...array, name: hostile })) });
  await paste(page, wrong);
  assert.equal(await page.locator("img").count(), 0);
  assert.equal(await page.title(), "roofcast explorer");
  assert.ok((await page.locator("#charts-place").textContent()).includes("onerror"));
  check();
  await page.close();
});

test("all of it works by keyboard", async () => {
  const { page, check } = await open([product]);
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const { activeElement: at } = document;
      return at.id || at.getAttribute("aria-label") || at.closest("label")?.firstChild.textContent.trim() || at.textContent.trim();
    }));
  }
  for (const name of ["kernel", "GPU", "type", "m", "m, as a slider", "cache", "add", "commands", "copy", "link", "export-json",
    "which", "export-svg", "export-png", "export-spec", "Bring your own GPU, kernel or model"]) {
    assert.ok(reached.has(name), `${name} is not reached; ${[...reached].join("; ")}`);
  }
  await page.getByLabel("m, as a slider", { exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await ready(page);
  assert.ok((await stateOf(page))[0].m > 2048);
  await page.locator("#add").focus();
  await page.keyboard.press("Enter");
  await ready(page);
  assert.equal((await stateOf(page)).length, 2);
  check();
  await page.close();
});

test("up to four settings are compared, and the command line shown gives the same", async () => {
  const { page, check } = await open([product]);
  for (let i = 0; i < 3; ++i) await page.locator("#add").click();
  assert.ok(await page.locator("#add").isDisabled());
  await page.locator("#settings fieldset").nth(3).locator("select").nth(1).selectOption("a100-sxm4-80gb");
  await ready(page);
  const times = await figures(page, "Expected time");
  assert.equal(times.length, 4);
  assert.equal(times[0], times[2]);
  assert.notEqual(times[0], times[3]);
  assert.equal(await page.locator(".chart[id^=roofline]").count(), 2);
  const command = (await page.locator("#commands").innerText()).trim().split("\n")[3];
  const answer = JSON.parse(execFileSync(program, [...command.split(" ").slice(1), "--format", "json"], { encoding: "utf8" }));
  assertClose(times[3], answer.time.expected_s, command);
  await page.locator("#settings fieldset").nth(1).getByRole("button", { name: /remove setting/ }).click();
  await ready(page);
  assert.equal((await figures(page, "Expected time")).length, 3);
  check();
  await page.close();
});

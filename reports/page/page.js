import { drawCharts } from "./charts.js";
import { enableTables } from "./table.js";

// The run that the page was made from.
function enableRun() {
  const run = document.getElementById("run");
  document.getElementById("save-run")?.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([run.textContent], { type: "application/json" }));
    link.download = "run.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
}

enableTables();
enableRun();
drawCharts(JSON.parse(document.getElementById("charts").textContent));

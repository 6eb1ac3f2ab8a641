import { drawCharts } from "./charts.js";
import { enableTables } from "./table.js";

enableTables();
drawCharts(JSON.parse(document.getElementById("charts").textContent));

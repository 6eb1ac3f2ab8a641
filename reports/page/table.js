// Tables marked data-sortable: a click on a heading sorts, the search field above filters.

const valueOf = (row, column) => {
  const { value } = row.cells[column].dataset;
  return value === undefined ? row.cells[column].textContent : value === "" ? null : Number(value);
};

// What was not measured stays at the end, whichever way the rest is sorted.
function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
  return direction * order;
}

function sort(table, heading) {
  const column = heading.cellIndex;
  const next = heading.getAttribute("aria-sort") === "descending" ? "ascending" : "descending";
  const first = heading.classList.contains("text") && !heading.hasAttribute("aria-sort");
  const order = first ? "ascending" : next;
  table.querySelectorAll("th[aria-sort]").forEach((th) => th.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", order);
  const direction = order === "ascending" ? 1 : -1;
  const body = table.tBodies[0];
  const keyed = [...body.rows].map((row) => [valueOf(row, column), row]);
  keyed.sort(([a], [b]) => compare(a, b, direction));
  body.append(...keyed.map(([, row]) => row));
}

function filter(table, input, count) {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = [...table.tBodies[0].rows];
  let shown = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    shown += !row.hidden;
  }
  count.textContent = words.length === 0 ? "" : `${shown} of ${rows.length} cases`;
}

export function enableTables() {
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      button.addEventListener("click", () => sort(table, heading));
      heading.append(button);
    }
  }
  const input = document.querySelector("input[data-filters]");
  if (input) {
    const table = document.getElementById(input.dataset.filters);
    const count = document.querySelector(`output[for="${input.id}"]`);
    input.addEventListener("input", () => filter(table, input, count));
  }
}

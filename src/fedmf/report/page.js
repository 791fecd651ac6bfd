// Columns are sorted by a click or a key on their heading; details are open on paper.
"use strict";

function valueOf(row, place) {
  const cell = row.cells[place];
  return cell.dataset.value ?? cell.textContent.trim();
}

function compared(a, b) {
  const [x, y] = [Number(a), Number(b)];
  const numbers = a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y);
  return numbers ? x - y : a.localeCompare(b, undefined, { numeric: true });
}

// Empty cells stay last whichever way the others go.
function sort(table, place, direction) {
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((first, second) => {
    const [a, b] = [valueOf(first, place), valueOf(second, place)];
    if (a === "" || b === "") return (a === "") - (b === "");
    return direction * compared(a, b);
  });
  body.append(...rows);
  [...table.tHead.rows[0].cells].forEach((head, other) => {
    head.setAttribute("aria-sort",
      other !== place ? "none" : direction > 0 ? "ascending" : "descending");
  });
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, place) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      sort(table, place, head.getAttribute("aria-sort") === "ascending" ? -1 : 1);
    });
  });
}

const closed = [];
window.addEventListener("beforeprint", () => {
  closed.push(...document.querySelectorAll("details:not([open])"));
  for (const one of closed) one.open = true;
});
window.addEventListener("afterprint", () => {
  while (closed.length) closed.pop().open = false;
});

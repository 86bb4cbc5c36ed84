
"use strict";
// Tables are sorted by the column whose header is pressed; pressed again, the other way round.
for (const table of document.querySelectorAll("table")) {
  const headers = Array.from(table.tHead.rows[0].cells);
  const body = table.tBodies[0];

  const compare = (a, b, isNumber) =>
    isNumber ? Number(a) - Number(b) : a.localeCompare(b, undefined, { numeric: true });

  const sort = (column, isNumber, sign) => {
    const value = (row) => row.cells[column].dataset.value;
    const rows = Array.from(body.rows).sort((first, second) => {
      const [a, b] = [value(first), value(second)];
      // Cells without a value stay last in either direction.
      if (a === "" || b === "") return (a === "") - (b === "");
      return sign * compare(a, b, isNumber);
    });
    body.append(...rows);
  };

  headers.forEach((header, column) => {
    header.querySelector("button").addEventListener("click", () => {
      const isNumber = header.classList.contains("number");
      const before = header.getAttribute("aria-sort");
      // Large numbers first, names from A to Z.
      const descending = before ? before === "ascending" : isNumber;
      headers.forEach((other) => other.removeAttribute("aria-sort"));
      header.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sort(column, isNumber, descending ? -1 : 1);
    });
  });
}

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

// The values that a picture shows at the pointer are below it; readings.py describes the data.
const digits = (value) => String(Number(value.toPrecision(4))).replace("-", "−");
const nearest = (places, at) =>
  places.reduce((best, place, k) => (Math.abs(place - at) < Math.abs(places[best] - at) ? k : best), 0);
const cellOf = (edges, at) =>
  edges.findIndex((edge, k) => k && Math.min(edges[k - 1], edge) <= at && at <= Math.max(edges[k - 1], edge)) - 1;

const named = (axis, at) => {
  if (!axis.names) return digits(at);
  return axis.names[nearest(axis.ticks, at)];
};
const place = (axis, at) => (axis.label ? `${axis.label} = ${named(axis, at)}` : named(axis, at));

const onCurves = ({ curves, x }, at) => {
  const k = nearest(curves[0].at, at.x);
  const values = curves.map(({ name, values }) => {
    const value = values[k] === null ? "no rows" : digits(values[k]);
    return name ? `${name}: ${value}` : value;
  });
  return `${place(x, curves[0].at[k])}: ${values.join(", ")}`;
};

const onBars = (reading, at) => {
  const { along, at: places, values } = reading.bars;
  const k = nearest(places, at[along]);
  return `${place(reading[along], places[k])}: ${digits(values[k])}`;
};

const onMap = ({ map, x, y }, at) => {
  const [column, row] = [cellOf(map.x, at.x), cellOf(map.y, at.y)];
  const value = map.cells[row]?.[column];
  if (value === undefined || value === null) return "";
  const { empty } = map;
  const isEmpty = empty && empty.cells[cellOf(empty.y, at.y)]?.[cellOf(empty.x, at.x)];
  return `${place(x, at.x)}, ${place(y, at.y)}: ${digits(value * map.unit)}${isEmpty ? " (no rows near)" : ""}`;
};

const read = (reading, horizontal, vertical) => {
  const [left, top, right, bottom] = reading.box;
  if (horizontal < left || horizontal > right || vertical < top || vertical > bottom) return "";
  const along = ([low, high], share) => low + share * (high - low);
  const at = {
    x: along(reading.x.limits, (horizontal - left) / (right - left)),
    y: along(reading.y.limits, (bottom - vertical) / (bottom - top)),
  };
  if (reading.map) return onMap(reading, at);
  return reading.curves ? onCurves(reading, at) : onBars(reading, at);
};

for (const image of document.querySelectorAll("img[data-readings]")) {
  const readings = JSON.parse(image.dataset.readings);
  const line = image.parentElement.querySelector(".reading");
  const show = (event) => {
    const box = image.getBoundingClientRect();
    const [horizontal, vertical] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    line.textContent = readings.map((reading) => read(reading, horizontal, vertical)).find((text) => text) ?? "";
  };
  image.addEventListener("pointermove", show);
  image.addEventListener("pointerdown", show);
  image.addEventListener("pointerleave", () => (line.textContent = ""));
}

// Paper has no folds. Style does this, too, where a browser knows how.
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details:not([open])")) {
    fold.open = true;
    fold.dataset.printed = "";
  }
});
addEventListener("afterprint", () => {
  for (const fold of document.querySelectorAll("details[data-printed]")) {
    fold.open = false;
    delete fold.dataset.printed;
  }
});

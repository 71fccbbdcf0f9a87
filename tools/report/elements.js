"use strict";
// Elements of the page, and numbers with their units. Every number that comes from the report is a <data> element that names
// its place in report.json.

const report = JSON.parse(document.getElementById("report").textContent);
const charts = JSON.parse(document.getElementById("charts").textContent);

function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const significant = (value, digits = 4) => String(Number(value.toPrecision(digits)));

function scaled(value, units) { // [[1e9, "GB"], ...], the largest first
  const [factor, unit] = units.find(([least]) => Math.abs(value) >= least) ?? units[units.length - 1];
  let number = significant(value / factor);
  return `${number.includes("e") ? Number(number).toFixed(0) : number} ${unit}`;
}

const format = {
  seconds: (value) => value === 0 ? "0 s" : scaled(value, [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]]),
  bytes: (value) => scaled(value, [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]),
  bits_per_second: (value) => scaled(value, [[1e12, "Tbit/s"], [1e9, "Gbit/s"], [1e6, "Mbit/s"], [1e3, "kbit/s"], [1, "bit/s"]]),
  bytes_per_second: (value) => scaled(value, [[1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]]),
  share: (value) => `${significant(value * 100, 3)} %`,
  ratio: (value) => value.toFixed(2),
  number: (value) => significant(value),
  count: (value) => Math.round(value).toLocaleString("en-US"),
};

/// How a value is written whose unit is a word of the report.
function format_of(unit) {
  const known = { s: "seconds", seconds: "seconds", B: "bytes", bytes: "bytes", "bit/s": "bits_per_second", "bits/s": "bits_per_second",
    "B/s": "bytes_per_second", "bytes/s": "bytes_per_second" }[unit];
  if (known) return format[known];
  return (value) => unit && unit !== "1" ? `${significant(value)} ${unit}` : significant(value);
}

const at = (root, path) => path.split(".").reduce((value, key) => value?.[key], root);

/// The number at a place of report.json ("runs.0.iterations.seconds.p50").
function number(path, write, absent = "not measured") {
  const value = at(report, path);
  if (typeof value !== "number") return h("span", { class: "none" }, absent);
  return h("data", { value, "data-path": path }, write(value));
}

/// A text with its explanation on hover.
const explained = (text, explanation) => explanation ? h("abbr", { title: explanation }, text) : text;

/// heads: texts, or [text, explanation]; rows: cells, each a node or a text. Columns named in `texts` are left-aligned.
function table(caption, heads, rows, texts = []) {
  const side = (column) => texts.includes(column) ? "text" : null;
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, heads.map((head, column) =>
        h("th", { scope: "col", class: side(column) }, Array.isArray(head) ? explained(...head) : head)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell, column) => {
        if (cell instanceof HTMLTableCellElement) return cell;
        return column === 0 ? h("th", { scope: "row", class: side(column) }, cell) : h("td", { class: side(column) }, cell);
      }))))));
}

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const key = (text, paint, kind = "") => h("span", { class: "key" },
  h("i", { class: kind, style: kind === "box" ? `background:var(--${paint})` : `border-color:var(--${paint})` }), text);

// Creation of elements from names, attributes and children. Text is never parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);
export const byId = (id) => document.getElementById(id);

const ROLES = { TABLE: "table", THEAD: "rowgroup", TBODY: "rowgroup", TR: "row", TD: "cell" };

// Stack the rows of a table on a page of at most this width: each cell with its title. The roles remain without
// the layout of a table.
export function stacked(table, titles, width = "40rem") {
  if (!matchMedia(`(max-width: ${width})`).matches) return table;
  table.classList.add("stacked");
  for (const e of [table, ...table.querySelectorAll("thead, tbody, tr, td, th")])
    e.setAttribute("role", ROLES[e.tagName] || (e.scope === "row" ? "rowheader" : "columnheader"));
  for (const row of table.tBodies[0].rows)
    [...row.cells].forEach((cell, i) => (titles[i] && i ? cell.setAttribute("data-title", titles[i]) : null));
  return table;
}

// Identity of an element across redraws.
export const nameOf = (e) => e.dataset.key || `${e.tagName} ${e.getAttribute("aria-label") || e.closest("[data-key]")?.dataset.key || ""}`;

// Focus the element with this name; if there is none, the content.
export function focusOn(name, within = document) {
  const there = [...within.querySelectorAll("a, button, summary, input, select, [tabindex]")].find((e) => nameOf(e) === name);
  (there || byId("content")).focus({ preventScroll: true });
}

// Replace the children, unless they are equal, so focus, selections and screen readers are not disturbed.
// The state of details and horizontal scrolling are preserved.
export function show(parent, ...children) {
  const next = h("div", null, ...children);
  if (next.innerHTML === parent.dataset.shown && parent.childNodes.length) return false;
  const focus = parent.contains(document.activeElement) && document.activeElement !== parent ? nameOf(document.activeElement) : null;
  const open = new Map([...parent.querySelectorAll("details[data-key]")].map((d) => [d.dataset.key, d.open]));
  const aside = new Map([...parent.querySelectorAll(".wide")].map((e) => [nameOf(e), e.scrollLeft]));
  parent.dataset.shown = next.innerHTML;
  parent.replaceChildren(...next.childNodes);
  for (const d of parent.querySelectorAll("details[data-key]")) d.open = open.get(d.dataset.key) ?? d.open;
  for (const e of parent.querySelectorAll(".wide")) e.scrollLeft = aside.get(nameOf(e)) || 0;
  if (focus) focusOn(focus, parent);
  return true;
}

// Elements out of names, attributes and children. Text is always text, never markup.

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

// Puts children in place of what is there, unless that reads the same already: focus, selections and
// readers are left alone while nothing changes.
export function show(parent, ...children) {
  const next = h("div", null, ...children);
  if (next.innerHTML === parent.dataset.shown && parent.childNodes.length) return false;
  const focus = parent.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const open = [...parent.querySelectorAll("details[open][data-key]")].map((d) => d.dataset.key);
  parent.dataset.shown = next.innerHTML;
  parent.replaceChildren(...next.childNodes);
  for (const d of parent.querySelectorAll("details[data-key]")) if (open.includes(d.dataset.key)) d.open = true;
  if (focus) [...parent.querySelectorAll("[data-key]")].find((e) => e.dataset.key === focus)?.focus();
  return true;
}

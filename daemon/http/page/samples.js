// Sample lists: upstream order and order of the plan, side by side.

import { h } from "./dom.js";
import { number, place, when } from "./words.js";

const SHOWN = 10;

function move(item) {
  const by = item.upstream_rank - item.plan_rank;
  if (!by) return "";
  return by > 0 ? `\u2191${by}` : `\u2193${-by}`;
}

function spoken(item) {
  const by = item.upstream_rank - item.plan_rank;
  return by ? `${Math.abs(by)} ${by > 0 ? "up" : "down"}` : null;
}

function order(items, rank, title, moves) {
  const first = items.filter((i) => i[rank]).sort((a, b) => a[rank] - b[rank]).slice(0, SHOWN);
  return h("table", null, h("caption", null, title),
    h("thead", null, h("tr", null, h("th", { scope: "col", class: "number" }, "Rank"), h("th", { scope: "col" }, "Item"), h("th", { scope: "col", class: "number" }, "Value"),
      moves ? h("th", { scope: "col", class: "number" }, "Moved") : null)),
    h("tbody", null, ...first.map((i) => h("tr", null, h("td", { class: "number" }, String(i[rank])), h("td", { class: "id" }, i.id),
      h("td", { class: "number" }, i.value === null ? "missing" : number(i.value)),
      moves ? h("td", { class: "number", "aria-label": spoken(i) }, move(i)) : null))));
}

function list(l, open) {
  const where = l.segments ? Object.entries(l.segments).map(([k, v]) => `${k}=${v}`).join(", ") : place(null);
  const went = l.acting ? "forwarded in the order of the plan" : "not changed";
  return h("details", { open, "data-key": `list ${l.query_id} ${l.time_ms}` },
    h("summary", null, h("span", { class: "id" }, l.query_id || "a list"), ` ${where}, ${went}, `, when(l.time_ms)),
    h("div", { class: "beside" }, order(l.items, "upstream_rank", "Upstream order", false), order(l.items, "plan_rank", "Order of the plan", true)),
    l.items_total > SHOWN ? h("p", { class: "quiet" }, `The first ${Math.min(SHOWN, l.items.length)} of ${l.items_total} items.`,
      l.items_total > l.items.length ? ` The first ${l.items.length} items of a list are stored; missing ranks are of items further down.` : "") : null);
}

export function samples(known) {
  const lists = (known && known.lists) || [];
  if (!lists.length) return h("p", { class: "quiet" }, "No list was shadow scored for this feature. Shadow scoring requires a planned route, at least in shadow.");
  return h("div", null, ...lists.map((l, i) => list(l, i === 0)));
}

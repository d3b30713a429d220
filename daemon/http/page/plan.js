// Page of the plan: entries with their source, effect on ranks, pins, accepted levels, and operator
// commands.

import { h, show, stacked } from "./dom.js";
import { report } from "./api.js";
import { actsOnAll, button, revert, resumeRoute, unpin } from "./act.js";
import { number, percent, place, when, whole } from "./words.js";
import { featurePage } from "./verdict.js";

const BY = { finding: "a finding", operator: "a pin of an operator", rules: "a pin of the rules" };

// Columns of names and texts, which wrap anywhere.
const KINDS = { Feature: "name", Segment: "name", Where: "name", Why: "why", Effect: "why" };

// `numbers`: all columns except the first are numbers; `stack`: largest page width with stacked rows.
export function wide(label, heads, rows, none, { numbers = false, stack } = {}) {
  if (!rows.length) return h("p", { class: "quiet" }, none);
  for (const r of rows)
    [...r.cells].forEach((cell, i) => (KINDS[heads[i]] ? cell.classList.add(KINDS[heads[i]]) : null));
  return h("div", { class: "wide", role: "region", "aria-label": label, tabindex: "0" }, stacked(h("table", null,
    h("thead", null, h("tr", null, ...heads.map((t) => (t ? h("th", { scope: "col", class: numbers && t !== heads[0] ? "number" : null }, t) : h("td"))))), h("tbody", null, ...rows)), heads, stack));
}

const link = (name) => h("a", { href: featurePage(name), "data-key": `plan ${name}` }, name);
const row = (...cells) => h("tr", null, ...cells.map((c) => h("td", null, c)));

function entryRow(e) {
  return row(link(e.feature), place(e.segment), e.mitigation, e.mode || "\u2013", e.percent === null || e.percent === undefined ? "\u2013" : `${number(e.percent)}%`, BY[e.source] || e.source || "\u2013",
    e.source === "operator" ? button(`unpin ${e.feature} ${place(e.segment)}`, "Unpin", () => unpin(e)) : "");
}

const ORDERS = [["plan_vs_upstream", "under the plan"], ["output_vs_upstream", "as forwarded"], ["model_vs_upstream", "model without routing"]];

function rankRow(r, key, words) {
  const f = r[key];
  return h("tr", null, h("th", { scope: "row" }, words), ...[whole(f.lists), number(f.tau, 2), percent(f.top10_overlap), number(f.places, 2), percent(f.change), percent(f.change_p95)].map((t) => h("td", { class: "number" }, t)));
}

function rankTable(r) {
  const rows = ORDERS.filter(([key]) => r[key]).map(([key, words]) => rankRow(r, key, words));
  const rail = r.rolled_back || r.would_roll_back;
  const notice = rail ? h("p", null, `${r.rolled_back ? "Rolled back by" : "Would be rolled back by"} guardrail ${rail.guardrail}: ${number(rail.observed)}, at most ${number(rail.limit)}. `,
    r.rolled_back ? button(`resume ${r.feature} ${place(r.segment)}`, "Resume the route", () => resumeRoute(r)) : null) : null;
  return h("div", null, h("h4", null, `${r.feature}, ${place(r.segment)}`, ": ", r.mitigation, r.mode === "canary" ? `, canary ${number(r.percent)}%` : `, ${r.mode}`), notice,
    wide(`Ranks of ${r.feature}, ${place(r.segment)}`, ["Order", "Lists", "Kendall tau", "Overlap@10", "Mean move", "Change", "p95 change"], rows, "No list was shadow scored yet.", { numbers: true }));
}

export function ranksOf(routes) {
  if (!routes.length) return h("p", { class: "quiet" }, "No route is planned, so no list is shadow scored.");
  return h("div", null, ...routes.map(rankTable), h("p", { class: "quiet" }, "Each compared with the upstream order. Mean move: positions of an item. Change: 0% is the same order, 100% the maximum."));
}

function pinsIn(known) {
  const pins = known.pins && (Array.isArray(known.pins) ? known.pins : known.pins.pins);
  if (!pins) return [];
  const rows = pins.map((p) => row(link(p.feature), place(p.segment), p.action, p.until_ms ? when(p.until_ms) : "no end", p.actor || BY[p.source] || "\u2013", p.reason || "",
    p.source === "rules" ? "" : button(`unpin ${p.feature} ${place(p.segment)}`, "Unpin", () => unpin(p))));
  return [h("h3", null, "Pins"), wide("Pins", ["Feature", "Segment", "Action", "Until", "Who", "Why", ""], rows, "No pins.")];
}

function acceptRow(a) {
  return row(link(a.feature), place(a.segment), `\u00d7${number(a.factor)}`, a.time_ms === null ? "\u2013" : when(a.time_ms), a.actor || "\u2013", a.reason || "",
    button(`revert ${a.version}`, "Revert", () => revert(a)));
}

// The instance in its fleet; the number of instances is known to the leader.
function fleetOf(fleet) {
  const rows = [["This instance", fleet.instance], ["Leader", fleet.is_leader ? "this instance" : fleet.leader || "none"], ["Term", whole(fleet.term)],
    ["Instances", fleet.is_leader ? whole(fleet.instances) : "known to the leader"], ["Plan", `version ${fleet.plan_version}${fleet.plan_age_ms >= 0 ? `, received ${number(fleet.plan_age_ms / 1000, 2)} s ago` : ""}${fleet.plan_stale ? ", stale" : ""}`]];
  return h("section", { class: "panel" }, h("h3", null, "Fleet"), h("dl", { class: "answers" }, ...rows.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))));
}

export function showPlan(view, known) {
  const cells = (known.plan && known.plan.entries) || [], version = known.plan ? known.plan.version : 0;
  show(view, h("h2", { tabindex: "-1" }, "Plan"),
    h("section", { class: "panel" }, h("h3", null, `In force: version ${version}`),
      wide("Plan", ["Feature", "Segment", "Action", "Mode", "Fraction", "Source", ""], cells.map(entryRow), "Nothing: no list is changed."),
      ...pinsIn(known)),
    h("section", { class: "panel" }, h("h3", null, "Effect on ranks"), ranksOf((known.ranks && known.ranks.routes) || [])),
    h("section", { class: "panel" }, h("h3", null, "Accepted as normal"),
      wide("Accepted levels", ["Feature", "Segment", "Level", "Since", "Who", "Why", ""], [...known.accepts].reverse().map(acceptRow), "Nothing: training is normal.")),
    known.status && known.status.fleet ? fleetOf(known.status.fleet) : null,
    report ? null : h("section", { class: "panel" }, h("h3", null, "Actions"), actsOnAll()));
}

// Table of all features, usable with 500: largest change first, the others folded, with search, sorting and
// pages of 50 rows.

import { byId, h, show } from "./dom.js";
import { isActing, modeAlone, planned, ROUTES } from "./problems.js";
import { levelLine } from "./strip.js";
import { distance, interval, percent, place, samePlace, times } from "./words.js";
import { featurePage } from "./verdict.js";

const ROWS = 50, UNFOLDED = 5, FOLD_FROM = 9, NOISE = 0.01;
const wish = { text: "", only: "all", by: "moved", down: true, page: 0, all: false };

const excess = (view) => (view && view.psi !== null ? view.psi - view.psi_expected : 0);

const GRAVITY = { confirmed: 2, updated: 2, suspected: 1 };
const gravity = (finding) => (finding ? GRAVITY[finding.state] || 0 : 0);

function worst(findings) {
  return findings.reduce((a, b) => (gravity(b) > gravity(a) || (gravity(b) === gravity(a) && Math.abs(Math.log(b.factor || 1)) > Math.abs(Math.log((a && a.factor) || 1))) ? b : a), null);
}

function rowOf(known, f, findings) {
  const finding = worst(findings), most = f.most_shifted_segment && excess(f.most_shifted_segment.current) > excess(f.current) ? f.most_shifted_segment : { segment: null, current: f.current };
  const segment = finding ? finding.segment : most.segment;
  const seen = finding && f.most_shifted_segment && samePlace(finding.segment, f.most_shifted_segment.segment) ? f.most_shifted_segment.current : most.current;
  const entry = planned(known, f.feature, segment) || ((known.plan && known.plan.entries) || []).find((e) => e.feature === f.feature) || null;
  const levels = f.levels || (f.most_shifted_segment && f.most_shifted_segment.levels) || null;
  return { name: f.feature, finding, alone: finding && modeAlone(known, finding), segment, entry, seen, levels, threshold: f.report_threshold, excess: excess(seen), training: f.training, state: gravity(finding), count: findings.length,
    factor: finding && finding.factor ? finding.factor : seen ? seen.scale_ratio : null,
    psi: seen ? seen.psi : null, moved: 1000 * gravity(finding) + excess(seen), missing: seen ? seen.missing - f.training.missing : 0 };
}

function rowsOf(known) {
  const open = Map.groupBy ? Map.groupBy(known.findings, (f) => f.feature) : grouped(known.findings);
  return known.features.features.map((f) => rowOf(known, f, open.get(f.feature) || []));
}

function grouped(findings) {
  const all = new Map();
  for (const f of findings) all.set(f.feature, [...(all.get(f.feature) || []), f]);
  return all;
}

const ORDER = {
  moved: (r) => r.moved, state: (r) => r.state, factor: (r) => Math.abs(Math.log(r.factor || 1)), psi: (r) => r.psi ?? -1,
  missing: (r) => Math.abs(r.missing), segment: (r) => place(r.segment), mode: (r) => modeOf(r), name: (r) => r.name,
};

function ordered(rows) {
  const key = ORDER[wish.by], turn = wish.down ? -1 : 1;
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  return rows.sort((a, b) => turn * compare(key(a), key(b)) || a.name.localeCompare(b.name));
}

function wanted(rows) {
  const text = wish.text.trim().toLowerCase();
  return rows.filter((r) => (!text || r.name.toLowerCase().includes(text)) &&
    (wish.only === "all" || (wish.only === "wrong" ? r.state > 0 : r.entry !== null)));
}

// In the initial order: rows with a finding or in the plan, at least a few, and then the number of the others.
function unfolded(rows) {
  const initial = !wish.text && wish.only === "all" && wish.by === "moved" && wish.down;
  const count = Math.max(UNFOLDED, rows.filter((r) => r.state || r.entry).length);
  return wish.all || !initial || rows.length < FOLD_FROM ? rows : rows.slice(0, count);
}

const STATES = ["nothing found", "suspected", "confirmed"];
const LEVELS = ["ok", "suspected", "confirmed"];

function modeOf(r) {
  if (r.entry) {
    const acts = ROUTES.includes(r.entry.mitigation) ? r.entry.mode === "canary" ? `canary ${r.entry.percent}%` : r.entry.mode : r.entry.mitigation;
    return r.entry.source && r.entry.source !== "finding" ? `${acts}, pinned` : r.state ? acts : `${acts}, held`;
  }
  return (r.state === 2 && r.alone) || "";
}

function factorOf(r) {
  if (r.factor === null || r.factor === undefined) return "\u2013";
  const between = r.finding && interval(r.finding);
  return between ? [times(r.factor), " ", h("small", null, between)] : times(r.factor);
}

function rowFor(r) {
  const level = r.state === 2 && r.entry && isActing(r.entry.mode) ? "mitigated" : LEVELS[r.state];
  const missing = r.seen ? percent(r.seen.missing) : "\u2013", calm = !r.state && !r.entry;
  return h("tr", { class: calm ? "calm" : null },
    h("th", { scope: "row" }, h("a", { href: featurePage(r.name), "data-key": `row ${r.name}` }, r.name)),
    h("td", null, r.state ? h("span", { class: `chip ${level}` }, STATES[r.state]) : h("span", { class: "quiet" }, STATES[0])),
    h("td", { class: "number" }, factorOf(r)),
    h("td", { class: "some" }, levelLine(r.levels, r.threshold, level) || "\u2013"),
    h("td", { class: "number some", title: r.seen ? `${distance(r.seen.psi_expected)} by chance` : null }, distance(r.psi)),
    h("td", { class: "number some" }, missing, Math.abs(r.missing) > 0.005 ? h("small", null, ` was ${percent(r.training.missing)}`) : null),
    h("td", { class: "some name" }, calm && r.excess < NOISE ? "\u2013" : place(r.segment)),
    h("td", { class: "some" }, modeOf(r)));
}

const COLUMNS = [["name", "Feature"], ["state", "State"], ["factor", "Factor", "number"], [null, "Last hour", "some"], ["psi", "PSI", "number some"],
  ["missing", "Missing", "number some"], ["segment", "Largest change in", "some"], ["mode", "Mode", "some"]];

function sortBy(key, redraw) {
  if (wish.by === key) wish.down = !wish.down;
  else Object.assign(wish, { by: key, down: !["name", "segment", "mode"].includes(key) });
  wish.page = 0;
  redraw();
}

function head(redraw) {
  return h("tr", null, ...COLUMNS.map(([key, text, kind]) => {
    const by = wish.by === key;
    if (!key) return h("th", { scope: "col", class: kind }, text);
    return h("th", { scope: "col", class: kind || null, "aria-sort": by ? (wish.down ? "descending" : "ascending") : null },
      h("button", { type: "button", class: "sort", "data-key": `sort ${key}`, onclick: () => sortBy(key, redraw) }, text, by ? (wish.down ? " \u2193" : " \u2191") : ""));
  }));
}

function fold(count, redraw) {
  const turn = (all) => () => {
    Object.assign(wish, { all, page: 0 });
    redraw();
  };
  if (count) return h("p", { class: "pager" }, h("button", { type: "button", "data-key": "fold", onclick: turn(true) }, `Show ${count} more features without a finding`));
  return wish.all ? h("p", { class: "pager" }, h("button", { type: "button", "data-key": "fold", onclick: turn(false) }, "Hide features without a finding")) : null;
}

function pager(count, redraw) {
  const pages = Math.ceil(count / ROWS), from = wish.page * ROWS;
  const go = (by) => () => {
    wish.page += by;
    redraw();
  };
  const button = (text, by, off) => h("button", { type: "button", "data-key": text, disabled: off, onclick: go(by) }, text);
  if (pages < 2) return h("p", { class: "pager" }, `${count} features`);
  return h("p", { class: "pager" }, button("Previous", -1, wish.page === 0), ` ${from + 1} to ${Math.min(count, from + ROWS)} of ${count} `,
    button("Next", 1, wish.page >= pages - 1));
}

function controls(redraw) {
  const search = h("input", { type: "search", id: "search", placeholder: "name", autocomplete: "off", spellcheck: "false", value: wish.text,
    oninput: (e) => {
      Object.assign(wish, { text: e.target.value, page: 0 });
      redraw();
    } });
  const only = h("select", { id: "only", onchange: (e) => {
    Object.assign(wish, { only: e.target.value, page: 0 });
    redraw();
  } }, ...[["all", "all"], ["wrong", "suspected or confirmed"], ["plan", "in the plan"]].map(([v, t]) => h("option", { value: v, selected: v === wish.only }, t)));
  const most = h("button", { type: "button", onclick: () => {
    Object.assign(wish, { by: "moved", down: true, page: 0 });
    redraw();
  } }, "Largest change first");
  return h("div", { class: "controls" }, h("label", null, "Search ", search), h("label", null, "Show ", only), most);
}

// Keyboard: / searches, arrow keys move between features.
export function tableKeys(event) {
  const inText = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
  if (event.key === "/" && !inText && byId("search")) {
    event.preventDefault();
    byId("search").focus();
  }
  if (!["ArrowDown", "ArrowUp"].includes(event.key) || !event.target.closest?.("#features tbody, #search")) return;
  const links = [...document.querySelectorAll("#features tbody a")], at = links.indexOf(event.target);
  const next = links[at + (event.key === "ArrowDown" ? 1 : -1)];
  if (!next && at !== 0) return;
  event.preventDefault();
  (next || byId("search")).focus();
}

export function showTable(view, known) {
  const redraw = () => showTable(view, known);
  if (!byId("features"))
    show(view, h("h2", { class: "hidden" }, "Features"), controls(redraw),
      h("div", { class: "wide", role: "region", "aria-label": "Features", tabindex: "0" }, h("table", { id: "features" }, h("caption", { class: "hidden" }, "Every feature compared with training, over the last minutes"), h("thead"), h("tbody"))),
      h("div", { id: "pager" }));
  if (!known.features) {
    show(byId("pager"), h("p", { class: "quiet" }, known.lost ? "No statistics." : "Waiting for the statistics of all features."));
    return;
  }
  const every = ordered(wanted(rowsOf(known))), rows = unfolded(every);
  wish.page = Math.min(wish.page, Math.max(0, Math.ceil(rows.length / ROWS) - 1));
  show(byId("features").tHead, head(redraw));
  show(byId("features").tBodies[0], ...(rows.length ? rows.slice(wish.page * ROWS, (wish.page + 1) * ROWS).map(rowFor) :
    [h("tr", null, h("td", { colspan: COLUMNS.length, class: "quiet" }, "No matching feature."))]));
  show(byId("pager"), fold(every.length - rows.length, redraw), rows.length === every.length ? pager(rows.length, redraw) : null,
    h("p", { class: "quiet" }, "Over the last minutes, compared with training. Factor: level over that of training.", h("span", { class: "some" }, " PSI: distance of the distribution.")));
}

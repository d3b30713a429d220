// Page of a feature: distribution compared with training, evidence, segments, effect on ranks, and
// sample lists.

import { get, report } from "./api.js";
import { byId, h, show, stacked } from "./dom.js";
import { accepted, distribution, evidence, factors, showsOne } from "./chart.js";
import { samples } from "./samples.js";
import { problems, planned } from "./problems.js";
import { ranksOf } from "./plan.js";
import { actsOnFeature } from "./act.js";
import { distance, inPlace, number, percent, place, samePlace, times, whole } from "./words.js";
import { unitOf, wordOf } from "./verdict.js";

const EVERY_MS = 5000, CELLS = 60;
let now = null, timer = null;

export function leaveFeature() {
  clearTimeout(timer);
  now = null;
}

async function load(view, known) {
  const mine = now;
  try {
    [mine.detail, mine.samples] = await Promise.all(["features/", "samples?feature="].map((path) => get(`api/v1/${path}${encodeURIComponent(mine.name)}`, { also: [404] })));
    mine.problem = null;
  } catch (e) {
    mine.problem = e.message;
  }
  if (now !== mine) return;
  draw(view, known);
  clearTimeout(timer);
  if (!report) timer = setTimeout(() => load(view, known), EVERY_MS);
}

// Initial cell: that of a finding, otherwise the one with the largest change.
function firstCell(cells, findings) {
  const found = cells.find((c) => findings.some((f) => samePlace(f.segment, c.segment)));
  const excess = (c) => (c.current && c.current.psi !== null ? c.current.psi - c.current.psi_expected : -1);
  return found || cells.reduce((a, b) => (excess(b) > excess(a) + 0.05 ? b : a));
}

function picker(cells, cell, redraw) {
  if (cells.length < 2) return null;
  return h("label", { class: "picker" }, "Segment ", h("select", { "data-key": "cell", onchange: (e) => {
    now.place = e.target.value;
    redraw();
  } }, ...cells.slice(0, CELLS).map((c) => h("option", { value: place(c.segment), selected: c === cell }, place(c.segment)))));
}

const legend = (cell) => h("p", { class: "legend" }, h("span", { class: "key training" }), accepted(cell) === 1 ? " training " : ` training, ${times(accepted(cell))} as accepted `, h("span", { class: "key current" }), " last minutes");

function besides(histogram) {
  const parts = [["missing", "missing"], ["zero", "zero"], ["infinite", "infinite"]].filter(([key]) => histogram[key] && (histogram[key].training || histogram[key].current))
    .map(([key, word]) => `${word} ${percent(histogram[key].current)} (in training ${percent(histogram[key].training)})`);
  return parts.length ? h("p", { class: "quiet" }, `Not on the axis: ${parts.join(", ")}.`) : null;
}

function asTable(histogram) {
  return h("details", { "data-key": "bins" }, h("summary", null, "The same as a table"), h("div", { class: "wide", role: "region", "aria-label": "Distribution as a table", tabindex: "0" },
    h("table", null, h("thead", null, h("tr", null, ...["From", "to", "Training", "Last minutes"].map((t) => h("th", { scope: "col", class: "number" }, t)))),
      h("tbody", null, ...histogram.bins.map((b) => h("tr", null, ...[number(b.low), number(b.high), percent(b.training), percent(b.current)].map((t) => h("td", { class: "number" }, t))))))));
}

function shape(cell, training, width, factor) {
  const title = h("h3", null, `Distribution ${inPlace(cell.segment)}`);
  if (!cell.histogram || !cell.histogram.bins || !cell.histogram.bins.length)
    return [title, h("p", { class: "quiet" }, cell.current ? "Not drawn yet; the values are in the table below." : "No recent values.")];
  return [title, legend(cell), h("div", { class: "chart-place" }, distribution(cell, training, width, inPlace(cell.segment), factor)), besides(cell.histogram), asTable(cell.histogram)];
}

function story(cell, width, finding) {
  const track = cell.history, unit = finding && unitOf(finding);
  if (!track || !track.time_ms || track.time_ms.length < 2)
    return [h("h3", null, "Evidence over time"), h("p", { class: "quiet" }, finding ? "Not drawn yet: a sample is taken each second with lists." : "No evidence of a change.")];
  const factor = factors(track, width, unit), where = inPlace(cell.segment);
  return [...(factor ? [h("h3", null, `Estimate of the factor ${where}`), h("div", { class: "chart-place factor" }, factor), h("p", { class: "quiet" }, showsOne(track) ? "With its 95% interval. \u00d71 is the level of training." : "With its 95% interval. \u00d71, the level of training, is outside the chart.")] : []),
    h("details", { "data-key": "evidence", open: !factor }, h("summary", null, factor ? "Why we are sure: evidence over time" : "Evidence over time"), h("div", { class: "chart-place evidence" }, evidence(track, width)),
      h("p", { class: "quiet" }, "Logarithmic. Above the alarm threshold a change is suspected, then confirmed or dismissed."))];
}

const COLUMNS = [["Segment", (c) => place(c.segment)], ["Lists", (v) => whole(v.lists)], ["Level", (v) => times(v.scale_ratio) + (v.accepted ? ` of ${times(v.accepted)}` : "")], ["PSI (by chance)", (v) => v.psi === null ? "\u2013" : `${distance(v.psi)} (${distance(v.psi_expected)})`],
  ["Missing", (v) => percent(v.missing)], ["p5", (v) => number(v.p5)], ["Median", (v) => number(v.p50)], ["p95", (v) => number(v.p95)]];

function segments(cells, training) {
  const cellsRow = (name, view) => h("tr", null, h("th", { scope: "row" }, name), ...COLUMNS.slice(1).map(([, of]) => h("td", { class: "number" }, view ? of(view) : "\u2013")));
  const trained = { ...training, lists: null, scale_ratio: null, psi: null, psi_expected: null };
  return [h("h3", null, "Segments side by side"), h("div", { class: "wide", role: "region", "aria-label": "Segments", tabindex: "0" }, stacked(h("table", { id: "cells" },
    h("thead", null, h("tr", null, ...COLUMNS.map(([t], i) => h("th", { scope: "col", class: i ? "number" : null }, t)))),
    h("tbody", null, cellsRow("in training", trained), ...cells.slice(0, CELLS).map((c) => cellsRow(place(c.segment), c.current)))), COLUMNS.map(([t]) => t))),
    h("p", { class: "quiet" }, "Over the last minutes. Level: geometric mean over that of training", cells.some((c) => accepted(c) !== 1) ? ", followed by the accepted factor" : "", ". PSI is the distance of the distribution from training, followed by its expected value by chance.",
      cells.length > CELLS ? ` ${CELLS} of ${cells.length} segments.` : "")];
}

function stateOf(known, name) {
  const own = problems(known).filter((p) => p.feature === name || p.features.includes(name));
  if (own.length) return own.map((p) => `${wordOf(p)} ${inPlace(p.segment)}`).join("; ");
  const entry = ((known.plan && known.plan.entries) || []).find((e) => e.feature === name);
  const levels = known.accepts.filter((a) => a.feature === name);
  if (entry) return `in the plan ${inPlace(entry.segment)}: ${entry.mitigation}${entry.mode ? `, ${entry.mode}` : ""}`;
  return levels.length ? levels.map((a) => `accepted at ${times(a.factor)} of training ${inPlace(a.segment)}`).join("; ") : "as in training";
}

const allFeatures = () => h("p", null, h("a", { href: "#" }, "All features"));

function missingName(view, name, answer) {
  show(view, allFeatures(), h("h2", null, name), h("p", null, "Unknown item feature. ", answer && answer.did_you_mean ? h("a", { href: `#feature/${encodeURIComponent(answer.did_you_mean)}` }, `Did you mean ${answer.did_you_mean}?`) : null));
}

// Return true if there are statistics; otherwise show the reason.
function isThere(view, known) {
  const { name, detail, problem } = now;
  if (detail && detail.segments && detail.segments.length) return true;
  if (!detail && problem) show(view, h("h2", null, name), h("p", null, problem));
  else if (detail && detail.segments) show(view, allFeatures(), h("h2", { tabindex: "-1", "data-key": "heading" }, name),
    h("p", null, "This instance has no statistics of it yet; they appear with the first lists."), actsOnFeature(name, null, null, planned(known, name, null), detail.pin_actions));
  else if (detail) missingName(view, name, detail);
  return false;
}

function draw(view, known) {
  if (!isThere(view, known)) return;
  const { name, detail } = now, redraw = () => draw(view, known);
  const findings = known.findings.filter((f) => f.feature === name), cells = detail.segments;
  const cell = cells.find((c) => place(c.segment) === now.place) || firstCell(cells, findings);
  const finding = findings.find((f) => samePlace(f.segment, cell.segment));
  const width = Math.max(260, Math.min(1160, view.clientWidth - 34)), routes = ((known.ranks && known.ranks.routes) || []).filter((r) => r.feature === name);
  const atHeading = document.activeElement?.dataset?.key === "heading";
  if (!byId("feature-head")) show(view, ...["head", "shape", "story", "segments", "ranks", "samples"].map((part) => h(part === "head" ? "div" : "section", { id: `feature-${part}`, class: part === "head" ? null : "panel" })));
  show(byId("feature-head"), allFeatures(), h("h2", { tabindex: "-1", "data-key": "heading" }, name), h("p", null, `State: ${stateOf(known, name)}. `),
    actsOnFeature(name, cell.segment, finding, planned(known, name, cell.segment), detail.pin_actions), picker(cells, cell, redraw));
  if (atHeading) view.querySelector("h2").focus();
  show(byId("feature-shape"), ...shape(cell, detail.training, width, finding && finding.factor));
  show(byId("feature-story"), ...story(cell, width, finding));
  show(byId("feature-segments"), ...segments(cells, detail.training));
  show(byId("feature-ranks"), h("h3", null, "Effect on ranks"), ranksOf(routes));
  show(byId("feature-samples"), h("h3", null, "Lists before and after"), samples(now.samples));
}

export function showFeature(view, known, name) {
  if (!now || now.name !== name) {
    leaveFeature();
    now = { name, detail: null, samples: null, problem: null, place: null };
    show(view, h("h2", { tabindex: "-1", "data-key": "heading" }, name), h("p", { class: "quiet" }, "Loading statistics."));
    load(view, known);
    return;
  }
  draw(view, known);
}

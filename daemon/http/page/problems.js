// Problems, one per incident, in the form of /api/v1/overview, built from findings, plan and impact.

import { inPlace, number, percent, samePlace } from "./words.js";

export const ROUTES = ["route", "route_normalized", "repair", "fill", "blank", "route_per_source"];

const here = (feature, segment) => (entry) => entry.feature === feature && samePlace(entry.segment, segment);

// Plan entry of a segment, and the impact of its route.
export const planned = (known, feature, segment) => ((known.plan && known.plan.entries) || []).find(here(feature, segment)) || null;
export const ranked = (known, feature, segment) => ((known.ranks && known.ranks.routes) || []).find(here(feature, segment)) || null;

const INSTEAD = {
  route: "are ranked without the level of",
  route_normalized: "are ranked without the level and the spread of",
  repair: "are ranked with the training's scale of",
  fill: "are ranked with typical values of",
  blank: "are ranked without",
  route_per_source: "are ranked without the level of each source's",
};

const DONE = { route: "Routed", route_normalized: "Routed", repair: "Repaired", fill: "Filled", blank: "Blanked", route_per_source: "Routed" };

function doingText({ feature, segment, state, no_model, blocked_by }, doing) {
  const lists = segment ? `the lists ${inPlace(segment)}` : "all lists";
  if (state === "suspected") return "Nothing yet.";
  if (doing.paused) return "Nothing while the instance is paused: no list is changed.";
  if (doing.rolled_back) return `Nothing: guardrail ${doing.rolled_back.guardrail} rolled back the route (${number(doing.rolled_back.observed)}, at most ${number(doing.rolled_back.limit)}).`;
  if (no_model && doing.writes) return "Nothing: there is no model.";
  if (!ROUTES.includes(doing.mitigation)) return doing.source === "operator" || doing.source === "rules" ? "Nothing, because of a pin." : "Nothing: the rules only report.";
  if (doing.held) return "Nothing until lists have the segments that the rules name.";
  const what = `${lists} ${INSTEAD[doing.mitigation]} ${feature}`;
  switch (doing.mode) {
    case "enforce": return `${DONE[doing.mitigation]}: ${what}.`;
    case "canary": return `Canary: ${doing.percent}% of ${what}; the others are not changed.`;
    case "shadow": return "Shadow: output unchanged; the planned order is only measured.";
    default: return `Observed only: ${blocked_by ? `the limit ${blocked_by} is reached` : doing.writes ? "output unchanged" : "this instance has no output"}.`;
  }
}

const TOP = 10;

// Effect of the plan on the order: "0.7 of the first 10 items differ from upstream; items move 1.1
// positions on average".
export function effectText(moved) {
  return `${number(TOP * (1 - moved.top10_overlap), 2)} of the first 10 items differ from upstream; items move ${number(moved.places, 2)} ${number(moved.places, 2) === "1" ? "position" : "positions"} on average`;
}

export function withoutText(route) {
  const moved = route && route.plan_vs_upstream;
  if (!moved || !moved.lists) return null;
  const model = route.model_vs_upstream && route.model_vs_upstream.lists ?
    ` Of that, the model without routing makes ${number(TOP * (1 - route.model_vs_upstream.top10_overlap), 2)}.` : "";
  return `${effectText(moved)} (${moved.lists} lists shadow scored).${model}`;
}

export const isActing = (mode) => ["enforce", "canary"].includes(mode);

// Mode of a finding without a plan entry. Only an entry changes lists, and a limit may prevent it; a paused plan has none.
export const modeAlone = (known, f) => (isActing(f.mode) && !(known.status && known.status.paused) ? "observe" : f.mode || null);

// No list has a segment that the rules name; a fault of one segment would be treated in all traffic.
const lacksSegment = (known) => Boolean(known.status?.input?.unmapped?.startsWith("segment "));

function problemOf(known, f) {
  const entry = planned(known, f.feature, f.segment), route = ranked(known, f.feature, f.segment);
  const doing = { mitigation: f.mitigation || "none", mode: modeAlone(known, f), percent: null, source: null, ...entry };
  doing.rolled_back = (route && route.rolled_back) || null;
  doing.writes = !known.status || known.status.output !== null;
  doing.paused = Boolean(known.status && known.status.paused);
  doing.held = isActing(doing.mode) && lacksSegment(known);
  doing.text = doingText(f, doing);
  const text = withoutText(route);
  return { ...f, features: f.features || [f.feature], doing, without: text ? { ...route.plan_vs_upstream, text } : null };
}

// The finding with the largest factor represents its incident. A suspected finding has no incident yet
// and represents its feature.
function perCause(problems) {
  const heads = new Map();
  for (const p of problems) {
    const key = p.incident_id || `suspected ${p.feature}`, head = heads.get(key);
    if (!head || Math.abs(Math.log(p.factor || 1)) > Math.abs(Math.log(head.factor || 1))) heads.set(key, p);
  }
  return [...heads.values()];
}

const gravity = (p) => (p.state === "suspected" ? 0 : 1 + Math.abs(Math.log(p.factor || 1)) * (p.fraction || 1));

export function problems(known) {
  const open = known.findings.filter((f) => f.state !== "dismissed" && f.state !== "recovered");
  return perCause(open.map((f) => problemOf(known, f))).sort((a, b) => gravity(b) - gravity(a));
}

// Lists are changed for the problem.
export const acts = ({ doing }) => ROUTES.includes(doing.mitigation) && isActing(doing.mode) && !doing.rolled_back && !doing.paused && !doing.held;

// Active plan entries without an open finding: within their minimum duration, or pinned.
export function lasting(known) {
  const open = new Set(known.findings.map((f) => `${f.feature} ${JSON.stringify(f.segment)}`));
  return ((known.plan && known.plan.entries) || []).filter((e) => ROUTES.includes(e.mitigation) && isActing(e.mode) && !open.has(`${e.feature} ${JSON.stringify(e.segment)}`));
}

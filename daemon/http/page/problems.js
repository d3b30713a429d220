// Problems, one per incident, in the form of /api/v1/overview, built from findings, plan and impact.

import { inPlace, number, percent, samePlace } from "./words.js";

export const ROUTES = ["route", "route_normalized", "repair", "fill", "blank", "route_per_source"];
const actsBy = (entry) => ROUTES.includes(entry.mitigation);

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

export function doingText({ feature, segment, state }, doing, paused) {
  const lists = segment ? `the lists ${inPlace(segment)}` : "all lists";
  if (state === "suspected") return "Nothing yet.";
  if (paused) return "Nothing while the instance is paused: no list is changed.";
  if (doing.rolled_back) return `Nothing: guardrail ${doing.rolled_back.guardrail} rolled back the route (${number(doing.rolled_back.observed)}, at most ${number(doing.rolled_back.limit)}).`;
  if (!ROUTES.includes(doing.mitigation)) return doing.source === "operator" || doing.source === "rules" ? "Nothing, because of a pin." : "Nothing: the rules only report.";
  const what = `${lists} ${INSTEAD[doing.mitigation]} ${feature}`;
  switch (doing.mode) {
    case "enforce": return `${DONE[doing.mitigation]}: ${what}.`;
    case "canary": return `Canary: ${doing.percent}% of ${what}; the others are not changed.`;
    case "shadow": return "Nothing in shadow: no list is changed, and the effect of the route is measured.";
    default: return "Nothing in observe: no list is changed. In enforce lists would be routed.";
  }
}

const share = (figures) => percent(1 - figures.top10_overlap);

// Effect of routing on the order.
export function withoutText(route) {
  const moved = route && route.plan_vs_upstream;
  if (!moved || !moved.lists) return null;
  const model = route.model_vs_upstream && route.model_vs_upstream.lists ?
    ` Without routing, the model would change ${share(route.model_vs_upstream)}.` : "";
  const places = number(moved.places, 2);
  return `Lists would keep the upstream order: ${share(moved)} of the first ten items would differ, an item would be ${places} ${places === "1" ? "position" : "positions"} away (${moved.lists} lists shadow scored).${model}`;
}

function problemOf(known, f) {
  const entry = planned(known, f.feature, f.segment), route = ranked(known, f.feature, f.segment);
  const doing = { mitigation: f.mitigation || "none", mode: f.mode || null, percent: null, source: null, ...entry };
  doing.rolled_back = (route && route.rolled_back) || null;
  doing.text = doingText(f, doing, known.status && known.status.paused);
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

// Active plan entries without an open finding: within their minimum duration, or pinned.
export function lasting(known) {
  const open = new Set(known.findings.map((f) => `${f.feature} ${JSON.stringify(f.segment)}`));
  return ((known.plan && known.plan.entries) || []).filter((e) => actsBy(e) && !open.has(`${e.feature} ${JSON.stringify(e.segment)}`));
}

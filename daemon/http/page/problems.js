// What is wrong, one entry per cause, in one form: that of /api/v1/overview. Where an instance has no
// such page it is put together from its findings, plan and ranks.

import { inPlace, number, percent, samePlace } from "./words.js";

export const ROUTES = ["route", "route_normalized", "repair", "blank", "route_per_source"];
const actsBy = (entry) => ROUTES.includes(entry.mitigation);

const here = (feature, segment) => (entry) => entry.feature === feature && samePlace(entry.segment, segment);

// The entry of the plan that lists of that place get, and what was measured for it.
export const planned = (known, feature, segment) => ((known.plan && known.plan.entries) || []).find(here(feature, segment)) || null;
export const ranked = (known, feature, segment) => ((known.ranks && known.ranks.routes) || []).find(here(feature, segment)) || null;

const INSTEAD = {
  route: "are ranked without the level of",
  route_normalized: "are ranked without the level and the spread of",
  rescale: "are ranked with the training's scale of",
  silence: "are ranked without",
  route_per_source: "are ranked without the level of each source's",
};

export function doingText({ feature, segment, state }, doing, paused) {
  const lists = segment ? `the lists ${inPlace(segment)}` : "all lists";
  if (state === "suspected") return "Nothing yet.";
  if (paused) return "Nothing while the instance is paused: every list goes out as it came.";
  if (doing.rolled_back) return `Nothing: the route was taken back by the guardrail ${doing.rolled_back.guardrail} (${number(doing.rolled_back.observed)}, at most ${number(doing.rolled_back.limit)}).`;
  if (!ROUTES.includes(doing.mitigation)) return doing.source === "person" || doing.source === "rules" ? "Nothing: a pin says so." : "Nothing: the rules only tell.";
  const what = `${lists} ${INSTEAD[doing.mitigation]} ${feature}`;
  switch (doing.mode) {
    case "enforce": return `Routed: ${what}.`;
    case "canary": return `Canary: ${doing.percent}% of ${what}; the others go out as they came.`;
    case "shadow": return "Nothing yet, in shadow: every list goes out as it came, and what the route would change is measured beside.";
    default: return "Nothing, it is only observed: every list goes out as it came. In enforce it would be routed.";
  }
}

const share = (figures) => percent(1 - figures.top10_overlap);

// What routing changes in the order: which is what would not happen without it.
export function withoutText(route) {
  const moved = route && route.moved;
  if (!moved || !moved.lists) return null;
  const model = route.plain && route.plain.lists ?
    ` The model with nothing routed would change ${share(route.plain)}.` : "";
  const places = number(moved.places, 2);
  return `Lists would keep the order in which they come: of the first ten items ${share(moved)} would be others, an item would stand ${places} ${places === "1" ? "place" : "places"} elsewhere (${moved.lists} lists ranked both ways).${model}`;
}

function problemOf(known, f) {
  const entry = planned(known, f.feature, f.segment), route = ranked(known, f.feature, f.segment);
  const doing = { mitigation: f.mitigation || "none", mode: f.mode || null, percent: null, by: null, ...entry };
  doing.rolled_back = (route && route.rolled_back) || null;
  doing.text = doingText(f, doing, known.status && known.status.paused);
  const text = withoutText(route);
  return { ...f, features: f.features || [f.feature], doing, without: text ? { ...route.moved, text } : null };
}

// One finding stands for its cause: the one with the largest factor. What is only suspected has none
// yet, and stands for its feature.
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

// Entries of the plan that act although nothing is open there: a hold, a pin.
export function lasting(known) {
  const open = new Set(known.findings.map((f) => `${f.feature} ${JSON.stringify(f.segment)}`));
  return ((known.plan && known.plan.entries) || []).filter((e) => actsBy(e) && !open.has(`${e.feature} ${JSON.stringify(e.segment)}`));
}

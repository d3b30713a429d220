// Page of incidents, newest first: change, duration, action and its effect.

import { h, show } from "./dom.js";
import { wide } from "./plan.js";
import { bracket, inPlace, items, number, percent, times, when, whole } from "./words.js";
import { effectText } from "./problems.js";
import { featurePage } from "./verdict.js";

const SHOWN = 3;

function where(i) {
  const others = i.features.filter((name) => name !== i.feature), more = others.length - SHOWN;
  const names = items([...others.slice(0, SHOWN), ...(more > 0 ? [`${more} more`] : [])]);
  return [h("a", { href: featurePage(i.feature), "data-key": `incident ${i.sequence}` }, i.feature), ` ${inPlace(i.segment)}`, names ? `, with ${names}` : ""];
}

function change(i) {
  const unit = i.unit ? ` ${i.ratio ? times(i.ratio) : ""} (${i.unit})` : "";
  const estimate = i.factor ? `${i.ratio ? ", estimate" : ""} ${times(i.factor)}` : "";
  const fraction = i.fraction !== null && i.fraction < 1 ? `, ${percent(i.fraction)} of the lists` : "";
  return [h("strong", null, i.class || "not diagnosed"), unit, estimate, ...bracket(i), fraction, i.times > 1 ? `, began ${i.times} times` : ""];
}

function done(i) {
  const rail = i.rolled_back ? `; rolled back: ${i.rolled_back.guardrail} ${number(i.rolled_back.observed)}, at most ${number(i.rolled_back.limit)}` : "";
  if (i.mitigated_ms === null) return `none, ${i.mode}${rail}`;
  return [`${i.mitigation}, ${i.mode}, since `, when(i.mitigated_ms), rail];
}

function effect(i) {
  const moved = i.plan_vs_upstream;
  const lists = i.treated_lists ? `${whole(i.treated_lists)} lists changed` : "";
  if (!moved) return lists || "\u2013";
  return `${lists ? `${lists}; ` : ""}${effectText(moved)} (${whole(moved.lists)} compared)`;
}

function row(i) {
  return h("tr", null, h("td", null, h("span", { class: `chip ${i.state}` }, i.state)), h("td", null, ...where(i)), h("td", null, ...change(i)),
    h("td", null, when(i.from_ms)), h("td", null, i.to_ms === null ? "open" : when(i.to_ms)), h("td", { class: "number" }, whole(i.lists)),
    h("td", null, ...[done(i)].flat()), h("td", null, effect(i)));
}

export function showIncidents(view, known) {
  show(view, h("h2", { tabindex: "-1" }, "Incidents"),
    wide("Incidents", ["State", "Where", "What", "From", "To", "Lists", "Action", "Effect"], [...known.incidents].reverse().map(row), "No incidents yet.", { stack: "64rem" }));
}

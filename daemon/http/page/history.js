// Page of decisions, newest first.

import { h, show } from "./dom.js";
import { wide } from "./plan.js";
import { bracket, inPlace, number, times, when } from "./words.js";
import { featurePage } from "./verdict.js";

const PAGE = 50;
const wish = { feature: "", shown: PAGE };

function figures(d) {
  const parts = [];
  if (d.percent !== undefined && d.percent !== null && d.type === "step") parts.push(`to ${number(d.percent)}%`);
  if (d.factor) parts.push([times(d.factor), ...bracket(d)]);
  if (d.guardrail) parts.push(`${d.guardrail} ${number(d.observed)}, at most ${number(d.limit)}`);
  return parts.flatMap((part, i) => [i ? ", " : null, part].flat());
}

const fits = (d) => !wish.feature || (d.feature || "").includes(wish.feature);

function row(d) {
  const subject = d.feature ? h("a", { href: featurePage(d.feature), "data-key": `history ${d.sequence}` }, d.feature) : "the instance";
  const version = d.plan && d.plan.after !== d.plan.before ? `${d.plan.before} \u2192 ${d.plan.after}` : (d.plan && String(d.plan.after)) || "";
  return h("tr", null, h("td", null, String(d.sequence)), h("td", null, when(d.time_ms)), h("td", null, h("strong", null, d.type), d.mitigation && !["end", "unpin"].includes(d.type) ? ` ${d.mitigation === d.type ? "" : d.mitigation}` : ""),
    h("td", null, subject, d.feature ? ` ${inPlace(d.segment)}` : ""), h("td", null, ...figures(d)), h("td", null, d.actor || "\u2013"), h("td", null, d.reason || ""), h("td", { class: "number" }, version));
}

export function showHistory(view, known) {
  const redraw = () => showHistory(view, known), all = known.history.filter(fits).reverse();
  if (!view.querySelector("#by-feature"))
    show(view, h("h2", { tabindex: "-1" }, "History"), h("div", { class: "controls" }, h("label", null, "Feature ", h("input", { id: "by-feature", type: "search", placeholder: "name", autocomplete: "off", value: wish.feature,
      oninput: (e) => {
        Object.assign(wish, { feature: e.target.value.trim(), shown: PAGE });
        redraw();
      } }))), h("div", { id: "decisions" }));
  const rest = all.length - wish.shown;
  show(view.querySelector("#decisions"), wide("Decisions", ["No.", "When", "What", "Where", "Values", "Who", "Why", "Plan"], all.slice(0, wish.shown).map(row), "No decisions yet.", { stack: "48rem" }),
    rest > 0 ? h("button", { type: "button", "data-key": "older", onclick: () => {
      wish.shown += PAGE;
      redraw();
    } }, `${rest} older`) : null);
}

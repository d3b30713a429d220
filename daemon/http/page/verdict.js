// Head of every page: state of the instance, and on the first page a card per incident, with its commands,
// and the last hour.

import { actsOnIncident, pauseButton, rejection } from "./act.js";
import { present, report } from "./api.js";
import { byId, h, show } from "./dom.js";
import { acts, lasting, problems, ROUTES } from "./problems.js";
import { hourStrip } from "./strip.js";
import { age, ago, inPlace, interval, items, lasted, number, percent, place, samePlace, times, whatHappened, when, whole } from "./words.js";

const RECENT_MS = 30 * 60 * 1000, CARDS = 5, TITLE_NAMES = 60; // letters of other features in a title

const REASONS = {
  no_broker: "no broker answers",
  credentials: "brokers reject its user or password",
  tls: "TLS with the brokers fails",
  authorization: "it lacks a permission on the brokers",
  state: "brokers do not return its state",
  topic_missing: "an input topic is missing",
  no_partitions: "it has no partition to read",
  undecodable: "none of the messages can be read",
  stalled: "nothing comes out although the input has more",
};

function notReady(ready) {
  const topics = (ready.missing_topics || []).length ? ` (${items(ready.missing_topics)})` : "";
  return { level: "broken", word: "not ready", title: `Not ready: ${REASONS[ready.reason] || ready.reason || "unknown reason"}${topics}`,
    text: [ready.message || (ready.reason === "no_partitions" ?
      "No messages are read. After a start this takes some seconds; otherwise other instances of the group own all partitions." : "No messages are read until this is resolved.")] };
}

function paused(of) {
  const who = of.actor ? ` by ${of.actor}` : "";
  return { level: "paused", word: "paused", title: `Paused${who}: no list is changed`,
    text: ["Since ", when(of.since_ms), of.reason ? `: ${of.reason}. ` : ". ", "The instance continues to observe; resume restarts routing."] };
}

function stalePlan(fleet) {
  return { level: "broken", word: "stale plan", title: "Stale plan: nothing received from the fleet",
    text: [`The last plan was received ${Math.round(fleet.plan_age_ms / 1000)} s ago and stays in force. Findings of other instances are not received here.`] };
}

const AGREEMENT = [["tau", "Kendall tau is", number], ["ndcg@10", "NDCG@10 under the upstream order", number], ["top1", "the first item is the same in", percent]];

function drifted(model) {
  const figures = AGREEMENT.map(([key, words, as]) => [words, as, (model.statistics || {})[key] || {}]).filter(([, , f]) => f.current !== null && f.current !== undefined)
    .map(([words, as, f]) => `${words} ${as(f.current)} (reference ${as(f.reference)})`);
  return { level: "confirmed", word: "model drift", title: "Model and upstream no longer agree",
    text: [figures.length ? `Over the last lists ${items(figures)}. ` : "", "Routed lists get the order of the model, which differs from that of the upstream scorer. ",
      "If the scorer was changed on purpose, put its model in place, or capture healthy traffic and train with --teacher upstream; if not, one of its inputs changed without a finding, or the model reads them in another order."] };
}

const INPUT = {
  undecodable: ["broken", "not readable", "Messages cannot be read"],
  partly_undecodable: ["suspected", "partly not readable", "Some messages cannot be read"],
  stalled: ["broken", "stalled", "No progress although the input has more"],
  unreachable: ["broken", "unreachable", "Brokers do not answer"],
  topic_missing: ["broken", "topic missing", "An input topic is missing"],
  messages_lost: ["broken", "messages lost", "Messages were lost before they were read"],
  silent: ["suspected", "silent", "The input is silent"],
  degraded: ["suspected", "degraded", "The state topic is not available"],
  unmapped: ["suspected", "unmapped", "An expected field is in no message"],
};

function conditionOf(c) {
  const [level, word, title] = INPUT[c.condition] || ["suspected", c.condition, c.condition];
  return { level, word, title, text: [c.text ? `${c.text[0].toUpperCase()}${c.text.slice(1)}.` : ""] };
}

const inputOf = (known) => (known.status && known.status.input) || {};
const conditions = (known) => inputOf(known).conditions || [];
const AFTER_FINDINGS = ["silent", "partly_undecodable"];
const inputNotices = (known, after) => conditions(known).filter((c) => AFTER_FINDINGS.includes(c.condition) === after).map(conditionOf);

// Notices that do not depend on findings. As in the overview of the API, an input that is silent or partly not
// readable comes after a pause and after findings.
function notices(known) {
  const { ready, status } = known, all = [];
  if (ready && ready.ready === false) all.push(notReady(ready));
  all.push(...inputNotices(known, false));
  if (status && status.paused) all.push(paused(status.paused));
  if (status && status.fleet && status.fleet.plan_stale) all.push(stalePlan(status.fleet));
  if (status && status.model && status.model.state === "drifted") all.push(drifted(status.model));
  return all;
}

const WORDS = { enforce: "mitigated", canary: "canary", shadow: "shadow", observe: "observed" };

export function wordOf(p) {
  if (p.state === "suspected") return "suspected";
  if (p.doing.rolled_back) return "rolled back";
  if (!ROUTES.includes(p.doing.mitigation)) return "report only";
  if (p.doing.paused) return "paused";
  if (p.doing.held) return "unmapped";
  return p.doing.mode === "canary" ? `canary ${p.doing.percent}%` : WORDS[p.doing.mode] || p.doing.mode;
}

const levelOf = (p) => (p.state === "suspected" ? "suspected" : acts(p) ? "mitigated" : "confirmed");

// Conversion that fits the interval of a factor, and whose ratio is then the likely factor.
export const unitOf = (p) => (p.unit_matches || []).find((u) => u.match !== "coincidence");

// Other features of the incident, whose effects may differ.
const besides = (p) => p.features.filter((name) => name !== p.feature);

function othersOf(p) {
  const others = besides(p);
  return others.length > 3 ? [...others.slice(0, 3), `${others.length - 3} more`] : others;
}

// The number that matters is large.
const large = (factor) => h("span", { class: "large" }, times(factor));

function titleOf(p) {
  if (p.state === "suspected") return [`Suspected: ${p.feature}`];
  const others = items(othersOf(p)), names = others.length > TITLE_NAMES ? `${besides(p).length} other features` : others;
  const withIt = others ? `, and with it ${names}` : "", unit = unitOf(p), where = `${p.feature} ${inPlace(p.segment)}`;
  if (unit) return [`${where} is `, large(unit.ratio), ` (${unit.unit})${withIt}`];
  if (p.factor) return [`${where} is `, large(p.factor), withIt];
  return [`${where} changed${withIt}`];
}

const textOf = (title) => title.map((part) => (typeof part === "string" ? part : part.textContent)).join("");

function surely(p) {
  if (p.state === "suspected") return "Not confirmed yet: the evidence has passed the alarm threshold, and the next lists decide.";
  return `Confirmed.${interval(p) ? ` Estimate ${times(p.factor)}, 95% interval ${interval(p)}.` : ""}`;
}

// Null for an instance without output and model, which has no effect.
function effectOf(known, p) {
  if (p.without && p.without.text) return p.without.text;
  if (p.state === "suspected") return "Unknown: no list is changed until it is confirmed.";
  if (known.status && known.status.model === null) return known.status.output === null ? null : "Not measured: shadow scoring needs a model.";
  if (p.doing.mode === "observe") return "Not measured: shadow scoring requires mode shadow, canary or enforce.";
  return ROUTES.includes(p.doing.mitigation) ? "Not measured yet: no list was shadow scored." : "Not measured: no route is planned.";
}

export const featurePage = (name) => `#feature/${encodeURIComponent(name)}`;
const line = (name, ...value) => h("div", null, h("dt", null, name), h("dd", null, ...value));

// "; all lists of arm=B; 1,204 lists of all traffic so far". The count of an incident that returned begins with the incident.
function extent(p, incident) {
  const known = p.fraction !== null && p.fraction !== undefined && p.state !== "suspected";
  const part = known ? `; ${p.fraction === 1 ? "all lists" : `${percent(p.fraction)} of the lists`} ${p.segment ? `of ${place(p.segment)}` : "of all traffic"}` : "";
  if (!incident) return [part];
  const again = incident.times > 1 ? [`; began ${incident.times} times since `, when(incident.from_ms), ", "] : ["; "];
  return [part, ...again, `${whole(incident.lists)} lists${p.segment ? " of all traffic" : ""} so far`];
}

// Start, duration in minutes, so that an idle page is not redrawn each second, and extent.
function since(known, p) {
  const incident = p.incident_id && known.incidents.find((i) => i.incident_id === p.incident_id && i.to_ms === null);
  return h("p", { class: "since" }, "Since ", when(p.since_ms), `, ${lasted(p.since_ms)}`, ...extent(p, incident));
}

const effectName = (p) => (ROUTES.includes(p.doing.mitigation) && !acts(p) && p.state !== "suspected" ? "If routed" : "Effect");

function answers(known, p) {
  const others = othersOf(p), effect = effectOf(known, p);
  return [since(known, p),
    h("dl", { class: "answers" },
      line("Mitigation", p.doing.text),
      effect ? line(effectName(p), effect) : null,
      line("What", whatHappened(p) + "."),
      others.length ? line("With it", items(others) + ".") : null,
      line("Certainty", surely(p), " ", h("a", { href: featurePage(p.feature), "data-key": `card ${p.feature} ${place(p.segment)}` }, p.state === "suspected" ? `Evidence for ${p.feature}` : `Why we are sure of ${p.feature}`)))];
}

// `first`: its title is the headline.
export function card(known, p, first) {
  const title = first ? [] : [h("h2", null, ...titleOf(p), " ", h("span", { class: `chip ${levelOf(p)}` }, wordOf(p)))];
  return h("article", { class: `card ${levelOf(p)}`, "data-feature": p.feature, "aria-label": `${p.feature} ${inPlace(p.segment)}` },
    ...title, ...answers(known, p), actsOnIncident(p));
}

// A route that ended because its level was accepted is no recovery.
function recovered(known) {
  const ends = known.history.filter((d) => d.type === "end" && !known.accepts.some((a) => a.feature === d.feature && samePlace(a.segment, d.segment)));
  const last = ends[ends.length - 1];
  return last && present() - last.time_ms < RECENT_MS ? last : null;
}

function accepted(list) {
  const names = items(list.slice(-3).map((a) => `${a.feature} ${inPlace(a.segment)} is ${times(a.factor)} of training`)) + (list.length > 3 ? ` and ${list.length - 3} more` : "");
  return { level: "accepted", word: "accepted", title: list.length > 1 ? `${list.length} accepted levels are in force` : "An accepted level is in force",
    text: [`${names}, which an operator accepted as normal. Nothing else differs from training, and no list is changed. An accept can be reverted under Plan.`] };
}

function quiet(known) {
  const held = lasting(known);
  if (held.length) {
    const names = items(held.slice(0, 3).map((e) => `${e.feature} ${inPlace(e.segment)}`)) + (held.length > 3 ? ` and ${held.length - 3} more` : "");
    const pins = held.filter((e) => e.source && e.source !== "finding").length;
    return { level: "recovered", word: pins === held.length ? "pinned" : "recovered", title: pins === held.length ? "Nothing is wrong; pins are in force" : "Nothing is wrong any more",
      text: [`Still routed: ${names}. `, pins === held.length ? "Pins last until they expire or are removed." : "A route stays active for its minimum duration, then ends."] };
  }
  const end = recovered(known);
  if (end) return { level: "recovered", word: "recovered", title: "Nothing is wrong any more",
    text: [`${end.feature || "A route"} ${end.feature ? inPlace(end.segment) + " " : ""}is as in training again; its route ended at `, when(end.time_ms), ". No list is changed."] };
  if (known.accepts.length) return accepted(known.accepts);
  if (inputOf(known).state === "no_data")
    return { level: "nodata", word: "no data", title: "No data yet", text: ["No list was read since the start."] };
  return { level: "ok", word: "OK", title: "Nothing is wrong", text: ["No feature has a finding, and no list is changed."] };
}

// State without findings, next to a notice that covers forwarding.
function unfound(known) {
  const rest = quiet(known);
  return rest.level === "ok" ? { ...rest, title: "No feature has a finding", text: [] } : rest;
}

const gravest = (list) => list.find((p) => p.state !== "suspected") || list[0];

function found(list) {
  const first = gravest(list), others = list.length - 1;
  return { level: levelOf(first), word: wordOf(first), title: [...titleOf(first), others ? ` (and ${others} more)` : ""], text: [], carded: true };
}

function counts(known) {
  const t = known.status;
  if (!t) return "";
  const features = known.features ? `${known.features.features.length} features, ` : "";
  const written = t.output === null ? "only observed, without an output" : `${whole(t.routed)} changed`;
  return `${features}${whole(t.observed_lists)} lists seen, ${written}, ${whole(t.dead_letters)} dead letters, lag ${whole(t.lag)}, plan ${t.plan_version}`;
}

export function verdict(known) {
  const list = problems(known), all = notices(known);
  if (list.length) all.push(found(list));
  all.push(...inputNotices(known, true));
  if (!list.length) all.push(all.length ? unfound(known) : quiet(known));
  return { list, head: all[0], others: all.slice(1) };
}

const titled = (v) => [v.title].flat();
const wordy = (v) => h("p", null, h("span", { class: `chip ${v.level}` }, v.word), " ", h("strong", null, ...titled(v)), ". ", ...v.text);

// Cards in the order of the page: first the one whose title is the headline.
function cards(known, list, heads) {
  const first = list.length ? gravest(list) : null;
  return [first, ...list.filter((p) => p !== first)].filter(Boolean).map((p) => card(known, p, p === first && Boolean(heads)));
}

// In short, with the titles of the other notices and a link to the first page.
function showLine(head, others) {
  show(byId("headline"), h("p", { class: "eyebrow" }, h("span", { class: `chip ${head.level}` }, head.word)), h("h1", null, ...titled(head)),
    ...others.filter((v) => v.level !== "ok").map((v) => h("p", null, h("span", { class: `chip ${v.level}` }, v.word), " ", ...titled(v))), h("p", { class: "counts" }, h("a", { href: "#", "data-key": "details" }, "Details")));
  show(byId("problems"));
  show(byId("hour"));
}

// Show the headline, and on the first page the cards and the last hour.
export function showVerdict(known, whole_page) {
  const { list, head, others } = verdict(known);
  byId("verdict").className = `${head.level}${whole_page ? "" : " slim"}`;
  document.title = `${head.level === "ok" ? "" : head.word + " \u2013 "}${(known.status && known.status.service) || "evenkeel"}`;
  if (known.status) byId("service").textContent = known.status.service;
  show(byId("acts"), pauseButton(known));
  if (!whole_page) return showLine(head, others);
  show(byId("headline"), h("p", { class: "eyebrow" }, h("span", { class: `chip ${head.level}` }, head.word)), h("h1", null, ...titled(head)),
    head.text.length ? h("p", null, ...head.text) : null, ...others.filter((v) => !v.carded).map(wordy));
  const all = cards(known, list, head.carded), more = all.length - CARDS;
  show(byId("problems"), ...all.slice(0, CARDS),
    more > 0 ? h("details", { "data-key": "more" }, h("summary", null, `${more} more`), ...all.slice(CARDS)) : null,
    list.some((p) => p.state !== "suspected") ? rejection() : null, h("p", { class: "counts" }, counts(known)),
    ...((known.status && known.status.limits) || []).map((l) => h("p", { class: "counts" }, `Limit ${l.limit} was reached: ${l.text}.`)));
  const strip = hourStrip(known, Math.max(260, byId("headline").clientWidth)); // #hour has no width while it is empty
  show(byId("hour"), ...(strip ? [h("h2", { class: "small" }, "Lists per second, last hour"), strip] : []));
}

let wasLost = false;

// Screen readers announce a lost and a restored connection, but not the age of the data.
function announce(lost) {
  if (lost === wasLost) return;
  wasLost = lost;
  byId("spoken").textContent = lost ? "Connection lost" : "Connected again";
}

// "instance i1, leader of 2, 60 lists/s, last 0.2 s ago".
function sourceOf(known) {
  const { fleet, lists_per_second: rate } = known.status || {}, parts = [];
  if (fleet) parts.push(`instance ${fleet.instance}`, fleet.is_leader ? `leader of ${fleet.instances}` : fleet.leader ? `leader ${fleet.leader}` : "no leader");
  if (rate !== undefined) parts.push(`${number(rate, 2)} lists/s`);
  parts.push(known.last_ms ? `last message ${age(known.last_ms)}` : "no message yet");
  if (!known.streamed) parts.push("polled every 3 s");
  return parts.join(", ");
}

export function showLink(known) {
  const at = known.received_ms, link = byId("link");
  link.className = `link ${known.lost ? "lost" : "good"}`;
  document.body.classList.toggle("stale", Boolean(known.lost && at));
  if (report) {
    show(link, `Report of ${report.source}, as of `, when(present()));
    return;
  }
  announce(Boolean(known.lost));
  if (known.lost && at) show(link, h("strong", null, "Connection lost."), " Data as of ", when(at), `, ${ago(at)}.`);
  else if (known.lost) show(link, h("strong", null, known.lost));
  else if (at) show(link, Date.now() - at > 20000 ? `as of ${ago(at)}` : sourceOf(known));
}

// Operator commands. Each has a dialog that explains the effect and asks for a token, which is stored
// for this tab only.

import { get, post, report, token } from "./api.js";
import { byId, focusOn, h, nameOf } from "./dom.js";
import { known, refreshSoon } from "./live.js";
import { ROUTES } from "./problems.js";
import { inPlace, times } from "./words.js";

const POLL_MS = 300, RELOAD_POLLS = 60, COMMAND_POLLS = 20;
const aMoment = () => new Promise((done) => setTimeout(done, POLL_MS));

const field = (label, input, note) => h("p", { class: "field" }, h("label", null, h("span", null, label), input), note ? h("small", null, note) : null);
const reason = () => field("Reason", h("input", { name: "reason", maxlength: "500", autocomplete: "off" }), "Shown in the history.");
const key = () => field("Token", h("input", { name: "token", type: "password", autocomplete: "off", required: true }), "One of http.token_file, stored until this tab is closed.");

const isLatin1 = (letter) => letter <= "\u00ff"; // as the value of a header must be

const words = (form, ...names) => Object.fromEntries(names.map((n) => [n, form.elements[n]?.value.trim()]).filter(([, v]) => v));

function close() {
  byId("dialog").close();
}

const isShown = (content) => content.isConnected && byId("dialog").open;

// The opener may be redrawn before the dialog closes, so it is found by name.
function open(content) {
  const dialog = byId("dialog"), opener = nameOf(document.activeElement);
  byId("late").replaceChildren();
  dialog.replaceChildren(content);
  dialog.addEventListener("close", () => {
    const now = document.activeElement;
    if (now === document.body || dialog.contains(now)) focusOn(opener);
  }, { once: true });
  dialog.showModal();
}

// Result of a command whose dialog was closed meanwhile.
function showLate(title, result) {
  byId("late").replaceChildren(h("p", null, `${title}: ${result} `, h("button", { type: "button", onclick: () => byId("late").replaceChildren() }, "Close")));
}

function showResult(form, title, result) {
  if (!isShown(form)) return showLate(title, result);
  form.replaceChildren(h("h2", { id: "dialog-title" }, title), h("p", { role: "status" }, result), h("p", { class: "buttons" }, h("button", { type: "button", class: "main", onclick: close, autofocus: true }, "Close")));
  form.querySelector("button").focus();
}

// `send` receives the form and a function that shows progress, and returns the final message. Errors of
// the instance are shown unchanged. `ready`: a promise without which the command cannot be sent.
function confirm({ title, will, fields = [], button, send, ready }) {
  const fault = h("p", { class: "fault", role: "alert" }), going = h("p", { class: "quiet", role: "status" });
  const tokens = h("div", null, token.get() ? null : key());
  const go = h("button", { type: "submit", class: "main", disabled: Boolean(ready) }, button), cancel = h("button", { type: "button", onclick: close }, "Cancel");
  const form = h("form", { onsubmit: async (e) => {
    e.preventDefault();
    const typed = form.elements.token;
    if (typed && ![...typed.value].every(isLatin1)) {
      fault.textContent = "The token has characters that cannot be sent, such as letters of another alphabet.";
      return typed.select();
    }
    if (typed) token.set(typed.value.trim());
    go.disabled = true;
    cancel.textContent = "Close";
    fault.textContent = "";
    try {
      showResult(form, title, await send(form, (text) => { going.textContent = text; }));
      refreshSoon();
    } catch (error) {
      if (!isShown(form)) return showLate(title, error.message);
      cancel.textContent = "Cancel";
      going.textContent = "";
      fault.textContent = error.message;
      if (!token.get() && !form.elements.token) tokens.replaceChildren(key());
      go.disabled = false;
      if (error.status === 401) form.elements.token?.select();
      else go.focus();
    }
  } }, h("h2", { id: "dialog-title" }, title), ...will.map((text) => h("p", null, text)), ...fields, tokens, fault, going, h("p", { class: "buttons" }, cancel, go));
  open(form);
  ready?.then(() => { go.disabled = false; }, (error) => { fault.textContent = error.message; });
}

// In a fleet the leader executes the command for all instances; the response has its command_id.
async function submit(call, body, say) {
  const answer = await post(call, body);
  if (!answer || answer.command_id === undefined) return answer;
  say(`Sent to the fleet as command ${answer.command_id}. Waiting for the leader.`);
  for (let i = 0; i < COMMAND_POLLS; i++) {
    const commands = (await get("api/v1/commands")) || [];
    const command = commands.find((c) => c.command_id === answer.command_id);
    if (command && command.state === "rejected") throw new Error(command.error);
    if (command && command.state === "lost") break;
    if (command && command.state === "applied") return { ...command.decision, leader: command.leader };
    await aMoment();
  }
  throw new Error(`Command ${answer.command_id} was sent to the fleet, but there was no reply. A leader that was unavailable may still execute it; check the history.`);
}

const decided = (answer) => (answer && answer.leader ? `Done, for all instances, by ${answer.leader}.` : ownDecided(answer));
const ownDecided = (answer) => (answer && answer.plan && answer.plan.after !== answer.plan.before ? `Done. The plan is now version ${answer.plan.after}.` : "Done.");
const at = (of) => ({ feature: of.feature, ...(of.segment ? { segment: of.segment } : {}) });

function pause() {
  confirm({ title: "Pause", button: "Pause now", fields: [reason()],
    will: ["From the next list on, no list is changed. The instance continues to observe.", "In a fleet it applies to all instances. It lasts until resume."],
    send: async (form, say) => {
      const answer = await submit("pause", words(form, "reason"), say);
      if (answer.leader) return `Paused: all instances, by ${answer.leader}.`;
      return answer.changed ? `Paused.${answer.kept ? " It persists over a restart." : " It ends with the process."}` : "It was already paused.";
    } });
}

function resume() {
  confirm({ title: "Resume", button: "Resume now", fields: [reason()], will: ["Routing continues with the current plan."],
    send: async (form, say) => {
      const answer = await submit("resume", words(form, "reason"), say);
      if (answer.leader) return `Resumed: all instances, by ${answer.leader}.`;
      return answer.changed ? "Resumed." : "It was not paused.";
    } });
}

async function reloaded(number) {
  for (let i = 0; i < RELOAD_POLLS; i++) {
    const state = await get("api/v1/reload");
    if (state && state.state !== "loading" && (state.reload === undefined || state.reload >= number)) return state;
    await aMoment();
  }
  return null;
}

const faultLine = (f) => `${f.file ? `${f.file}:${f.line}:${f.column}: ` : ""}${f.message}`;

function reload() {
  confirm({ title: "Reload", button: "Reload now",
    will: ["Configuration, rules, profile, model and tokens are read again. They take effect between two lists; if there is any error, nothing changes.", "The new rules apply to findings and routes at once."],
    send: async () => {
      const state = await reloaded((await post("reload", {})).reload);
      if (!state) return "The result is not known yet; see the history.";
      const notes = (state.warnings || []).map(faultLine).join("; ");
      if (state.state === "refused") throw new Error(`Refused, nothing changed: ${(state.errors || []).map(faultLine).join("; ")}`);
      return `Reloaded.${notes ? ` Not applied: ${notes}` : ""}`;
    } });
}

function accept(f) {
  confirm({ title: `Accept ${f.feature} ${inPlace(f.segment)}`, button: "Accept as normal", fields: [reason()],
    will: [`The present level, ${times(f.factor)} of the previous one, is normal from now on ${inPlace(f.segment)}.`, "The finding and its route end, and lists stay unchanged. It can be reverted under Plan."],
    send: async (form, say) => decided(await submit("accept", { ...at(f), ...words(form, "reason") }, say)) });
}

export function revert(a) {
  confirm({ title: `Revert the accepted level of ${a.feature}`, button: "Revert", fields: [reason()],
    will: [`The previous level is normal again ${inPlace(a.segment)}. Values at the accepted level cause a finding, and the rules apply.`],
    send: async (form, say) => decided(await submit("revert", { version: a.version, ...words(form, "reason") }, say)) });
}

const ACTIONS = [["route", "route: rank without its level"], ["none", "none: no action"], ["fill", "fill: use typical values"], ["blank", "blank: rank without it"], ["route_normalized", "route_normalized: without level and spread"], ["route_per_source", "route_per_source: without each source's level"], ["alert", "alert: report only"]];

// Names of the actions that the instance takes for a feature.
const possibleFor = async (feature) => (await get(`api/v1/features/${encodeURIComponent(feature)}`)).pin_actions;

const fill = (select, possible, chosen) => select.replaceChildren(...ACTIONS.filter(([v]) => possible.includes(v)).map(([v, t]) => h("option", { value: v, selected: v === chosen }, t)));

// `possible`: these actions if they are known.
function pin(feature, segment, possible) {
  const action = h("select", { name: "action" });
  const until = h("input", { name: "until", placeholder: "2027-01-31", autocomplete: "off" });
  confirm({ title: `Pin ${feature} ${inPlace(segment)}`, button: "Pin", ready: possible ? fill(action, possible) : possibleFor(feature).then((all) => fill(action, all)), fields: [field("Action", action), field("Until", until, "In event time: the end of a day, or a second such as 2027-01-31T12:00:00Z. Empty: no end."), reason()],
    will: [`The action applies to every list ${inPlace(segment)} from now on, regardless of findings and mode, until it expires or is unpinned.`],
    send: async (form, say) => decided(await submit("pin", { ...at({ feature, segment }), ...words(form, "action", "until", "reason") }, say)) });
}

// Pin the mitigation of a finding, or another one that changes lists. A repair has no pin.
function enforce(p) {
  const { feature, segment, doing: { mitigation } } = p, action = h("select", { name: "action" }), note = h("span");
  const fillIn = (all) => {
    const possible = all.filter((name) => !["none", "alert"].includes(name)), chosen = possible.includes(mitigation) ? mitigation : possible[0];
    if (!chosen) throw new Error("This instance cannot change lists: it has no output, or no model. See Pin for the other actions.");
    if (chosen !== mitigation) note.textContent = `The rules would apply ${mitigation}, which a pin cannot.`;
    fill(action, possible, chosen);
  };
  confirm({ title: `Enforce ${feature} ${inPlace(segment)}`, button: "Enforce now", ready: possibleFor(feature).then(fillIn), fields: [field("Action", action, note), reason()],
    will: [`Every list ${inPlace(segment)} is changed from now on, until you unpin it under Plan. To let the rules decide, set mode: enforce there and reload.`],
    send: async (form, say) => decided(await submit("pin", { ...at(p), ...words(form, "action", "reason") }, say)) });
}

export function unpin(of) {
  confirm({ title: `Unpin ${of.feature} ${inPlace(of.segment)}`, button: "Unpin", fields: [reason()], will: ["Findings and rules apply again."],
    send: async (form, say) => decided(await submit("unpin", { ...at(of), ...words(form, "reason") }, say)) });
}

export function resumeRoute(r) {
  confirm({ title: `Resume the route of ${r.feature}`, button: "Resume the route", fields: [reason()], will: [`A guardrail rolled it back ${inPlace(r.segment)}. The rules apply to it again, until a guardrail is violated or the fault ends.`],
    send: async (form, say) => decided(await submit("resume", { ...at(r), ...words(form, "reason") }, say)) });
}

// The reason and the remedy where the instance rejects all commands; null where it accepts them, and in a report.
export function rejection() {
  const { commands, state } = known.status || {};
  if (report || !commands || commands === "accepted") return null;
  return h("p", { class: "quiet" }, commands === "no_token_file" ?
    `Commands are disabled: set http.token_file and restart${state ? "" : ", which loses findings and routes without state.topic"}.` :
    "This process accepts no commands; evenkeel run with http.token_file does.");
}

// `key`: buttons that replace each other have the same key, so that focus is preserved. Without commands there are none.
export const button = (key, text, act, kind) => !report && !rejection() && h("button", { type: "button", class: kind || null, "data-key": key, onclick: act }, text);

function forget() {
  token.forget();
  refreshSoon();
}

const canAccept = (finding) => Boolean(finding && finding.class === "scale" && finding.state !== "suspected");

export function actsOnFeature(feature, segment, finding, entry, possible) {
  return rejection() || h("p", { class: "buttons start" }, canAccept(finding) ? button("act accept", `Accept ${inPlace(segment)} as normal`, () => accept(finding)) : null,
    entry && entry.source === "operator" ? button("act pin", `Unpin ${inPlace(segment)}`, () => unpin(entry)) : button("act pin", `Pin ${inPlace(segment)}`, () => pin(feature, segment, possible)));
}

// Commands of a card: that of a rolled back route, or the mitigation before the rules apply it fully. An instance
// without an output or a model has nothing to enforce.
export function actsOnIncident(p) {
  if (report || rejection() || p.state === "suspected") return null;
  const name = `${p.feature} ${JSON.stringify(p.segment)}`, byHand = p.doing.source === "operator";
  return h("p", { class: "buttons start" },
    p.doing.rolled_back ? button(`card resume ${name}`, "Resume the route", () => resumeRoute(p), "main") : null,
    p.doing.writes && !p.no_model && ROUTES.includes(p.doing.mitigation) && p.doing.mode !== "enforce" && !p.doing.rolled_back && !byHand ? button(`card enforce ${name}`, "Enforce", () => enforce(p), "main") : null,
    canAccept(p) ? button(`card accept ${name}`, "Accept as normal", () => accept(p)) : null,
    byHand ? button(`card pin ${name}`, "Unpin", () => unpin(p)) : button(`card pin ${name}`, "Pin", () => pin(p.feature, p.segment)));
}

export function pauseButton(known) {
  return known.status && known.status.paused ? button("act pause", "Resume", resume, "main") : button("act pause", "Pause", pause);
}

export function actsOnAll() {
  return rejection() || h("div", null, h("p", { class: "buttons start" }, button("act reload", "Reload", reload),
    token.get() ? button("act forget", "Forget the token", forget) : null),
  h("p", { class: "quiet" }, "Each command asks for confirmation and a token of http.token_file. Accept and pin are on the card of an incident and the page of a feature."));
}

// What people can tell the instance: each in a dialog that says what will happen, with the token that is
// asked for once and kept for this tab alone.

import { get, tell, token } from "./api.js";
import { byId, focusOn, h, nameOf } from "./dom.js";
import { refreshSoon } from "./live.js";
import { inPlace, times } from "./words.js";

const POLL_MS = 300, RELOAD_POLLS = 60, ORDER_POLLS = 20;
const aMoment = () => new Promise((done) => setTimeout(done, POLL_MS));

const field = (label, input, note) => h("p", { class: "field" }, h("label", null, h("span", null, label), input), note ? h("small", null, note) : null);
const reason = () => field("Reason", h("input", { name: "reason", maxlength: "500", autocomplete: "off" }), "Stands in the history, for who looks later.");
const key = () => field("Token", h("input", { name: "token", type: "password", autocomplete: "off", required: true }), "One of http.token_file. It is kept until this tab is closed.");

const words = (form, ...names) => Object.fromEntries(names.map((n) => [n, form.elements[n]?.value.trim()]).filter(([, v]) => v));

function close() {
  byId("dialog").close();
}

// What it was opened with may be drawn anew before it is closed.
function open(dialog) {
  const opener = nameOf(document.activeElement);
  dialog.addEventListener("close", () => {
    const now = document.activeElement;
    if (now === document.body || dialog.contains(now)) focusOn(opener);
  }, { once: true });
  dialog.showModal();
}

// `send` gets the form, and what tells how it goes; it returns what to say of the answer. What the
// instance refuses is shown as it says it.
function confirm({ title, will, fields = [], button, send }) {
  const dialog = byId("dialog"), fault = h("p", { class: "fault", role: "alert" }), going = h("p", { class: "quiet", role: "status" });
  const tokens = h("div", null, token.get() ? null : key());
  const go = h("button", { type: "submit", class: "main" }, button), cancel = h("button", { type: "button", onclick: close }, "Cancel");
  const form = h("form", { onsubmit: async (e) => {
    e.preventDefault();
    if (form.elements.token) token.set(form.elements.token.value.trim());
    go.disabled = true;
    fault.textContent = "";
    try {
      const said = await send(form, (text) => { going.textContent = text; });
      dialog.replaceChildren(h("h2", { id: "dialog-title" }, title), h("p", { role: "status" }, said), h("p", { class: "buttons" }, h("button", { type: "button", class: "main", onclick: close, autofocus: true }, "Close")));
      dialog.querySelector("button").focus();
      refreshSoon();
    } catch (error) {
      going.textContent = "";
      fault.textContent = error.message;
      if (!token.get() && !form.elements.token) tokens.replaceChildren(key());
      go.disabled = false;
      if (error.status === 401) form.elements.token?.select();
      else go.focus();
    }
  } }, h("h2", { id: "dialog-title" }, title), ...will.map((text) => h("p", null, text)), ...fields, tokens, fault, going, h("p", { class: "buttons" }, cancel, go));
  dialog.replaceChildren(form);
  open(dialog);
}

// Of a fleet whoever decides does it, for all instances: the answer is the number of an order then.
async function give(what, body, say) {
  const answer = await tell(what, body);
  if (!answer || answer.command_id === undefined) return answer;
  say(`Told to the fleet as command ${answer.command_id}. Waiting for the instance that decides.`);
  for (let i = 0; i < ORDER_POLLS; i++) {
    const orders = (await get("api/v1/commands")) || [];
    const order = orders.find((o) => o.command_id === answer.command_id);
    if (order && order.state === "rejected") throw new Error(order.error);
    if (order && order.state === "lost") break;
    if (order && order.state === "applied") return { ...order.decision, leader: order.leader };
    await aMoment();
  }
  throw new Error(`Command ${answer.command_id} was told to the fleet, and nobody has answered. Where nobody decides, nothing comes of it; an instance that was away may still carry it out, which the history then says.`);
}

const decided = (answer) => (answer && answer.leader ? `Done, for all instances, by ${answer.leader}.` : ownDecided(answer));
const ownDecided = (answer) => (answer && answer.plan && answer.plan.after !== answer.plan.before ? `Done. The plan is now version ${answer.plan.after}.` : "Done.");
const at = (of) => ({ feature: of.feature, ...(of.segment ? { segment: of.segment } : {}) });

function pause() {
  confirm({ title: "Pause", button: "Pause now", fields: [reason()],
    will: ["From the next list on every list goes out as it came, whatever is wrong. The instance goes on watching.", "In a fleet it is of all instances, else of this one alone. It holds until somebody resumes."],
    send: async (form, say) => {
      const answer = await give("pause", words(form, "reason"), say);
      if (answer.leader) return `Paused: all instances, by ${answer.leader}.`;
      return answer.changed ? `Paused.${answer.kept ? " It is kept over a restart." : " It ends with the process."}` : "It was paused already.";
    } });
}

function resume() {
  confirm({ title: "Resume", button: "Resume now", fields: [reason()], will: ["Routing goes on with the plan as it would be by now."],
    send: async (form, say) => {
      const answer = await give("resume", words(form, "reason"), say);
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
    will: ["Configuration, rules, profile, model and tokens are read again. Without a fault they take effect between two lists; with any fault everything stays as it is.", "Findings and routes are decided anew by the new rules at once."],
    send: async () => {
      const state = await reloaded((await tell("reload", {})).reload);
      if (!state) return "It is not known yet what came of it: see the history.";
      const notes = (state.warnings || []).map(faultLine).join("; ");
      if (state.state === "refused") throw new Error(`Refused, everything stays as it was: ${(state.errors || []).map(faultLine).join("; ")}`);
      return `Reloaded.${notes ? ` Not taken over: ${notes}` : ""}`;
    } });
}

function accept(f) {
  confirm({ title: `Accept ${f.feature} ${inPlace(f.segment)}`, button: "Accept as normal", fields: [reason()],
    will: [`The present level, ${times(f.factor)} what it was, is normal from now on, ${inPlace(f.segment)}.`, "The finding ends, and its route with it: lists go out as they come. It can be taken back under Plan."],
    send: async (form) => decided(await give("accept", { ...at(f), ...words(form, "reason") })) });
}

export function revert(a) {
  confirm({ title: `Take back what was accepted of ${a.feature}`, button: "Take it back", fields: [reason()],
    will: [`The level of before is normal again ${inPlace(a.segment)}. If values are still as accepted they will be found, and treated by the rules.`],
    send: async (form) => decided(await give("revert", { version: a.version, ...words(form, "reason") })) });
}

const ACTIONS = [["route", "route: rank without its level"], ["none", "none: nothing acts there"], ["repair", "rescale: undo the factor"], ["blank", "silence: rank without it"], ["route_normalized", "route_normalized: without level and spread"], ["alert", "alert: only tell"]];

function pin(feature, segment) {
  const action = h("select", { name: "action" }, ...ACTIONS.map(([v, t]) => h("option", { value: v }, t)));
  const until = h("input", { name: "until", placeholder: "2027-01-31 or 2027-01-31T12:00:00Z", autocomplete: "off" });
  confirm({ title: `Pin ${feature} ${inPlace(segment)}`, button: "Pin", fields: [field("Action", action), field("Until", until, "The end of that day, or that second, of the stream. Empty: for good."), reason()],
    will: [`This is done with every list ${inPlace(segment)} from now on, whatever is found and whatever its mode, until it runs out or is unpinned.`],
    send: async (form, say) => decided(await give("pin", { ...at({ feature, segment }), ...words(form, "action", "until", "reason") }, say)) });
}

export function unpin(of) {
  confirm({ title: `Unpin ${of.feature} ${inPlace(of.segment)}`, button: "Unpin", fields: [reason()], will: ["What is found and what the rules say counts again."],
    send: async (form, say) => decided(await give("unpin", { ...at(of), ...words(form, "reason") }, say)) });
}

export function resumeRoute(r) {
  confirm({ title: `Let the route of ${r.feature} begin anew`, button: "Begin anew", fields: [reason()], will: [`A guardrail took it back ${inPlace(r.segment)}. It acts again as the rules say, until a guardrail is hit again or its fault has ended.`],
    send: async (form, say) => decided(await give("resume", { ...at(r), ...words(form, "reason") }, say)) });
}

// `key`: buttons of which one stands for the other later have the same, so focus goes from one to the other.
const button = (key, text, act, kind) => h("button", { type: "button", class: kind || null, "data-key": `act ${key}`, onclick: act }, text);

function forget() {
  token.forget();
  refreshSoon();
}

export function actsOnFeature(feature, segment, finding, entry) {
  const withFactor = finding && finding.class === "scale" && finding.state !== "suspected";
  return h("p", { class: "buttons start" }, withFactor ? button("accept", `Accept ${inPlace(segment)} as normal`, () => accept(finding)) : null,
    entry && entry.source === "person" ? button("pin", `Unpin ${inPlace(segment)}`, () => unpin(entry)) : button("pin", `Pin ${inPlace(segment)}`, () => pin(feature, segment)));
}

export function actsOnAll(known) {
  const paused = known.status && known.status.paused;
  return h("div", null, h("p", { class: "buttons start" }, paused ? button("pause", "Resume", resume, "main") : button("pause", "Pause", pause), button("reload", "Reload", reload),
    token.get() ? button("forget", "Forget the token", forget) : null),
  h("p", { class: "quiet" }, "Each asks before it does anything, and takes a token of http.token_file. To accept or pin, open the page of the feature."));
}

// Keeps the data of the instance current: by the event stream, or by polling if streaming is not
// available. Pages show `known` and are notified of changes.

import { get, report } from "./api.js";

const EVERY_MS = 3000, EVERY_STREAMED_MS = 10000, FEATURES_MS = 10000, SOON_MS = 200, HISTORY = 1000;

export const known = {
  ready: null, status: null, findings: [], plan: null, ranks: null, history: [], incidents: [], pins: null, accepts: [],
  features: null, received_ms: 0, last_ms: null, lost: null, streamed: false,
};

let changed = () => {}, wantsFeatures = () => true;
let timer = null, featuresAt = 0, asking = false, again = false, born = null, otherProcess = false;

// Requests only decisions since the last ones; a new process may number them from 1.
async function fetchAll() {
  const { history: old, status: before } = known, last = old.length ? old[old.length - 1].sequence : 0;
  otherProcess = false;
  const [ready, status, findings, plan, ranks, history, pins, accepts, incidents] = await Promise.all([
    get("ready", { also: [503] }), get("api/v1/status"), get("api/v1/findings"), get("api/v1/plan"),
    get("api/v1/impact"), get(`api/v1/history?n=${HISTORY}${last ? `&after=${last}` : ""}`), get("api/v1/pins"), get("api/v1/accepts"), get("api/v1/incidents")]);
  Object.assign(known, { ready, status, plan, ranks, pins, accepts: accepts || [], findings: findings || [], incidents: incidents || [], history: [...old, ...(history || [])].slice(-HISTORY) });
  const age = status && status.input ? status.input.last_message_age_ms : -1;
  known.last_ms = age >= 0 ? Date.now() - age : null;
  if (otherProcess || (before && status && status.observed_lists < before.observed_lists && last)) {
    known.history = [];
    again = true;
  }
}

async function fetchFeatures() {
  if (!wantsFeatures() || Date.now() - featuresAt < FEATURES_MS) return;
  featuresAt = Date.now();
  known.features = await get("api/v1/features");
}

async function refresh() {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  clearTimeout(timer);
  try {
    await fetchAll();
    known.received_ms = Date.now();
    known.lost = null;
    changed();
    await fetchFeatures();
  } catch (e) {
    known.lost = e.message;
  }
  asking = false;
  changed();
  const soon = again;
  again = false;
  if (!report) later(soon ? SOON_MS : known.streamed && !known.lost ? EVERY_STREAMED_MS : EVERY_MS);
}

function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(() => (document.hidden ? later(EVERY_MS) : refresh()), ms);
}

export function refreshSoon() {
  if (report) return;
  if (asking) again = true;
  else later(SOON_MS);
}

// Only responses to requests end a lost connection: findings and plan are not in the stream.
function onStatus(event) {
  const now = JSON.parse(event.data), before = known.status;
  if (born !== null && born !== now.started_ms) {
    known.history = [];
    otherProcess = true;
    refreshSoon();
  }
  born = now.started_ms;
  if (!before || known.lost) return;
  known.received_ms = Date.now();
  const moved = ["ready", "plan_version", "open_findings"].some((key) => before[key] !== now[key]) || Boolean(before.paused) !== now.paused;
  if (now.consumed > before.consumed) known.last_ms = Date.now();
  known.status = { ...before, ...now, paused: before.paused };
  if (moved) refreshSoon();
  changed();
}

let stream = null, listenTimer = null;

function closeStream() {
  clearTimeout(listenTimer);
  if (stream) stream.close();
  stream = null;
  known.streamed = false;
}

// An instance without a stream responds with a list, which is an error for the browser. A browser limits
// connections to a host, so only a visible tab has one.
function listen() {
  closeStream();
  if (document.hidden) return;
  const mine = new EventSource("api/v1/events");
  stream = mine;
  stream.addEventListener("open", () => {
    known.streamed = true;
    if (known.lost) refreshSoon();
    changed();
  });
  stream.addEventListener("status", onStatus);
  for (const kind of ["finding", "plan", "decision", "limit", "reload", "model_drift", "fleet", "missed"])
    stream.addEventListener(kind, refreshSoon);
  stream.addEventListener("error", () => {
    if (stream !== mine) return;
    known.streamed = false;
    if (mine.readyState === EventSource.CLOSED) listenTimer = setTimeout(listen, 10 * EVERY_MS);
    refreshSoon();
  });
}

// `onChange` is called after each response; `features` returns true if the feature table is shown.
export function start(onChange, features) {
  changed = onChange;
  wantsFeatures = report ? () => true : features;
  refresh();
  if (report) return;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return closeStream();
    listen();
    refreshSoon();
  });
  addEventListener("online", refreshSoon);
  listen();
}

export function featuresNow() {
  if (!known.features) featuresAt = 0;
  refreshSoon();
}

// Keeps what is known of the instance fresh: what happens is streamed, and asked for where streaming
// is not to be had. `known` is all the pages show; they are told when it changed.

import { get } from "./api.js";

const EVERY_MS = 3000, EVERY_STREAMED_MS = 10000, FEATURES_MS = 10000, SOON_MS = 200, HISTORY = 1000;

export const known = {
  ready: null, status: null, findings: [], plan: null, ranks: null, history: [], pins: null, accepts: [],
  features: null, heard_ms: 0, lost: null, streamed: false,
};

let changed = () => {}, wantsFeatures = () => true;
let timer = null, featuresAt = 0, asking = false, again = false, born = null, otherProcess = false;

const heard = () => {
  known.heard_ms = Date.now();
  known.lost = null;
};

// Of the decisions what came since the last time; a process that has begun anew numbers them anew.
async function askAll() {
  const { history: old, status: before } = known, last = old.length ? old[old.length - 1].sequence : 0;
  otherProcess = false;
  const [ready, status, findings, plan, ranks, history, pins, accepts] = await Promise.all([
    get("ready", { also: [503] }), get("api/v1/status"), get("api/v1/findings"), get("api/v1/plan"),
    get("api/v1/impact"), get(`api/v1/history?n=${HISTORY}${last ? `&after=${last}` : ""}`), get("api/v1/pins"), get("api/v1/accepts")]);
  Object.assign(known, { ready, status, plan, ranks, pins, accepts: accepts || [], findings: findings || [], history: [...old, ...(history || [])].slice(-HISTORY) });
  if (otherProcess || (before && status && status.observed_lists < before.observed_lists && last)) {
    known.history = [];
    again = true;
  }
}

async function askFeatures() {
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
    await askAll();
    heard();
    changed();
    await askFeatures();
  } catch (e) {
    known.lost = e.message;
  }
  asking = false;
  changed();
  const soon = again;
  again = false;
  later(soon ? SOON_MS : known.streamed && !known.lost ? EVERY_STREAMED_MS : EVERY_MS);
}

function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(() => (document.hidden ? later(EVERY_MS) : refresh()), ms);
}

export function refreshSoon() {
  if (asking) again = true;
  else later(SOON_MS);
}

function takeStatus(event) {
  const now = JSON.parse(event.data), before = known.status;
  heard();
  if (born !== null && born !== now.started_ms) {
    known.history = [];
    otherProcess = true;
    refreshSoon();
  }
  born = now.started_ms;
  if (!before) return;
  const moved = ["ready", "plan_version", "open_findings"].some((key) => before[key] !== now[key]) || Boolean(before.paused) !== now.paused;
  known.status = { ...before, ...now, paused: before.paused };
  if (moved) refreshSoon();
  changed();
}

let stream = null, listenTimer = null;

function deafen() {
  clearTimeout(listenTimer);
  if (stream) stream.close();
  stream = null;
  known.streamed = false;
}

// An instance without a stream answers with a list, which the browser takes for an error. A browser
// has few connections to one host, so only a tab that is seen holds one.
function listen() {
  deafen();
  if (document.hidden) return;
  const mine = new EventSource("api/v1/events");
  stream = mine;
  stream.addEventListener("open", () => {
    known.streamed = true;
    heard();
    changed();
  });
  stream.addEventListener("status", takeStatus);
  for (const kind of ["finding", "plan", "decision", "limit", "reload", "model_drift", "fleet", "missed"])
    stream.addEventListener(kind, refreshSoon);
  stream.addEventListener("error", () => {
    if (stream !== mine) return;
    known.streamed = false;
    if (mine.readyState === EventSource.CLOSED) listenTimer = setTimeout(listen, 10 * EVERY_MS);
    refreshSoon();
  });
}

// `onChange` is called after each answer, `features` says whether their table is wanted now.
export function start(onChange, features) {
  changed = onChange;
  wantsFeatures = features;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return deafen();
    listen();
    refreshSoon();
  });
  addEventListener("online", refreshSoon);
  refresh();
  listen();
}

export function featuresNow() {
  if (!known.features) featuresAt = 0;
  refreshSoon();
}

// The last hour: lists per second with the incidents, and the level of a feature.

import { present } from "./api.js";
import { s } from "./dom.js";
import { clock, inPlace, number, times } from "./words.js";

const MINUTE = 60000, MINUTES = 60, HEIGHT = 96, TOP = 22, BOTTOM = 72, LEFT = 46, RIGHT = 12, LETTER = 6.5;

const hour = (ms) => clock(ms).split(", ").pop().slice(0, 5);
const at = (x) => Math.round(10 * x) / 10;

// Lists per second of each minute that ends with the present, 0 without lists.
function rates(traffic, first) {
  return Array.from({ length: MINUTES }, (_, i) => {
    const lists = traffic.lists[Math.round((first + i * MINUTE - traffic.from_ms) / MINUTE)];
    return (lists || 0) / (MINUTE / 1000);
  });
}

// Start, mitigation and end of incidents within the hour.
function moments(incidents, first, end) {
  const inside = (ms) => ms !== null && ms !== undefined && ms >= first && ms <= end;
  return incidents.flatMap((i) => [["onset", i.from_ms, "began"], ["acted", i.mitigated_ms, "mitigated"], ["over", i.to_ms, i.state]]
    .filter(([, ms]) => inside(ms)).map(([kind, ms, word]) => ({ kind, ms, word, incident: i })));
}

function bands(incidents, first, end, x) {
  return incidents.filter((i) => i.from_ms < end && (i.to_ms === null || i.to_ms > first)).map((i) => {
    const from = x(Math.max(first, i.from_ms)), to = x(Math.min(end, i.to_ms === null ? end : i.to_ms));
    return s("rect", { x: at(from), y: TOP - 8, width: at(Math.max(2, to - from)), height: BOTTOM - TOP + 8, class: `span ${i.state}` });
  });
}

// A word for each mark; those that would overlap share a place, and there each word is written once.
function flags(all, x, width) {
  const words = [];
  for (const m of all.sort((a, b) => a.ms - b.ms)) {
    const last = words[words.length - 1];
    if (last && x(m.ms) < last.x + LETTER * last.text.length + 12) last.text += last.text.split(", ").includes(m.word) ? "" : `, ${m.word}`;
    else words.push({ x: x(m.ms), text: m.word });
  }
  return [...all.map((m) => s("line", { x1: at(x(m.ms)), y1: TOP - 8, x2: at(x(m.ms)), y2: BOTTOM, class: `mark ${m.kind}` })),
    ...words.map((w) => {
      const right = w.x + LETTER * w.text.length > width - RIGHT;
      return s("text", { x: at(right ? width - RIGHT : w.x), y: TOP - 11, class: "tick", "text-anchor": right ? "end" : "start" }, w.text);
    })];
}

function describe(last, most, all) {
  const events = all.map((m) => `${m.incident.feature} ${inPlace(m.incident.segment)} ${m.word} at ${hour(m.ms)}`);
  return `Lists per second over the last hour: last complete minute ${number(last)}, at most ${number(most)}.${events.length ? ` ${events.join("; ")}.` : ""}`;
}

// Null without traffic. Minutes are of event time.
export function hourStrip(known, width) {
  const traffic = known.status && known.status.traffic;
  if (!traffic) return null;
  const last = Math.floor(present() / MINUTE), first = (last - MINUTES + 1) * MINUTE, end = first + MINUTES * MINUTE;
  const rate = rates(traffic, first), most = Math.max(...rate), step = (width - LEFT - RIGHT) / MINUTES;
  const x = (ms) => LEFT + (ms - first) / MINUTE * step, y = (v) => BOTTOM - (BOTTOM - TOP) * v / (most || 1);
  const all = moments(known.incidents, first, end), every = width < 600 ? 20 : 10, ticks = [];
  for (let m = first; m < end; m += MINUTE) if (m / MINUTE % every === 0) ticks.push(m);
  return s("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": describe(rate[MINUTES - 2], most, all), class: "chart" },
    ...bands(known.incidents, first, end, x),
    ...rate.map((v, i) => (v ? s("rect", { x: at(LEFT + i * step), y: at(y(v)), width: at(Math.max(1, step - 1)), height: at(BOTTOM - y(v)), class: "bar" }) : null)),
    s("line", { x1: LEFT, y1: BOTTOM, x2: width - RIGHT, y2: BOTTOM, class: "axis" }),
    s("text", { x: LEFT - 6, y: TOP + 4, class: "tick", "text-anchor": "end" }, `${number(most, 2)}/s`), s("text", { x: LEFT - 6, y: BOTTOM + 3, class: "tick", "text-anchor": "end" }, "0"),
    ...ticks.flatMap((m) => [s("line", { x1: at(x(m)), y1: BOTTOM, x2: at(x(m)), y2: BOTTOM + 4, class: "axis" }), s("text", { x: at(x(m)), y: BOTTOM + 17, class: "tick", "text-anchor": "middle" }, hour(m))]),
    ...flags(all, x, width));
}

const WIDE = 120, TALL = 26;

// Level of a feature over the last hour on a logarithmic axis, with the band within which nothing is
// reported. Null with fewer than two values.
export function levelLine(levels, threshold, level) {
  const values = levels ? levels.level : [], known = values.filter((v) => v > 0);
  if (known.length < 2) return null;
  const edge = Math.log(threshold), most = Math.max(2 * edge, ...known.map((v) => Math.abs(Math.log(v))));
  const low = Math.min(-2 * edge, ...known.map(Math.log)), high = Math.max(2 * edge, ...known.map(Math.log));
  const end = Math.max(Math.floor(present() / MINUTE), Math.round(levels.from_ms / MINUTE) + values.length - 1), first = end - MINUTES + 1;
  const x = (i) => 1 + (WIDE - 2) * (levels.from_ms / MINUTE + i - first) / (MINUTES - 1), y = (v) => TALL - 2 - (TALL - 4) * (v - low) / (high - low || most);
  let d = "", pen = false;
  values.forEach((v, i) => {
    if (!v || x(i) < 0) return;
    d += `${pen ? "L" : "M"}${at(x(i))} ${at(y(Math.log(v)))}${pen ? "" : "h0"}`;
    pen = true;
  });
  const label = `Level over the last hour: from ${times(Math.min(...known))} to ${times(Math.max(...known))}, last ${times(known[known.length - 1])}; reported beyond ${times(threshold)}`;
  return s("svg", { viewBox: `0 0 ${WIDE} ${TALL}`, width: WIDE, height: TALL, role: "img", "aria-label": label, class: `spark ${level}` },
    s("rect", { x: 0, y: at(y(edge)), width: WIDE, height: at(Math.max(1, y(-edge) - y(edge))), class: "dead" }), s("path", { d, class: "line" }));
}

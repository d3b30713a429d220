// SVG charts, each with a text alternative. Widths are those of their container, so text keeps its size on
// a phone.

import { s } from "./dom.js";
import { clock, number, percent } from "./words.js";

const LEFT = 46, RIGHT = 12, LETTER = 6.5;

const at = (x) => Math.round(10 * x) / 10;

function frame(width, height, label, ...parts) {
  return s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label, class: "chart" }, ...parts);
}

const text = (x, y, words, kind, anchor = "middle") => s("text", { x: at(x), y: at(y), class: kind, "text-anchor": anchor }, words);
const rule = (x1, y1, x2, y2, kind) => s("line", { x1: at(x1), y1: at(y1), x2: at(x2), y2: at(y2), class: kind });

// 1, 2, 5 times powers of ten between two sizes; only powers of ten if there are more than `most`.
export function marks(low, high, most) {
  const all = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
    for (const m of [1, 2, 5]) all.push(m * 10 ** e);
  const inside = all.filter((v) => v >= low * 0.999 && v <= high * 1.001);
  if (inside.length <= most) return inside;
  const powers = inside.filter((v) => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9);
  const every = Math.ceil(powers.length / most);
  return powers.filter((_, i) => i % every === 0);
}

// Bins of a sign are adjacent, negative ones mirrored, with a gap in between.
function layout(bins, width) {
  const signs = bins.map((b) => (b.low < 0 ? -1 : 1)), turn = signs.findIndex((x, i) => i && x !== signs[i - 1]);
  const gap = turn > 0 ? 14 : 0, step = (width - LEFT - RIGHT - gap) / bins.length;
  return { step, x: (i) => LEFT + i * step + (turn > 0 && i >= turn ? gap : 0),
    groups: turn > 0 ? [[0, turn], [turn, bins.length]] : [[0, bins.length]] };
}

// Position of a value among the bins of its sign; null without such bins.
function placeOf(value, bins, place) {
  for (const [from, to] of place.groups) {
    const sign = bins[from].low < 0 ? -1 : 1;
    if (Math.sign(value) !== sign) continue;
    const a = Math.log(Math.abs(bins[from].low)), b = Math.log(Math.abs(bins[to - 1].high));
    const along = (Math.log(Math.abs(value)) - a) / (b - a);
    return place.x(from) + Math.min(1, Math.max(0, along)) * (to - from) * place.step;
  }
  return null;
}

// Marks without the words that would overlap the previous ones; those at the end of the axis end there.
function axis(bins, place, y) {
  const parts = [];
  let used = 0;
  for (const [from, to] of place.groups) {
    const edges = [Math.abs(bins[from].low), Math.abs(bins[to - 1].high)].filter((v) => v > 0);
    if (edges.length < 2) continue;
    const sign = bins[from].low < 0 ? -1 : 1, most = Math.max(2, Math.floor((to - from) * place.step / 62));
    const values = marks(Math.min(...edges), Math.max(...edges), most), end = place.x(from) + (to - from) * place.step;
    for (const v of sign < 0 ? values.reverse() : values) {
      const x = placeOf(sign * v, bins, place), words = number(sign * v);
      const half = LETTER / 2 * words.length, atEnd = x + half > end + RIGHT, left = x - (atEnd ? 2 * half : half);
      parts.push(rule(x, y, x, y + 4, "axis"));
      if (left < used) continue;
      parts.push(text(x, y + 17, words, "tick", atEnd ? "end" : "middle"));
      used = left + 2 * half + LETTER;
    }
    parts.push(rule(place.x(from), y, end, y, "axis"));
  }
  return parts;
}

function outline(bins, key, place, y) {
  return place.groups.map(([from, to]) => {
    let d = `M${at(place.x(from))} ${at(y(0))}`;
    for (let i = from; i < to; i++) d += `V${at(y(bins[i][key]))}H${at(place.x(i) + place.step)}`;
    return s("path", { d: `${d}V${at(y(0))}`, class: `bins ${key}` });
  });
}

// Arrow from the median of training to the current median.
function arrow(from, to, y, factor) {
  const way = to > from ? 1 : -1;
  if (Math.abs(to - from) < 12) return [];
  return [rule(from, y, to, y, "shift"), s("path", { d: `M${at(to)} ${y}l${-7 * way} -4v8z`, class: "shift-head" }),
    text((from + to) / 2, y - 5, `\u00d7${number(factor)}`, "shift-word")];
}

// Accepted factor of a cell, by which training is multiplied; otherwise 1.
export const accepted = (cell) => (cell.current && cell.current.accepted) || 1;

function describe(cell, training, where) {
  const r = cell.current, by = accepted(cell), normal = by === 1 ? "in training" : `in training, times ${number(by)} as accepted,`;
  return `Distribution ${where}: ${normal} the middle half lies from ${number(by * training.p25)} to ${number(by * training.p75)} with median ${number(by * training.p50)}; ` +
    (r && r.p50 !== null ? `now from ${number(r.p25)} to ${number(r.p75)} with median ${number(r.p50)}.` : "no recent values.");
}

// `factor`: of the finding in this segment; the last minutes may also contain earlier values.
export function distribution(cell, training, width, where, factor) {
  const { bins } = cell.histogram, height = 230, bottom = 196, top = 34;
  const place = layout(bins, width), most = Math.max(0.02, ...bins.map((b) => Math.max(b.training, b.current || 0)));
  const y = (share) => bottom - (bottom - top) * share / most;
  const view = cell.current, normal = accepted(cell) * training.p50, from = placeOf(normal, bins, place), now = view && view.p50 ? view.p50 : null;
  const goal = factor ? factor * normal : now, to = goal ? placeOf(goal, bins, place) : null;
  const parts = [...axis(bins, place, bottom), ...outline(bins, "training", place, y), ...outline(bins, "current", place, y),
    text(LEFT - 6, top + 4, percent(most), "tick", "end"), text(LEFT - 6, bottom + 3, "0", "tick", "end")];
  if (from !== null) parts.push(rule(from, top - 8, from, bottom, "median training"));
  if (to !== null && from !== null) parts.push(rule(to, top - 8, to, bottom, "median current"), ...arrow(from, to, top - 14, goal / normal));
  return frame(width, height, describe(cell, training, where), ...parts);
}

const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE;
const STEPS = [1, 2, 5, 10, 15, 30].map((n) => n * SECOND).concat([1, 2, 5, 10, 15, 30].map((n) => n * MINUTE), [1, 2, 3, 6, 12, 24].map((n) => n * HOUR));

// Round local times, at most `most`.
function roundTimes(first, last, most) {
  const step = STEPS.find((n) => (last - first) / n <= most) || Math.ceil((last - first) / most / (24 * HOUR)) * 24 * HOUR;
  const zone = new Date(first).getTimezoneOffset() * MINUTE, all = [];
  for (let t = Math.ceil((first - zone) / step) * step + zone; t <= last; t += step) all.push(t);
  return all;
}

// Time axis, at most one mark per 110 pixels. Seconds are shown if a mark has some.
function timeAxis(times, width, y) {
  const first = times[0], last = times[times.length - 1], span = last - first || 1, marked = roundTimes(first, last, Math.max(1, Math.floor((width - LEFT - RIGHT) / 110)));
  const x = (t) => LEFT + (width - LEFT - RIGHT) * (t - first) / span, letters = marked.some((t) => t % MINUTE) ? 8 : 5;
  const anchor = (t) => (x(t) > width - RIGHT - 20 ? "end" : "middle");
  return { x, parts: [rule(LEFT, y, width - RIGHT, y, "axis"), ...marked.flatMap((t) => [rule(x(t), y, x(t), y + 4, "axis"),
    text(x(t), y + 17, clock(t).split(", ").pop().slice(0, letters), "tick", anchor(t))])] };
}

function path(xs, ys, x, y) {
  let d = "", pen = false;
  xs.forEach((t, i) => {
    if (ys[i] === null || ys[i] === undefined) pen = false;
    else {
      d += pen ? `L${at(x(t))} ${at(y(ys[i]))}` : `M${at(x(t))} ${at(y(ys[i]))}h0`; // an isolated point is a dot
      pen = true;
    }
  });
  return d;
}

export function evidence(track, width) {
  const height = 170, bottom = 140, top = 14, known = track.evidence_ln.filter((v) => v !== null);
  const last = known[known.length - 1], high = Math.max(track.alarm_ln * 1.15, ...known), low = Math.min(0, ...known);
  const y = (v) => bottom - (bottom - top) * (v - low) / (high - low);
  const time = timeAxis(track.time_ms, width, bottom);
  const label = `Evidence over time: now ${number(last)}, the alarm is at ${number(track.alarm_ln)}, as logarithms.`;
  return frame(width, height, label, ...time.parts,
    rule(LEFT, y(track.alarm_ln), width - RIGHT, y(track.alarm_ln), "alarm"), text(width - RIGHT - 4, y(track.alarm_ln) + 15, `alarm at ${number(track.alarm_ln)}`, "alarm-word", "end"),
    s("path", { d: path(track.time_ms, track.evidence_ln, time.x, y), class: "line" }),
    text(LEFT - 6, y(high) + 8, number(high, 2), "tick", "end"), text(LEFT - 6, y(low), number(low, 2), "tick", "end"));
}

// Runs of adjacent samples with an interval.
function runs(track) {
  const all = [];
  track.factor_low.forEach((low, i) => {
    if (low === null) return;
    if (all.length && all[all.length - 1].at(-1) === i - 1) all[all.length - 1].push(i);
    else all.push([i]);
  });
  return all;
}

function band(track, x, y) {
  const place = (i, v) => `${at(x(track.time_ms[i]))} ${at(y(v))}`;
  return runs(track).filter((run) => run.length > 1).map((run) => {
    const up = run.map((i) => place(i, track.factor_high[i])), down = run.map((i) => place(i, track.factor_low[i])).reverse();
    return s("path", { d: `M${[...up, ...down].join("L")}Z`, class: "band" });
  });
}

// Estimates without a neighbor, with their interval.
function points(track, x, y) {
  return runs(track).filter((run) => run.length === 1).flatMap(([i]) => [
    rule(x(track.time_ms[i]), y(track.factor_low[i]), x(track.time_ms[i]), y(track.factor_high[i]), "whisker"),
    s("circle", { cx: at(x(track.time_ms[i])), cy: at(y(track.factor[i])), r: 3, class: "point" })]);
}

const estimates = (track) => [...track.factor, ...track.factor_low, ...track.factor_high].filter((v) => v > 0);
const NEAR = 3;

// Return true if the chart includes factor 1; not if it would squeeze the interval.
export function showsOne(track) {
  const all = estimates(track);
  return Math.min(...all) <= NEAR && Math.max(...all) >= 1 / NEAR;
}

// Marks: round numbers, otherwise the ends and the last estimate, without overlaps.
function levels(low, high, between, y) {
  const round = marks(low, high, 5), apart = [];
  if (round.length > 2) return round;
  for (const v of between) if (apart.every((other) => Math.abs(y(v) - y(other)) >= 15)) apart.push(v);
  return apart;
}

// The likely unit, if its factor is near the estimates.
const nearby = (unit, all) => (unit && unit.ratio <= NEAR * Math.max(...all) && unit.ratio >= Math.min(...all) / NEAR ? [unit] : []);

// Null if no factor was estimated. `unit`: likely conversion, with its `ratio`, or undefined.
export function factors(track, width, unit) {
  const all = estimates(track), last = track.factor.filter((v) => v !== null).pop();
  if (!all.length) return null;
  const one = showsOne(track) ? [1] : [], likely = nearby(unit, all), height = 170, bottom = 140, top = 14;
  const least = Math.min(...one, ...all, ...likely.map((u) => u.ratio)), most = Math.max(...one, ...all, ...likely.map((u) => u.ratio)), room = Math.max(1.01, (most / least) ** 0.1), low = least / room, high = most * room;
  const y = (v) => bottom - (bottom - top) * (Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low));
  const time = timeAxis(track.time_ms, width, bottom);
  return frame(width, height, `Estimate of the factor over time with its 95% interval: last ${number(last)}${likely.map((u) => `; ${u.unit} is ${number(u.ratio)}`).join("")}.`, ...time.parts,
    ...levels(low, high, [...one, last, most, least], y).flatMap((v) => [rule(LEFT, y(v), width - RIGHT, y(v), v === 1 ? "one" : "grid"), text(LEFT - 6, y(v) + 4, `\u00d7${number(v)}`, "tick", "end")]),
    ...likely.flatMap((u) => [rule(LEFT, y(u.ratio), width - RIGHT, y(u.ratio), "unit"), text(LEFT + 6, y(u.ratio) + (y(u.ratio) < top + 16 ? 15 : -5), `\u00d7${number(u.ratio)} ${u.unit}`, "unit-word", "start")]),
    ...band(track, time.x, y), ...points(track, time.x, y), s("path", { d: path(track.time_ms, track.factor, time.x, y), class: "line" }));
}

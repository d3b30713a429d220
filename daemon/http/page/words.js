// Formatting of numbers, times and segments.

import { present } from "./api.js";
import { h } from "./dom.js";

const MINUS = "\u2212";

// Three significant digits: 0.0123, 1.23, 12.3, 123, 12,300, 1.2e9.
export function number(x, digits = 3) {
  if (x === null || x === undefined || Number.isNaN(x)) return "\u2013";
  if (!Number.isFinite(x)) return x > 0 ? "infinite" : MINUS + "infinite";
  const size = Math.abs(x);
  let text;
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) text = x.toExponential(1).replace("e+", "e");
  else text = new Intl.NumberFormat("en", { maximumSignificantDigits: size >= 1000 ? 6 : digits, maximumFractionDigits: size >= 1000 ? 0 : undefined }).format(size >= 1000 ? Math.round(x) : x);
  return text.replace("-", MINUS);
}

export const whole = (x) => (x === null || x === undefined ? "\u2013" : new Intl.NumberFormat("en").format(x));

// A fraction as a percentage; only zero is shown as 0%.
export function percent(x) {
  if (x === null || x === undefined) return "\u2013";
  const p = 100 * x;
  if (p > 0 && p < 0.1) return "<0.1%";
  if (p < 100 && p > 99.9) return ">99.9%";
  return (p < 10 && p !== Math.round(p) ? p.toFixed(1) : Math.round(p)) + "%";
}

// A nonnegative distance; small values are shown as <0.001.
export const distance = (x) => (x !== null && x !== undefined && x < 0.001 ? "<0.001" : number(x, 2));

export const times = (factor) => (factor === null || factor === undefined ? "\u2013" : "\u00d7" + number(factor));

export function interval(of) {
  if (of.factor_low === null || of.factor_low === undefined) return "";
  return `${number(of.factor_low)}\u2013${number(of.factor_high)}`;
}

// " (98.9–102)" in one line; empty without an interval.
export const bracket = (of) => (interval(of) ? [" ", h("span", { class: "interval" }, `(${interval(of)})`)] : []);

// "arm=B", or "all traffic".
export function place(segment) {
  if (!segment) return "all traffic";
  return Object.entries(segment).map(([k, v]) => `${k}=${v}`).join(", ");
}

export const inPlace = (segment) => (segment ? `in ${place(segment)}` : "in all traffic");
export const samePlace = (a, b) => place(a) === place(b);

export function items(list) {
  if (list.length < 2) return list.join("");
  return `${list.slice(0, -1).join(", ")} and ${list[list.length - 1]}`;
}

const DAY = { day: "numeric", month: "short" };
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false };

const utc = (date) => date.toISOString().replace("T", " ").slice(0, 19) + " UTC";

export function clock(ms) {
  const date = new Date(ms), today = new Date();
  const sameYear = date.getFullYear() === today.getFullYear();
  const day = date.toDateString() === today.toDateString() ? "" :
    new Intl.DateTimeFormat("en-GB", sameYear ? DAY : { ...DAY, year: "numeric" }).format(date) + ", ";
  return day + new Intl.DateTimeFormat("en-GB", CLOCK).format(date);
}

export function ago(ms, now = present()) {
  const seconds = Math.round((now - ms) / 1000);
  if (seconds < 0) return "";
  if (seconds < 90) return `${seconds} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86400)} days ago`;
}

// Age with tenths of a second while it is short.
export function age(ms) {
  const seconds = Math.max(0, (Date.now() - ms) / 1000);
  return seconds < 10 ? `${seconds.toFixed(1)} s ago` : ago(ms, Date.now());
}

export function lasted(from, to = present()) {
  const minutes = Math.round((to - from) / 60000);
  if (minutes < 1) return "less than a minute";
  if (minutes < 90) return `${minutes} min`;
  return minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}

// Local time, with UTC in the title.
export function when(ms) {
  if (ms === null || ms === undefined || ms < 0) return h("span", null, "\u2013");
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return h("span", null, "\u2013");
  return h("time", { datetime: date.toISOString(), title: utc(date) }, clock(ms));
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// The sentence of a finding without segment, start, interval and action, which are shown separately:
// "Values are multiplied by 100.3; looks like amounts in cents".
export function whatHappened(p) {
  const text = p.text;
  if (p.state === "suspected" || !text) return "Values no longer look as in training; what changed is not known yet";
  const [first, ...rest] = text.slice(text.indexOf(": ") + 2).split("; ");
  const unit = rest.filter((part) => !part.startsWith("action:"));
  return capital([first.replace(/,? since list \d+.*$/, "").replace(/ \([\d.e+-]+ to [\d.e+-]+\)/, ""), ...unit].join("; "));
}

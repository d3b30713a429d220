// API client. Paths are relative, so a proxy may add a prefix.

// Responses in a report file (`evenkeel report`), as gzip in base64; null on the page of an instance.
const embedded = document.getElementById("report");
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const unpacked = (text) => new Response(new Blob([bytes(text)]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
export const report = embedded && await unpacked(embedded.textContent);

// Time of the data: in a report, its last list.
export const present = () => (report ? report.as_of_ms : Date.now());

const SECONDS = 8;
const TOKEN = "evenkeel-token";

// Error of a call; `status` 0: no response.
export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function request(path, options) {
  let answer, text;
  try {
    answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(1000 * SECONDS), ...options });
    text = await answer.text();
  } catch {
    throw new ApiError(0, "The instance does not respond.");
  }
  let body = null;
  try {
    body = JSON.parse(text);
  } catch { /* not JSON */ }
  return { status: answer.status, ok: answer.ok, body };
}

// Paths that this version of the instance does not have; they are not requested again.
const absent = new Set();

// A report has one response for all counts, and details of some features. Its paths are not encoded.
function recorded(path) {
  const { responses } = report, body = responses[decodeURIComponent(path)] ?? responses[path.replace(/[?&](n|after)=.*/, "")] ?? null;
  if (!body && path.startsWith("api/v1/features/")) throw new ApiError(404, "The report has no details of this feature.");
  return body;
}

// Return the JSON of a path, null if it has none. `also`: further statuses with JSON.
export async function get(path, { also = [] } = {}) {
  if (report) return recorded(path);
  if (absent.has(path)) return null;
  const { status, ok, body } = await request(path);
  if (status === 404 && !body) absent.add(path);
  if (ok || also.includes(status)) return body;
  if (status === 404) return body;
  throw new ApiError(status, (body && body.error) || `${path}: status ${status}.`);
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (text) => sessionStorage.setItem(TOKEN, text),
  forget: () => sessionStorage.removeItem(TOKEN),
};

// Send a command; return its response.
export async function post(call, keys) {
  const { status, ok, body } = await request(`api/v1/${call}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token.get() || ""}` },
    body: JSON.stringify(keys),
  });
  if (ok) return body;
  if (status === 401) token.forget();
  throw new ApiError(status, (body && body.error) || `The instance responds with status ${status}.`);
}

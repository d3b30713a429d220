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

// Return the JSON of a response that is ok or has one of the further statuses. Other responses are not those of the
// instance, such as the login page of a proxy.
async function request(path, options, also = []) {
  let answer, text, body;
  try {
    answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(1000 * SECONDS), ...options });
    text = await answer.text();
  } catch {
    throw new ApiError(0, "The instance does not respond.");
  }
  try {
    body = JSON.parse(text);
    if (answer.ok || also.includes(answer.status)) return body;
  } catch { /* not JSON */ }
  throw new ApiError(answer.status, body?.error || `${path}: ${answer.ok ? "the response is not JSON" : `status ${answer.status}`}.`);
}

// A report has one response for all counts, and details of some features. Its paths are not encoded.
function recorded(path) {
  const { responses } = report, body = responses[decodeURIComponent(path)] ?? responses[path.replace(/[?&](n|after)=.*/, "")] ?? null;
  if (!body && path.startsWith("api/v1/features/")) throw new ApiError(404, "The report has no details of this feature.");
  return body;
}

// Return the JSON of a path, null where a report has none.
export const get = async (path, { also } = {}) => (report ? recorded(path) : request(path, {}, also));

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (text) => sessionStorage.setItem(TOKEN, text),
  forget: () => sessionStorage.removeItem(TOKEN),
};

// Send a command; return its response.
export async function post(call, keys) {
  try {
    return await request(`api/v1/${call}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token.get() || ""}` },
      body: JSON.stringify(keys),
    });
  } catch (error) {
    if (error.status === 401) token.forget();
    throw error;
  }
}

// What the instance is asked, and told. Paths are relative, so a proxy may give it a prefix.

const SECONDS = 8;
const TOKEN = "evenkeel-token";

// Why a call came to nothing: `status` 0 is no answer at all, `words` those of the instance.
export class Refused extends Error {
  constructor(status, words) {
    super(words);
    this.status = status;
  }
}

async function ask(path, options) {
  let answer, text;
  try {
    answer = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(1000 * SECONDS), ...options });
    text = await answer.text();
  } catch {
    throw new Refused(0, "The instance does not answer.");
  }
  let body = null;
  try {
    body = JSON.parse(text);
  } catch { /* a text, or nothing */ }
  return { status: answer.status, ok: answer.ok, body };
}

// Paths that this version of the instance does not have; the page comes from it, so they do not come.
const absent = new Set();

// The JSON of a path; null where there is none. `also`: statuses that have one, too.
export async function get(path, { also = [] } = {}) {
  if (absent.has(path)) return null;
  const { status, ok, body } = await ask(path);
  if (status === 404 && !body) absent.add(path);
  if (ok || also.includes(status)) return body;
  if (status === 404) return body;
  throw new Refused(status, (body && body.error) || `${path} answers ${status}.`);
}

export const token = {
  get: () => sessionStorage.getItem(TOKEN),
  set: (text) => sessionStorage.setItem(TOKEN, text),
  forget: () => sessionStorage.removeItem(TOKEN),
};

// Has the instance do something; what it answers.
export async function tell(what, words) {
  const { status, ok, body } = await ask(`api/v1/${what}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token.get() || ""}` },
    body: JSON.stringify(words),
  });
  if (ok) return body;
  if (status === 401) token.forget();
  throw new Refused(status, (body && body.error) || `The instance answers ${status}.`);
}

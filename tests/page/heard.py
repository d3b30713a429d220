"""Recorded responses of the instance to the page, and overrides of them."""
# A part in `said` replaces the same part of the response: {"api/v1/status": {"paused": {...}}}.
SCRIPT = """window.heard = {}; window.said = {};
const ask = window.fetch;
window.fetch = async (path, options) => {
  const answer = await ask(path, options);
  if (options?.method) return answer;
  const body = await answer.clone().json().catch(() => null);
  heard[path] = said[path] && !Array.isArray(said[path]) ? {...body, ...said[path]} : said[path] || body;
  return said[path] ? new Response(JSON.stringify(heard[path]), {status: 200}) : answer;
};"""


def say(browser, **paths):
    """Override the following responses, which are requested at once: ready={...}, status={...}."""
    named = {path if path == "ready" else "api/v1/" + path: body for path, body in paths.items()}
    browser.run("window.said = arguments[0]; dispatchEvent(new Event('online'))", named)


def answer(browser, path):
    return browser.run("return heard[arguments[0]]", path)

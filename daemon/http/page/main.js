// Page selection and redrawing.

import { byId } from "./dom.js";
import { known, start, featuresNow } from "./live.js";
import { showVerdict, showLink } from "./verdict.js";
import { showTable, tableKeys } from "./table.js";
import { showFeature, leaveFeature } from "./feature.js";
import { showPlan } from "./plan.js";
import { showIncidents } from "./incidents.js";
import { showHistory } from "./history.js";

const PAGES = { features: showTable, feature: showFeature, plan: showPlan, incidents: showIncidents, history: showHistory };

// "#feature/price" -> ["feature", "price"]; an unknown page shows the table.
function place() {
  const [page, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const name = rest.join("/");
  try {
    return Object.hasOwn(PAGES, page) ? [page, decodeURIComponent(name)] : ["features", ""];
  } catch {
    return ["features", ""];
  }
}

function draw() {
  const [page, name] = place();
  showLink(known);
  if (!known.received_ms && !known.lost) return;
  if (known.received_ms) showVerdict(known, page === "features");
  else byId("headline").firstElementChild.textContent = "The instance does not respond";
  PAGES[page](byId("view"), known, name);
}

function turn() {
  const [page, name] = place(), view = byId("view");
  leaveFeature();
  view.replaceChildren();
  delete view.dataset.shown;
  view.className = page;
  for (const link of document.querySelectorAll("nav a"))
    link.toggleAttribute("aria-current", link.dataset.page === page);
  for (const link of document.querySelectorAll("nav a[aria-current]")) link.setAttribute("aria-current", "page");
  draw();
  if (page === "features") featuresNow();
  return name;
}

// Focus moves to the heading of a page opened by a link, and to the state on the first page.
function turned() {
  turn();
  const heading = byId("view").querySelector("h2, h1");
  if (place()[0] === "features" || !heading) return byId("content").focus();
  heading.tabIndex = -1;
  heading.focus();
}

addEventListener("hashchange", turned);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the URL selects the page
  byId("content").focus();
});
addEventListener("keydown", tableKeys);
let width = innerWidth;
addEventListener("resize", () => {
  if (width === innerWidth) return;
  width = innerWidth;
  draw();
});
setInterval(() => showLink(known), 1000);
turn();
start(draw, () => place()[0] === "features");

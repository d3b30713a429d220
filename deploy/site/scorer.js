/* Order of search results: guides, then generated references, then pages for developers. By default pages that contain
 * a word are all equal. */
"use strict";

var GENERATED = ["alert-rules", "c-api", "cli", "config", "http", "log-events", "metrics", "rules", "text-features", "units"];

var Scorer = {
  score: ([page, , , , score]) => page.startsWith("dev/") ? score / 4 : GENERATED.includes(page) ? score - 1 : score,
  // The defaults of Sphinx.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: {0: 15, 1: 5, 2: -5},
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

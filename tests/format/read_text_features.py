"""Independent computation of text features from the formulas of docs/text-features.md, without optimization.

Texts are ASCII, a term is a run of letters and digits, without stemming. Uses only the standard library.

  python3 read_text_features.py COLLECTION.jsonl QUERIES.tsv FEATURES.csv [SCALE]

compares every value of FEATURES.csv and prints their number. SCALE: largest relative difference (1e-5: CSV has
float32).
"""
import csv
import itertools
import json
import math
import re
import statistics
import sys

FIELDS = ["title", "body", "heading", "inlink", "anchor"]
STOP = """a about after all also an and any are as at be been but by can could do does for from had has have he her his how i if
in into is it its may me more most my no not of on one only or other our out over she should so some such than that the their
them then there these they this those to under up us was we were what when where which who will with would you your""".split()
NAN = float("nan")


def terms_of(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def as_text(value):
    return " ".join(value) if isinstance(value, list) else value or ""


class Document:
    def __init__(self, record):
        self.id, self.url = str(record["id"]), record.get("url") or ""
        self.field = {f: terms_of(as_text(record.get(f))) for f in FIELDS}
        self.field["document"] = [t for f in FIELDS for t in self.field[f]]


class Collection:
    def __init__(self, path):
        with open(path, encoding="utf-8") as lines:
            self.documents = [Document(json.loads(line)) for line in lines if line.strip()]
        self.by_id = {d.id: d for d in self.documents}

    def texts(self, field):
        return [d.field[field] for d in self.documents if d.field[field]]

    def count(self, field):  # N, C
        texts = self.texts(field)
        return len(texts), sum(map(len, texts))

    def df(self, term, field):
        return sum(term in t for t in self.texts(field))

    def cf(self, term, field):
        return sum(t.count(term) for t in self.texts(field))


# One term in one text. n, c: of the field; tf, length: of the text; df, cf: of the term.
def bm25(weight, k1, b):
    return lambda n, c, tf, length, df, cf: weight(n, df) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / (c / n)))


def plain_idf(n, df):
    return math.log(n / df)


def rsj(n, df):
    return max(0, math.log((n - df + 0.5) / (df + 0.5)))


def dirichlet(mu):
    return lambda n, c, tf, length, df, cf: math.log((tf + mu * cf / c) / (length + mu))


def jelinek(w):
    return lambda n, c, tf, length, df, cf: math.log((1 - w) * tf / length + w * cf / c)


def tfn(n, c, tf, length):
    return tf * math.log2(1 + (c / n) / length)


def be(n, c, tf, length, df, cf):
    x, l = tfn(n, c, tf, length), cf / n
    return (math.log2(1 + l) + x * math.log2(1 + 1 / l)) / (x + 1)


def dph(n, c, tf, length, df, cf):
    f = tf / length
    if f == 1:
        return 0
    return (1 - f) ** 2 / (tf + 1) * (tf * math.log2(tf * (c / n) / length * n / cf) + 0.5 * math.log2(2 * math.pi * tf * (1 - f)))


def dfr(n, c, tf, length, df, cf):
    x = tfn(n, c, tf, length)
    return (cf + 1) / (df * (x + 1)) * x * math.log2((n + 1) / (n * (1 - (1 - 1 / n) ** cf) + 0.5))


def pl2(n, c, tf, length, df, cf):
    x, l = tfn(n, c, tf, length), cf / n
    return (x * math.log2(x / l) + (l - x) * math.log2(math.e) + 0.5 * math.log2(2 * math.pi * x)) / (x + 1)


LANGUAGE = {"lmds_1000": dirichlet(1000), "lmds_1500": dirichlet(1500), "lmds_2500": dirichlet(2500),
            "lmjm_10": jelinek(0.1), "lmjm_70": jelinek(0.7)}
OTHERS = {"bm25_atire": bm25(plain_idf, 0.9, 0.4), "bm25_trec3": bm25(rsj, 1.2, 0.75), "bm25_trec3_kmax": bm25(rsj, 2, 0.75),
          "tfidf": lambda n, c, tf, length, df, cf: (1 + math.log(tf)) * math.log(1 + n / df) / length,
          "prob": lambda n, c, tf, length, df, cf: tf / length, "be": be, "dph": dph, "dfr": dfr, "pl2": pl2}
MODELS = {**LANGUAGE, **OTHERS}


def five(x):
    if not x:
        return dict.fromkeys(["sum", "min", "max", "mean", "variance"], NAN)
    return {"sum": sum(x), "min": min(x), "max": max(x), "mean": statistics.fmean(x), "variance": statistics.pvariance(x)}


def harmonic(x):
    same = x and (all(v > 0 for v in x) or all(v < 0 for v in x))
    return len(x) / sum(1 / v for v in x) if same else NAN


def quartiles(x):
    return statistics.quantiles(x, n=4, method="inclusive") if len(x) > 1 else [x[0]] * 3


def ordered(text, a, b):
    return sum(x == a and y == b for x, y in zip(text, text[1:]))


def unordered(text, a, b, window=8):
    """Return the maximum number of non-overlapping windows, by exhaustive search."""
    best = [0] * (len(text) + 1)
    for end in range(1, len(text) + 1):
        best[end] = best[end - 1]
        for begin in range(max(0, end - window), end):
            if a in text[begin:end] and b in text[begin:end]:
                best[end] = max(best[end], best[begin] + 1)
    return best[-1]


class Features:
    def __init__(self, collection, query, document, score):
        self.c, self.d, self.stage0 = collection, document, score
        self.tokens = terms_of(query)
        self.terms = list(dict.fromkeys(self.tokens))
        self.pairs = list(dict.fromkeys((a, b) for a, b in zip(self.tokens, self.tokens[1:]) if a != b))
        self.known = [t for t in self.terms if collection.df(t, "document")]

    def all(self):
        out = {}
        for part in (self.unigram, self.stream, self.proximity, self.static, self.query, self.idf):
            out.update(part())
        out.update(self.spread("terms", [self.of_term(t) for t in self.known]))
        pairs = [self.of_pair(a, b) for a, b in self.pairs]
        out.update(self.spread("pairs", [p for p in pairs if p[0]]))
        out["stage0"] = self.stage0
        return out

    def unigram(self):
        out = {}
        for field in FIELDS + ["document"]:
            text = self.d.field[field]
            n, c = self.c.count(field)
            for name, model in MODELS.items():
                got = []
                for t in self.tokens if text else []:
                    df, cf, tf = self.c.df(t, field), self.c.cf(t, field), text.count(t)
                    if df and (tf or name in LANGUAGE):
                        got.append(model(n, c, tf, len(text), df, cf))
                nothing = not text or not self.tokens or (name in LANGUAGE and not got)
                out[f"{name}.{field}"] = NAN if nothing else sum(got)
        return out

    def stream(self):
        out = {}
        for field in FIELDS + ["document"]:
            text = self.d.field[field]
            n, _ = self.c.count(field)
            tf = [text.count(t) for t in self.terms] if text else []
            idf = [math.log((n + 1) / (self.c.df(t, field) + 0.5)) for t in self.terms]
            kinds = {"tf": tf, "tfn": [x / len(text) for x in tf], "tfidf": [x * w if x else 0 for x, w in zip(tf, idf)]}
            for kind, values in kinds.items():
                out.update({f"stream_{kind}_{k}.{field}": v for k, v in five(values).items()})
            out[f"stream_length.{field}"] = len(text)
            out[f"matched.{field}"] = sum(x > 0 for x in tf) if tf else NAN
            out[f"matched_share.{field}"] = sum(x > 0 for x in tf) / len(self.terms) if tf else NAN
        return out

    def idf(self):
        out = {}
        for field in FIELDS + ["document"]:
            n, _ = self.c.count(field)
            x = [math.log((n + 1) / (self.c.df(t, field) + 0.5)) for t in self.terms if self.c.df(t, field)]
            out.update({f"stream_idf_{k}.{field}": v for k, v in five(x).items()})
        return out

    def proximity(self):
        out = {}
        for field in ("document", "title", "body"):
            text = self.d.field[field]
            some = text and self.pairs
            out[f"od1.{field}"] = sum(ordered(text, a, b) for a, b in self.pairs) if some else NAN
            out[f"uw8.{field}"] = sum(unordered(text, a, b) for a, b in self.pairs) if some else NAN
            here = [t for t in self.terms if t in text]
            cover = self.cover(text, here)
            out[f"tp_cover.{field}"] = cover
            out[f"tp_cover_share.{field}"] = len(here) / cover
            d = [min(abs(i - j) for i, x in enumerate(text) for j, y in enumerate(text) if x == a and y == b)
                 for a, b in itertools.combinations(here, 2)]
            out.update({f"tp_distance_{k}.{field}": v for k, v in five(d).items() if k in ("min", "mean", "max")})
            out[f"tp_decay.{field}"] = math.log(0.3 + math.exp(-min(d))) if d else NAN
        text = self.d.field["document"]
        whole = self.whole(text) if text and self.terms else [NAN] * 4
        out.update(zip(["tp_score.document", "bm25_pairs_w100.document", "bm25_uw8.document", "sdm.document"], whole))
        return out

    @staticmethod
    def cover(text, here):
        if len(here) < 2:
            return NAN
        return min(j - i for i in range(len(text)) for j in range(i + 1, len(text) + 1) if set(here) <= set(text[i:j]))

    def whole(self, text):
        n, c = self.c.count("document")
        k1, b = 0.9, 0.4
        k = k1 * (1 - b + b * len(text) / (c / n))
        weight = {t: math.log(n / self.c.df(t, "document")) if t in self.known else 0 for t in self.terms}
        places = [(i, t) for i, t in enumerate(text) if t in self.terms]
        near, pairs = dict.fromkeys(self.terms, 0.0), {}
        for (i, x), (j, y) in zip(places, places[1:]):
            if x != y:
                near[x] += weight[y] / (j - i) ** 2
                near[y] += weight[x] / (j - i) ** 2
        for (i, x), (j, y) in itertools.combinations(places, 2):
            if x != y and j - i <= 100:
                pairs[frozenset((x, y))] = pairs.get(frozenset((x, y)), 0) + 1 / (j - i) ** 2
        tp = self.unigram()["bm25_atire.document"]
        tp += sum(min(1, weight[t]) * a * (k1 + 1) / (a + k) for t, a in near.items())
        savoy = sum(min(weight[t] for t in p) * a * (k1 + 1) / (a + k) for p, a in pairs.items())
        return [tp, savoy, self.pairs_bm25(text, k, k1), self.sdm(text)]

    def pairs_bm25(self, text, k, k1):
        if not self.pairs:
            return NAN
        total, (n, _) = 0.0, self.c.count("document")
        for a, b in self.pairs:
            df, tf = sum(unordered(t, a, b) > 0 for t in self.c.texts("document")), unordered(text, a, b)
            total += math.log(n / df) * tf * (k1 + 1) / (tf + k) if tf else 0
        return total

    def sdm(self, text):
        _, c = self.c.count("document")
        texts = self.c.texts("document")

        def mean(counts):
            got = [math.log((tf + 2500 * cf / c) / (len(text) + 2500)) for tf, cf in counts if cf]
            return statistics.fmean(got) if got else 0

        t = mean([(text.count(x), self.c.cf(x, "document")) for x in self.terms])
        o = mean([(ordered(text, a, b), sum(ordered(x, a, b) for x in texts)) for a, b in self.pairs])
        u = mean([(unordered(text, a, b), sum(unordered(x, a, b) for x in texts)) for a, b in self.pairs])
        return 0.85 * t + 0.1 * o + 0.05 * u if self.known else NAN

    def static(self):
        text, url = self.d.field["document"], self.d.url
        rest = url.split("://", 1)[-1]
        path = re.split(r"[?#]", rest, maxsplit=1)[0]
        question = rest.split("?", 1)[1].split("#")[0] if "?" in rest else ""
        out = {"url_length": len(rest), "url_slashes": url.count("/"), "url_depth": sum(bool(p) for p in path.split("/")[1:]),
               "url_digits": sum(x.isdigit() for x in url), "url_parameters": question.count("&") + 1 if question else 0}
        out = out if url else dict.fromkeys(out, NAN)
        stops = sum(t in STOP for t in text)
        p = [text.count(t) / len(text) for t in set(text)]
        words = {"unique_terms": len(set(text)), "unique_share": len(set(text)) / max(1, len(text)),
                 "term_letters": statistics.fmean(map(len, text)) if text else NAN, "entropy": -sum(x * math.log(x) for x in p),
                 "stop_cover": len(set(text) & set(STOP)) / len(STOP),
                 "stop_ratio": stops / (len(text) - stops) if stops < len(text) else NAN}
        words.update({f"share_{f}": len(self.d.field[f]) / max(1, len(text)) for f in FIELDS})
        return {**out, **(words if text else dict.fromkeys(words, NAN))}

    def query(self):
        n, c = self.c.count("document")
        content = [t for t in self.known if t not in STOP]
        idf = {t: math.log2((n + 0.5) / self.c.df(t, "document")) / math.log2(n + 1) for t in self.known}
        cf = {t: self.c.cf(t, "document") for t in self.known}
        ictf = {t: math.log2(c / cf[t]) for t in self.known}
        scq = [(1 + math.log(cf[t])) * math.log(1 + n / self.c.df(t, "document")) for t in self.known]
        reached = sum(any(t in d for t in self.terms) for d in self.c.texts("document"))
        p = {t: self.tokens.count(t) / len(self.tokens) for t in self.known}
        spread = five(list(idf.values()))
        out = {"query_length": len(self.tokens), "query_length_content": sum(t not in STOP for t in self.tokens),
               "query_unknown": len(self.terms) - len(self.known),
               "query_scs": sum(p[t] * math.log2(p[t] / (cf[t] / c)) for t in self.known) if self.known else NAN,
               "query_scope": -math.log(reached / n) if reached else NAN, "query_idf_variance": spread["variance"],
               "query_idf_deviation": math.sqrt(spread["variance"]),
               "query_idf_confidence": 1.96 * math.sqrt(spread["variance"]) / math.sqrt(len(idf)) if idf else NAN,
               "query_gamma2": spread["max"] / spread["min"], "query_idf_mean_content": five([idf[t] for t in content])["mean"],
               "query_ictf_mean_content": five([ictf[t] for t in content])["mean"]}
        for name, x in (("idf", idf), ("ictf", ictf), ("cf", cf)):
            v = list(x.values())
            kinds = {**five(v), "harmonic": harmonic(v),
                     "geometric": math.prod(v) ** (1 / len(v)) if v and min(v) > 0 else NAN}
            skip = ("variance", "min") if name == "cf" else ("variance",)
            out.update({f"query_{name}_{k}": w for k, w in kinds.items() if k not in skip})
        out.update({f"query_scq_{k}": five(scq)[k] for k in ("sum", "mean", "max")})
        return out

    def of_term(self, t):
        return [(x.count(t), len(x)) for x in self.c.texts("document") if t in x]

    def of_pair(self, a, b):
        got = [(unordered(x, a, b), len(x)) for x in self.c.texts("document")]
        return [g for g in got if g[0]] or [()]

    def spread(self, what, postings):
        n, c = self.c.count("document")
        rows = []
        for docs in postings:
            row = {"df": len(docs), "tf_gmean": math.exp(statistics.fmean(math.log(tf) for tf, _ in docs))}
            cf = sum(tf for tf, _ in docs)
            for m in ("bm25_atire", "tfidf", "lmds_2500", "prob", "be", "dph", "dfr"):
                x = [MODELS[m](n, c, tf, length, len(docs), cf) for tf, length in docs]
                q1, median, q3 = quartiles(x)
                row.update({f"{m}_max": max(x), f"{m}_mean": statistics.fmean(x), f"{m}_hmean": harmonic(x),
                            f"{m}_median": median, f"{m}_q1": q1, f"{m}_q3": q3, f"{m}_iqr": q3 - q1,
                            f"{m}_variance": statistics.pvariance(x)})
            rows.append(row)
        out = {f"{what}_known": len(rows)}
        names = rows[0] if rows else Features.spread_names(self)
        for name in names:
            v = five([r[name] for r in rows if not math.isnan(r[name])])
            out.update({f"{what}_{name}_{k}": v[k] for k in ("mean", "min", "max")})
        return out

    def spread_names(self):
        stats = ("max", "mean", "hmean", "median", "q1", "q3", "iqr", "variance")
        models = ("bm25_atire", "tfidf", "lmds_2500", "prob", "be", "dph", "dfr")
        return ["df", "tf_gmean"] + [f"{m}_{s}" for m in models for s in stats]


def differs(got, want, scale):
    if got == "" or math.isnan(want):
        return (got == "") != math.isnan(want)
    return abs(float(got) - want) > scale * max(1e-3, abs(want))


def main(collection, queries, features, scale="1e-5"):
    c, scale, bad, count = Collection(collection), float(scale), [], 0
    with open(queries, encoding="utf-8") as lines:
        texts = dict(line.rstrip("\n").split("\t", 1) for line in lines if line.strip())
    with open(features, encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            stage0 = float(row["stage0"]) if row.get("stage0") else NAN
            want = Features(c, texts[row["query"]], c.by_id[row["document"]], stage0).all()
            for name in list(row)[3:]:
                count += 1
                if differs(row[name], want[name], scale):
                    bad.append(f"{row['query']} {row['document']} {name}: {row[name] or 'missing'}, not {want[name]!r}")
    print("\n".join(bad[:20] + [f"{count} values, {len(bad)} differ"]))
    return 1 if bad or not count else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

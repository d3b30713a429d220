"""Published sets: their manifests, models trained on them, and results of `evenkeel eval`.

EK_DATA names the folder of the sets. Seeds are 0, 1, ...; on a set with folds seed s is trained and tested on fold s +
1.
"""
import json
import os
import re
import subprocess

# Variant -> words of `evenkeel train`. MAIN: the set's main feature; ALL: all routable ones.
VARIANTS = {
    "plain": ["--routing", "none", "--log-input", "none"],
    "plain_log": ["--routing", "none"],
    "static": ["--routing", "static:MAIN", "--log-input", "none"],
    "static_all": ["--routing", "static:ALL", "--log-input", "none"],
    "routable": [],
    "list_free": ["--list-free"],
}

# The default with other inputs and layers.
INPUTS = {
    "zscore": ["--transform", "zscore"],
    "cdf": ["--transform", "cdf"],
    "raw": ["--transform", "raw"],
    "raw, batch norm": ["--transform", "raw", "--batch-norm"],
    "mixture": ["--transform", "mixture"],
    "mixture, batch norm, dropout .1": ["--transform", "mixture", "--batch-norm", "--dropout", "0.1"],
    "batch norm": ["--batch-norm"],
    "dropout .1": ["--dropout", "0.1"],
    "dropout .2": ["--dropout", "0.2"],
    "batch norm, dropout .1": ["--batch-norm", "--dropout", "0.1"],
    "batch norm, dropout .2": ["--batch-norm", "--dropout", "0.2"],
}
VARIANTS.update(INPUTS)

# The network of the publication on learned mixtures, a quarter as wide, and its inputs.
PUBLISHED = ["--routing", "none", "--log-input", "none", "--hidden", "256,128,64", "--batch-norm", "--dropout", "0.1",
             "--loss", "approxndcg", "--samples", "8", "--cutoff", "5", "--optimizer", "adagrad", "--lr", "0.1"]
TRANSFORMS = {"raw": "raw", "Gauss": "zscore", "CDF": "cdf", "Log1p": "log1p", "mixture": "mixture"}
VARIANTS.update({f"published {name}": [*PUBLISHED, "--transform", word] for name, word in TRANSFORMS.items()})


def run(program, *words):
    """Return the JSON output of the program."""
    result = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"{' '.join(words)}\n{result.stderr}")
    return json.loads(result.stdout)


class Set:
    """One set. Models are trained on first use and kept in `scratch`."""

    def __init__(self, program, folder, name, scratch):
        self.program, self.name, self.scratch = program, name, os.path.join(scratch, name)
        self.folder = os.path.join(folder, name)
        self.manifest = os.path.join(self.folder, "features.yaml")
        os.makedirs(self.scratch, exist_ok=True)
        with open(self.manifest, encoding="utf-8") as stream:
            text = stream.read()
        self.main = re.search(r"^main_feature: *(\S+)", text, re.M).group(1)
        self.nights = self._one(r"^nights_feature: *(\S+)", text)
        self.priced = re.findall(r"\w+", self._one(r"^currency_features: *\[(.*?)\]", text) or "")
        self.routable = re.findall(r"name: *(\w+),[^}]*role: *item, *routable: *true", text)
        self.items = re.findall(r"name: *(\w+),[^}]*role: *item", text)
        self.query = re.findall(r"name: *(\w+),[^}]*role: *query", text)
        self.lightgbm = {"leaves": int(self._one(r"^lightgbm:.*leaves: *(\d+)", text) or 31),
                         "min_leaf": int(self._one(r"^lightgbm:.*min_leaf: *(\d+)", text) or 50)}
        split = re.compile(r"(train|vali|test): *\[(.*?)\]")
        self.splits = [{key: [os.path.join(self.folder, f.strip()) for f in files.split(",")]
                        for key, files in split.findall(part)}
                       for part in self._parts(text)]

    @staticmethod
    def _one(pattern, text):
        found = re.search(pattern, text, re.M)
        return found and found.group(1)

    @staticmethod
    def _parts(text):
        """Return the text of each fold, or of the only split."""
        folds = re.search(r"^folds: *\{(.*)\}", text, re.M)
        if folds:
            return re.findall(r"\d+: *\{(.*?)\}", folds.group(1))
        return [re.search(r"^splits: *\{(.*)\}", text, re.M).group(1)]

    @property
    def folded(self):
        return len(self.splits) > 1

    def files(self, split, seed):
        return self.splits[seed if self.folded else 0][split]

    def words(self, texts):
        return [t.replace("MAIN", self.main).replace("ALL", ",".join(self.routable)) for t in texts]

    def model(self, variant, loss, seed):
        """Return the path of a model, trained on first use."""
        path = os.path.join(self.scratch, f"{variant}-{loss}-{seed}.safetensors")
        if not os.path.exists(path):
            run(self.program, "train", "--manifest", self.manifest, "--train", *self.files("train", seed), "--vali",
                *self.files("vali", seed), "-o", path, "--seed", str(seed), "--json",
                *([] if "--loss" in VARIANTS[variant] else ["--loss", loss]), *self.words(VARIANTS[variant]))
        return path

    def measure(self, variant, loss, seeds, words=(), metrics=("ndcg@5", "ndcg@10")):
        """Return the value of a metric per seed. `words`: more arguments of `evenkeel eval`."""
        groups = [[s] for s in seeds] if self.folded else [seeds]
        found = {metric: [] for metric in metrics}
        for group in groups:
            words_of_data = []
            if "--repair" in words:
                words_of_data = ["--reference", *self.files("train", group[0])]
            result = run(self.program, "eval", "--manifest", self.manifest, "--model",
                         *(self.model(variant, loss, s) for s in group), "--data", *self.files("test", group[0]),
                         *words_of_data, "--metric", ",".join(metrics), "--json", *self.words(words))
            for model in result["models"]:
                for metric in metrics:
                    found[metric].append(model["metrics"][metric])
        return found

    def select(self, method, seed):
        """Return the feature sets of `evenkeel select`, evaluated on the test lists; fractions with equal feature
        counts are merged."""
        words = ["--model", self.model("routable", "listmle", seed)] if method == "importance" else []
        found = run(self.program, "select", "--manifest", self.manifest, "--train", *self.files("train", seed), "--vali",
                    *self.files("vali", seed), "--test", *self.files("test", seed), "--method", method, "--cross-validate",
                    "--cutoff", "3", "--seed", str(seed), "--json", *words)
        return list({s["count"]: s for s in found["sets"]}.values())

    def faults(self):
        """Return by name (affected features, arguments of `evenkeel eval`), as in targets.json."""
        main = [self.main]
        found = {
            "clean": (main, []),
            "x10": (main, ["--fault", "MAIN=x10"]),
            "x100": (main, ["--fault", "MAIN=x100"]),
            "half the queries x100": (main, ["--fault", "MAIN=x100@0.5"]),
        }
        if self.nights:
            found["nightly -> stay"] = (main, ["--fault", f"MAIN=*{self.nights}"])
        if self.priced:
            found["currency per query"] = (self.priced, ["--fault", f"{','.join(self.priced)}=currency"])
        found["offset + median"] = (main, ["--fault", "MAIN=+1median"])
        found["square"] = (main, ["--fault", "MAIN=^2"])
        return found


# Column of targets.json -> variant, arguments of `evenkeel eval`. FAULTY: the affected features.
COLUMNS = {
    "base": ("plain", []),
    "base_log": ("plain_log", []),
    "static": ("static", ["--route", "MAIN"]),
    "static_all": ("static_all", ["--route", "all"]),
    "unrouted": ("routable", []),
    "routed": ("routable", ["--route", "FAULTY"]),
    "routed_rho": ("routable", ["--route", "FAULTY", "--normalize-spread", "auto"]),
    "free": ("list_free", []),
    "free_routed": ("list_free", ["--route", "FAULTY"]),
    "repair": ("plain", ["--repair", "FAULTY"]),
    "repair_seg": ("plain", ["--repair", "FAULTY", "--repair-by", "arm"]),
    "drop": ("plain", ["--impute", "FAULTY"]),
}


def column_words(column, features):
    """Return variant and arguments of a column, for a fault on these features."""
    variant, words = COLUMNS[column]
    return variant, [w.replace("FAULTY", ",".join(features)) for w in words]

"""What all man pages share: text as roff takes it, how a page begins, how it is written."""
import email.utils
import os
import re

_CHANGELOG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "debian", "changelog")
_LONG = 40  # letters of a word in which a line may break between brackets


def roff(text, begins=True):
    """begins: the text begins a line, where a dot or quote would be a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("~", "\\(ti").replace("^", "\\(ha")
    text = re.sub(rf"\S{{{_LONG},}}", lambda word: word[0].replace("][", "]\\:["), text)
    return "\\&" + text if begins and text.startswith((".", "'")) else text


def _day():
    """Of the version, so that pages made at another time are the same."""
    with open(_CHANGELOG, encoding="utf-8") as f:
        newest = re.search(r"^ -- .*>  (.*)$", f.read(), re.M)
    return email.utils.parsedate_to_datetime(newest.group(1)).strftime("%Y-%m-%d")


def head(name, section, version, summary):
    return [f'.TH {name.upper().replace(" ", "-")} {section} "{_day()}" "evenkeel {version}" "evenkeel"', ".ad l",
            ".SH NAME", f"{roff(name.replace(' ', '-'))} \\- {roff(summary)}"]


def write(folder, name, lines):
    """A section begins a paragraph by itself."""
    kept = [line for i, line in enumerate(lines) if line != ".PP" or not lines[i - 1].startswith(".SH")]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.write("\n".join(kept) + "\n")

"""Generated tables between `<!-- table NAME -->` and `<!-- end -->` in a document."""
import re


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head),
                      *("| " + " | ".join(cells) + " |" for cells in rows)])


def names(path):
    """Return the names of the tables of a document."""
    with open(path, encoding="utf-8") as stream:
        return set(re.findall(r"<!-- table (\S+) -->", stream.read()))


def write(path, found):
    """Write found: {name: Markdown}. A name without its marker ends the program."""
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    for name, table in found.items():
        marks = re.compile(rf"(<!-- table {name} -->\n).*?(<!-- end -->)", re.S)
        if not marks.search(text):
            raise SystemExit(f"{path} has no place for table {name}")
        text = marks.sub(lambda m, t=table: m.group(1) + t + "\n" + m.group(2), text)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)

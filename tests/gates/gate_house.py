"""Folders include each other without a cycle, and their size is limited."""
import house


def faults(tree):
    cycle = house.cycle_of(house.folder_graph(tree))
    if cycle:
        yield f"folders include one another in a cycle: {' -> '.join(cycle)}"
    folders = house.modules(tree)
    for folder, names in sorted(folders.items()):
        if len(names) > house.MODULES_IN_FOLDER:
            yield f"{folder}: {len(names)} modules, at most {house.MODULES_IN_FOLDER}: merge some, or divide the folder"
    tree.note = f"{sum(map(len, folders.values()))} modules in {len(folders)} folders"


SEEDS = [
    ("a cycle of folders", "lib/base/hash.c", '#include "num/seeded.h"\n', "in a cycle: lib/base -> lib/num -> lib/base"),
]
ALSO = {"a cycle of folders": ("lib/num/seeded.h", "\n")}

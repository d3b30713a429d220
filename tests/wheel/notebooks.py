#!/usr/bin/env python3
"""Execute the notebooks of docs/notebooks, and write them with their outputs.

    BUILD=build notebooks.py [NAME...]
"""
import glob
import os
import re
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(HERE, "../../docs/notebooks")
SECONDS = 120  # of a cell


def names():
    return sorted(os.path.basename(path) for path in glob.glob(os.path.join(FOLDER, "*.ipynb")))


def read(name):
    import nbformat
    return nbformat.read(os.path.join(FOLDER, name), as_version=4)


def executed(name):
    """Return a notebook, executed in an empty folder with the program in the path."""
    from nbclient import NotebookClient
    notebook = read(name)
    with tempfile.TemporaryDirectory(prefix="evenkeel-notebook-") as folder:
        shutil.copy(os.path.join(FOLDER, "hotel.py"), folder)
        path = os.pathsep.join([os.path.abspath(os.environ.get("BUILD", "build")), os.environ["PATH"]])
        environment = {**os.environ, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1", "IPYTHONDIR": os.path.join(folder, "ipython")}
        client = NotebookClient(notebook, timeout=SECONDS, record_timing=False, resources={"metadata": {"path": folder}},
                                extra_arguments=["--IPKernelApp.log_level=40"])
        client.execute(env=environment)
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def texts(notebook):
    """Return the text output of each cell, without addresses of objects. How a cell's prints are cut into parts differs by run."""
    found = []
    for cell in notebook.cells:
        parts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", ())]
        found.append(re.sub(r" at 0x[0-9a-f]+", "", "".join(parts)))
    return found


if __name__ == "__main__":
    import nbformat
    for each in sys.argv[1:] or names():
        nbformat.write(executed(each), os.path.join(FOLDER, each))

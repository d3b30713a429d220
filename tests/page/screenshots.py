"""Screenshots of the four moments of a fault, and of a feature's page, into a folder: `screenshots.py docs`."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from browser import Browser
from scene import Assets, Scene

WIDTH, HEIGHT = 1000, 640


def take(browser, folder, name, css="#verdict"):
    browser.picture(os.path.join(folder, f"page-{name}.png"), css)
    print(f"{folder}/page-{name}.png")


def story(b, s, folder):
    b.look(WIDTH, HEIGHT)
    s.calm()
    b.open(s.url)
    b.until_text("OK", "#headline")
    b.until_text("1,000 lists seen")
    take(b, folder, "ok")
    s.suspected()
    b.until_text("Suspected: price", "h1")
    take(b, folder, "suspected")
    s.routed()
    s.deep_in()
    b.until_text("lists shadow scored", "#problems")
    b.until("price is first", "return document.querySelector('#features tbody .chip')?.innerText === 'confirmed'")
    b.until("its figures are of now", "return parseFloat(document.querySelector('#features tbody tr').cells[4].innerText) > 0.5")
    take(b, folder, "mitigated", "#features tbody tr:nth-child(5)")
    if any(cell.get("histogram") for cell in s.json("/api/v1/features/price")["segments"]):
        b.run("location.hash = '#feature/price'")
        b.until("a chart", "return document.querySelector('#feature-shape svg')")
        take(b, folder, "feature", "#feature-segments")
        b.run("location.hash = '#'")
    s.recovered()
    b.until_text("Nothing is wrong any more", "h1")
    take(b, folder, "recovered")


def main(folder):
    assets = Assets()
    try:
        with Scene(assets) as s, Browser() as b:
            story(b, s, folder)
    finally:
        assets.close()


if __name__ == "__main__":
    main(sys.argv[1])

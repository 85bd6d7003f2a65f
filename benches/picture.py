"""Draws zcodec compared with its peers from the result of `make bench`: one bar per kind of work, how many times as
fast zcodec is.

    python3 picture.py target/goals.json speed.svg      # needs matplotlib

The axis is logarithmic and crosses at 1, where both are as fast. A bar is the median over the cases of its kind; the
line through it goes from the slowest case to the fastest. Colours are readable on white and on black.
"""
import json
import pathlib
import statistics
import sys

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402  (the backend is chosen first)

GREY = "#808080"
COLOURS = {"copy": "#4c8eda", "zfp-rs": "#3aa655", "C library": "#3aa655", "c-blosc": "#d9822b"}


def rows(lines):
    """(label, yardstick, ratios), for each group and yardstick in the order of the file."""
    found = {}
    for line in lines:
        if line["size"] != "64MiB" and line["yardstick"] in COLOURS:
            found.setdefault((line["group"], line["yardstick"]), []).append(line["ratio"])
    return [("%s\nbeside %s" % (group, "a memory copy" if by == "copy" else by), by, ratios)
            for (group, by), ratios in found.items()]


def draw(lines, path):
    shown = rows(lines)[::-1]
    matplotlib.rcParams.update({"svg.fonttype": "none", "font.size": 8, "text.color": GREY, "axes.edgecolor": GREY,
                                "axes.labelcolor": GREY, "xtick.color": GREY, "ytick.color": GREY})
    figure, axes = pyplot.subplots(figsize=(7.5, 0.42 * len(shown) + 0.8))
    for place, (_, by, ratios) in enumerate(shown):
        middle = statistics.median(ratios)
        axes.barh(place, middle - 1, left=1, color=COLOURS[by], height=0.55)
        axes.plot([min(ratios), max(ratios)], [place, place], color=GREY, linewidth=1)
        axes.annotate("%.2g" % middle, (max(max(ratios), 1), place), xytext=(4, -3), textcoords="offset points")
    axes.set_xscale("log")
    axes.axvline(1, color=GREY, linewidth=1)
    axes.set_yticks(range(len(shown)), [label for label, _, _ in shown])
    axes.set_xlabel("times as fast as the yardstick, one thread, 64 KiB to 4 MiB (logarithmic)")
    for side in ["top", "right"]:
        axes.spines[side].set_visible(False)
    figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    draw(json.loads(pathlib.Path(sys.argv[1]).read_text()), sys.argv[2])

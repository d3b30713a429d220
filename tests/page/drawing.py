"""Conversion of a chart's pixels back to values."""
import math
import re


def steps(d):
    """Return the steps of a path's d: [('M', [46, 196]), ('V', [12]), ...]."""
    return [(letter, [float(x) for x in re.findall(r"-?[\d.]+", rest)]) for letter, rest in re.findall(r"([A-Za-z])([^A-Za-z]*)", d)]


def points(d):
    """Return runs of points; one per M."""
    runs = []
    for letter, numbers in steps(d):
        if letter == "M":
            runs.append([])
        if letter in "ML":
            runs[-1].append(tuple(numbers))
    return runs


def outline(d):
    """Return (left edges and the last right one, heights) of bars."""
    (_, (left, bottom)), *rest = steps(d)
    edges, heights = [left], []
    for letter, (number, *_) in rest:
        if letter == "H":
            edges.append(number)
        else:
            heights.append(bottom - number)
    return edges, heights[:-1]


class Scale:
    """Scale through two points: pixel and value."""

    def __init__(self, one, two, log=False):
        self.of, self.back = (math.log, math.exp) if log else (float, float)
        (self.pixel, value), (pixel, other) = one, two
        self.value, self.slope = self.of(value), (self.of(other) - self.of(value)) / (pixel - self.pixel)

    def at(self, pixel):
        return self.back(self.value + (pixel - self.pixel) * self.slope)

    def pixel_of(self, value):
        return self.pixel + (self.of(value) - self.value) / self.slope

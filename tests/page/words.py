"""Independent implementation of the page's number formats."""


def three(x):
    """Return three significant digits, up to a thousand."""
    return f"{float(f'{x:.3g}'):.10f}".rstrip("0").rstrip(".")


def written(x):
    """Return the number as the page shows it."""
    return float(x.replace(",", "").replace("\u2212", "-").lstrip("\u00d7"))


def percent(x):
    """Format a fraction of 1."""
    p = 100 * x
    if 0 < p < 0.1:
        return "<0.1%"
    if 99.9 < p < 100:
        return ">99.9%"
    return f"{p:.1f}%" if p < 10 and p != round(p) else f"{int(p + 0.5)}%"


def place(segment):
    return ", ".join(f"{name}={value}" for name, value in segment.items()) if segment else "all traffic"

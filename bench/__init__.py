"""Side-by-side measurements: ratios within one run, on one machine."""

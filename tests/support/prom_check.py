#!/usr/bin/env python3
"""A strict reader of Prometheus' text format 0.0.4, for pages of urlweir.

usage: prom_check.py page FILE      is it right, all of it?
       prom_check.py families FILE  NAME TYPE LABEL,LABEL of each
       prom_check.py sum FILE NAME [LABEL=VALUE ...]
                                    of the samples that have these labels
       prom_check.py sums FILE      the same for each line KEY NAME [LABEL=VALUE]
                                    of standard input: KEY and the sum
       prom_check.py rise BEFORE AFTER
                                    no series of a counter or histogram has
                                    gone, or fell

Stricter than the format: HELP and TYPE come before each family, names begin
with urlweir_ and end as type and unit demand, samples of a family have the same
labels, no time stamps, comments or empty lines. Status 1 and the line where
something is wrong; 2: cannot run.
"""
import math
import re
import sys

LABEL = r'([A-Za-z_]\w*)="((?:[^"\\\n]|\\[n"\\])*)"'
SAMPLE = re.compile(r'([A-Za-z_:][\w:]*)(?:\{(%s(?:,%s)*)\})? '
                    r'([+-]Inf|NaN|[-+]?[\d.]+(?:e[-+]?\d+)?)' % (LABEL, LABEL), re.A)
ENDS = {"counter": "_total", "histogram": ("_seconds", "_bytes"), "gauge": ""}


class Page:
    """families: {NAME: [TYPE, names of its labels]}, in their order; samples:
    {(NAME, labels, suffix, le): value}, in theirs."""

    def __init__(self, path):
        self.path, self.line, self.wants_type = path, 0, False
        self.families, self.samples, self.name = {}, {}, None
        with open(path, encoding="utf-8", newline="\n") as f:
            text = f.read()
        if not text.endswith("\n") or "\r" in text or "\0" in text:
            self.wrong("empty, cut short, or with odd octets")
        for line in text[:-1].split("\n"):
            self.line += 1
            if line.startswith("# HELP ") and not self.wants_type:
                self.add_family(line[7:])
            elif line.startswith("# TYPE ") and self.wants_type:
                self.add_type(line[7:])
            else:
                self.add_sample(line)
        if self.wants_type:
            self.wrong("HELP without TYPE")
        self.check_histograms()

    def wrong(self, *what):
        sys.exit("%s:%d: %s" % (self.path, self.line, " ".join(map(str, what))))

    def add_family(self, text):
        self.name, _, told = text.partition(" ")
        if len(told) < 6 or not told.endswith(".") or re.search(r"\\[^n\\]", told):
            self.wrong("no sentence:", told)
        if self.name in self.families:
            self.wrong(self.name, "was there before")
        self.families[self.name] = [None, None]
        self.wants_type = True

    def add_type(self, text):
        name, _, kind = text.partition(" ")
        if name != self.name or kind not in ENDS:
            self.wrong("no type of", self.name + ":", text)
        if not re.fullmatch(r"urlweir_[a-z0-9_]+", name) or not name.endswith(ENDS[kind]):
            self.wrong("no name of a", kind + ":", name)
        if name.endswith(("_bucket", "_sum", "_count")) or \
           kind != "counter" and name.endswith("_total"):
            self.wrong("a reserved end:", name)
        self.families[name][0] = kind
        self.wants_type = False

    def add_sample(self, line):
        m = SAMPLE.fullmatch(line)
        if m is None or self.name is None or self.wants_type:
            self.wrong("no sample of a family:", line)
        kind, others = self.families[self.name]
        suffix = m[1].removeprefix(self.name)
        if not m[1].startswith(self.name) or \
           suffix not in (("_bucket", "_sum", "_count") if kind == "histogram" else ("",)):
            self.wrong("a sample of another family than", self.name)
        pairs = re.findall(LABEL, m[2] or "", re.A)
        labels = tuple(sorted(p for p in pairs if p[0] != "le"))
        names = [p[0] for p in labels]
        le = [p[1] for p in pairs if p[0] == "le"]
        if len(set(names)) < len(names) or len(le) != (suffix == "_bucket"):
            self.wrong("a label twice, or an le too many or too few:", line)
        if others not in (None, names):
            self.wrong("labels", names, "others have", others)
        self.families[self.name][1] = names
        value = float(m[m.lastindex])
        if kind != "gauge" and not (value >= 0 and math.isfinite(value)):
            self.wrong("a count of", value)
        key = self.name, labels, suffix, le[0] if le else ""
        if key in self.samples:
            self.wrong("twice:", line)
        self.samples[key] = value

    def check_histograms(self):
        """Each is one run of samples: buckets that rise, _sum, _count."""
        runs = {}
        for (name, labels, suffix, le), value in self.samples.items():
            if self.families[name][0] == "histogram":
                runs.setdefault((name, labels), []).append((suffix, le, value))
        for of, run in runs.items():
            *buckets, total, count = run if len(run) > 2 else [("",) * 3] * 3
            bounds = [float(le or "nan") for _, le, _ in buckets]
            values = [v for _, _, v in buckets]
            if {s for s, _, _ in buckets} != {"_bucket"} or \
               (total[0], count[0]) != ("_sum", "_count"):
                self.wrong(of, "is not buckets, _sum, _count")
            if bounds != sorted(set(bounds)) or bounds[-1] != math.inf:
                self.wrong(of, "has the bounds", bounds)
            if values != sorted(values) or values[-1] != count[2]:
                self.wrong(of, "is not cumulative:", values, count[2])

    def sum(self, name, wanted):
        """Of a histogram, of its counts."""
        found = [v for (n, labels, suffix, _), v in self.samples.items()
                 if n == name and suffix in ("", "_count") and
                 {"%s=%s" % p for p in labels} >= set(wanted)]
        if not found:
            sys.exit("prom_check.py: no such sample of " + name)
        return "%.15g" % sum(found)


def check_rise(before, after):
    rose = 0
    for key, value in before.samples.items():
        if before.families[key[0]][0] == "gauge":
            continue
        now = after.samples.get(key, -1)
        if now < value:
            sys.exit("%s{%s}%s fell from %g to %g" % (
                key[0], ",".join("%s=%s" % p for p in key[1]), key[2], value, now))
        rose += now > value
    print(rose, "rose")


def main():
    what, path, *more = sys.argv[1:] if len(sys.argv) > 2 else ("", "")
    page = Page(path) if what in ("page", "families", "sum", "sums", "rise") else None
    if what == "page":
        print(len(page.families), "families,", len(page.samples), "samples")
    elif what == "families":
        for name, (kind, labels) in page.families.items():
            print(name, kind, ",".join(labels or ()) or "-")
    elif what == "sum" and more:
        print(page.sum(more[0], more[1:]))
    elif what == "sums":
        for line in sys.stdin:
            key, name, *wanted = line.split()
            print(key, page.sum(name, wanted))
    elif what == "rise" and len(more) == 1:
        check_rise(page, Page(more[0]))
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()

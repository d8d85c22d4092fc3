#!/usr/bin/env python3
"""How large a crawl on many machines becomes, on paper: from what a URL and a page were measured
to cost, and a simulation of the topic NAME.state, which grows by rows that are new and by rows
that are replaced, until the brokers compact it.
usage: bench/cluster_sizes.py [NAME=VALUE...]     (the names are those below)

Sums, and no measurement: what makes a machine slower as a shard becomes larger is not in it.
"""

import sys

MEASURED = {
    "waiting": 73,  # octets in NAME.state of a URL that waits
    "page": 253,  # of one that was fetched, each row once
    "replaced": 124,  # besides, of rows that were written again before
    "dir_waiting": 130,  # octets of DIR, without WARC files
    "dir_page": 685,
    "rows_waiting": 1.0,
    "rows_page": 2.0,
    "row_us": 4.2,  # CPU of a worker to read a row and to make the shard anew from all
    "sent": 3,  # URLs for other shards, a page
    "sent_octets": 85,
}
ASSUMED = {
    "fetched": 0.25,  # of the URLs that are known
    "pages_s": 50,  # fetched by a shard in a second
    "dirty": 0.5,  # min.cleanable.dirty.ratio, the brokers' default
    "segment": 2**30,  # the one that is written is not compacted
    "zstd": 0.42,  # with compression.type=zstd
    "cores": 4,  # of a machine, which restores as many shards at once
    "trim_s": 30,  # what was read of NAME.urls is deleted so often
}
URLS, SHARDS = (10**9, 10**10), (16, 64, 256)


def state_topic(urls, x):
    """Octets of a shard's partition of NAME.state: of the rows as they are, and the most that it ever had."""
    fetched, steps = x["fetched"], 5000
    new = urls / steps * ((1 - fetched) * x["waiting"] + fetched * x["page"])
    again = urls / steps * fetched * x["replaced"]
    live = log = most = clean = 0.0
    for _ in range(steps):
        live, log = live + new, log + new + again
        most = max(most, log)
        if log - clean > x["segment"] and (log - clean) / log > x["dirty"]:
            log = clean = live
    return live, most


def size(octets):
    for unit in ("B", "KB", "MB", "GB", "TB", "PB"):
        if octets < 1000 or unit == "PB":
            return "%.3g %s" % (octets, unit)
        octets /= 1000


def span(s):
    return "%.0f s" % s if s < 120 else "%.0f min" % (s / 60) if s < 7200 else "%.1f h" % (s / 3600)


def main():
    x = {**MEASURED, **ASSUMED}
    for word in sys.argv[1:]:
        name, _, value = word.partition("=")
        if name not in x:
            sys.exit("cluster_sizes.py: there is no %s; names: %s" % (name, " ".join(x)))
        x[name] = float(value)
    print(" ".join("%s=%g" % pair for pair in x.items()))
    head = ("URLs", "shards", "URLs a shard", "state, all", "the most", "zstd", "DIR, all", "DIR a shard",
            "a shard anew", "one machine of 4", "commits/s", "urls topic")
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for urls in URLS:
        for shards in SHARDS:
            each = urls / shards
            live, most = state_topic(each, x)
            of_dir = (1 - x["fetched"]) * x["dir_waiting"] + x["fetched"] * x["dir_page"]
            rows = (1 - x["fetched"]) * x["rows_waiting"] + x["fetched"] * x["rows_page"]
            anew = each * rows * x["row_us"] / 1e6
            # A commit is due after 0.2 s or 256 pages.
            commits = shards * max(5.0, x["pages_s"] / 256)
            waiting = shards * x["pages_s"] * x["sent"] * x["sent_octets"] * x["trim_s"]
            lost = shards / 4  # of four machines one is lost; three take its shards
            row = ("%.0e" % urls, shards, "%.3g M" % (each / 1e6), size(live * shards), size(most * shards),
                   size(live * shards * x["zstd"]), size(urls * of_dir), size(each * of_dir), span(anew),
                   span(anew * max(1.0, lost / 3 / x["cores"])), "%.0f" % commits, size(waiting))
            print("| " + " | ".join(map(str, row)) + " |")


main()

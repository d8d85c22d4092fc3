"""Contract, section 3: what the reference service gets wrong."""
import threading
import time

from grpc_checks.rig import (OK, SKIPPED, Section, is_, pb, size)

section = Section("3 better")
check, check_alone = section.check, section.check_alone


NAMES = ["_", "_DEFAULT_", " ", "a b", "\u00e9t\u00e9", "\u4e2d\u6587",
         "\U0001f600", "a_b", "a%b", "a\0b", "-", "/", "'; DROP TABLE", "\n"]


@check
def point_1_queue_names_are_any_utf8_and_what_is_stored_is_served(f):
    is_(f.put(*(f.new("u" + n, n) for n in NAMES)), [OK] * len(NAMES))
    is_(sorted(f.queues()), sorted(NAMES))
    is_(sorted((u.key, u.url) for u in f.get_info()),
        sorted((n, "u" + n) for n in NAMES))
    for n in NAMES:
        f.put(f.known("u" + n, 0, n))
        is_(f.figures(n), (0, 0, 1, 0, 1))


@check
def point_1_crawl_names_are_any_utf8(f):
    for n in NAMES:
        if n.strip():
            name = f.crawl + n
            is_(f.put(f.new("u", crawl=name)), [OK])
            is_([u.crawlID for u in f.get_info(crawl=name)], [name])
            is_(f.stats(crawl=name).crawlID, name)
            assert name in f.stub.ListCrawls(pb.Local()).values


@check
def point_2_deleting_crawl1_leaves_crawl10_and_later_writes_alone(f):
    one, ten = f.crawl + "1", f.crawl + "10"
    f.put(*(f.new(f"u{i}", crawl=c) for i in range(50) for c in (one, ten)))
    is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value=one)).value, 50)
    is_(f.count(crawl=ten), 50)
    is_(f.put(f.new("later", crawl=one)), [OK])
    time.sleep(0.5)
    is_(f.count(crawl=one), 1)
    is_(f.get(crawl=one), ["later"])
    is_(len(f.get(crawl=ten)), 50)


@check
def point_3_a_get_ends_also_when_its_queues_are_deleted_meanwhile(f):
    stop = time.monotonic() + 3

    def churn():
        i = 0
        while time.monotonic() < stop:
            i += 1
            f.put(*(f.new(f"{i}/{j}", f"q{j}") for j in range(20)))
            for j in range(0, 20, 2):
                f.stub.DeleteQueue(pb.QueueWithinCrawlParams(
                    key=f"q{j}", crawlID=f.crawl))

    t = threading.Thread(target=churn, daemon=True)
    t.start()
    while time.monotonic() < stop:
        f.get(1, 100)  # has a limit of time
        f.stats()
    t.join()


@check
def point_4_completing_again_changes_no_count_and_rescheduling_counts_once(f):
    f.put_new("u", "v")
    for _ in range(3):
        f.put(f.known("u", 0))
        is_(f.figures(), (1, 0, 1, 1, 1))
    for _ in range(3):
        f.put(f.known("u", time.time() + 1000))
        is_(f.figures(), (2, 0, 0, 1, 1))
    f.put(f.known("u", 0))
    is_(f.figures(), (1, 0, 1, 1, 1))


@check
def many_streams_at_once_store_each_url_once(f):
    n, results = size(3000), []

    def stream():
        acks = f.stub.PutURLs(f.new(f"http://a/{i}", f"q{i % 5}", ID=str(i))
                              for i in range(n))
        results.append([a.status for a in acks])

    threads = [threading.Thread(target=stream, daemon=True) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    is_(len(results), 4)
    is_(sum(s == OK for r in results for s in r), n)
    is_(sum(s == SKIPPED for r in results for s in r), 3 * n)
    is_(f.count(), n)

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


@check
def point_1_every_call_takes_any_name_of_a_queue(f):
    for n in NAMES:
        f.put(f.new("u1", n), f.new("u2", n))
        f.delay(0, n)
        is_(f.get(1, key=n), ["u1"])
        is_(f.status("u1", n).known.info.key, n)
        is_(sorted(f.list_urls(key=n)), ["u1", "u2"])
        is_(f.count(key=n), 2)
        f.limit(1, n)
        f.put(f.known("u1", 0, n))
        is_(f.get(key=n), [])
        f.block(time.time() + 1000, n)
        assert n not in f.queues(), n
        is_(f.stub.DeleteQueue(pb.QueueWithinCrawlParams(
            key=n, crawlID=f.crawl)).value, 2)
    is_(f.queues(include_inactive=True), [])


@check
def point_1_the_longest_names_are_stored_and_served(f):
    crawl = f.crawl + "\U0001f600" * 1000
    keys = ["\U0001f600" * 127, "\u4e2d" * 255]
    f.put(*(f.new("u", k, crawl=crawl) for k in keys))
    is_(sorted(u.key for u in f.get_info(crawl=crawl)), sorted(keys))
    is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value=crawl)).value, 2)


@check
def point_1_names_that_look_alike_are_different(f):
    names = ["\u00e9", "e\u0301", "E\u0301", "\u00c9", "k", "K", "k ", " k",
             "k\0", "\uff4b", "0", "00"]
    is_(f.put(*(f.new("u", n) for n in names)), [OK] * len(names))
    is_(f.stats().numberOfQueues, len(names))
    is_(sorted(u.key for u in f.get_info()), sorted(names))


@check
def point_2_deleting_a_crawl_leaves_those_that_begin_like_it(f):
    names = [f.crawl + "1" + end for end in ("", "0", "_", "_1", "/", " ",
                                             "\0", "\uffff")]
    f.put(*(f.new(f"u{i}", crawl=n) for n in names for i in range(3)))
    is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value=names[0])).value, 3)
    is_([f.count(crawl=n) for n in names], [0] + [3] * (len(names) - 1))
    for n in names[1:]:
        is_(len(f.get(crawl=n)), 3)


@check
def point_2_writes_to_a_crawl_that_was_deleted_stay(f):
    for i in range(20):
        is_(f.put(f.new("u"), f.new("v", "k2")), [OK, OK])
        is_(f.figures(), (2, 0, 0, 2, 2))
        is_(f.stub.DeleteCrawl(
            pb.DeleteCrawlMessage(value=f.crawl)).value, 2)
    f.put_new("u")
    is_(f.get(), ["u"])


@check
def point_3_stats_are_right_while_urls_are_handed_out(f):
    n, wrong = size(1000), []
    f.put(*(f.new(f"u{i}", f"q{i % 20}") for i in range(n)))
    for i in range(20):
        f.delay(0, f"q{i}")
    stop = threading.Event()

    def watch():
        while not stop.is_set():
            s = f.figures()
            if s[0] + s[2] != n or s[4] != 20 or f.count() != n:
                wrong.append(s)

    t = threading.Thread(target=watch, daemon=True)
    t.start()
    served = 0
    for _ in range(30):
        for u in f.get_info(100, 5, delay=600):
            f.put(f.known(u.url, 0, u.key))
            served += 1
    stop.set()
    t.join()
    is_(wrong, [])
    is_(f.figures()[:3], (n - served, 0, served))


@check
def point_4_rescheduling_a_completed_url_makes_it_active_again(f):
    f.put(f.known("u", 0))
    is_(f.figures(), (0, 0, 1, 0, 1))
    f.put(f.known("u", 1000))
    is_(f.figures(), (1, 0, 0, 1, 1))
    is_(f.get(), ["u"])
    is_(f.figures(), (1, 1, 0, 1, 1))
    f.put(f.known("u", 0))
    is_(f.figures(), (0, 0, 1, 0, 1))


@check
def point_5_a_blank_crawl_is_default_in_answers_about_nothing_too(f):
    key = f.crawl + "nobody"
    for blank in ("", " ", "\t\n"):
        is_(f.stats(key, crawl=blank).crawlID, "DEFAULT")
        q = f.stub.ListQueues(pb.Pagination(crawlID=blank, start=10**6))
        is_((list(q.values), q.crawlID), ([], "DEFAULT"))


@check
def point_6_every_item_of_a_mixed_stream_has_its_ack(f):
    items = []
    for i in range(size(1000)):
        items += [f.new(f"u{i}", ID=f"{i}a"), f.new(f"u{i}", ID=f"{i}b"),
                  f.known(f"u{i}", 0, ID=f"{i}c"), pb.URLItem(ID=f"{i}d"),
                  f.new("x", "k" * 300, ID=f"{i}e"), f.new("", "", ID=f"{i}f")]
    acks = list(f.stub.PutURLs(iter(items)))
    is_([a.ID for a in acks], [i.ID for i in items])
    is_([a.status for a in acks],
        [OK, SKIPPED, OK, SKIPPED, SKIPPED, SKIPPED] * (len(items) // 6))


@check
def point_8_optional_fields_may_be_absent_or_empty(f):
    f.put_new("Ab", "ab")
    for kwargs, n in (({}, 2), ({"filter": ""}, 2), ({"filter": "A"}, 1),
                      ({"filter": "A", "ignoreCase": False}, 1),
                      ({"filter": "A", "ignoreCase": True}, 2),
                      ({"ignoreCase": True}, 2), ({"local": False}, 2)):
        is_(len(f.list(**kwargs)), n)
        is_(f.count(**kwargs), n)


@check
def point_9_keys_of_urls_with_ipv6_hosts_and_userinfo(f):
    cases = {"http://[2001:db8::1]:8080/": "[2001:db8::1]",
             "http://u:p@[::1]/": "[::1]", "http://[::1]?q": "[::1]",
             "http://u@h:80?q=a@b": "h", "http://u:p:q@h/": "h",
             "http://a@b@h/": "h", "ftp://h/a@b": "h"}
    is_(f.put(*(f.new(u, "") for u in cases)), [OK] * len(cases))
    is_({u.url: u.key for u in f.get_info()}, cases)
    is_(f.status("http://u:p@[::1]/", "").known.info.key, "[::1]")

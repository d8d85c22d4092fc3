"""Contract, section 2, "Read": statuses, lists, counts, removal."""
import time

from grpc_checks.rig import CODE, Section, among, fails, is_, pb, size

section = Section("2 read")
check, check_alone = section.check, section.check_alone


@check
def status_answers_the_known_member_also_for_discovered_urls(f):
    before = int(time.time())
    f.put(f.new("u", m=["v"]))
    s = f.status("u")
    is_(s.WhichOneof("item"), "known")
    among(s.known.refetchable_from_date, before, int(time.time()) + 1)
    is_((s.known.info.url, s.known.info.key, s.known.info.crawlID),
        ("u", "k", f.crawl))
    is_(list(s.known.info.metadata["m"].values), ["v"])


@check
def a_completed_url_has_date_0_and_no_metadata(f):
    f.put(f.known("u", 0, m=["v"]))
    for i in [f.status("u"), *f.list()]:
        is_(i.WhichOneof("item"), "known")
        is_(i.known.refetchable_from_date, 0)
        is_(len(i.known.info.metadata), 0)


@check
def status_of_what_is_unknown_is_not_found(f):
    f.put_new("u")
    fails(CODE.NOT_FOUND, f.status, "v")
    fails(CODE.NOT_FOUND, f.status, "u", "x")
    fails(CODE.NOT_FOUND, f.status, "u", "k", f.crawl + "x")


@check
def status_without_a_key_that_can_be_derived_is_an_invalid_argument(f):
    for url in ("", "http://", "http:///x", "/x"):
        fails(CODE.INVALID_ARGUMENT, f.status, url, "")
    f.put(f.new("http://h/1", ""))
    is_(f.status("http://h/1", "").known.info.key, "h")


@check
def urls_are_listed_100_at_a_time_unless_said_otherwise(f):
    f.put_new(*(f"u{i:03}" for i in range(250)))
    is_(len(f.list()), 100)
    is_(len(f.list(size=240)), 240)
    is_(len(f.list(size=1000)), 250)
    pages = [f.list_urls(start=s, size=60) for s in range(0, 300, 60)]
    is_([len(p) for p in pages], [60, 60, 60, 60, 10])
    is_(sorted(sum(pages, [])), [f"u{i:03}" for i in range(250)])


@check
def urls_are_listed_of_one_queue_or_all_of_the_crawl(f):
    f.put_new("u1", key="k1")
    f.put_new("u2", key="k2")
    f.put(f.known("u3", 0, "k2"))
    is_(sorted(f.list_urls()), ["u1", "u2", "u3"])
    is_(sorted(f.list_urls(key="k2")), ["u2", "u3"])
    is_(f.count(key="k2"), 2)
    is_(f.count(), 3)


@check
def a_filter_is_a_substring_and_start_counts_what_matches(f):
    f.put_new(*(f"http://a/{w}{i}" for i in range(10) for w in ("x", "X")))
    is_(sorted(f.list_urls(filter="/x")), [f"http://a/x{i}" for i in range(10)])
    is_(len(f.list_urls(filter="/x", ignoreCase=True)), 20)
    is_(len(f.list_urls(filter="/x", ignoreCase=False)), 10)
    is_(len(f.list_urls(filter="/x", start=7)), 3)
    is_(len(f.list_urls(filter=".")), 0)
    is_((f.count(filter="/x"), f.count(filter="/X3"),
         f.count(filter="/X3", ignoreCase=True), f.count(filter="")),
        (10, 1, 2, 20))


@check
def queues_are_listed_when_not_blocked_and_active_due_or_not(f):
    f.put_new("u", key="due")
    f.put(f.known("u", time.time() + 1000, "future"),
          f.known("u", 0, "finished"), f.new("u", "blocked"))
    f.block(time.time() + 1000, "blocked")
    is_(sorted(f.queues()), ["due", "future"])
    is_(sorted(f.queues(include_inactive=True)),
        ["blocked", "due", "finished", "future"])


@check
def queues_are_listed_100_at_a_time_unless_said_otherwise(f):
    f.put(*(f.new("u", f"q{i:03}") for i in range(150)))
    is_(len(f.queues()), 100)
    pages = [f.queues(start=s, size=70) for s in (0, 70, 140, 210)]
    is_([len(p) for p in pages], [70, 70, 10, 0])
    is_(sorted(sum(pages, [])), [f"q{i:03}" for i in range(150)])
    q = f.stub.ListQueues(pb.Pagination(crawlID=f.crawl, start=140, size=70))
    is_((q.start, q.crawlID, q.total), (140, f.crawl, 0))


@check
def stats_count_leased_and_future_urls_and_finished_queues(f):
    f.put_new("u1", "u2", "u3", key="a")
    f.put(f.known("u", time.time() + 1000, "b"), f.known("u", 0, "c"),
          f.known("v", 0, "a"))
    f.get(1, 1, key="a")
    is_(f.figures(), (4, 1, 2, 2, 3))
    is_(f.figures("a"), (3, 1, 1, 1, 1))
    is_(f.figures("c"), (0, 0, 1, 0, 1))


@check
def stats_of_what_is_unknown_are_zeros_with_the_crawl_echoed(f):
    is_(f.figures(), (0, 0, 0, 0, 0))
    is_(f.stats().crawlID, f.crawl)
    f.put_new("u")
    is_(f.figures("x"), (0, 0, 0, 0, 0))


@check
def deleting_a_queue_answers_how_many_urls_went(f):
    f.put_new("u1", "u2", "u3")
    f.put(f.known("u1", 0))
    f.put_new("other", key="k2")
    delete = f.stub.DeleteQueue
    is_(delete(pb.QueueWithinCrawlParams(key="k", crawlID=f.crawl)).value, 3)
    is_(delete(pb.QueueWithinCrawlParams(key="k", crawlID=f.crawl)).value, 0)
    is_(delete(pb.QueueWithinCrawlParams(key="x", crawlID=f.crawl)).value, 0)
    is_(f.queues(include_inactive=True), ["k2"])
    is_(f.count(), 1)
    f.put_new("u1")  # it is new again
    is_(f.get(key="k"), ["u1"])


@check
def deleting_a_crawl_answers_how_many_urls_went(f):
    f.put_new("u1", key="a")
    f.put_new("u2", key="b")
    assert f.crawl in f.stub.ListCrawls(pb.Local()).values
    delete = f.stub.DeleteCrawl
    is_(delete(pb.DeleteCrawlMessage(value=f.crawl)).value, 2)
    is_(delete(pb.DeleteCrawlMessage(value=f.crawl)).value, 0)
    assert f.crawl not in f.stub.ListCrawls(pb.Local()).values
    is_(f.figures(), (0, 0, 0, 0, 0))
    is_(f.queues(include_inactive=True), [])


@check
def a_purge_drops_what_was_created_before_so_many_days(f):
    f.put_new("u1", "u2", key="a")
    f.put(f.known("u3", 0, "b"))
    purge = f.stub.PurgeURLs
    is_(purge(pb.PurgeUrlParams(crawlID=f.crawl, days=1)).value, 0)
    time.sleep(1.1)
    is_(purge(pb.PurgeUrlParams(crawlID=f.crawl, key="a", days=0)).value, 2)
    f.put_new("u4", key="b")
    is_(purge(pb.PurgeUrlParams(crawlID=f.crawl, days=36500)).value, 0)
    is_(f.count(), 2)
    f.put_new("u1", key="a")


# The sentences about GetURLStatus.

# The sentences about lists and counts.

@check
def lists_of_what_is_unknown_are_empty_and_counts_are_0(f):
    """NOT_FOUND is GetURLStatus's answer alone. A stream of items has a way to
    say "none", the reference service uses it, and a client that lists what it
    has just deleted expects no error."""
    for _ in range(2):
        is_(f.list(), [])
        is_(f.list(key="k"), [])
        is_(f.list(filter="u"), [])
        is_(f.count(), 0)
        is_(f.count(key="k"), 0)
        is_(f.count(filter="u"), 0)
        is_(f.queues(), [])
        f.put_new("u", key="other")
        f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value=f.crawl))
    f.put_new("u", key="other")
    is_(f.list(key="k"), [])
    is_(f.count(key="k"), 0)


# The sentences about statistics.

# The sentences about removal.

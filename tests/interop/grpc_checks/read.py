"""Contract, section 2, "Read": statuses, lists, counts, removal."""
import time

from grpc_checks.rig import CODE, OK, Section, among, fails, is_, pb, size

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

@check
def status_of_what_is_there_without_metadata_has_none(f):
    f.put_new("u")
    is_(len(f.status("u").known.info.metadata), 0)
    is_(f.status("u").ID, "")


@check
def status_of_a_url_that_waits_has_its_date_and_metadata(f):
    later = int(time.time()) + 1000
    f.put(f.known("u", later, m=["v"]))
    is_(f.status("u").known, pb.KnownURLItem(
        info=f.info("u", m=["v"]), refetchable_from_date=later))


@check
def status_of_a_held_url_is_found(f):
    f.put_new("u")
    f.get()
    is_(f.status("u").WhichOneof("item"), "known")


@check
def status_of_a_url_of_a_deleted_queue_or_crawl_is_not_found(f):
    f.put_new("u1", key="a")
    f.put_new("u2", key="b")
    f.stub.DeleteQueue(pb.QueueWithinCrawlParams(key="a", crawlID=f.crawl))
    fails(CODE.NOT_FOUND, f.status, "u1", "a")
    is_(f.status("u2", "b").known.info.url, "u2")
    f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value=f.crawl))
    fails(CODE.NOT_FOUND, f.status, "u2", "b")


@check
def status_by_the_key_that_is_derived_finds_no_url_of_another_key(f):
    f.put(f.new("http://h/1", "k"))
    fails(CODE.NOT_FOUND, f.status, "http://h/1", "")
    is_(f.status("http://h/1", "k").known.info.key, "k")


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


@check
def a_start_behind_the_last_lists_nothing(f):
    f.put_new("u1", "u2")
    is_(f.list(start=2), [])
    is_(f.list(start=2**32 - 1, size=2**32 - 1), [])
    is_(f.list(filter="u", start=2), [])
    is_(f.queues(start=1), [])
    is_(f.queues(start=2**32 - 1, size=2**32 - 1), [])


@check
def lists_have_held_completed_blocked_and_future_urls(f):
    f.put_new("held", key="a")
    f.get(key="a")
    f.put(f.known("completed", 0, "b"), f.known("later", 2**33, "b"),
          f.new("blocked", "c"))
    f.block(time.time() + 1000, "c")
    is_({i.known.info.url: i.known.refetchable_from_date > 0
         for i in f.list()},
        {"held": True, "completed": False, "later": True, "blocked": True})
    is_(f.count(), 4)


@check
def listed_items_are_those_of_their_status(f):
    f.put(f.new("u1", m=["1"]), f.known("u2", 2**33, m=["2"]),
          f.known("u3", 0))
    for item in f.list():
        is_(item, f.status(item.known.info.url))


@check
def pages_of_a_filtered_list_are_whole(f):
    f.put(*(f.new(f"u{i}-{'odd' if i % 2 else 'even'}", f"q{i % 7}")
            for i in range(300)))
    pages = [f.list_urls(filter="odd", start=s, size=40)
             for s in range(0, 200, 40)]
    is_([len(p) for p in pages], [40, 40, 40, 30, 0])
    is_(len(set(sum(pages, []))), 150)
    is_(len(f.list_urls(filter="odd")), 100)


@check
def a_filter_goes_with_a_key(f):
    f.put(*(f.new(f"u{i}", k) for i in range(5) for k in ("a", "b")))
    is_(f.list_urls(filter="3", key="a"), ["u3"])
    is_(f.count(filter="3", key="a"), 1)
    is_(f.count(filter="3"), 2)


@check
def a_filter_finds_completed_urls_and_any_text(f):
    urls = ["http://h/%7e?a=b&c#d", "\u00e9t\u00e9", "a b", "x\0y"]
    f.put(*(f.known(u, 0) for u in urls))
    for text, url in (("%7e?a", urls[0]), ("t\u00e9", urls[1]),
                      ("a b", urls[2]), ("\0", urls[3])):
        is_(f.list_urls(filter=text), [url])
        is_(f.count(filter=text), 1)
    is_(f.list_urls(filter="http://h/%7e?a=b&c#d"), urls[:1])
    is_(f.count(filter="longer than any of them " * 10), 0)


@check
def a_filter_that_is_empty_is_none(f):
    f.put_new("u1", "u2")
    is_(len(f.list(filter="")), 2)
    is_(f.count(filter="", ignoreCase=True), 2)
    is_(f.count(ignoreCase=True), 2)


@check
def queues_with_nothing_but_held_urls_are_listed(f):
    f.put_new("u", key="held")
    is_(f.get(), ["u"])
    is_(f.queues(), ["held"])


@check
def a_queue_listed_no_more_when_finished_is_again_when_a_url_comes(f):
    f.put(f.known("u", 0))
    is_(f.queues(), [])
    is_(f.queues(include_inactive=True), ["k"])
    f.put_new("v")
    is_(f.queues(), ["k"])


@check
def queues_are_those_of_the_crawl_alone(f):
    other = f.crawl + "other"
    f.put(f.new("u", "mine"), f.new("u", "others", crawl=other))
    is_(f.queues(), ["mine"])
    is_(f.queues(crawl=other), ["others"])
    is_(f.stats().numberOfQueues, 1)


@check
def crawls_are_listed_when_they_have_queues(f):
    names = [f.crawl + str(i) for i in range(30)]
    f.put(*(f.new("u", crawl=n) for n in names))
    listed = list(f.stub.ListCrawls(pb.Local()).values)
    is_([n for n in names if listed.count(n) != 1], [])


# The sentences about statistics.

@check
def the_counts_of_stats_are_completed_and_active_queues(f):
    f.put_new("u")
    is_(dict(f.stats().counts), {"completed": 0, "active_queues": 1})
    is_(dict(f.stats("nobody").counts), {"completed": 0, "active_queues": 0})


@check
def stats_count_each_url_of_many_queues(f):
    n = size(2000)
    f.put(*(f.new(f"u{i}", f"q{i % 50}") for i in range(n)))
    f.put(*(f.known(f"u{i}", 0, f"q{i % 50}") for i in range(0, n, 4)))
    is_(f.figures(), (n - n // 4, 0, n // 4, 50, 50))
    parts = [f.figures(f"q{i}") for i in range(50)]
    is_([sum(p[i] for p in parts) for i in range(5)], list(f.figures()))


@check
def stats_of_one_queue_of_a_crawl_leave_the_others_out(f):
    other = f.crawl + "other"
    f.put(f.new("u"), f.new("u", crawl=other), f.new("v", crawl=other))
    is_(f.figures("k")[0], 1)
    is_(f.figures("k", crawl=other)[0], 2)
    is_(f.stats("k", crawl=other).crawlID, other)


# The sentences about removal.

@check
def deleting_a_queue_leaves_the_same_key_of_other_crawls(f):
    other = f.crawl + "other"
    f.put(f.new("u"), f.new("u", crawl=other))
    is_(f.stub.DeleteQueue(pb.QueueWithinCrawlParams(
        key="k", crawlID=f.crawl)).value, 1)
    is_(f.get(crawl=other), ["u"])


@check
def a_deleted_queue_forgets_delay_block_limit_and_holds(f):
    f.put_new("u")
    f.get(delay=600)
    f.delay(600)
    f.limit(1)
    f.block(time.time() + 1000)
    is_(f.stub.DeleteQueue(pb.QueueWithinCrawlParams(
        key="k", crawlID=f.crawl)).value, 1)
    f.put(f.known("v", 0))
    f.put_new("u")
    is_(f.get(), ["u"])
    is_(f.figures(), (1, 1, 1, 1, 1))


@check
def a_url_of_a_deleted_queue_may_be_completed_by_who_holds_it(f):
    f.put_new("u", "v")
    is_(sorted(f.get()), ["u", "v"])
    f.stub.DeleteQueue(pb.QueueWithinCrawlParams(key="k", crawlID=f.crawl))
    is_(f.put(f.known("u", 0)), [OK])
    is_(f.figures(), (0, 0, 1, 0, 1))


@check
def deleting_an_unknown_crawl_answers_0(f):
    is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value=f.crawl)).value, 0)


@check
def deleting_counts_held_and_completed_urls(f):
    f.put_new("u1", "u2", "u3")
    f.get(1)
    f.put(f.known("u3", 0))
    is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value=f.crawl)).value, 3)


@check
def a_purge_of_0_days_leaves_what_was_created_this_second(f):
    for _ in range(30):  # until put and purge are of one second
        f.put_new("u")
        created = f.status("u").creation_date
        purged = f.stub.PurgeURLs(pb.PurgeUrlParams(crawlID=f.crawl)).value
        if int(time.time()) == created:
            is_(purged, 0)
            is_(f.count(), 1)
            break
        f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value=f.crawl))
        time.sleep(1 - time.time() % 1)


@check
def a_purge_takes_all_queues_or_one_and_corrects_the_counts(f):
    f.put_new("u1", "u2", key="a")
    f.put(f.known("u3", 0, "b"), f.known("u4", 2**33, "b"), f.new("u5", "c"))
    f.get(key="c")
    time.sleep(1.1)
    purge = f.stub.PurgeURLs
    is_(purge(pb.PurgeUrlParams(crawlID=f.crawl, key="b")).value, 2)
    is_(f.figures()[:4], (3, 1, 0, 2))
    is_(purge(pb.PurgeUrlParams(crawlID=f.crawl)).value, 3)
    is_(f.figures()[:3], (0, 0, 0))
    is_(f.list(), [])
    f.put_new("u1", key="a")  # it is new again


@check
def a_purge_goes_by_creation_not_by_update(f):
    f.put_new("u")
    time.sleep(1.1)
    f.put(f.known("u", 1000))
    is_(f.stub.PurgeURLs(pb.PurgeUrlParams(crawlID=f.crawl)).value, 1)


@check
def a_purge_of_what_is_unknown_answers_0(f):
    purge = f.stub.PurgeURLs
    is_(purge(pb.PurgeUrlParams(crawlID=f.crawl)).value, 0)
    is_(purge(pb.PurgeUrlParams(crawlID=f.crawl, key="k")).value, 0)
    is_(purge(pb.PurgeUrlParams(crawlID=f.crawl, days=2**32 - 1)).value, 0)

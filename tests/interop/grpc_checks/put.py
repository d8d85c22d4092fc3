"""Contract, section 2, "Put": what PutURLs and PutDiscovered answer and store."""
import queue
import threading
import time

from grpc_checks.rig import (LATE, OK, SKIPPED, Section, among, is_, pb, size,
                             stubs, waits)

section = Section("2 put")
check, check_alone = section.check, section.check_alone


@check
def a_new_discovered_url_is_ok_and_due_now(f):
    is_(f.put(f.new("http://a/1")), [OK])
    is_(f.get(), ["http://a/1"])


@check
def a_discovered_url_that_is_there_is_skipped(f):
    is_(f.put(f.new("u"), f.new("u")), [OK, SKIPPED])
    is_(f.put(f.new("u")), [SKIPPED])


@check
def a_discovered_url_that_is_completed_is_skipped(f):
    is_(f.put(f.known("u", 0)), [OK])
    is_(f.put(f.new("u")), [SKIPPED])
    is_(f.get(), [])


@check
def a_known_url_is_always_ok(f):
    is_(f.put(*(f.known("u", d) for d in (0, 5, 0, 2**33, 0))), [OK] * 5)


@check
def known_replaces_metadata_and_date(f):
    later = int(time.time()) + 1000
    f.put(f.new("u", a=["1"], b=["2"]))
    f.put(f.known("u", later, c=["3"]))
    s = f.status("u")
    is_(s.known.refetchable_from_date, later)
    is_({k: list(v.values) for k, v in s.known.info.metadata.items()},
        {"c": ["3"]})
    is_(f.get(), [])


@check
def known_with_date_0_is_completed_and_never_served_again(f):
    f.delay(0)
    f.put_new("u")
    f.put(f.known("u", 0))
    time.sleep(1.2)
    is_(f.get(), [])
    is_(f.figures(), (0, 0, 1, 0, 1))


@check
def known_with_a_date_in_the_past_is_due_at_once(f):
    f.put(f.known("u", 1000))
    is_(f.get(), ["u"])


@check
def known_for_an_unseen_url_creates_it(f):
    is_(f.put(f.known("u", 0)), [OK])
    is_(f.status("u").known.refetchable_from_date, 0)
    is_(f.count(), 1)


@check
def identity_is_crawl_key_and_url(f):
    is_(f.put(f.new("u", "k1"), f.new("u", "k2"),
              f.new("u", "k1", crawl=f.crawl + "b")), [OK] * 3)
    is_(f.count(), 2)
    is_(f.count(crawl=f.crawl + "b"), 1)


@check
def urls_are_compared_by_bytes_and_not_normalised(f):
    urls = ["http://a", "http://a/", "http://A/", "HTTP://a/", "http://a/.",
            "http://a/%7e", "http://a/~", "http://a/#x", " http://a/",
            "http://a:80/", "\u00e9", "e\u0301", "u\0v", "u"]
    is_(f.put(*(f.new(u) for u in urls)), [OK] * len(urls))
    is_(sorted(f.get()), sorted(urls))


@check
def the_ack_has_the_items_id_or_else_its_url(f):
    acks = list(f.stub.PutURLs(iter([f.new("u1", ID="mine"), f.new("u2"),
                                     f.known("u3", 0, ID="\u00e9\0")])))
    is_([a.ID for a in acks], ["mine", "u2", "\u00e9\0"])


@check
def there_is_one_ack_for_each_item_in_the_order_sent(f):
    n = size(5000)
    items = (f.new(f"http://h{i % 7}/{i % 3000}", f"h{i % 7}", ID=str(i))
             for i in range(n))
    acks = list(f.stub.PutURLs(items))
    is_([a.ID for a in acks], [str(i) for i in range(n)])
    is_(f.count(), sum(a.status == OK for a in acks))


@check
def what_is_acked_is_visible_while_the_stream_is_open(f):
    outgoing = queue.Queue()
    acks = f.stub.PutURLs(iter(outgoing.get, None))
    for i in range(20):
        outgoing.put(f.new(f"u{i}"))
        is_(next(acks).status, OK)
        is_(f.status(f"u{i}").known.info.url, f"u{i}")
        is_(f.figures()[0], i + 1)
    outgoing.put(None)
    is_(list(acks), [])


@check
def an_empty_key_is_the_host_of_the_url(f):
    cases = {"http://www.example.com/a": "www.example.com",
             "http://example.com:8080/a": "example.com",
             "http://example.com?q": "example.com",
             "http://example.com&x": "example.com",
             "https://EXAMPLE.com/": "example.com",
             "ftp://host": "host",
             "x://\u00e9t\u00e9.fr/": "\u00e9t\u00e9.fr"}
    is_(f.put(*(f.new(u, "") for u in cases)), [OK] * len(cases))
    is_({u.url: u.key for u in f.get_info()}, cases)


@check
def the_host_of_an_ipv6_url_is_whole_and_userinfo_is_no_part_of_it(f):
    cases = {"http://[::1]/": "[::1]", "http://[::1]:8080/": "[::1]",
             "http://user:pass@example.com:80/": "example.com",
             "http://user@example.com/a@b": "example.com"}
    is_(f.put(*(f.new(u, "") for u in cases)), [OK] * len(cases))
    is_({u.url: u.key for u in f.get_info()}, cases)


@check
def where_no_key_can_be_derived_the_item_is_skipped(f):
    urls = ["", "http://", "http:///x", "http://:80/", "http://?", "/x", "?q",
            "&", ":80", "http://@/"]
    is_(f.put(*(f.new(u, "") for u in urls)), [SKIPPED] * len(urls))
    is_(f.put(*(f.known(u, 0, "") for u in urls)), [SKIPPED] * len(urls))
    is_(f.count(), 0)


@check
def an_empty_url_with_a_key_is_accepted_and_served(f):
    is_(f.put(f.new("")), [OK])
    got = f.get_info()
    is_([(u.url, u.key) for u in got], [("", "k")])


@check
def an_item_with_neither_member_is_skipped(f):
    acks = list(f.stub.PutURLs(iter([pb.URLItem(ID="x"), pb.URLItem()])))
    is_([(a.ID, a.status) for a in acks], [("x", SKIPPED), ("", SKIPPED)])


@check
def a_key_of_more_than_255_utf16_units_is_skipped(f):
    keys = ["k" * 255, "\u20ac" * 255, "\U0001f600" * 127 + "k"]
    longer = ["k" * 256, "\u20ac" * 256, "\U0001f600" * 128]
    is_(f.put(*(f.new("u", k) for k in keys)), [OK] * 3)
    is_(f.put(*(f.new("u", k) for k in longer)), [SKIPPED] * 3)
    is_(sorted(u.key for u in f.get_info()), sorted(keys))


@check
def the_length_of_a_url_is_bounded_by_the_message_only(f):
    url = "http://a/" + "x" * (3 << 20)
    is_(f.put(f.new(url)), [OK])
    is_(f.get(), [url])
    is_(f.status(url).known.info.url, url)


@check
def a_crawl_id_that_is_not_blank_is_taken_as_it_is(f):
    odd = f" {f.crawl} "
    is_(f.put(f.new("u", crawl=odd)), [OK])
    is_([u.crawlID for u in f.get_info(crawl=odd)], [odd])
    is_(f.count(), 0)


@check
def creation_date_is_the_services_and_kept_over_updates(f):
    before = int(time.time())
    item = f.new("u")
    item.creation_date = 12345
    f.put(item)
    created = f.status("u").creation_date
    among(created, before, int(time.time()))
    time.sleep(1.1)
    f.put(f.known("u", 0))
    f.put(f.known("u", 1000))
    is_(f.status("u").creation_date, created)


def discovered(f, *batches):
    """[(ID, [status, ...]), ...] for batches of URLs."""
    acks = f.stub.PutDiscovered(
        pb.DiscoveredBatch(ID=str(i), items=[f.info(u) for u in urls])
        for i, urls in enumerate(batches))
    return [(a.ID, list(a.statuses)) for a in acks]


@check
def a_batch_has_one_ack_with_statuses_in_the_order_of_its_items(f):
    f.put_new("a")
    is_(discovered(f, ["a", "b", "c", "b"], ["c", "d"]),
        [("0", [SKIPPED, OK, OK, SKIPPED]), ("1", [SKIPPED, OK])])
    is_(sorted(f.get()), ["a", "b", "c", "d"])


@check
def an_empty_batch_and_bad_items_have_their_ack_too(f):
    batch = pb.DiscoveredBatch(ID="x", items=[
        pb.URLInfo(), f.info("u", "k" * 256), f.info("u"),
        f.info("http://", "")])
    acks = list(f.stub.PutDiscovered(iter([pb.DiscoveredBatch(ID="e"),
                                           batch])))
    got = {a.ID: list(a.statuses) for a in acks}
    is_(got, {"e": [], "x": [SKIPPED, SKIPPED, OK, SKIPPED]})


@check
def a_batch_may_be_as_large_as_a_message(f):
    urls = [f"http://a/{i}" for i in range(size(60000))]
    is_(discovered(f, urls), [("0", [OK] * len(urls))])
    is_(f.count(), len(urls))


@check
def who_does_not_read_acks_is_held_back_and_loses_nothing(f):
    n, sent = max(size(3000), 1800), 0

    def batches():
        nonlocal sent
        for i in range(n):
            sent = i + 1
            yield pb.DiscoveredBatch(
                ID="x" * 20000 + str(i),
                items=[f.info(f"http://a/{i}/{j}/" + "y" * 80)
                       for j in range(2)])

    acks = f.stub.PutDiscovered(batches())
    held = -1
    while held != sent:
        held = sent
        time.sleep(1)
    assert held < 1500, f"{held} batches were taken"
    got = list(acks)
    is_([a.ID for a in got], ["x" * 20000 + str(i) for i in range(n)])
    assert all(s == OK for a in got for s in a.statuses)


@check
def a_stream_of_puts_may_stay_open_as_stormcrawlers_does(f):
    """ID = URL, key _DEFAULT_, never half-closed, acks matched by ID."""
    outgoing, acks = queue.Queue(), {}
    stream = f.stub.PutURLs(iter(outgoing.get, None))

    def read():
        for a in stream:
            acks[a.ID] = a.status

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    urls = [f"http://a/{i}" for i in range(300)]
    for u in urls:
        outgoing.put(f.new(u, "_DEFAULT_", ID=u))
    waits(5 + LATE, lambda: len(acks) == 300)
    time.sleep(1.5)  # nothing happens for a while
    served = f.get(10, 10)
    is_(len(served), 10)
    for u in served:
        outgoing.put(f.known(u, 0, "_DEFAULT_", ID=u + "#"))
    waits(5 + LATE, lambda: len(acks) == 310)
    assert all(s == OK for s in acks.values())
    is_(f.figures("_DEFAULT_"), (290, 0, 10, 1, 1))
    outgoing.put(None)
    reader.join(10)


# The sentences about discovered URLs.

# The sentences about known ones.

# The sentences about acknowledgements.

@check
def what_one_caller_has_acked_another_sees(f):
    other = stubs.URLFrontierStub(f.server.another_channel())
    for i in range(20):
        f.put_new(f"u{i}")
        is_(other.CountURLs(pb.CountUrlParams(crawlID=f.crawl)).value, i + 1)


# The sentences about keys.

# The sentences about creation dates and PutDiscovered.

@check
def a_put_stream_that_is_cancelled_keeps_what_was_acked(f):
    outgoing = queue.Queue()
    stream = f.stub.PutURLs(iter(outgoing.get, None))
    for i in range(50):
        outgoing.put(f.new(f"u{i}"))
    acked = [next(stream).ID for _ in range(30)]
    stream.cancel()
    outgoing.put(None)
    assert set(acked) <= set(f.list_urls())

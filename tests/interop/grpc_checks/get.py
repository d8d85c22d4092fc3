"""Contract, section 2, "Get": which URLs are handed out, when, to whom."""
import threading
import time

from grpc_checks.rig import ANY, CLUSTER, LATE, OK, Section, is_, pb, size, waits

section = Section("2 get")
check, check_alone = section.check, section.check_alone


@check
def queues_take_turns(f):
    for k in "abc":
        f.put_new(f"{k}1", f"{k}2", key=k)
        f.delay(0, k)
    got = []
    for _ in range(6):
        waits(2 + LATE, lambda: got.extend(f.get_info(1, 1)) or len(got) == _ + 1)
        f.put(f.known(got[-1].url, 0, got[-1].key))
    turns = [u.key for u in got]
    if CLUSTER:  # shards take turns, and the queues of a shard
        return is_(sorted(turns), sorted("abc" * 2))
    is_(sorted(turns[:3]), ["a", "b", "c"])
    is_(turns[3:], turns[:3])


@check
def urls_of_a_queue_come_by_date(f):
    now = int(time.time())
    f.put(f.known("c", now - 10), f.known("a", now - 30),
          f.known("b", now - 20), f.new("d"))
    is_(f.get(), ["a", "b", "c", "d"])


@check
def max_urls_and_max_queues_bound_the_answer_and_0_does_not(f):
    for k in "abcde":
        f.put_new(*(f"{k}{i}" for i in range(5)), key=k)
        f.delay(600, k)
    got = f.get(2, 3)
    is_(len(got), 6)
    is_(len({u[0] for u in got}), 3)
    is_(len(f.get(0, 0)), 10)  # of the two queues not asked yet


@check
def a_queue_at_the_cap_of_the_call_is_skipped_and_the_cap_not_reduced(f):
    f.put_new(*(f"u{i}" for i in range(9)))
    f.delay(0)
    is_(len(f.get(2)), 2)
    time.sleep(1.1)
    is_(f.get(2), [])
    is_(len(f.get(3)), 3)
    is_(f.stats().inProcess, 5)


@check
def the_default_delay_is_1_s_and_at_most_1_s_longer(f):
    f.put_new("u1", "u2")
    begun = time.monotonic()
    is_(f.get(1), ["u1"])
    waits(2 + LATE, lambda: f.get(5) == ["u2"])
    assert time.monotonic() - begun >= 0.95


@check
def a_delay_of_2_s_holds_for_2_to_3_s(f):
    f.put_new("u1", "u2")
    f.delay(2)
    begun = time.monotonic()
    is_(f.get(1), ["u1"])
    waits(3 + LATE, lambda: f.get(5) == ["u2"])
    assert time.monotonic() - begun >= 1.95


@check
def a_hold_ends_at_its_date_and_the_url_is_served_again(f):
    f.put_new("u")
    f.delay(0)
    begun = time.monotonic()
    is_(f.get(delay=2), ["u"])
    waits(3 + LATE, lambda: f.get(delay=2) == ["u"])
    assert time.monotonic() - begun >= 1.9


@check
def a_hold_of_0_is_30_s(f):
    f.put_new("u")
    f.delay(0)
    begun = time.monotonic()
    is_(f.get(delay=0), ["u"])
    time.sleep(2.5)
    now = f.get(), f.stats().inProcess
    if time.monotonic() - begun < 29:
        is_(now, ([], 1))


@check
def a_hold_ends_with_a_known_update(f):
    f.put_new("u")
    f.delay(0)
    is_(f.get(), ["u"])
    f.put(f.known("u", 1000))
    is_(f.stats().inProcess, 0)
    waits(1 + LATE, lambda: f.get() == ["u"])
    f.put(f.known("u", 0))
    is_(f.figures(), (0, 0, 1, 0, 1))


@check
def delay_is_charged_only_when_a_url_went_out(f):
    f.put(f.known("u1", time.time() + 1000))
    f.delay(5)
    is_(f.get(), [])
    f.put_new("u2")
    is_(f.get(), ["u2"])


@check
def a_key_without_crawl_gets_an_empty_answer(f):
    f.put_new("u")
    is_(f.get(key="k", crawl="unset"), [])
    is_(f.get(key="k", crawl=ANY), [])
    is_(f.get(key="k"), ["u"])


@check
def unknown_crawl_or_key_gets_an_empty_answer(f):
    f.put_new("u")
    is_(f.get(crawl=f.crawl + "x"), [])
    is_(f.get(key="x"), [])
    is_(f.get(key="k", crawl=f.crawl + "x"), [])


@check
def a_key_limits_the_answer_to_its_queue(f):
    f.put_new("u1", key="k1")
    f.put_new("u2", key="k2")
    is_(f.get(key="k2"), ["u2"])
    is_(f.get(key="k1"), ["u1"])


@check
def metadata_comes_back_as_it_was_put(f):
    data = {"one": ["1"], "many": ["a", "", "b", "a"], "none": [],
            "\u00e9\u4e2d": ["\U0001f600", "x\0y"], "": ["empty key"]}
    item = pb.URLItem(discovered=pb.DiscoveredURLItem(info=pb.URLInfo(
        url="u", key="k", crawlID=f.crawl,
        metadata={k: pb.StringList(values=v) for k, v in data.items()})))
    is_(f.put(item), [OK])
    got = f.get_info()[0]
    is_({k: list(v.values) for k, v in got.metadata.items()}, data)
    got = f.status("u").known.info
    is_({k: list(v.values) for k, v in got.metadata.items()}, data)
    got = f.list()[0].known.info
    is_({k: list(v.values) for k, v in got.metadata.items()}, data)


@check
def two_callers_never_get_the_same_url(f):
    for k in range(40):
        is_(f.put(*(f.new(f"{k}/{i}", f"q{k}") for i in range(5))), [OK] * 5)
        f.delay(0, f"q{k}")
    got = []

    def take():
        end = time.monotonic() + 4
        while time.monotonic() < end and len(got) < 200:
            got.extend(f.get(1, 10, delay=600))

    threads = [threading.Thread(target=take, daemon=True) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    is_(len(got), len(set(got)))


# The sentences about turns and order.

@check
def discovered_urls_of_a_queue_come_in_order_of_arrival(f):
    urls = [f"u{i * 7919 % 200:03}" for i in range(200)]
    f.put_new(*urls)
    is_(f.get(), urls)


@check
def urls_put_with_equal_dates_come_in_a_stable_order(f):
    at = int(time.time()) - 100
    f.put(*(f.known(f"u{i}", at) for i in (3, 1, 2)))
    first = f.get(delay=1)
    f.delay(0)
    waits(2 + LATE, lambda: f.stats().inProcess == 0)
    is_(sorted(first), ["u1", "u2", "u3"])
    is_(f.get(), first)


@check
def a_queue_that_was_tried_in_vain_goes_to_the_back_too(f):
    f.put_new("a1", key="a")
    f.put(f.known("b1", time.time() + 1000, "b"))
    f.put_new("c1", key="c")
    is_(sorted(f.get(1, 5)), ["a1", "c1"])


@check
def queues_of_other_crawls_are_skipped(f):
    other = f.crawl + "other"
    for i in range(20):
        f.put(f.new(f"mine{i}", f"k{i}"),
              f.new(f"other{i}", f"k{i}", crawl=other))
    is_(sorted(f.get(1, 100)), sorted(f"mine{i}" for i in range(20)))
    is_({u.crawlID for u in f.get_info(1, 100, crawl=other)}, {other})


# The reasons for which a queue is skipped, also when it is asked for by name.

@check
def a_blocked_queue_is_skipped(f):
    f.put_new("a1", key="a")
    f.put_new("b1", key="b")
    f.block(time.time() + 1000, "a")
    is_(f.get(key="a"), [])
    is_(f.get(), ["b1"])


@check
def a_queue_whose_limit_is_reached_is_skipped(f):
    f.put_new("a1", "a2", key="a")
    f.put_new("b1", key="b")
    f.limit(1, "a")
    f.put(f.known("a1", 0, "a"))
    is_(f.get(key="a"), [])
    is_(f.get(), ["b1"])


@check
def a_queue_whose_delay_has_not_passed_is_skipped(f):
    f.put_new("a1", "a2", key="a")
    f.put_new("b1", key="b")
    f.delay(600, "a")
    is_(f.get(1, key="a"), ["a1"])
    is_(f.get(key="a"), [])
    is_(f.get(), ["b1"])


@check
def a_queue_at_the_cap_is_skipped_when_asked_for_by_name(f):
    f.put_new(*(f"u{i}" for i in range(9)))
    f.delay(0)
    is_(len(f.get(2, key="k")), 2)
    time.sleep(1.1)
    is_(f.get(2, key="k"), [])
    is_(len(f.get(3, key="k")), 3)


@check
def a_cap_of_2_with_2_held_serves_nothing_and_a_cap_of_3_then_3_more(f):
    f.put_new(*(f"u{i}" for i in range(9)))
    f.delay(0)
    is_(f.get(2), ["u0", "u1"])
    waits(2 + LATE, lambda: f.get(2) == [] and f.get(3) == ["u2", "u3", "u4"])


@check
def a_delay_of_0_serves_again_within_a_second(f):
    f.put_new("u1", "u2", "u3")
    f.delay(0)
    is_(f.get(1), ["u1"])
    waits(1 + LATE, lambda: f.get(2) == ["u2", "u3"])


@check
def a_delay_runs_from_the_last_time_a_url_went_out(f):
    f.put_new("u1", "u2")
    f.delay(2)
    begun = time.monotonic()
    is_(f.get(1), ["u1"])
    waits(3 + LATE, lambda: f.get(2) == ["u2"])  # in vain does not prolong it
    assert time.monotonic() - begun >= 1.95


# The sentences about holds.

@check
def the_count_of_held_urls_falls_when_the_hold_ends_without_a_call(f):
    f.put_new("u")
    f.put_new("v", key="long")
    is_(f.get(key="long", delay=600), ["v"])
    begun = time.monotonic()
    is_(f.get(delay=2), ["u"])
    now = f.figures()
    if time.monotonic() - begun < 1.9:
        is_(now, (2, 2, 0, 2, 2))
    waits(3 + LATE, lambda: f.figures() == (2, 1, 0, 2, 2))
    assert time.monotonic() - begun >= 1.9


@check
def a_held_url_put_with_a_date_to_come_is_not_held_and_not_served(f):
    f.put_new("u")
    f.delay(0)
    is_(f.get(delay=1), ["u"])
    f.put(f.known("u", time.time() + 1000))
    is_(f.stats().inProcess, 0)
    time.sleep(2.1)
    is_(f.get(), [])


@check
def each_call_may_hold_for_another_time(f):
    f.put_new("u1", "u2")
    f.delay(0)
    is_(f.get(1, delay=600), ["u1"])
    waits(1 + LATE, lambda: f.get(2, delay=1) == ["u2"])
    waits(3 + LATE, lambda: f.get(2, delay=1) == ["u2"])
    is_(f.status("u1").known.info.url, "u1")


@check
def a_hold_of_the_longest_number_is_taken(f):
    f.put_new("u")
    f.delay(0)
    is_(f.get(delay=2**32 - 1), ["u"])
    time.sleep(1.1)
    is_(f.get(), [])
    f.put(f.known("u", 0))
    is_(f.figures(), (0, 0, 1, 0, 1))


@check
def what_is_handed_out_says_url_key_crawl_and_metadata(f):
    f.put(f.new("http://h:1/x", "", m=["1", "2"]))
    is_(f.get_info()[0], f.info("http://h:1/x", "h", m=["1", "2"]))


@check
def a_crawl_of_blanks_with_a_key_is_default_and_without_one_is_empty(f):
    key = f.crawl + "key"
    f.put(f.new("u", key, crawl=" "))
    is_(f.get(crawl=""), [])
    is_(f.get(key=key, crawl=""), ["u"])


@check
def a_queue_is_handed_out_whole_when_nothing_bounds_it(f):
    n = size(5000)
    f.put(*(f.new(f"u{i}") for i in range(n)))
    is_(len(set(f.get())), n)
    is_(f.figures()[:2], (n, n))

"""Contract, section 2, "Get": which URLs are handed out, when, to whom."""
import threading
import time

from grpc_checks.rig import ANY, CLUSTER, LATE, OK, Section, is_, pb, waits

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

# The reasons for which a queue is skipped, also when it is asked for by name.

# The sentences about holds.

"""The URLFrontier API as a client sees it: grpcio against `urlweir serve`.

One function per statement of the API; its name says the statement. Checks that
touch what is shared by all (active flag, default delay, restarts) have a server
of their own; the others share one, each in a crawl of its own, six at a time.

usage: grpc_client.py [PART_OF_A_NAME...]
"""
# pip: grpcio grpcio-tools grpcio-health-checking grpcio-reflection
import concurrent.futures
import http.server
import os
import queue
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import traceback

import grpc
from grpc_tools import protoc

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
WORK = tempfile.mkdtemp(prefix="urlweir-grpc-")
protoc.main(["", f"-I{TOP}/service", f"--python_out={WORK}",
             f"--grpc_python_out={WORK}", "urlfrontier.proto"])
sys.path.insert(0, WORK)
import urlfrontier_pb2 as pb  # noqa: E402
import urlfrontier_pb2_grpc as stubs  # noqa: E402
from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: E402
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (  # noqa: E402
    ProtoReflectionDescriptorDatabase)

OK, SKIPPED, FAIL = (pb.AckMessage.OK, pb.AckMessage.SKIPPED,
                     pb.AckMessage.FAIL)
CODE = grpc.StatusCode
ANY = object()


class Server:
    """One `urlweir serve`, restartable in its directory."""

    def __init__(self, *args, env=None):
        self.args, self.env = args, env
        self.dir = tempfile.mkdtemp(dir=WORK)
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [os.environ["URLWEIR"], "serve", self.dir + "/d",
             "--http", "none", "--listen",
             "127.0.0.1:0", *self.args], stderr=subprocess.PIPE, text=True)
        self.lines = []
        for line in self.process.stderr:
            self.lines.append(line)
            if "listening on " in line:
                self.address = line.split("listening on ")[1].split()[0]
                break
        else:
            raise AssertionError("no server: " + "".join(self.lines))
        threading.Thread(target=self.lines.extend,
                         args=(self.process.stderr,), daemon=True).start()
        self.channel = grpc.insecure_channel(
            self.address, [("grpc.max_receive_message_length", -1)])

    def stop(self):
        self.channel.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.channel.close()

    def __enter__(self):
        return Frontier(self)

    def __exit__(self, *what):
        if self.process.poll() is None:
            self.stop()


class Frontier:
    """The calls, shorter. `crawl` is the check's own."""

    def __init__(self, server, crawl=""):
        self.server, self.crawl = server, crawl

    @property
    def stub(self):
        return stubs.URLFrontierStub(self.server.channel)

    def info(self, url, key="k", crawl=None, **metadata):
        return pb.URLInfo(
            url=url, key=key, crawlID=self.crawl if crawl is None else crawl,
            metadata={k: pb.StringList(values=v) for k, v in metadata.items()})

    def new(self, url, key="k", crawl=None, ID="", **metadata):
        return pb.URLItem(ID=ID, discovered=pb.DiscoveredURLItem(
            info=self.info(url, key, crawl, **metadata)))

    def known(self, url, date, key="k", crawl=None, ID="", **metadata):
        return pb.URLItem(ID=ID, known=pb.KnownURLItem(
            info=self.info(url, key, crawl, **metadata),
            refetchable_from_date=int(date)))

    def put(self, *items):
        """The statuses, in the order of the items."""
        acks = list(self.stub.PutURLs(iter(items), timeout=30))
        assert len(acks) == len(items), f"{len(acks)} acks for {len(items)}"
        return [a.status for a in acks]

    def put_new(self, *urls, key="k"):
        want = [OK] * len(urls)
        is_(self.put(*(self.new(u, key) for u in urls)), want)

    def get_info(self, urls=0, queues=0, key="", delay=0, crawl=None):
        params = pb.GetParams(max_urls_per_queue=urls, max_queues=queues,
                              key=key, delay_requestable=delay)
        if crawl is ANY:
            params.anyCrawlID.SetInParent()
        elif crawl != "unset":
            params.crawlID = self.crawl if crawl is None else crawl
        return list(self.stub.GetURLs(params, timeout=30))

    def get(self, *args, **kwargs):
        return [u.url for u in self.get_info(*args, **kwargs)]

    def status(self, url, key="k", crawl=None):
        return self.stub.GetURLStatus(pb.URLStatusRequest(
            url=url, key=key, crawlID=self.crawl if crawl is None else crawl))

    def list(self, crawl=None, **kwargs):
        return list(self.stub.ListURLs(pb.ListUrlParams(
            crawlID=self.crawl if crawl is None else crawl, **kwargs)))

    def list_urls(self, **kwargs):
        return [i.known.info.url for i in self.list(**kwargs)]

    def count(self, crawl=None, **kwargs):
        return self.stub.CountURLs(pb.CountUrlParams(
            crawlID=self.crawl if crawl is None else crawl, **kwargs)).value

    def queues(self, crawl=None, **kwargs):
        return list(self.stub.ListQueues(pb.Pagination(
            crawlID=self.crawl if crawl is None else crawl, **kwargs)).values)

    def stats(self, key="", crawl=None):
        s = self.stub.GetStats(pb.QueueWithinCrawlParams(
            key=key, crawlID=self.crawl if crawl is None else crawl))
        return s

    def figures(self, key="", crawl=None):
        s = self.stats(key, crawl)
        return (s.size, s.inProcess, s.counts["completed"],
                s.counts["active_queues"], s.numberOfQueues)

    def delay(self, seconds, key="k"):
        self.stub.SetDelay(pb.QueueDelayParams(
            key=key, delay_requestable=seconds, crawlID=self.crawl))

    def block(self, until, key="k"):
        self.stub.BlockQueueUntil(pb.BlockQueueParams(
            key=key, time=int(until), crawlID=self.crawl))

    def limit(self, n, key="k"):
        self.stub.SetCrawlLimit(pb.CrawlLimitParams(
            key=key, limit=n, crawlID=self.crawl))

    def active(self, state):
        self.stub.SetActive(pb.Active(state=state))


def is_(got, want):
    assert got == want, f"got {got!r} instead of {want!r}"


def among(got, low, high):
    assert low <= got <= high, f"{got!r} is not in [{low!r}, {high!r}]"


def fails(code, call, *args, **kwargs):
    try:
        result = call(*args, **kwargs)
        if hasattr(result, "__next__"):
            result = list(result)
    except grpc.RpcError as e:
        is_(e.code(), code)
        return e.details()
    raise AssertionError(f"no {code}: {result!r}")


def waits(seconds, condition, step=0.05):
    """The time until `condition` holds, which it does within `seconds`."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > seconds:
            raise AssertionError(f"not within {seconds} s")
        time.sleep(step)
    return time.monotonic() - begun


shared, alone = [], []


def check(function):
    shared.append(function)
    return function


def check_alone(function):
    alone.append(function)
    return function


# ---- 2. put ------------------------------------------------------------------

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
    n = 5000
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
             "https://EXAMPLE.com/": "EXAMPLE.com",
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
    urls = ["", "nothing", "http://", "http:///x", "http://:80/", "http://?"]
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
        f.info("nokey", "")])
    acks = list(f.stub.PutDiscovered(iter([pb.DiscoveredBatch(ID="e"),
                                           batch])))
    got = {a.ID: list(a.statuses) for a in acks}
    is_(got, {"e": [], "x": [SKIPPED, SKIPPED, OK, SKIPPED]})


@check
def a_batch_may_be_as_large_as_a_message(f):
    urls = [f"http://a/{i}" for i in range(60000)]
    is_(discovered(f, urls), [("0", [OK] * len(urls))])
    is_(f.count(), len(urls))


@check
def who_does_not_read_acks_is_held_back_and_loses_nothing(f):
    sent = 0

    def batches():
        nonlocal sent
        for i in range(3000):
            sent = i + 1
            yield pb.DiscoveredBatch(
                ID="x" * 20000 + str(i),
                items=[f.info(f"http://a/{i}/{j}/" + "y" * 80)
                       for j in range(20)])

    acks = f.stub.PutDiscovered(batches())
    held = -1
    while held != sent:
        held = sent
        time.sleep(1)
    assert held < 1500, f"{held} batches were taken"
    got = list(acks)
    is_([a.ID for a in got], ["x" * 20000 + str(i) for i in range(3000)])
    assert all(s == OK for a in got for s in a.statuses)


@check
def a_stream_of_puts_may_stay_open_as_stormcrawlers_does(f):
    """ID = URL, key _DEFAULT_, never half-closed, acks matched by ID."""
    outgoing, acks = queue.Queue(), {}
    stream = f.stub.PutURLs(iter(outgoing.get, None))

    def read():
        for a in stream:
            acks[a.ID] = a.status

    reader = threading.Thread(target=read)
    reader.start()
    urls = [f"http://a/{i}" for i in range(300)]
    for u in urls:
        outgoing.put(f.new(u, "_DEFAULT_", ID=u))
    waits(5, lambda: len(acks) == 300)
    time.sleep(1.5)  # nothing happens for a while
    served = f.get(10, 10)
    is_(len(served), 10)
    for u in served:
        outgoing.put(f.known(u, 0, "_DEFAULT_", ID=u + "#"))
    waits(5, lambda: len(acks) == 310)
    assert all(s == OK for s in acks.values())
    is_(f.figures("_DEFAULT_"), (290, 0, 10, 1, 1))
    outgoing.put(None)
    reader.join(10)


# ---- 2. get ------------------------------------------------------------------

@check
def queues_take_turns(f):
    for k in "abc":
        f.put_new(f"{k}1", f"{k}2", key=k)
        f.delay(0, k)
    got = []
    for _ in range(6):
        waits(2, lambda: got.extend(f.get_info(1, 1)) or len(got) == _ + 1)
        f.put(f.known(got[-1].url, 0, got[-1].key))
    turns = [u.key for u in got]
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
    f.get(1)
    begun = time.monotonic()
    is_(f.get(5), [])
    waits(2.3, lambda: f.get(5) == ["u2"])
    among(time.monotonic() - begun, 0.95, 2.2)


@check
def a_delay_of_2_s_holds_for_2_to_3_s(f):
    f.put_new("u1", "u2")
    f.delay(2)
    f.get(1)
    begun = time.monotonic()
    waits(3.3, lambda: f.get(5) == ["u2"])
    among(time.monotonic() - begun, 1.95, 3.2)


@check
def a_hold_ends_at_its_date_and_the_url_is_served_again(f):
    f.put_new("u")
    f.delay(0)
    is_(f.get(delay=2), ["u"])
    begun = time.monotonic()
    is_(f.stats().inProcess, 1)
    waits(3.5, lambda: f.get(delay=2) == ["u"])
    among(time.monotonic() - begun, 1.9, 3.3)


@check
def a_hold_of_0_is_30_s(f):
    f.put_new("u")
    f.delay(0)
    is_(f.get(), ["u"])
    time.sleep(2.5)
    is_(f.get(), [])
    is_(f.stats().inProcess, 1)


@check
def a_hold_ends_with_a_known_update(f):
    f.put_new("u")
    f.delay(0)
    is_(f.get(), ["u"])
    f.put(f.known("u", 1000))
    is_(f.stats().inProcess, 0)
    waits(1.2, lambda: f.get() == ["u"])
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
            got.extend(f.get(1, 10, delay=60))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    is_(len(got), len(set(got)))


# ---- 2. control --------------------------------------------------------------

@check
def control_of_an_unknown_queue_is_ok_and_creates_nothing(f):
    f.delay(5, "nobody")
    f.block(time.time() + 50, "nobody")
    is_(f.queues(include_inactive=True), [])
    is_(f.figures(), (0, 0, 0, 0, 0))
    f.put_new("u", key="nobody")
    is_(f.get(), ["u"])


@check
def a_crawl_limit_on_an_unknown_queue_is_unknown(f):
    fails(CODE.UNKNOWN, f.limit, 5, "nobody")
    is_(f.queues(include_inactive=True), [])


@check
def a_queue_blocked_until_t_serves_again_at_t_plus_1(f):
    f.put_new("u")
    t = int(time.time()) + 2
    f.block(t)
    waits(4.5, lambda: f.get() == ["u"])
    among(time.time(), t + 0.95, t + 2.3)


@check
def a_block_of_0_unblocks_and_blocked_queues_take_puts(f):
    f.put_new("u1")
    f.block(time.time() + 1000)
    is_(f.get(), [])
    is_(f.get(key="k"), [])
    f.put_new("u2")
    is_(f.queues(), [])
    is_(f.queues(include_inactive=True), ["k"])
    f.block(0)
    is_(sorted(f.get()), ["u1", "u2"])


@check
def a_crawl_limit_of_n_ends_the_queue_after_n_completed_and_0_lifts_it(f):
    f.put_new(*(f"u{i}" for i in range(6)))
    f.delay(0)
    f.limit(2)
    for u in f.get(2):
        f.put(f.known(u, 0))
    time.sleep(1.1)
    is_(f.get(), [])
    f.limit(0)
    is_(len(f.get()), 4)


@check
def a_log_level_can_be_set_for_any_package(f):
    for level in range(5):
        f.stub.SetLogLevel(pb.LogLevelParams(package=f"p{level}", level=level))
    f.stub.SetLogLevel(pb.LogLevelParams(package="p", level=pb.LogLevelParams.WARN))


@check
def the_node_is_its_own_address(f):
    is_(list(f.stub.ListNodes(pb.Empty()).values), [f.server.address])


@check
def local_changes_nothing(f):
    f.put_new("u")
    is_(f.stub.GetStats(pb.QueueWithinCrawlParams(
        crawlID=f.crawl, local=True)).size, 1)
    is_(f.count(local=True), 1)
    is_(len(f.list(local=True)), 1)
    assert f.crawl in f.stub.ListCrawls(pb.Local(local=True)).values
    is_(f.stub.GetActive(pb.Local(local=True)).state, True)
    is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(
        value=f.crawl, local=True)).value, 1)


# ---- 2. read -----------------------------------------------------------------

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
    fails(CODE.INVALID_ARGUMENT, f.status, "nokey", "")
    fails(CODE.INVALID_ARGUMENT, f.status, "", "")
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
def stats_count_held_and_future_urls_and_finished_queues(f):
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


# ---- 3. better ---------------------------------------------------------------

NAMES = ["_", "_DEFAULT_", " ", "a b", "\u00e9t\u00e9", "\u4e2d\u6587",
         "\U0001f600", "a_b", "a%b", "a\0b", "-", "/", "'; DROP TABLE", "\n"]


@check
def queue_names_are_any_utf8_and_what_is_stored_is_served(f):
    is_(f.put(*(f.new("u" + n, n) for n in NAMES)), [OK] * len(NAMES))
    is_(sorted(f.queues()), sorted(NAMES))
    is_(sorted((u.key, u.url) for u in f.get_info()),
        sorted((n, "u" + n) for n in NAMES))
    for n in NAMES:
        f.put(f.known("u" + n, 0, n))
        is_(f.figures(n), (0, 0, 1, 0, 1))


@check
def crawl_names_are_any_utf8(f):
    for n in NAMES:
        if n.strip():
            name = f.crawl + n
            is_(f.put(f.new("u", crawl=name)), [OK])
            is_([u.crawlID for u in f.get_info(crawl=name)], [name])
            is_(f.stats(crawl=name).crawlID, name)
            assert name in f.stub.ListCrawls(pb.Local()).values


@check
def deleting_crawl1_leaves_crawl10_and_later_writes_alone(f):
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
def a_get_ends_also_when_its_queues_are_deleted_meanwhile(f):
    stop = time.monotonic() + 3

    def churn():
        i = 0
        while time.monotonic() < stop:
            i += 1
            f.put(*(f.new(f"{i}/{j}", f"q{j}") for j in range(20)))
            for j in range(0, 20, 2):
                f.stub.DeleteQueue(pb.QueueWithinCrawlParams(
                    key=f"q{j}", crawlID=f.crawl))

    t = threading.Thread(target=churn)
    t.start()
    while time.monotonic() < stop:
        begun = time.monotonic()
        f.get(1, 100)
        among(time.monotonic() - begun, 0, 2)
        f.stats()
    t.join()


@check
def completing_again_changes_no_count_and_rescheduling_counts_once(f):
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
    results = []

    def stream(n):
        acks = f.stub.PutURLs(f.new(f"http://a/{i}", f"q{i % 5}", ID=str(i))
                              for i in range(3000))
        results.append([a.status for a in acks])

    threads = [threading.Thread(target=stream, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    is_(len(results), 4)
    is_(sum(s == OK for r in results for s in r), 3000)
    is_(sum(s == SKIPPED for r in results for s in r), 9000)
    is_(f.count(), 3000)


# ---- the wire ----------------------------------------------------------------

@check
def a_message_over_4_mib_is_refused_and_one_of_4_mib_is_not(f):
    big = f.new("u" * (4 << 20))
    fails(CODE.RESOURCE_EXHAUSTED, f.put, big)
    url = "v" * ((4 << 20) - 100)
    item = f.new(url)
    assert item.ByteSize() <= 4 << 20
    is_(f.put(item), [OK])
    fails(CODE.RESOURCE_EXHAUSTED, f.status, "u" * (4 << 20))
    is_(f.get(), [url])


@check
def gzip_requests_are_taken(f):
    acks = list(f.stub.PutURLs(
        (f.new(f"http://a/{i}") for i in range(100)),
        compression=grpc.Compression.Gzip))
    is_([a.status for a in acks], [OK] * 100)
    is_(f.stub.GetStats(pb.QueueWithinCrawlParams(crawlID=f.crawl),
                        compression=grpc.Compression.Gzip).size, 100)


@check
def a_gzip_message_that_grows_over_4_mib_is_refused(f):
    fails(CODE.RESOURCE_EXHAUSTED, lambda: list(f.stub.PutURLs(
        iter([f.new("u" * (5 << 20))]), compression=grpc.Compression.Gzip)))


@check
def an_encoding_that_is_not_known_is_unimplemented(f):
    fails(CODE.UNIMPLEMENTED, f.stub.GetActive, pb.Local(),
          compression=grpc.Compression.Deflate)


@check
def an_unknown_method_is_unimplemented(f):
    for path in ("/urlfrontier.URLFrontier/Nothing", "/x.Y/Z", "/", "/a"):
        fails(CODE.UNIMPLEMENTED,
              f.server.channel.unary_unary(path), b"")


@check
def octets_that_are_no_message_are_refused(f):
    call = f.server.channel.unary_unary("/urlfrontier.URLFrontier/GetStats")
    for octets in (b"\xff", b"\x0a\x05ab", b"\x0a\xff\xff\xff\xff\x0f",
                   b"\x0a\x02\xc3\x28"):  # the last is no UTF-8
        fails(CODE.INTERNAL, call, octets)
    stream = f.server.channel.stream_stream("/urlfrontier.URLFrontier/PutURLs")
    fails(CODE.INTERNAL, lambda: list(stream(iter([b"\x0a\xff"]))))


@check
def a_deadline_is_kept(f):
    outgoing = queue.Queue()
    begun = time.monotonic()
    fails(CODE.DEADLINE_EXCEEDED,
          lambda: list(f.stub.PutURLs(iter(outgoing.get, None), timeout=0.5)))
    among(time.monotonic() - begun, 0.4, 2)
    outgoing.put(None)


@check
def a_call_that_is_cancelled_ends_and_the_service_goes_on(f):
    f.put(*(f.new(f"u{i}" + "x" * 1000) for i in range(3000)))
    for _ in range(5):
        call = f.stub.ListURLs(pb.ListUrlParams(crawlID=f.crawl, size=3000))
        next(call)
        call.cancel()
    is_(len(f.list(size=3000)), 3000)


def ask_and_reset(address, path, message):
    """A call and its RST_STREAM in one segment: the server takes both before
    it can answer."""
    def frame(kind, flags, stream, payload):
        return (struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) +
                struct.pack(">I", stream) + payload)

    def literal(name, value):
        return (b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value)

    headers = (b"\x83\x86" + literal(b":path", path) +  # POST, http
               literal(b":authority", b"a") + literal(b"te", b"trailers") +
               literal(b"content-type", b"application/grpc"))
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), 10) as s:
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") +
                  frame(1, 4, 1, headers) +
                  frame(0, 1, 1, struct.pack(">BI", 0, len(message)) + message) +
                  frame(3, 0, 1, struct.pack(">I", 8)) +
                  frame(6, 0, 0, b"12345678"))
        got = b""
        while b"12345678" not in got:  # the PING comes back: all was taken
            got += s.recv(65536)


@check
def urls_got_for_a_call_that_was_given_up_are_given_back(f):
    f.put_new(*(f"u{i}" for i in range(50)))
    f.delay(0)
    ask_and_reset(f.server.address, b"/urlfrontier.URLFrontier/GetURLs",
                  pb.GetParams(crawlID=f.crawl, delay_requestable=600)
                  .SerializeToString())
    got = []
    waits(3, lambda: got.extend(f.get(delay=600)) or len(got) == 50)


@check
def a_caller_that_reads_slowly_gets_all_of_a_long_list(f):
    n = 20000
    list(f.stub.PutDiscovered(
        pb.DiscoveredBatch(items=[f.info(f"{i}/{j}" + "x" * 200)
                                  for j in range(1000)])
        for i in range(n // 1000)))
    urls = set()
    for i, item in enumerate(f.stub.ListURLs(pb.ListUrlParams(
            crawlID=f.crawl, size=n + 10))):
        urls.add(item.known.info.url)
        if i in (100, 5000):
            time.sleep(0.7)
    is_(len(urls), n)
    is_(len(f.get()), n)


@check
def a_hundred_calls_on_one_connection_run_at_once(f):
    f.put_new("u")
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        sizes = list(pool.map(lambda _: f.stats().size, range(1000)))
    is_(set(sizes), {1})


@check
def health_is_told_to_whoever_asks(f):
    health = health_pb2_grpc.HealthStub(f.server.channel)
    serving = health_pb2.HealthCheckResponse.SERVING
    for name in ("", "urlfrontier.URLFrontier"):
        is_(health.Check(health_pb2.HealthCheckRequest(service=name)).status,
            serving)
    fails(CODE.NOT_FOUND, health.Check,
          health_pb2.HealthCheckRequest(service="x"))
    watch = health.Watch(health_pb2.HealthCheckRequest())
    is_(next(watch).status, serving)
    watch.cancel()
    watch = health.Watch(health_pb2.HealthCheckRequest(service="x"))
    is_(next(watch).status, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
    watch.cancel()


@check
def reflection_describes_the_services(f):
    db = ProtoReflectionDescriptorDatabase(f.server.channel)
    assert "urlfrontier.URLFrontier" in db.get_services()
    file = db.FindFileContainingSymbol("urlfrontier.URLFrontier")
    calls = {m.name: (m.client_streaming, m.server_streaming)
             for m in file.service[0].method}
    is_(len(calls), 19)
    is_(calls["PutURLs"], (True, True))
    is_(calls["GetURLs"], (False, True))
    mine = pb.DESCRIPTOR.message_types_by_name
    is_({m.name: [(x.name, x.number, x.type) for x in m.field]
         for m in file.message_type},
        {m.name: [(x.name, x.number, x.type) for x in m.fields]
         for m in mine.values()})
    for name in ("urlfrontier.URLInfo.MetadataEntry",
                 "urlfrontier.AckMessage.Status",
                 "urlfrontier.URLFrontier.GetURLs"):
        is_(db.FindFileContainingSymbol(name).name, "urlfrontier.proto")
    try:
        db.FindFileByName("nothing.proto")
        raise AssertionError("a file that is not there")
    except KeyError:
        pass


# ---- what is shared by all: a server of its own ------------------------------

@check_alone
def a_blank_crawl_is_default_in_every_answer():
    with Server() as f:
        f.put(f.new("http://h/1", ""), f.new("u2", crawl="  "),
              f.new("u3", crawl="DEFAULT"))
        is_(f.get(crawl=""), [])
        is_(f.get(key="h", crawl=""), ["http://h/1"])
        is_(sorted((u.url, u.crawlID) for u in f.get_info(crawl="DEFAULT")),
            [("u2", "DEFAULT"), ("u3", "DEFAULT")])
        is_(f.stats().crawlID, "DEFAULT")
        is_(f.figures(crawl=" ")[0], 3)
        is_(list(f.stub.ListCrawls(pb.Local()).values), ["DEFAULT"])
        q = f.stub.ListQueues(pb.Pagination(include_inactive=True))
        is_((q.crawlID, sorted(q.values)), ("DEFAULT", ["h", "k"]))
        is_(f.status("u2").known.info.crawlID, "DEFAULT")
        is_({i.known.info.crawlID for i in f.list()}, {"DEFAULT"})
        is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value="")).value, 3)


@check_alone
def any_crawl_is_served_when_none_is_named():
    with Server() as f:
        f.put(f.new("u1", crawl="c1"), f.new("u2", crawl="c2"))
        is_(sorted(f.get(crawl=ANY)), ["u1", "u2"])
        f.put(f.new("u3", "k3", crawl="c3"))
        is_([(u.url, u.crawlID) for u in f.get_info(crawl="unset")],
            [("u3", "c3")])


@check_alone
def a_node_that_is_not_active_serves_nothing():
    with Server() as f:
        f.put(f.new("u", crawl="c"))
        is_(f.stub.GetActive(pb.Local()).state, True)
        f.active(False)
        is_(f.stub.GetActive(pb.Local()).state, False)
        is_(f.get(crawl="c"), [])
        is_(f.get(key="k", crawl="c"), [])
        is_(f.put(f.new("u2", crawl="c")), [OK])
        f.active(True)
        is_(sorted(f.get(crawl="c")), ["u", "u2"])


@check_alone
def a_delay_without_key_is_the_default_of_all_queues():
    with Server() as f:
        f.crawl = "c"
        f.put_new("a1", "a2", key="a")
        f.put_new("b1", "b2", key="b")
        f.delay(1, "b")
        f.delay(3, "")
        is_(len(f.get(1)), 2)
        begun = time.monotonic()
        waits(2.3, lambda: f.get(5) == ["b2"])
        waits(3, lambda: f.get(5) == ["a2"])
        among(time.monotonic() - begun, 2.9, 4.3)


def restart_with(end):
    server = Server()
    with server as f:
        f.crawl = "c"
        for k in ("delayed", "blocked", "limited", "held", "done"):
            f.put_new(*(f"{k}{i}" for i in range(4)), key=k)
        f.delay(60, "delayed")
        f.delay(0, "limited")
        f.delay(0, "held")
        f.block(time.time() + 1000, "blocked")
        f.limit(1, "limited")
        f.put(f.known("limited0", 0, "limited"),
              *(f.known(f"done{i}", 0, "done", m=["x"]) for i in range(4)))
        f.put(f.new("m", "meta", a=["1", "2"]))
        is_(len(f.get(1, key="delayed")), 1)
        is_(len(f.get(2, key="held", delay=600)), 2)
        f.active(False)
        before = (f.figures(), sorted(f.queues()), f.count())
        created = f.status("done0", "done").creation_date
        end(server)
        server.start()
        is_((f.figures(), sorted(f.queues()), f.count()), before)
        is_(f.stub.GetActive(pb.Local()).state, False)
        is_(f.get(), [])
        f.active(True)
        time.sleep(1.1)
        for k in ("delayed", "blocked", "limited", "done"):
            is_(f.get(key=k), [])
        is_(sorted(f.get(key="held")), ["held2", "held3"])
        is_(list(f.get_info(key="meta")[0].metadata["a"].values), ["1", "2"])
        is_(f.put(f.new("done0", "done"), f.new("held0", "held")),
            [SKIPPED, SKIPPED])
        is_(f.status("done0", "done").creation_date, created)
        f.limit(0, "limited")
        is_(len(f.get(key="limited")), 3)


@check_alone
def all_that_was_set_survives_a_restart():
    restart_with(lambda s: is_(s.stop(), 0))


@check_alone
def all_that_was_set_survives_a_kill():
    restart_with(lambda s: s.kill())


@check_alone
def what_was_acknowledged_is_there_after_a_kill():
    server = Server()
    with server as f:
        for turn in range(4):
            acked, outgoing = [], queue.Queue()

            def items():
                for i in range(10**6):
                    yield f.new(f"{turn}/{i}", f"q{i % 9}", crawl="c")

            def read():
                try:
                    for a in f.stub.PutURLs(items()):
                        if a.status == OK:
                            acked.append(a.ID)
                except grpc.RpcError:
                    pass

            t = threading.Thread(target=read)
            t.start()
            time.sleep(0.3 + 0.2 * turn)
            server.kill()
            t.join()
            server.start()
            got = set(f.list_urls(crawl="c", size=2**31))
            lost = [u for u in acked if u not in got]
            assert acked and not lost, f"{len(lost)} of {len(acked)} lost"


@check_alone
def a_completed_or_held_url_is_not_served_twice_over_a_kill():
    server = Server()
    with server as f:
        f.crawl = "c"
        f.put_new(*(f"u{i}" for i in range(500)))
        f.delay(0)
        first = f.get(200, delay=600)
        f.put(*(f.known(u, 0) for u in first[:100]))
        server.kill()
        server.start()
        time.sleep(1.1)
        second = f.get(300 + 200, delay=600)
        is_(sorted(first + second), sorted(f"u{i}" for i in range(500)))


@check_alone
def a_stop_acknowledges_what_was_taken_and_ends_streams_as_unavailable():
    server = Server()
    with server as f:
        outgoing, acks, ended = queue.Queue(), [], []

        def read():
            try:
                for a in f.stub.PutURLs(iter(outgoing.get, None)):
                    acks.append(a)
            except grpc.RpcError as e:
                ended.append(e.code())

        t = threading.Thread(target=read)
        t.start()
        for i in range(100):
            outgoing.put(f.new(f"u{i}"))
        waits(5, lambda: len(acks) == 100)
        begun = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        is_(server.process.wait(10), 0)
        among(time.monotonic() - begun, 0, 4)
        t.join(5)
        is_(ended, [CODE.UNAVAILABLE])
        outgoing.put(None)
        server.start()
        is_(f.count(), 100)


@check_alone
def health_says_not_serving_while_the_service_stops():
    server = Server()
    with server:
        watch = health_pb2_grpc.HealthStub(server.channel).Watch(
            health_pb2.HealthCheckRequest())
        is_(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        server.process.send_signal(signal.SIGTERM)
        is_(next(watch).status, health_pb2.HealthCheckResponse.NOT_SERVING)
        fails(CODE.UNAVAILABLE, lambda: list(watch))
        is_(server.process.wait(10), 0)


# ---- who may -----------------------------------------------------------------

TOKENS = {"read": "reader-0123456789", "write": "writer-0123456789",
          "admin": "admin-01234567890"}


def token_file(*roles):
    path = tempfile.mktemp(dir=WORK)
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        for r in roles:
            file.write(f"{r} {TOKENS[r]}\n")
    return path


def bearer(token):
    return [("authorization", "Bearer " + token)]


@check_alone
def tokens_say_who_may_what():
    path = token_file("read", "write", "admin")
    server = Server("--token-file", path)
    with server as f:
        empty = pb.QueueWithinCrawlParams(crawlID="c")
        for metadata in (None, bearer("wrong-0123456789"), bearer("x"),
                         [("authorization", TOKENS["admin"])]):
            fails(CODE.UNAUTHENTICATED, f.stub.GetStats, empty,
                  metadata=metadata)
            fails(CODE.UNAUTHENTICATED, f.stub.PutURLs, iter([]),
                  metadata=metadata)
        fails(CODE.UNAUTHENTICATED, server.channel.unary_unary("/a/b"), b"")
        item = f.new("u", crawl="c")
        for role in TOKENS:
            m = bearer(TOKENS[role])
            f.stub.GetStats(empty, metadata=m)
            if role == "read":
                fails(CODE.PERMISSION_DENIED, f.stub.PutURLs, iter([item]),
                      metadata=m)
                fails(CODE.PERMISSION_DENIED, f.stub.GetURLs, pb.GetParams(),
                      metadata=m)
            else:
                is_(len(list(f.stub.PutURLs(iter([item]), metadata=m))), 1)
            if role != "admin":
                fails(CODE.PERMISSION_DENIED, f.stub.DeleteQueue, empty,
                      metadata=m)
                fails(CODE.PERMISSION_DENIED, f.stub.SetActive, pb.Active(),
                      metadata=m)
        m = bearer(TOKENS["admin"])
        is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value="c"),
                               metadata=m).value, 1)
        health = health_pb2_grpc.HealthStub(server.channel)
        health.Check(health_pb2.HealthCheckRequest())  # a probe has no token


@check_alone
def tokens_are_read_anew_on_sighup():
    path = token_file("read")
    server = Server("--token-file", path)
    with server as f:
        call = f.stub.GetActive
        call(pb.Local(), metadata=bearer(TOKENS["read"]))
        shutil.copyfile(token_file("admin"), path)
        server.process.send_signal(signal.SIGHUP)

        def taken():
            try:
                return call(pb.Local(), metadata=bearer(TOKENS["admin"])).state
            except grpc.RpcError:
                return False

        waits(5, taken)
        fails(CODE.UNAUTHENTICATED, call, pb.Local(),
              metadata=bearer(TOKENS["read"]))


def certificates():
    """A CA, a certificate for localhost and one for a client."""
    d = tempfile.mkdtemp(dir=WORK)

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=d, check=True,
                       capture_output=True)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
            "ca.key", "-out", "ca.pem", "-subj", "/CN=test CA", "-days", "2")
    with open(d + "/ext", "w") as f:
        f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout",
                name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem",
                "-CAkey", "ca.key", "-CAcreateserial", "-out", name + ".pem",
                "-days", "2", "-extfile", "ext")
    return d


def read(path):
    with open(path, "rb") as f:
        return f.read()


@check_alone
def the_fetcher_of_the_documentation_fetches():
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 99)

        def log_message(self, *args):
            pass

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    with open(TOP + "/docs/service.md") as file:
        code = re.search("(?s)```python\n(.*?)```", file.read()).group(1)
    with Server() as f:
        urls = [f"http://127.0.0.1:{web.server_port}/{i}" for i in range(3)]
        is_(f.put(*(f.new(u, f"q{i}") for i, u in enumerate(urls))), [OK] * 3)
        out = subprocess.run(
            [sys.executable, "-c", code.replace("127.0.0.1:7071",
                                                f.server.address)],
            cwd=WORK, capture_output=True, text=True, timeout=30)
        is_((sorted(out.stdout.splitlines()), out.stderr),
            ([f"{u} 99" for u in urls], ""))
        is_(f.figures()[:3], (0, 0, 3))
    web.shutdown()


@check_alone
def tls_and_client_certificates():
    d = certificates()
    ca = read(d + "/ca.pem")
    with Server("--tls-cert", d + "/server.pem", "--tls-key",
                d + "/server.key") as f:
        server = f.server
        fails(CODE.UNAVAILABLE, f.stub.GetActive, pb.Local())
        server.channel = grpc.secure_channel(
            server.address, grpc.ssl_channel_credentials(ca))
        is_(f.stub.GetActive(pb.Local()).state, True)
        is_(f.put(*(f.new(f"u{i}" + "x" * 500, crawl="c")
                    for i in range(5000))), [OK] * 5000)
        is_(len(f.list(crawl="c", size=5000)), 5000)
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        server.channel = grpc.secure_channel(
            server.address, grpc.ssl_channel_credentials(ca))
        is_(f.stub.GetActive(pb.Local()).state, True)
    with Server("--tls-cert", d + "/server.pem", "--tls-key",
                d + "/server.key", "--client-ca", d + "/ca.pem") as f:
        server = f.server
        server.channel = grpc.secure_channel(
            server.address, grpc.ssl_channel_credentials(ca))
        fails(CODE.UNAVAILABLE, f.stub.GetActive, pb.Local())
        server.channel = grpc.secure_channel(
            server.address, grpc.ssl_channel_credentials(
                ca, read(d + "/client.key"), read(d + "/client.pem")))
        is_(f.stub.GetActive(pb.Local()).state, True)


# ---- running them ------------------------------------------------------------

def run(function, *args):
    begun = time.monotonic()
    try:
        function(*args)
        result = None
    except Exception:  # every check tells its own failure
        result = traceback.format_exc()
        if os.environ.get("VERBOSE") is None:
            result = re.sub(r"(?s)^.*\n(  File [^\n]*grpc_client)", r"\1",
                            result)
    return function.__name__, result, time.monotonic() - begun


def main():
    wanted = sys.argv[1:]

    def chosen(checks):
        return [c for c in checks
                if not wanted or any(w in c.__name__ for w in wanted)]

    server = Server()
    with server, concurrent.futures.ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(run, c, Frontier(server, f"crawl-{i}-"))
                for i, c in enumerate(chosen(shared))]
        jobs += [pool.submit(run, c) for c in chosen(alone)]
        results = [j.result() for j in jobs]
        code = server.stop()
    failed = [(name, text) for name, text, _ in results if text]
    for name, text in failed:
        print(f"FAILED {name.replace('_', ' ')}\n{text}")
    if os.environ.get("VERBOSE"):
        for name, _, took in sorted(results, key=lambda r: -r[2])[:10]:
            print(f"{took:6.2f} s  {name}")
    for line in server.lines:
        if "listening" not in line:
            print(line, end="")
    shutil.rmtree(WORK, ignore_errors=True)
    assert code == 0, f"the server ended with {code}"
    print(f"{len(results) - len(failed)} of {len(results)} statements hold")
    sys.exit(1 if failed else 0)


main()

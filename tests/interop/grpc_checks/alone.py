"""What is shared by all callers, and restarts."""
import queue
import signal
import threading
import time

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from grpc_checks.rig import (ANY, CLUSTER, CODE, FAIL, LATE, OK, SKIPPED,
                             Section, Server, among, fails, is_, own_address,
                             pb, stubs, waits)

section = Section("2 alone")
check, check_alone = section.check, section.check_alone


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
        f.delay(600, "")
        begun = time.monotonic()
        is_(len(f.get(1)), 2)
        waits(2 + LATE, lambda: f.get(5) == ["b2"])
        is_(f.get(5), [])
        f.delay(3, "")
        waits(4 + LATE, lambda: f.get(5) == ["a2"])
        assert time.monotonic() - begun >= 2.9


def restart_with(end):
    server = Server()
    with server as f:
        f.crawl = "c"
        for k in ("delayed", "blocked", "limited", "held", "done"):
            f.put_new(*(f"{k}{i}" for i in range(4)), key=k)
        f.delay(600, "delayed")
        f.delay(0, "limited")
        f.delay(0, "held")
        f.block(time.time() + 1000, "blocked")
        f.limit(1, "limited")
        f.put(f.known("limited0", 0, "limited"),
              *(f.known(f"done{i}", 0, "done", m=["x"]) for i in range(4)))
        f.put(f.new("m", "meta", a=["1", "2"]))
        is_(len(f.get(1, key="delayed", delay=600)), 1)
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
            acked = []

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

            t = threading.Thread(target=read, daemon=True)
            t.start()
            waits(5 + LATE, lambda: acked)
            time.sleep(0.2 * turn)
            server.kill()
            t.join()
            server.start()
            got = set(f.list_urls(crawl="c", size=2**31))
            lost = [u for u in acked if u not in got]
            assert not lost, f"{len(lost)} of {len(acked)} lost"


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

        t = threading.Thread(target=read, daemon=True)
        t.start()
        for i in range(100):
            outgoing.put(f.new(f"u{i}"))
        waits(5 + LATE, lambda: len(acks) == 100)
        server.process.send_signal(signal.SIGTERM)
        is_(server.process.wait(4 + LATE), 0)
        t.join(5 + LATE)
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
        is_(server.process.wait(4 + LATE), 0)


@section.needs_directory
@check_alone
def a_store_that_cannot_be_written_makes_acks_that_say_fail():
    """No silence, no OK for what is not on disk; and what was is there."""
    server = Server(limit=4096)
    with server as f:
        is_(f.put(f.new("first", crawl="c")), [OK])
        acks = []
        try:
            for a in f.stub.PutURLs(
                    (f.new(f"http://h{i % 9}/{i}" + "x" * 200, f"h{i % 9}",
                           crawl="c", ID=str(i)) for i in range(15000)),
                    timeout=300):
                acks.append(a)
        except grpc.RpcError as e:
            raise AssertionError(f"after {len(acks)} acks: {e.code()}")
        is_([a.ID for a in acks], [str(i) for i in range(15000)])
        ok = sum(a.status == OK for a in acks)
        is_([a.status for a in acks], [OK] * ok + [FAIL] * (15000 - ok))
        among(ok, 0, 14999)
        server.kill()
        server.limit = None
        server.start()
        among(f.count(crawl="c"), 1 + ok, 15001)
        is_(f.put(f.new("first", crawl="c"), f.new("another", crawl="c")),
            [SKIPPED, OK])


@check_alone
def a_client_finds_the_service_again_after_a_restart():
    """GOAWAY, then UNAVAILABLE, then the same channel goes on."""
    server = Server(host=own_address())
    with server as f:
        f.put(f.new("u", crawl="c"))
        channel = server.channel
        stub = stubs.URLFrontierStub(channel)
        server.process.send_signal(signal.SIGTERM)
        is_(server.process.wait(4 + LATE), 0)
        fails(CODE.UNAVAILABLE, stub.GetStats, pb.QueueWithinCrawlParams())
        server.listen = server.address
        server.start()
        is_(stub.GetStats(pb.QueueWithinCrawlParams(crawlID="c"),
                          wait_for_ready=True, timeout=300).size, 1)
        channel.close()


@check_alone
def callers_that_never_read_cost_bounded_memory():
    """Twelve connections put without reading an ack and twelve list without
    reading a URL: what they cost is a window each, not what they send."""
    with Server() as f:
        f.put(*(f.new(f"http://h/{i}" + "x" * 1000, crawl="c")
                for i in range(20000)))
        before = f.server.memory("VmRSS")
        channels = [f.server.another_channel() for _ in range(12)]
        sent, calls = [0] * 12, []

        def items(n):
            for i in range(10**6):
                sent[n] = i
                yield f.new(f"{n}/{i}", f"q{n}", crawl="d", ID="x" * 5000)

        for n, channel in enumerate(channels):
            stub = stubs.URLFrontierStub(channel)
            calls.append(stub.PutURLs(items(n)))
            calls.append(stub.ListURLs(pb.ListUrlParams(
                crawlID="c", size=20000)))
        waits(5 + LATE, lambda: all(sent))
        seen = None
        while seen != sum(sent):
            seen = sum(sent)
            time.sleep(1)
        among(max(sent), 1, 40000)
        # In a cluster librdkafka has a queue for each shard, too.
        among(f.server.memory("VmHWM") - before, 0, 300 if CLUSTER else 200)
        is_(f.put(f.new("u", crawl="e")), [OK])  # others are served
        for call in calls:
            call.cancel()
        for channel in channels:
            channel.close()

"""Contract, section 2, "Control": delays, blocks, limits, what is for all."""
import time

from grpc_checks.rig import (CODE, LATE, OK, Section, fails, is_, pb, waits)

section = Section("2 control")
check, check_alone = section.check, section.check_alone


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
    waits(4 + LATE, lambda: f.get() == ["u"])
    assert time.time() >= t + 0.95, "before t + 1"


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
    nodes = list(f.stub.ListNodes(pb.Empty()).values)
    is_(sorted(nodes), sorted(f.server.nodes))


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


@check
def a_delay_may_be_made_longer_and_shorter(f):
    f.put_new("u1", "u2", "u3")
    f.delay(600)
    is_(f.get(1), ["u1"])
    time.sleep(1.5)
    is_(f.get(3), [])
    f.delay(0)
    waits(1 + LATE, lambda: f.get(2) == ["u2", "u3"])


@check
def a_delay_is_of_one_queue_of_one_crawl(f):
    other = f.crawl + "other"
    f.put(*(f.new(u, k, crawl=c) for u in ("u1", "u2") for k in ("a", "b")
            for c in (f.crawl, other)))
    f.delay(600, "a")
    is_(len(f.get(1)), 2)
    is_(len(f.get(1, crawl=other)), 2)
    waits(2 + LATE, lambda: [u.key for u in f.get_info(2)] == ["b"])
    got = []
    waits(2 + LATE, lambda: got.extend(f.get(2, crawl=other)) or got[1:])
    is_(sorted(got), ["u2", "u2"])


@check
def a_delay_set_before_the_queue_is_there_has_no_effect(f):
    f.delay(600)
    f.put_new("u1", "u2")
    is_(f.get(1), ["u1"])
    waits(2 + LATE, lambda: f.get(2) == ["u2"])


@check
def the_default_delay_may_be_set_to_what_it_is(f):
    f.delay(1, "")  # other jobs rely on it
    f.put_new("u1", "u2")
    begun = time.monotonic()
    is_(f.get(1), ["u1"])
    waits(2 + LATE, lambda: f.get(2) == ["u2"])
    assert time.monotonic() - begun >= 0.95


@check
def a_block_is_of_one_queue_of_one_crawl(f):
    other = f.crawl + "other"
    f.put(*(f.new("u", k, crawl=c) for k in ("a", "b")
            for c in (f.crawl, other)))
    f.block(time.time() + 1000, "a")
    is_([u.key for u in f.get_info()], ["b"])
    is_(len(f.get(crawl=other)), 2)


@check
def a_block_until_a_moment_gone_by_does_not_block(f):
    f.put_new("u")
    f.block(time.time() - 5)
    is_(f.get(), ["u"])


@check
def a_later_block_takes_the_place_of_the_former(f):
    f.put_new("u")
    f.block(time.time() + 1000)
    f.block(time.time() + 1)
    waits(3 + LATE, lambda: f.get() == ["u"])


@check
def a_block_until_the_end_of_time_is_taken_and_lifted(f):
    f.put_new("u")
    f.block(2**64 - 1)
    is_(f.get(), [])
    f.block(0)
    is_(f.get(), ["u"])


@check
def a_blocked_queue_takes_completions(f):
    f.put_new("u1", "u2")
    f.get(1)
    f.block(time.time() + 1000)
    is_(f.put(f.known("u1", 0)), [OK])
    is_(f.figures(), (1, 0, 1, 1, 1))


@check
def a_block_set_before_the_queue_is_there_has_no_effect(f):
    f.block(time.time() + 1000)
    f.put_new("u")
    is_(f.get(), ["u"])


@check
def urls_handed_out_and_not_completed_do_not_count_for_the_limit(f):
    f.put_new(*(f"u{i}" for i in range(4)))
    f.limit(2)
    is_(len(f.get()), 4)


@check
def a_limit_below_what_is_completed_ends_the_queue_at_once(f):
    f.put_new("u1", "u2", "u3")
    f.put(f.known("u1", 0), f.known("u2", 0))
    f.limit(1)
    is_(f.get(), [])
    f.limit(3)
    is_(f.get(), ["u3"])


@check
def a_limit_is_of_one_queue_of_one_crawl(f):
    other = f.crawl + "other"
    f.put(*(f.new(u, k, crawl=c) for u in ("u1", "u2") for k in ("a", "b")
            for c in (f.crawl, other)))
    f.limit(1, "a")
    for c in (f.crawl, other):
        f.put(*(f.known("u1", 0, k, crawl=c) for k in ("a", "b")))
    is_([u.key for u in f.get_info()], ["b"])
    is_(len(f.get(crawl=other)), 2)


@check
def ours_a_completed_url_put_again_makes_room_below_the_limit(f):
    f.put_new("u1", "u2")
    f.limit(1)
    f.put(f.known("u1", 0))
    is_(f.get(), [])
    f.put(f.known("u1", 1000))
    is_(sorted(f.get()), ["u1", "u2"])


@check
def a_queue_at_its_limit_takes_puts(f):
    f.put(f.known("u", 0))
    f.limit(1)
    is_(f.put(f.new("v")), [OK])
    is_(f.figures(), (1, 0, 1, 1, 1))


@check
def stormcrawlers_queue_regulator_finds_its_calls(f):
    """Retry-After and back-off as blocks, Crawl-delay as a delay, on the
    literal key that StormCrawler gives URLs without host."""
    key = "_DEFAULT_"
    f.put_new("u1", "u2", "u3", key=key)
    f.delay(1, key)
    is_(f.get(1, 10), ["u1"])
    f.block(time.time() + 1, key)
    waits(4 + LATE, lambda: f.get(2, 10) == ["u2", "u3"])


@check
def local_changes_nothing_for_queues(f):
    f.put_new("u1", "u2")
    p = dict(key="k", crawlID=f.crawl, local=True)
    f.stub.SetDelay(pb.QueueDelayParams(delay_requestable=0, **p))
    f.stub.BlockQueueUntil(pb.BlockQueueParams(
        time=int(time.time()) + 1000, **p))
    is_(f.get(), [])
    f.stub.BlockQueueUntil(pb.BlockQueueParams(time=0, **p))
    f.stub.SetCrawlLimit(pb.CrawlLimitParams(limit=1, **p))
    f.put(f.known("u1", 0))
    is_(f.get(), [])
    is_(list(f.stub.ListQueues(pb.Pagination(
        crawlID=f.crawl, local=True)).values), ["k"])
    f.stub.SetActive(pb.Active(state=True, local=True))
    f.stub.SetLogLevel(pb.LogLevelParams(
        package="p", level=pb.LogLevelParams.WARN, local=True))
    is_(f.stub.DeleteQueue(pb.QueueWithinCrawlParams(**p)).value, 2)


@check
def the_node_is_active_until_it_is_told_otherwise(f):
    is_(f.stub.GetActive(pb.Local()).state, True)
    f.active(True)
    is_(f.stub.GetActive(pb.Local(local=True)).state, True)


@check
def ours_a_log_level_that_there_is_not_is_an_invalid_argument(f):
    fails(CODE.INVALID_ARGUMENT, f.stub.SetLogLevel,
          pb.LogLevelParams(package="p", level=99))

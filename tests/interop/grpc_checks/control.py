"""Contract, section 2, "Control": delays, blocks, limits, what is for all."""
import time

from grpc_checks.rig import CODE, LATE, Section, fails, is_, pb, waits

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
def ours_a_log_level_that_there_is_not_is_an_invalid_argument(f):
    fails(CODE.INVALID_ARGUMENT, f.stub.SetLogLevel,
          pb.LogLevelParams(package="p", level=99))

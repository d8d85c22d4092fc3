"""Contract, section 1: names, numbers and kinds; and gRPC as clients speak it."""
import concurrent.futures
import queue
import threading
import time

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)

from grpc_checks.rig import (CODE, LATE, OK, Section, Server, among, fails,
                             is_, pb, size, stubs)

section = Section("1 wire")
check, check_alone = section.check, section.check_alone


# ---- names, numbers and kinds ------------------------------------------------

CALLS = """PutURLs URLItem* AckMessage*, PutDiscovered DiscoveredBatch* BatchAck*,
GetURLs GetParams URLInfo*, GetURLStatus URLStatusRequest URLItem,
ListURLs ListUrlParams URLItem*, CountURLs CountUrlParams Long,
PurgeURLs PurgeUrlParams Long, ListQueues Pagination QueueList,
DeleteQueue QueueWithinCrawlParams Long, BlockQueueUntil BlockQueueParams Empty,
SetDelay QueueDelayParams Empty, SetCrawlLimit CrawlLimitParams Empty,
GetStats QueueWithinCrawlParams Stats, ListCrawls Local StringList,
DeleteCrawl DeleteCrawlMessage Long, SetActive Active Empty,
GetActive Local Boolean, SetLogLevel LogLevelParams Empty,
ListNodes Empty StringList"""

# name: number name type, as in the contract's table.
MESSAGES = {
    "Empty": "", "AnyCrawlID": "", "Local": "1 local bool",
    "Active": "1 state bool, 2 local bool", "Boolean": "1 state bool",
    "Long": "1 value uint64", "StringList": "1 values repeated string",
    "DeleteCrawlMessage": "1 value string, 2 local bool",
    "URLInfo": "1 url string, 2 key string, "
               "3 metadata map string StringList, 4 crawlID string",
    "DiscoveredURLItem": "1 info URLInfo",
    "KnownURLItem": "1 info URLInfo, 2 refetchable_from_date uint64",
    "URLItem": "1 discovered DiscoveredURLItem, 2 known KnownURLItem, "
               "3 ID string, 4 creation_date uint64",
    "AckMessage": "1 ID string, 2 status AckMessage.Status",
    "DiscoveredBatch": "1 ID string, 2 items repeated URLInfo",
    "BatchAck": "1 ID string, 2 statuses repeated AckMessage.Status",
    "GetParams": "1 max_urls_per_queue uint32, 2 max_queues uint32, "
                 "3 key string, 4 delay_requestable uint32, "
                 "5 anyCrawlID AnyCrawlID, 6 crawlID string",
    "Pagination": "1 start uint32, 2 size uint32, 3 include_inactive bool, "
                  "4 crawlID string, 5 local bool",
    "QueueList": "1 values repeated string, 2 total uint64, 3 start uint32, "
                 "4 size uint32, 5 crawlID string",
    "QueueWithinCrawlParams": "1 key string, 2 crawlID string, 3 local bool",
    "Stats": "1 size uint64, 2 inProcess uint32, 3 counts map string uint64, "
             "4 numberOfQueues uint64, 5 crawlID string",
    "QueueDelayParams": "1 key string, 2 delay_requestable uint32, "
                        "3 crawlID string, 4 local bool",
    "BlockQueueParams": "1 key string, 2 time uint64, 3 crawlID string, "
                        "4 local bool",
    "CrawlLimitParams": "1 key string, 2 limit uint32, 3 crawlID string, "
                        "4 local bool",
    "LogLevelParams": "1 package string, 2 level LogLevelParams.Level, "
                      "3 local bool",
    "URLStatusRequest": "1 url string, 2 key string, 3 crawlID string",
    "ListUrlParams": "1 start uint32, 2 size uint32, 3 key string, "
                     "4 crawlID string, 5 local bool, "
                     "6 filter optional string, 7 ignoreCase optional bool",
    "CountUrlParams": "1 key string, 2 crawlID string, "
                      "3 filter optional string, 4 ignoreCase optional bool, "
                      "5 local optional bool",
    "PurgeUrlParams": "1 key string, 2 crawlID string, 3 days uint32",
}
ENUMS = {"AckMessage.Status": ["OK", "SKIPPED", "FAIL"],
         "LogLevelParams.Level": ["TRACE", "DEBUG", "INFO", "WARN", "ERROR"]}
PREFIX = "/urlfrontier.URLFrontier/"


def described(f):
    """The service as it describes itself."""
    return (ProtoReflectionDescriptorDatabase(f.server.channel)
            .FindFileContainingSymbol("urlfrontier.URLFrontier"))


def type_of(field, entries):
    plain = {4: "uint64", 13: "uint32", 8: "bool", 9: "string"}
    name = plain.get(field.type) or field.type_name.replace(
        ".urlfrontier.", "")
    entry = entries.get(field.type_name)
    if entry is not None:
        return "map " + " ".join(type_of(x, {}) for x in entry.field)
    if field.proto3_optional:
        return "optional " + name
    return "repeated " + name if field.label == 3 else name


@check
def the_19_calls_have_their_names_types_and_kinds(f):
    got = [" ".join([m.name,
                     m.input_type.split(".")[-1] + "*" * m.client_streaming,
                     m.output_type.split(".")[-1] + "*" * m.server_streaming])
           for m in described(f).service[0].method]
    is_(sorted(got), sorted(CALLS.replace("\n", " ").split(", ")))


@check
def every_message_has_the_fields_of_the_table(f):
    file = described(f)
    is_((file.package, file.syntax), ("urlfrontier", "proto3"))
    got = {}
    for m in file.message_type:
        entries = {f".urlfrontier.{m.name}.{n.name}": n for n in m.nested_type}
        got[m.name] = ", ".join(f"{x.number} {x.name} {type_of(x, entries)}"
                                for x in m.field)
    is_(got, MESSAGES)


@check
def every_enum_has_the_numbers_of_the_table(f):
    got = {f"{m.name}.{e.name}": [v.name for v in e.value
                                  if v.number == list(e.value).index(v)]
           for m in described(f).message_type for e in m.enum_type}
    is_(got, ENUMS)


@check
def the_oneofs_are_those_of_the_table(f):
    got = {}
    for m in described(f).message_type:
        for x in m.field:
            if x.HasField("oneof_index") and not x.proto3_optional:
                got.setdefault(m.name + "." + m.oneof_decl[
                    x.oneof_index].name, []).append(x.name)
    is_(got, {"URLItem.item": ["discovered", "known"],
              "GetParams.item": ["anyCrawlID", "crawlID"]})


@check
def every_call_answers_an_empty_question_in_its_kind(f):
    """Octets alone, so that no generated code of ours is in between."""
    channel, quiet = f.server.channel, (
        "SetActive", "DeleteCrawl", "PurgeURLs", "SetLogLevel", "GetURLs")
    for row in CALLS.replace("\n", " ").split(", "):
        name, asks, answers = row.split(" ")
        if name in quiet:
            continue  # what other checks have would be changed
        if asks.endswith("*"):
            is_(list(channel.stream_stream(PREFIX + name)(iter([]))), [])
        elif answers.endswith("*"):
            list(channel.unary_stream(PREFIX + name)(b""))
        elif name == "GetURLStatus":
            fails(CODE.INVALID_ARGUMENT, channel.unary_unary(PREFIX + name),
                  b"")
        elif name == "SetCrawlLimit":
            fails(CODE.UNKNOWN, channel.unary_unary(PREFIX + name), b"")
        elif name == "SetDelay":
            channel.unary_unary(PREFIX + name)(b"\x0a\x01x")
        else:
            channel.unary_unary(PREFIX + name)(b"")


@check
def octets_of_a_put_and_of_its_ack_are_those_of_the_encoding(f):
    crawl = f.crawl.encode()
    info = b"\x0a\x01u" + b"\x12\x01k" + b"\x22" + bytes([len(crawl)]) + crawl
    found = b"\x0a" + bytes([len(info)]) + info
    item = b"\x0a" + bytes([len(found)]) + found + b"\x1a\x02id"
    put = f.server.channel.stream_stream(PREFIX + "PutURLs")
    is_(list(put(iter([item, item]))),
        [b"\x0a\x02id", b"\x0a\x02id\x10\x01"])
    get = f.server.channel.unary_stream(PREFIX + "GetURLs")
    is_(list(get(b"\x32" + bytes([len(crawl)]) + crawl)), [info])


@check
def the_statuses_of_a_batch_are_packed(f):
    info = f.info("u").SerializeToString()
    item = b"\x12" + bytes([len(info)]) + info
    put = f.server.channel.stream_stream(PREFIX + "PutDiscovered")
    is_(list(put(iter([b"\x0a\x01b" + item + item]))),
        [b"\x0a\x01b\x12\x02\x00\x01"])


@check
def fields_of_later_versions_are_passed_over(f):
    more = b"\xa0\x06\x01\xaa\x06\x03abc"  # 100: a varint, 101: octets
    item = f.new("u", ID="i").SerializeToString() + more
    put = f.server.channel.stream_stream(PREFIX + "PutURLs")
    is_(list(put(iter([item]))), [b"\x0a\x01i"])
    get = f.server.channel.unary_stream(PREFIX + "GetURLs")
    is_(len(list(get(pb.GetParams(crawlID=f.crawl).SerializeToString()
                     + more))), 1)


@check
def of_two_members_of_a_oneof_the_last_counts(f):
    known = f.known("u", 0).SerializeToString()
    found = f.new("u").SerializeToString()
    put = f.server.channel.stream_stream(PREFIX + "PutURLs")
    is_(len(list(put(iter([found + known])))), 1)
    is_(f.figures(), (0, 0, 1, 0, 1))


@check
def fields_come_in_any_order_and_the_last_of_a_kind_counts(f):
    info = f.info("u")
    octets = (b"\x12\x01x" + b"\x0a\x01y" + info.SerializeToString())
    item = b"\x1a\x01i\x0a" + bytes([len(octets) + 2]) + b"\x0a" + bytes(
        [len(octets)]) + octets
    put = f.server.channel.stream_stream(PREFIX + "PutURLs")
    is_(list(put(iter([item]))), [b"\x0a\x01i"])
    is_(f.get_info(), [info])


@check
def a_spout_asks_for_ten_of_ten_with_or_without_a_crawl(f):
    for k in range(12):
        f.put_new(*(f"{k}/{i}" for i in range(12)), key=f"q{k}")
    got = f.get_info(10, 10, delay=300)
    is_(len(got), 100)
    is_(len({u.key for u in got}), 10)
    is_(len(f.get(10, 10, delay=300)), 20)  # the two that are left


@check
def an_updater_may_have_thousands_of_urls_on_their_way(f):
    n, acks = size(10000), {}
    for a in f.stub.PutURLs(f.new(f"http://h{i % 9}/{i}", f"h{i % 9}",
                                  ID=f"http://h{i % 9}/{i}")
                            for i in range(n)):
        acks[a.ID] = a.status
    is_(len(acks), n)
    is_(set(acks.values()), {OK})
    is_(f.figures()[0], n)


# ---- messages ----------------------------------------------------------------

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
    among(time.monotonic() - begun, 0.4, 2 + LATE)
    outgoing.put(None)


@check
def a_call_that_is_cancelled_ends_and_the_service_goes_on(f):
    f.put(*(f.new(f"u{i}" + "x" * 1000) for i in range(size(3000))))
    for _ in range(5):
        call = f.stub.ListURLs(pb.ListUrlParams(crawlID=f.crawl, size=3000))
        next(call)
        call.cancel()
    is_(len(f.list(size=3000)), size(3000))


@check
def a_caller_that_reads_slowly_gets_all_of_a_long_list(f):
    n = size(20000)
    list(f.stub.PutDiscovered(
        pb.DiscoveredBatch(items=[f.info(f"{i}/{j}" + "x" * 200)
                                  for j in range(1000)])
        for i in range(n // 1000)))
    urls = set()
    for i, item in enumerate(f.stub.ListURLs(pb.ListUrlParams(
            crawlID=f.crawl, size=n + 10))):
        urls.add(item.known.info.url)
        if i in (100, 1500, 5000):
            time.sleep(0.7)
    is_(len(urls), n)
    is_(len(f.get()), n)


@check
def a_hundred_calls_on_one_connection_run_at_once(f):
    f.put_new("u")
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        sizes = list(pool.map(lambda _: f.stats().size, range(size(1000))))
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



@check
def many_connections_at_once_are_served(f):
    f.put_new("u")
    channels = [f.server.another_channel() for _ in range(60)]
    asked = [stubs.URLFrontierStub(c).GetStats.future(
        pb.QueueWithinCrawlParams(crawlID=f.crawl)) for c in channels]
    is_({a.result(timeout=300).size for a in asked}, {1})
    for c in channels:
        c.close()


def open_put(f, channel, url):
    """Put one URL on a stream of its own, and leave it open: crawler4j's
    adapter does so for each page. The call, and what ends its requests."""
    ends, sent = threading.Event(), f.new(url)

    def items():
        yield sent
        ends.wait(600)

    call = stubs.URLFrontierStub(channel).PutURLs(items(), timeout=600)
    is_(next(call).status, OK)
    return call, ends


@check_alone
def a_caller_that_leaves_a_stream_open_for_each_page_goes_on():
    """Its oldest streams end with OK; a caller with a few keeps them all."""
    with Server() as f:
        few = f.server.another_channel()
        kept = [open_put(f, few, f"kept{i}") for i in range(16)]
        many = f.server.another_channel()
        open_put(f, many, "first")
        before = f.server.memory("VmRSS")
        left = [open_put(f, many, f"u{i}") for i in range(320)]
        is_(f.count(), 337)
        for call, _ in left[:100]:
            is_(next(call, None), None)
            is_(call.code(), CODE.OK)
        for call, _ in kept + left[-100:]:
            is_(call.done(), False)
        assert f.server.memory("VmRSS") - before < 20
        for call, ends in kept:
            ends.set()
            is_(list(call), [])
        for _, ends in left:
            ends.set()
        few.close()
        many.close()

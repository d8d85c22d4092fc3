"""Contract, section 1: names, numbers and kinds; and gRPC as clients speak it."""
import concurrent.futures
import gzip
import queue
import socket
import struct
import threading
import time

import grpc
import h2.config
import h2.connection
import h2.events
import h2.settings
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase)

from grpc_checks.rig import (CODE, LATE, OK, Section, Server, among, fails, is_, pb,
                             size, stubs, waits)

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
def urls_got_for_a_call_that_was_given_up_are_given_back(f):
    f.put_new(*(f"u{i}" for i in range(50)))
    f.delay(0)
    with Http2(f.server.address) as h:
        stream = h.ask("GetURLs", framed(pb.GetParams(
            crawlID=f.crawl, delay_requestable=600)), send=False)
        h.conn.reset_stream(stream, 8)  # in one segment with the question
        h.ping()
    got = []
    waits(3 + LATE, lambda: got.extend(f.get(delay=600)) or len(got) == 50)


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


# ---- HTTP/2, by hand ---------------------------------------------------------

def framed(message, compressed=0):
    octets = message if isinstance(message, bytes) \
        else message.SerializeToString()
    return struct.pack(">BI", compressed, len(octets)) + octets


class Http2:
    """A connection on which a check says what is sent, frame by frame."""

    def __init__(self, address, **settings):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), 120)
        self.conn = h2.connection.H2Connection(h2.config.H2Configuration(
            validate_outbound_headers=False, header_encoding="utf-8"))
        self.conn.initiate_connection()
        if settings:
            self.conn.update_settings({
                getattr(h2.settings.SettingCodes, k): v
                for k, v in settings.items()})
        self.streams, self.events, self.closed = {}, [], False
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.socket.close()

    def flush(self):
        self.socket.sendall(self.conn.data_to_send())

    def headers(self, call, *more, **changed):
        """Begin a call; the stream's number."""
        stream = self.conn.get_next_available_stream_id()
        fields = {":method": "POST", ":scheme": "http",
                  ":path": PREFIX + call, ":authority": "a",
                  "te": "trailers", "content-type": "application/grpc"}
        for name, value in changed.items():
            name = name.replace("_", "-")
            fields[":" + name if ":" + name in fields else name] = value
        self.conn.send_headers(stream, [
            (k, v) for k, v in fields.items() if v is not None] + list(more))
        self.streams[stream] = {"data": b"", "headers": {}, "ended": False}
        return stream

    def ask(self, call, octets, send=True, **changed):
        stream = self.headers(call, **changed)
        self.conn.send_data(stream, octets, end_stream=True)
        if send:
            self.flush()
        return stream

    def take(self, credit=True):
        """What the socket has, once."""
        octets = self.socket.recv(65536)
        if not octets:
            self.closed = True
            return
        for e in self.conn.receive_data(octets):
            self.events.append(e)
            s = self.streams.get(getattr(e, "stream_id", None))
            if isinstance(e, (h2.events.ResponseReceived,
                              h2.events.TrailersReceived)):
                s["headers"].update(e.headers)
            elif isinstance(e, h2.events.DataReceived):
                s["data"] += e.data
                if credit:
                    self.conn.acknowledge_received_data(
                        e.flow_controlled_length, e.stream_id)
            elif isinstance(e, (h2.events.StreamEnded,
                                h2.events.StreamReset)):
                s["ended"] = True
        self.flush()

    def until(self, condition, credit=True):
        while not condition():
            assert not self.closed, "the connection was closed"
            self.take(credit)

    def answer(self, stream):
        """(grpc-status, messages) of a call."""
        s = self.streams[stream]
        self.until(lambda: s["ended"])
        return s["headers"].get("grpc-status"), list(messages_of(s["data"]))

    def ping(self):
        """All that was sent before has been taken when it comes back."""
        seen = sum(isinstance(e, h2.events.PingAckReceived)
                   for e in self.events)
        self.conn.ping(b"12345678")
        self.flush()
        self.until(lambda: sum(isinstance(e, h2.events.PingAckReceived)
                               for e in self.events) > seen)


def messages_of(octets):
    while octets:
        flag, n = struct.unpack(">BI", octets[:5])
        is_(flag, 0)
        yield octets[5:5 + n]
        octets = octets[5 + n:]


def stats_of(f):
    return framed(pb.QueueWithinCrawlParams(crawlID=f.crawl))


@check
def a_message_may_come_octet_by_octet_and_several_in_one_frame(f):
    with Http2(f.server.address) as h:
        stream = h.headers("PutURLs")
        octets = b"".join(framed(f.new(f"u{i}")) for i in range(3))
        for i in range(40):
            h.conn.send_data(stream, octets[i:i + 1])
            h.flush()
        h.conn.send_data(stream, octets[40:], end_stream=True)
        h.flush()
        is_(h.answer(stream), ("0", [b"\x0a\x02u%d" % i for i in range(3)]))


@check
def padding_and_empty_frames_are_passed_over(f):
    with Http2(f.server.address) as h:
        stream = h.headers("GetStats")
        h.conn.send_data(stream, b"", pad_length=200)
        h.conn.send_data(stream, stats_of(f), pad_length=255)
        h.conn.send_data(stream, b"", end_stream=True)
        h.flush()
        is_(h.answer(stream)[0], "0")


@check
def a_window_of_a_few_octets_is_kept_to(f):
    f.put_new(*(f"u{i}" + "x" * 100 for i in range(20)))
    with Http2(f.server.address, INITIAL_WINDOW_SIZE=7) as h:
        stream = h.ask("ListURLs", framed(pb.ListUrlParams(crawlID=f.crawl)))
        status, got = h.answer(stream)
        is_((status, len(got)), ("0", 20))
        most = max(len(e.data) for e in h.events
                   if isinstance(e, h2.events.DataReceived))
        among(most, 1, 7)


@check
def pings_are_answered_while_calls_are_open(f):
    with Http2(f.server.address) as h:
        stream = h.headers("PutURLs")
        for i in range(30):
            h.conn.send_data(stream, framed(f.new(f"u{i}")))
            h.ping()
        h.conn.end_stream(stream)
        h.flush()
        is_(len(h.answer(stream)[1]), 30)


@check
def a_client_that_keeps_its_connection_alive_with_pings_is_left_in_peace(f):
    channel = f.server.another_channel(
        ("grpc.keepalive_time_ms", 200), ("grpc.keepalive_timeout_ms", 60000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_time_between_pings_ms", 200))
    stub = stubs.URLFrontierStub(channel)
    outgoing = queue.Queue()
    acks = stub.PutURLs(iter(outgoing.get, None))
    for i in range(4):
        outgoing.put(f.new(f"u{i}"))
        is_(next(acks).status, OK)
        time.sleep(0.7)
    outgoing.put(None)
    is_(list(acks), [])
    channel.close()


@check
def acks_come_while_the_callers_side_stays_open(f):
    with Http2(f.server.address) as h:
        stream = h.headers("PutURLs")
        h.conn.send_data(stream, framed(f.new("u", ID="i")))
        h.flush()
        h.until(lambda: h.streams[stream]["data"])
        is_(list(messages_of(h.streams[stream]["data"])), [b"\x0a\x01i"])
        is_(h.streams[stream]["ended"], False)
        h.conn.end_stream(stream)
        h.flush()
        is_(h.answer(stream)[0], "0")


@check
def a_message_cut_short_by_the_end_is_refused(f):
    with Http2(f.server.address) as h:
        for octets in (b"\0", b"\0\0\0\0\x09abc"):
            is_(h.answer(h.ask("GetStats", octets)), ("13", []))
        stream = h.ask("PutURLs", framed(f.new("u")) + b"\0\0\0")
        is_(h.answer(stream)[0], "13")


@check
def a_call_of_one_message_with_none_or_two_is_refused(f):
    with Http2(f.server.address) as h:
        is_(h.answer(h.ask("GetStats", b"")), ("13", []))
        is_(h.answer(h.ask("GetStats", stats_of(f) * 2)), ("13", []))
        is_(h.answer(h.ask("GetStats", stats_of(f)))[0], "0")


@check
def a_message_said_to_be_compressed_in_no_way_is_refused(f):
    with Http2(f.server.address) as h:
        is_(h.answer(h.ask("GetStats", framed(b"", 1)))[0], "13")
        is_(h.answer(h.ask("GetStats", framed(b"", 2)))[0], "13")
        octets = gzip.compress(b"\x12\x01c")
        is_(h.answer(h.ask("GetStats", framed(octets, 1),
                           grpc_encoding="gzip"))[0], "0")
        is_(h.answer(h.ask("GetStats", framed(b"no gzip", 1),
                           grpc_encoding="gzip"))[0], "13")


@check
def a_request_that_is_no_grpc_is_told_so_by_http(f):
    with Http2(f.server.address) as h:
        for changed, status in (({"method": "GET"}, "405"),
                                ({"content_type": "application/json"}, "415"),
                                ({"content_type": None}, "415")):
            stream = h.headers("GetStats", **changed)
            h.conn.end_stream(stream)
            h.flush()
            h.until(lambda: h.streams[stream]["ended"])
            is_(h.streams[stream]["headers"][":status"], status)


@check
def content_types_with_a_suffix_or_parameters_are_grpc(f):
    with Http2(f.server.address) as h:
        for kind in ("application/grpc+proto", "application/grpc;x=y"):
            is_(h.answer(h.ask("GetStats", stats_of(f), content_type=kind))[0],
                "0")


@check
def timeouts_of_every_unit_are_understood(f):
    with Http2(f.server.address) as h:
        for text in ("1H", "10M", "99999999S", "99999999m", "99999999u"):
            is_(h.answer(h.ask("GetStats", stats_of(f), grpc_timeout=text))[0],
                "0")
        got = h.answer(h.ask("GetStats", stats_of(f), grpc_timeout="99999999n"))
        assert got[0] == "0" or got[0] == "4"  # a tenth of a second
        begun = time.monotonic()
        stream = h.headers("PutURLs", grpc_timeout="300m")
        h.flush()
        is_(h.answer(stream)[0], "4")
        among(time.monotonic() - begun, 0.25, 1 + LATE)
        for text in ("1x", "", "-1S", "123456789S", "S"):
            status = h.answer(h.ask("GetStats", stats_of(f),
                                    grpc_timeout=text))[0]
            assert status != "0", text


@check
def metadata_that_is_not_known_is_passed_over(f):
    with Http2(f.server.address) as h:
        stream = h.headers(
            "GetStats", ("x-any", "thing"), ("x-any-bin", "AAECAw"),
            ("user-agent", "x" * 1000), ("grpc-accept-encoding", "br,gzip"),
            ("grpc-trace-bin", "AAAA"), ("cookie", "a"), ("cookie", "b"))
        h.conn.send_data(stream, stats_of(f), end_stream=True)
        h.flush()
        is_(h.answer(stream)[0], "0")


@check
def more_metadata_than_there_is_room_for_is_refused(f):
    fails(CODE.RESOURCE_EXHAUSTED, f.stub.GetStats,
          pb.QueueWithinCrawlParams(crawlID=f.crawl),
          metadata=[("x-large", "x" * 12000), ("x-larger", "y" * 12000)])
    is_(f.figures(), (0, 0, 0, 0, 0))


@check
def a_call_begun_and_left_does_no_harm(f):
    for method in ("PutURLs", "PutDiscovered", "GetURLs", "GetStats"):
        h = Http2(f.server.address)
        stream = h.headers(method)
        h.conn.send_data(stream, b"\0\0\0\0\x40ab")
        h.ping()
        h.socket.close()
    is_(f.figures(), (0, 0, 0, 0, 0))


@check
def a_stream_that_is_reset_leaves_the_others_of_its_connection(f):
    with Http2(f.server.address) as h:
        keep, gone = h.headers("PutURLs"), h.headers("PutURLs")
        h.conn.send_data(gone, framed(f.new("gone")))
        h.conn.send_data(keep, framed(f.new("u1")))
        h.conn.reset_stream(gone, 8)
        h.conn.send_data(keep, framed(f.new("u2")), end_stream=True)
        h.flush()
        is_(len(h.answer(keep)[1]), 2)


@check
def a_status_alone_comes_with_the_headers(f):
    with Http2(f.server.address) as h:
        stream = h.ask("GetURLStatus", framed(pb.URLStatusRequest(
            url="u", key="k", crawlID=f.crawl)))
        is_(h.answer(stream), ("5", []))
        got = h.streams[stream]["headers"]
        is_((got[":status"], got["content-type"]),
            ("200", "application/grpc"))


@check
def many_connections_at_once_are_served(f):
    f.put_new("u")
    channels = [f.server.another_channel() for _ in range(60)]
    asked = [stubs.URLFrontierStub(c).GetStats.future(
        pb.QueueWithinCrawlParams(crawlID=f.crawl)) for c in channels]
    is_({a.result(timeout=300).size for a in asked}, {1})
    for c in channels:
        c.close()


@check
def a_hundred_streams_of_one_connection_put_at_once(f):
    n = size(2000)

    def stream(i):
        return f.put(*(f.new(f"{i}/{j}", f"q{i % 9}")
                       for j in range(n // 100)))

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        got = sum(pool.map(stream, range(100)), [])
    is_(set(got), {OK})
    is_(f.count(), n // 100 * 100)


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


@check
def a_call_that_came_too_late_hands_nothing_out(f):
    """Its URLs are with the caller, or free for the next one."""
    f.put_new(*(f"u{i}" for i in range(50)))
    f.delay(0)
    got = []
    with Http2(f.server.address) as h:
        for _ in range(20):
            status, urls = h.answer(h.ask("GetURLs", framed(pb.GetParams(
                crawlID=f.crawl, max_urls_per_queue=2,
                delay_requestable=600)), grpc_timeout="1n"))
            assert status == "4" or status == "0", status
            got += urls
    waits(3 + LATE, lambda: f.stats().inProcess == len(got))
    rest = []

    def all_came():
        # A call may still be served, and takes a moment to give back its URLs.
        rest.extend(f.get(delay=600))
        return len(rest) >= 50 - len(got)
    waits(3 + LATE, all_came)
    is_(len(rest), 50 - len(got))
    is_(len(set(rest)), len(rest))

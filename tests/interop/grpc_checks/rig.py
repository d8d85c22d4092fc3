"""What the checks of the URLFrontier API stand on: a server, the calls in short,
and words to say what must be. URLWEIR names the binary."""
import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

import grpc
from grpc_tools import protoc

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 3))
sys.path.insert(0, TOP + "/tests/support")
from background import own_address  # noqa: E402,F401
# Six jobs share the messages that the first process has made.
WORK = os.environ.get("GRPC_WORK") or tempfile.mkdtemp(prefix="urlweir-grpc-")
if not os.path.exists(WORK + "/urlfrontier_pb2.py"):
    protoc.main(["", f"-I{TOP}/service/urlfrontier", f"--python_out={WORK}",
                 f"--grpc_python_out={WORK}", "urlfrontier.proto"])
sys.path.insert(0, WORK)
import urlfrontier_pb2 as pb  # noqa: E402
import urlfrontier_pb2_grpc as stubs  # noqa: E402

OK, SKIPPED, FAIL = (pb.AckMessage.OK, pb.AckMessage.SKIPPED,
                     pb.AckMessage.FAIL)
CODE = grpc.StatusCode
ANY = object()
# The first of six jobs takes full sizes; LATE is what a busy machine may add
# to a moment that is promised to the second. That nothing comes too soon is
# shown by a clock that was read before the call: a check may be held up too.
JOB = int(os.environ.get("GRPC_JOB", "0"))
CLUSTER = os.environ.get("CLUSTER")
SHARDS = os.environ.get("SHARDS", "4")  # of a service in a cluster
LATE = float(os.environ.get("GRPC_LATE", "90"))


def size(n):
    return n if JOB == 0 else max(n // 10, 1)


class Server:
    """One `urlweir serve`, restartable in its directory; with CLUSTER, the URL of
    the brokers without the name, in a frontier of its own there."""

    count = 0

    def __init__(self, *args, limit=None, host="127.0.0.1", name=None):
        self.args, self.limit, self.listen = args, limit, host + ":0"
        self.dir = tempfile.mkdtemp(dir=WORK)
        Server.count += 1
        self.name = name or f"front{os.getpid()}-{Server.count}"
        self.start()

    def place(self):
        """What the URLs are in."""
        if CLUSTER:
            return [self.dir + "/d", "--cluster", f"{CLUSTER}/{self.name}",
                    "--shards", SHARDS, "--http", "127.0.0.1:0"]
        return [self.dir + "/d", "--http", "none"]

    def start(self):
        command = [os.environ["URLWEIR"], "serve", *self.place(),
                   "--listen", self.listen, *self.args]
        if self.limit is not None:  # of a file, in blocks of 512 octets
            command = ["sh", "-c", 'trap "" XFSZ; ulimit -f "$1"; shift; '
                       'exec "$@"', "sh", str(self.limit), *command]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE,
                                        text=True)
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
        self.nodes = [self.address]
        self.channel = grpc.insecure_channel(
            self.address, [("grpc.max_receive_message_length", -1)])
        if CLUSTER:  # until all shards are somebody's; if we may ask
            with contextlib.suppress(grpc.RpcError):
                stubs.URLFrontierStub(self.channel).GetStats(
                    pb.QueueWithinCrawlParams(), timeout=60)

    def another_channel(self, *options):
        """A connection of its own."""
        return grpc.insecure_channel(self.address, [
            ("grpc.use_local_subchannel_pool", 1), *options])

    def memory(self, what="VmHWM"):
        """A line of the process's status, in MiB."""
        with open(f"/proc/{self.process.pid}/status") as f:
            for line in f:
                if line.startswith(what + ":"):
                    return int(line.split()[1]) / 1024
        raise AssertionError("no " + what)

    def stop(self):
        self.channel.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)

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
        acks = list(self.stub.PutURLs(iter(items), timeout=300))
        assert len(acks) == len(items), f"{len(acks)} acks for {len(items)}"
        return [a.status for a in acks]

    def put_new(self, *urls, key="k"):
        want = [OK] * len(urls)
        is_(self.put(*(self.new(u, key) for u in urls)), want)

    def get_info(self, urls=0, queues=0, key="", delay=600, crawl=None):
        """Held for longer than any check takes, unless said otherwise."""
        params = pb.GetParams(max_urls_per_queue=urls, max_queues=queues,
                              key=key, delay_requestable=delay)
        if crawl is ANY:
            params.anyCrawlID.SetInParent()
        elif crawl != "unset":
            params.crawlID = self.crawl if crawl is None else crawl
        return list(self.stub.GetURLs(params, timeout=300))

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
    assert got == want, f"got {got!r:.500} instead of {want!r:.500}"


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


class Section:
    """Checks that come from one section of the contract. `shared` ones get a
    Frontier with a crawl of their own; `alone` ones start what they need."""

    all = []

    def __init__(self, name, of_directory=False):
        self.name, self.of_directory = name, of_directory
        self.shared, self.alone, self.with_directory = [], [], []
        Section.all.append(self)

    def check(self, function):
        function.section = self.name
        self.shared.append(function)
        return function

    def check_alone(self, function):
        function.section = self.name
        self.alone.append(function)
        return function

    def needs_directory(self, function):
        """With --cluster there is none."""
        self.with_directory.append(function)
        return function


class Remote:
    """Servers that somebody else has started; calls take turns between them."""

    def __init__(self, addresses):
        self.nodes = addresses.split(",")
        self.addresses = itertools.cycle(self.nodes)
        self.channels = itertools.cycle([grpc.insecure_channel(
            a, [("grpc.max_receive_message_length", -1)])
            for a in self.nodes])

    @property
    def address(self):
        return next(self.addresses)

    @property
    def channel(self):
        return next(self.channels)

    another_channel = Server.another_channel

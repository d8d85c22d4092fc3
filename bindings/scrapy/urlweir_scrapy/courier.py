"""The thread between the scheduler and the service.

    enqueue_request ─► puts ──┐                         ┌─► ready ─► next_request
                              ├─ turn: put, then ack, ──┤
    what has ended ──► acks ──┘  extend, lease          └─► drained: nothing is left

What makes a kill harmless is one order: a page is acknowledged after the
requests that its callback made are on the service's disk. Both lists are taken
at the same moment, and all puts are sent before the first ack; the callback's
requests were appended before the page had ended.

A call that the service cannot answer is made again until it can: a put that
was made twice is skipped, an ack that was made twice finds its lease gone.
What the service refuses will be refused again, so the thread ends, unsent acks
with it: their leases run out, and the pages are fetched again.

Threads: `put`, `ack`, `take`, `drained`, `pause` and `close` are for Scrapy's; the rest
runs in the thread itself. `_cond` guards what both touch.
"""
import heapq
import json
import logging
import threading
import time
from collections import Counter

from urlweir_scrapy.client import Client, Refused, Unreachable

logger = logging.getLogger(__name__)

PUT_MOST, PUT_OCTETS = 1000, 2 << 20  # of one call; the service takes 4 MiB
SETTLE_MOST = 1000
ROOM = 10_000  # puts that wait before `put` does
WAIT_FOR_ROOM = 1.0  # seconds that it stops Scrapy at most
POLL_LEAST, POLL_MOST = 0.05, 1.0  # seconds between leases when nothing is due
MIDDLE = 800_000_000  # the date of priority 0, in 1995; the last one is in 2020
RETRY_LEAST, RETRY_MOST = 0.1, 5.0
CLOSE_SECONDS = 30  # to bring the rest to a service that does not answer


class GaveUp(Exception):
    """The service did not come back before the end."""


class Courier(threading.Thread):
    """`news(counts)` is called in the thread after each turn that changed something."""

    def __init__(self, settings, news):
        super().__init__(name="urlweir", daemon=True)
        self._settings = settings
        self._client = Client(settings)
        self._news = news
        self._cond = threading.Condition()
        # both threads
        self._puts, self._acks = [], []
        self._ready = []  # a heap: (-priority, order of arrival, lease, URL as it came)
        self._leases = set()  # that are ours: waiting, being fetched, or not acked yet
        self._drained = False
        self._paused = False
        self._closing_until = None
        self.failed = None  # why the thread has ended before its time
        self._ended, self._on_end = False, None
        # the thread's own
        self._counts = Counter()
        self._changed = False
        self._order = 0
        self._delayed = set()  # queues whose delay is set
        self._lease_at = self._extend_at = 0.0
        self._poll = POLL_LEAST

    def check(self):
        """One call before the thread starts. Refused, Unreachable: it need not start."""
        self._client.get("/v1/stats", crawl=self._settings.crawl)

    # ---- for Scrapy's thread ----

    def put(self, item):
        with self._cond:
            if len(self._puts) >= ROOM:
                self._cond.wait_for(lambda: len(self._puts) < ROOM, WAIT_FOR_ROOM)
            self._puts.append(item)
            self._drained = False
            self._cond.notify_all()

    def ack(self, leases):
        with self._cond:
            self._acks += leases
            self._cond.notify_all()

    def take(self):
        """(lease, URL as it came) of the highest priority that is here, or None."""
        with self._cond:
            if not self._ready:
                return None
            taken = heapq.heappop(self._ready)
            if self._wanted() > 0:
                self._cond.notify_all()
            return taken[2:]

    def drained(self):
        """Was nothing left of the crawl, anywhere, when last asked?"""
        with self._cond:
            return self._drained or self.failed is not None

    def pause(self):
        """Lease nothing more."""
        with self._cond:
            self._paused = True

    def close(self, on_end):
        """Send what waits, give back what nobody has begun, end, and call `on_end`."""
        with self._cond:
            self._closing_until = time.monotonic() + CLOSE_SECONDS
            self._on_end = on_end
            self._cond.notify_all()
            ended = self._ended
        if ended:
            on_end()

    # ---- the thread ----

    def run(self):
        try:
            while self._turn():
                pass
            self._give_back()
        except (Refused, GaveUp) as e:
            self._fail(str(e))
        except Exception:  # a fault of ours must not leave Scrapy waiting
            logger.exception("urlweir: the thread has failed")
            self._fail("an error in the bridge, see the log")
        self._client.close()
        with self._cond:
            self._ended = True
            on_end = self._on_end
        if on_end is not None:
            on_end()

    def _fail(self, why):
        with self._cond:
            self.failed = why
            self._puts, self._acks, self._ready = [], [], []
            self._cond.notify_all()
        self._news(Counter())

    def _turn(self):
        """False: it was told to close, and everything is sent."""
        with self._cond:
            self._cond.wait_for(self._has_work, max(0.0, self._next_time() - time.monotonic()))
            puts, self._puts = self._puts, []
            acks, self._acks = self._acks, []
            closing = self._closing_until is not None
            self._cond.notify_all()  # there is room
        self._send_puts(puts)
        self._send_acks(acks)
        if time.monotonic() >= self._extend_at:
            self._extend()
        if not closing:
            self._lease_if_due()
        self._tell()
        return not closing or bool(puts or acks)

    def _has_work(self):
        return bool(self._puts or self._acks or self._closing_until is not None
                    or (self._wanted() > 0 and time.monotonic() >= self._lease_at))

    def _next_time(self):
        return min(self._extend_at, self._lease_at) if self._wanted() > 0 else self._extend_at

    def _wanted(self):
        """How many URLs to lease. Not one by one, while there are others."""
        room = self._settings.leases - len(self._leases)
        enough = self._ready and room < max(1, self._settings.leases // 4)
        return 0 if enough or self._paused else room

    def _tell(self):
        if self._changed or self._counts:
            counts, self._counts, self._changed = self._counts, Counter(), False
            self._news(counts)

    # ---- calls that must succeed ----

    def _insist(self, path, body):
        wait = RETRY_LEAST
        while True:
            try:
                return self._client.post(path, body)
            except Unreachable as e:
                if self._closing_until is not None and time.monotonic() > self._closing_until:
                    raise GaveUp(str(e)) from None
                self._counts["urlweir/retries"] += 1
                if wait == RETRY_LEAST:
                    logger.warning("urlweir: %s; asking again until it answers", e)
                time.sleep(wait)
                wait = min(2 * wait, RETRY_MOST)

    def _send_puts(self, puts):
        at = 0
        while at < len(puts):
            part = self._part(puts, at)
            at += len(part)
            while part:
                results = self._insist("/v1/urls", b"[" + b",".join(part) + b"]")["results"]
                for r in results:
                    self._counts["urlweir/put_" + r["status"]] += 1
                part = [p for p, r in zip(part, results) if r["status"] == "failed"]
                if part:
                    time.sleep(RETRY_LEAST)
        if puts:
            self._lease_soon()

    @staticmethod
    def _part(puts, at):
        octets, end = 0, at
        while end < len(puts) and end - at < PUT_MOST and (
                end == at or octets + len(puts[end]) <= PUT_OCTETS):
            octets += len(puts[end])
            end += 1
        return puts[at:end]

    def _send_acks(self, leases):
        if leases:
            self._settle("/v1/ack", leases, "urlweir/ack_")
            with self._cond:
                self._leases.difference_update(leases)
            self._changed = True
            self._lease_soon()

    def _settle(self, path, leases, count=None, **more):
        """Returns the leases that are gone."""
        gone = []
        while leases:
            part, leases = leases[:SETTLE_MOST], leases[SETTLE_MOST:]
            results = self._insist(path, [{"lease": i, **more} for i in part])["results"]
            for lease, r in zip(part, results):
                if count and r["status"] != "failed":
                    self._counts[count + r["status"]] += 1
                if r["status"] == "gone":
                    gone.append(lease)
                elif r["status"] == "failed":
                    leases = [*leases, lease]
                    time.sleep(RETRY_LEAST)
        return gone

    def _extend(self):
        """What is gone and not begun is somebody else's now."""
        self._extend_at = time.monotonic() + self._settings.lease_seconds / 3
        with self._cond:
            leases = list(self._leases)
        gone = set(self._settle("/v1/extend", leases, lease_seconds=self._settings.lease_seconds))
        if not gone:
            return
        with self._cond:
            lost = [r for r in self._ready if r[2] in gone]
            self._ready = [r for r in self._ready if r[2] not in gone]
            heapq.heapify(self._ready)
            self._leases.difference_update(r[2] for r in lost)
        self._counts["urlweir/leases_lost"] += len(lost)

    def _give_back(self):
        """A lease that ends in a second keeps the URL's place in its queue, which
        a `fail` would not."""
        with self._cond:
            leases, self._ready = list(self._leases), []
        self._settle("/v1/extend", leases, lease_seconds=1)
        self._tell()

    # ---- leases ----

    def _lease_soon(self):
        self._lease_at, self._poll = 0.0, POLL_LEAST

    def _lease_if_due(self):
        with self._cond:
            wanted = self._wanted()
        if wanted == 0 or time.monotonic() < self._lease_at:
            return
        try:
            if self._lease(wanted):
                self._lease_soon()
                return
            self._look_whether_drained()
        except Unreachable as e:
            logger.debug("urlweir: %s", e)
        self._lease_at = time.monotonic() + self._poll
        self._poll = min(2 * self._poll, POLL_MOST)

    def _lease(self, wanted):
        s = self._settings
        per_host = min(s.per_host, wanted)
        urls = self._client.post("/v1/lease", {
            "crawl": s.crawl, "max_urls_per_queue": per_host,
            "max_queues": max(1, wanted // per_host), "lease_seconds": s.lease_seconds})["urls"]
        with self._cond:
            self._drained = self._drained and not urls
            for url in urls:
                self._order += 1
                self._leases.add(url["lease"])
                heapq.heappush(self._ready,
                               (-priority_of(url), self._order, url["lease"], url))
        if urls:
            self._changed = True
            self._counts["urlweir/leased"] += len(urls)
            self._set_delays(urls)
        return bool(urls)

    def _set_delays(self, urls):
        """Of queues that this process has not met; there are no others to wait for."""
        for key in {url["key"] for url in urls} - self._delayed:
            if self._settings.delay is not None:
                self._insist("/v1/queues/delay", {"crawl": self._settings.crawl, "key": key,
                                                  "delay_seconds": self._settings.delay})
            self._delayed.add(key)

    def _look_whether_drained(self):
        with self._cond:
            if self._leases or self._puts or self._drained:
                return
        left = self._client.get("/v1/stats", crawl=self._settings.crawl)["size"]
        with self._cond:
            self._drained = left == 0 and not (self._leases or self._puts)
            self._changed = self._drained


def item_of(name, key, crawl, priority, text):
    """A URL as it is put. Its date is its place in the queue: earlier, so before
    others, by a second for each step of priority; and always in the past."""
    served_at = MIDDLE - max(1 - MIDDLE, min(MIDDLE - 1, priority))
    return json.dumps({
        "url": name, "key": key, "crawl": crawl,
        "refetch_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(served_at)),
        "metadata": {"priority": [str(priority)], "request": [text]},
    }).encode()


def priority_of(url):
    try:
        return int(url["metadata"]["priority"][0])
    except (KeyError, IndexError, ValueError):
        return 0  # put by somebody else

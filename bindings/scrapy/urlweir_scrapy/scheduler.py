"""The scheduler: Scrapy's interface on one side, the courier on the other.

A request that was given to Scrapy is done when the engine has let go of it:
the set `inprogress` of the engine's slot holds it from `next_request` until its
callback has ended, its items are through the pipelines, and all its requests
have been enqueued. No signal says as much. The set is asked whenever Scrapy
asks for a request, which it does after each one that ends.
"""
import asyncio
import logging

import scrapy
from scrapy import signals
from scrapy.core.scheduler import BaseScheduler
from scrapy.exceptions import CloseSpider, NotConfigured
from twisted.internet.defer import Deferred

from urlweir_scrapy.client import Refused, Unreachable
from urlweir_scrapy.courier import Courier, item_of
from urlweir_scrapy.recent import Recent
from urlweir_scrapy.request_text import LEASED, CannotKeep, CannotRestore, Naming, from_text, to_text
from urlweir_scrapy.settings import Settings

logger = logging.getLogger(__name__)


def caller():
    """call(f, *args): runs f in the thread that this is called from, Scrapy's."""
    try:
        return asyncio.get_running_loop().call_soon_threadsafe
    except RuntimeError:  # before the reactor runs, or one that is not asyncio's
        from twisted.internet import reactor
        return reactor.callFromThread


class Scheduler(BaseScheduler):
    def __init__(self, crawler):
        self.crawler = crawler
        self.stats = crawler.stats
        self.settings = Settings(crawler)
        self.naming = Naming(crawler)
        self.recent = Recent()
        self.begun = {}  # request: lease
        self.courier = None
        self.stop_reason = None

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    # ---- life ----

    def open(self, spider):
        if not hasattr(getattr(self.crawler.engine, "_slot", None), "inprogress"):
            raise NotConfigured("this release of Scrapy does not say what is under way")
        self.spider = spider
        call = caller()
        courier = Courier(self.settings, lambda counts: call(self._news, counts))
        try:
            courier.check()
        except (Refused, Unreachable) as e:
            raise NotConfigured("no urlweir service: %s" % e) from None
        self.crawler.signals.connect(self._idle, signals.spider_idle)
        self.call = call
        self.courier = courier
        courier.start()

    def close(self, reason):
        if self.courier is None:  # it was never opened
            return None
        self._settle()
        closed = Deferred()
        self.courier.close(lambda: self.call(self._closed, closed))
        return closed

    def _closed(self, closed):
        self._look_at_courier()
        closed.callback(None)

    # ---- requests ----

    def enqueue_request(self, request):
        """False: it was seen lately, or cannot be kept. What others have seen is
        known when the service has answered, and counted then."""
        if self.courier.failed:
            return False
        name = self.naming.name(request)
        if name in self.recent:
            self.stats.inc_value("dupefilter/filtered")
            return False
        try:
            text = to_text(request, self.spider)
        except CannotKeep as e:
            logger.error("%s is not scheduled: %s", request, e, extra={"spider": self.spider})
            self.stats.inc_value("urlweir/refused")
            return False
        self.recent.add(name)
        self.courier.put(item_of(name, self.naming.queue_key(request), self.settings.crawl,
                                 request.priority, text))
        self.stats.inc_value("scheduler/enqueued")
        return True

    def next_request(self):
        self._settle()
        while self.stop_reason is None:
            taken = self.courier.take()
            if taken is None:
                return None
            lease, url = taken
            request = self._restore(lease, url)
            if request is not None:
                request.meta[LEASED] = True
                self.begun[request] = lease
                self.stats.inc_value("scheduler/dequeued")
                return request
        return None

    def has_pending_requests(self):
        """Also while another process has the last page: it may have links."""
        self._settle()
        self._look_at_courier()
        return not self.courier.drained() and self.stop_reason is None

    # ---- inside ----

    def _restore(self, lease, url):
        text = url["metadata"].get("request")
        if not text:  # put by somebody else: a URL for `parse`
            try:
                return scrapy.Request(url["url"])
            except ValueError as e:
                logger.error("%r in the crawl %s is no URL: %s", url["url"], url["crawl"], e)
                self.stats.inc_value("urlweir/refused")
                self.courier.ack([lease])
                return None
        try:
            return from_text(text[0], self.spider)
        except CannotRestore as e:
            self._stop("urlweir_unreadable", "the request %s of the crawl %s cannot be made again: "
                       "%s" % (url["url"], url["crawl"], e))
            return None

    def _settle(self):
        """Acknowledges what the engine has let go of."""
        slot = self.crawler.engine._slot
        under_way = slot.inprogress if slot is not None else ()
        ended = [r for r in self.begun if r not in under_way]
        if ended:
            self.courier.ack([self.begun.pop(r) for r in ended])

    def _look_at_courier(self):
        if self.courier.failed and self.stop_reason is None:
            self._stop("urlweir_refused", self.courier.failed)

    def _stop(self, reason, why):
        """What is under way is finished; what is left stays in the service."""
        logger.error("urlweir: %s", why, extra={"spider": self.spider})
        self.stop_reason = reason
        self.courier.pause()

    def _idle(self):
        if self.stop_reason is not None:
            raise CloseSpider(self.stop_reason)

    def _news(self, counts):
        for name, n in counts.items():
            self.stats.inc_value(name, n)
        if "urlweir/put_skipped" in counts:
            self.stats.inc_value("dupefilter/filtered", counts["urlweir/put_skipped"])
        self._look_at_courier()
        slot = self.crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

"""A dupefilter that several processes share, for Scrapy's own scheduler.

What was seen is a crawl of the service in which nothing is ever leased. The
scheduler of this package needs no dupefilter: its puts are the seen check.

A request that was seen and not fetched before a kill -9 is not fetched by the
next process either; use the scheduler where nothing may be lost.
"""
import logging

from scrapy.dupefilters import BaseDupeFilter
from scrapy.exceptions import NotConfigured

from urlweir_scrapy.client import Client, Refused, Unreachable
from urlweir_scrapy.recent import Recent
from urlweir_scrapy.request_text import Naming
from urlweir_scrapy.settings import Settings

logger = logging.getLogger(__name__)


class DupeFilter(BaseDupeFilter):
    def __init__(self, crawler):
        self.settings = Settings(crawler)
        self.crawl = self.settings.crawl + " seen"
        self.client = Client(self.settings)
        self.naming = Naming(crawler)
        self.stats = crawler.stats
        self.recent = Recent()

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler)

    def open(self):
        try:
            self.client.get("/v1/stats", crawl=self.crawl)
        except (Refused, Unreachable) as e:
            raise NotConfigured("no urlweir service: %s" % e) from None

    def request_seen(self, request):
        """One call of a millisecond or so for each name not seen lately."""
        name = self.naming.name(request)
        if name in self.recent:
            return True
        item = {"url": name, "key": self.naming.queue_key(request), "crawl": self.crawl}
        try:
            status = self.client.post("/v1/urls", item)["results"][0]["status"]
        except (Refused, Unreachable) as e:
            # A page that is fetched twice is better than one that is lost.
            logger.warning("seen check: %s; %s is taken as new", e, request)
            self.stats.inc_value("urlweir/unchecked")
            return False
        if status != "failed":
            self.recent.add(name)
        return status == "skipped"

    def log(self, request, spider):
        self.stats.inc_value("dupefilter/filtered")

    def close(self, reason):
        self.client.close()

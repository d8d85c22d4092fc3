"""What the Scrapy settings say about the service, read once."""
from urllib.parse import urlsplit

from scrapy.exceptions import NotConfigured


class Settings:
    """The settings named URLWEIR_...; docs/scrapy.md says what each means."""

    def __init__(self, crawler):
        s = crawler.settings
        self.url = s.get("URLWEIR_URL", "http://127.0.0.1:7072")
        self.crawl = s.get("URLWEIR_CRAWL") or crawler.spider.name
        self.token = s.get("URLWEIR_TOKEN")
        self.ca_file = s.get("URLWEIR_CA_FILE")
        self.cert_file = s.get("URLWEIR_CERT_FILE")
        self.key_file = s.get("URLWEIR_KEY_FILE")
        self.lease_seconds = s.getint("URLWEIR_LEASE_SECONDS", 60)
        self.leases = s.getint("URLWEIR_LEASES", 2 * s.getint("CONCURRENT_REQUESTS"))
        # None in the settings means: leave the queues' delays alone.
        self.delay = s.get("URLWEIR_DELAY", s.getfloat("DOWNLOAD_DELAY"))
        if self.delay is not None:
            self.delay = float(self.delay)
        # With a delay a host is asked for one page at a time, by all processes
        # together; without one by as many as Scrapy would.
        self.per_host = 1 if self.delay else s.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._check()

    def _check(self):
        at = urlsplit(self.url)
        if at.scheme not in ("http", "https") or not at.hostname:
            raise NotConfigured("URLWEIR_URL is not the address of a service: %r" % self.url)
        if self.lease_seconds < 3:
            raise NotConfigured("URLWEIR_LEASE_SECONDS must be 3 or more")
        if not 1 <= self.leases <= 1000:
            raise NotConfigured("URLWEIR_LEASES must be from 1 to 1000")
        self.per_host = max(1, min(self.per_host, self.leases))

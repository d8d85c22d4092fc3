"""What Scrapy itself makes of a request: retries, redirects, POST, dont_filter,
and requests that cannot be kept. The answers come from scrapy_bridge.py."""
import os

import scrapy


class OddSpider(scrapy.Spider):
    name = "odd"
    custom_settings = {"RETRY_TIMES": 2, "CONCURRENT_REQUESTS_PER_DOMAIN": 1}

    async def start(self):
        yield scrapy.Request(os.environ["SEED"], dont_filter=True)

    def parse(self, response):
        if response.url.endswith("/landed") or "from_outside" in response.url:
            return
        for body in ("one", "two", "one"):
            yield scrapy.FormRequest(response.urljoin("/form"), formdata={"v": body},
                                     callback=self.form, headers={"X-Kept": "yes"})
        yield response.follow("/flaky", self.flaky, errback=self.never)
        yield response.follow("/moved", self.parse)
        for _ in range(2):
            yield response.follow("/same", self.form, dont_filter=True)
            yield response.follow("/same?a=1&b=2", self.form)
            yield response.follow("/same?b=2&a=1#part", self.form)
        yield response.follow("/lambda", lambda r: None)
        yield response.follow("/object", self.form, meta={"a": [object()]})
        yield response.follow("/huge", self.form, meta={"a": "x" * (1 << 20)})

    def form(self, response):
        pass

    def flaky(self, response):
        yield response.follow("/gone", self.form, errback=self.failed,
                              meta={"handle_httpstatus_list": []})

    def failed(self, failure):
        yield scrapy.Request(failure.value.response.urljoin("/after"), self.form)

    def never(self, failure):
        raise AssertionError("the retry was lost")

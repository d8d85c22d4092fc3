"""The spider of the kill test: it looks at what came back with each request.
"""
import os

import scrapy
from scrapy.exceptions import CloseSpider


class WebSpider(scrapy.Spider):
    name = "web"
    start_urls = [os.environ["SEED"]]
    custom_settings = {
        "ITEM_PIPELINES": {"urlweir_scrapy.ItemLines": 1},
        "USER_AGENT": "urlweir-test",
        "LOG_LEVEL": "INFO",
    }

    def parse(self, response):
        yield {"url": response.url}
        for link in response.css("a::attr(href)").getall():
            yield scrapy.Request(response.urljoin(link), self.page,
                                 cb_kwargs={"came": ("by", response.url.encode())},
                                 meta={"when": {1, 2}}, priority=-response.meta["depth"])

    def page(self, response, came):
        if came[0] != "by" or type(came[1]) is not bytes or response.meta["when"] != {1, 2}:
            raise CloseSpider("changed: %r %r" % (came, response.meta))
        yield from self.parse(response)

"""A pipeline that has each item in a file before its page is acknowledged.

Scrapy's feeds (`-o`) keep some kilobytes of items in memory; a kill loses them,
and their pages are done. Here an item is one write to the end of the file, so
any number of processes may share it. It is with the kernel then: a kill of the
process does not lose it, a loss of power may.
"""
import os

from itemadapter import ItemAdapter
from scrapy.exceptions import NotConfigured
from scrapy.utils.serialize import ScrapyJSONEncoder


class ItemLines:
    def __init__(self, path):
        self.path = path
        self.encoder = ScrapyJSONEncoder(ensure_ascii=False)
        self.file = None

    @classmethod
    def from_crawler(cls, crawler):
        path = crawler.settings.get("URLWEIR_ITEMS")
        if not path:
            raise NotConfigured("URLWEIR_ITEMS names no file")
        return cls(path)

    def open_spider(self, spider=None):
        self.file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        size = os.fstat(self.file).st_size
        if size > 0 and os.pread(self.file, 1, size - 1) != b"\n":
            self._write(b"\n")  # a kill in the middle of a write has cut a line

    def process_item(self, item, spider=None):
        self._write(self.encoder.encode(ItemAdapter(item).asdict()).encode("utf-8", "replace") + b"\n")
        return item

    def _write(self, line):
        while line:
            line = line[os.write(self.file, line):]

    def close_spider(self, spider=None):
        os.close(self.file)

"""Scrapy on a urlweir service: SCHEDULER = "urlweir_scrapy.Scheduler".

docs/scrapy.md has the settings and what is promised.
"""
from urlweir_scrapy.dupefilter import DupeFilter
from urlweir_scrapy.item_lines import ItemLines
from urlweir_scrapy.scheduler import Scheduler

__all__ = ["DupeFilter", "ItemLines", "Scheduler"]

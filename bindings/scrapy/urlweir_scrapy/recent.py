"""The names that a process has put lately."""
from collections import OrderedDict


class Recent:
    """So that most links of a page, which were seen before, cost no call."""

    def __init__(self, most=100_000):
        self.most = most
        self.names = OrderedDict()

    def __contains__(self, name):
        if name not in self.names:
            return False
        self.names.move_to_end(name)
        return True

    def add(self, name):
        self.names[name] = None
        if len(self.names) > self.most:
            self.names.popitem(last=False)

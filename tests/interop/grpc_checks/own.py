"""A crawl that the service runs with its own fetchers, as other programs see it
(docs/decisions/lending.md). It is paused, so that nothing is ever asked."""
import os
import subprocess

from grpc_checks.rig import (ANY, CODE, OK, SKIPPED, WORK, Section, Server,
                             fails, is_, pb)

section = Section("6 own crawls")
check_alone = section.check_alone

if not os.path.exists(WORK + "/own.yaml"):
    with open(WORK + "/own.yaml", "w") as f:
        f.write("seeds: [http://a.invalid/]\nscope: any\ndelay: 0\n"
                "sitemap: off\nmin-disk: 0\n")


def paused():
    """A server whose crawl `own` was paused before it had a URL to ask for."""
    server = Server("--crawl", WORK + "/own.yaml")
    subprocess.run([os.environ["URLWEIR"], "pause", server.dir + "/d",
                    "--crawl", "own"], check=True, capture_output=True)
    return server


@check_alone
def urls_of_an_own_crawl_are_put_got_and_completed():
    with paused() as f:
        f.crawl = "own"
        is_(f.put(f.new("http://b.invalid/./x#y", "any key", depth=["3"]),
                  f.new("http://b.invalid/x"), f.new("mailto:x")),
            [OK, SKIPPED, SKIPPED])
        got = [u for u in f.get_info(delay=60) if "b.invalid" in u.url]
        is_([(u.url, u.key, u.crawlID) for u in got],
            [("http://b.invalid/x", "b.invalid", "own")])
        is_(list(got[0].metadata["depth"].values), ["3"])
        is_(f.stats().inProcess >= 1, True)
        is_([u for u in f.get(delay=60) if "b.invalid" in u], [])
        is_(f.put(f.known("http://b.invalid/x", 0)), [OK])
        is_(f.status("http://b.invalid/x").known.refetchable_from_date, 0)
        is_(f.put(f.known("http://b.invalid/x", 4e9)), [SKIPPED])


@check_alone
def own_crawls_and_others_are_served_by_one_call_and_listed_together():
    with paused() as f:
        is_(f.put(f.new("http://c.invalid/", crawl="own"),
                  f.new("u", crawl="theirs"),
                  f.new("http://d.invalid/", crawl="own")), [OK, OK, OK])
        got = {(u.crawlID, u.url) for u in f.get_info(crawl=ANY)}
        is_({("own", "http://c.invalid/"), ("own", "http://d.invalid/"),
             ("theirs", "u")} - got, set())
        is_(sorted(f.stub.ListCrawls(pb.Local()).values), ["own", "theirs"])


@check_alone
def what_cannot_be_done_with_an_own_crawl_says_why():
    with paused() as f:
        f.crawl = "own"
        f.put(f.new("http://b.invalid/"))
        for call, message in [
                (f.stub.DeleteCrawl, pb.DeleteCrawlMessage(value="own")),
                (f.stub.DeleteQueue, pb.QueueWithinCrawlParams(
                    key="b.invalid", crawlID="own")),
                (f.stub.PurgeURLs, pb.PurgeUrlParams(crawlID="own")),
                (f.stub.SetCrawlLimit, pb.CrawlLimitParams(
                    key="b.invalid", crawlID="own", limit=1)),
                (f.stub.SetDelay, pb.QueueDelayParams(
                    crawlID="own", delay_requestable=1))]:
            is_("crawl" in fails(CODE.FAILED_PRECONDITION, call, message), True)
        f.stub.BlockQueueUntil(pb.BlockQueueParams(
            key="b.invalid", time=4_000_000_000, crawlID="own"))
        is_([u for u in f.get() if "b.invalid" in u], [])

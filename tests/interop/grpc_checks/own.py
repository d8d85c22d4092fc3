"""A crawl that the service runs with its own fetchers, as other programs see it
(docs/decisions/leases.md). It is paused, so that nothing is ever asked."""
import os
import subprocess
import time

from grpc_checks.rig import (ANY, CODE, OK, SKIPPED, WORK, Section, Server,
                             fails, is_, pb)

section = Section("6 own crawls", of_directory=True)
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
        got = [u for u in f.get_info(delay=600) if "b.invalid" in u.url]
        is_([(u.url, u.key, u.crawlID) for u in got],
            [("http://b.invalid/x", "b.invalid", "own")])
        is_(list(got[0].metadata["depth"].values), ["3"])
        is_(f.stats().inProcess >= 1, True)
        is_([u for u in f.get(delay=600) if "b.invalid" in u], [])
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
def a_queue_of_an_own_crawl_is_deleted_for_good():
    with paused() as f:
        f.crawl = "own"
        f.put(*[f.new("http://b.invalid/%d" % i) for i in range(50)])
        f.put(f.new("http://c.invalid/"))
        is_(f.stub.DeleteQueue(pb.QueueWithinCrawlParams(
            key="b.invalid", crawlID="own")).value, 50)
        is_(f.stub.DeleteQueue(pb.QueueWithinCrawlParams(
            key="b.invalid", crawlID="own")).value, 0)
        is_(f.put(f.new("http://b.invalid/7"), f.new("http://b.invalid/new")),
            [SKIPPED, OK])
        is_({u for u in f.get() if ".invalid/" in u and "a.inv" not in u},
            {"http://b.invalid/new", "http://c.invalid/"})


@check_alone
def old_urls_of_an_own_crawl_are_purged():
    with paused() as f:
        f.crawl = "own"
        f.put(f.new("http://b.invalid/1"), f.new("http://c.invalid/1"))
        time.sleep(1.1)
        purge = f.stub.PurgeURLs
        is_(purge(pb.PurgeUrlParams(crawlID="own", days=1)).value, 0)
        is_(purge(pb.PurgeUrlParams(crawlID="own", key="b.invalid")).value, 1)
        is_(purge(pb.PurgeUrlParams(crawlID="own")).value >= 1, True)
        is_([u for u in f.get() if "c.invalid" in u], [])


@check_alone
def a_queue_of_an_own_crawl_has_a_limit_of_its_own():
    with paused() as f:
        f.crawl = "own"
        f.put(f.new("http://b.invalid/1"), f.new("http://b.invalid/2"))
        fails(CODE.UNKNOWN, f.limit, 1, "never.invalid")
        f.put(f.known("http://b.invalid/done", 0))
        f.limit(1, "b.invalid")
        is_([u for u in f.get() if "b.invalid" in u], [])
        f.limit(0, "b.invalid")
        is_([u for u in f.get() if "b.invalid" in u], ["http://b.invalid/1"])


@check_alone
def an_own_crawl_is_deleted_with_its_directory():
    with paused() as f:
        f.put(f.new("http://b.invalid/", crawl="own"), f.new("u", crawl="owner"))
        is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value="own")).value, 2)
        is_(list(f.stub.ListCrawls(pb.Local()).values), ["owner"])
        is_(os.path.exists(f.server.dir + "/d/crawls/own"), False)
        is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value="own")).value, 0)


@check_alone
def what_cannot_be_done_with_an_own_crawl_says_why():
    with paused() as f:
        f.crawl = "own"
        f.put(f.new("http://b.invalid/"))
        is_("crawl" in fails(CODE.FAILED_PRECONDITION, f.stub.SetDelay,
                             pb.QueueDelayParams(crawlID="own",
                                                 delay_requestable=1)), True)
        f.stub.BlockQueueUntil(pb.BlockQueueParams(
            key="b.invalid", time=4_000_000_000, crawlID="own"))
        is_([u for u in f.get() if "b.invalid" in u], [])

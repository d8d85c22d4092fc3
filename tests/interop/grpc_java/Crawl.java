// SPDX-License-Identifier: MIT

// A crawl as StormCrawler runs one, with the API's own Java classes: a spout
// that asks for 10 URLs of 10 queues, one question at a time; a status updater
// that keeps one stream of puts open for the whole run, matches acks by ID and
// resends what a lost stream did not acknowledge; a regulator that blocks and
// slows queues. The web is a tree: each page links to three, two levels deep.
//
// In the middle it prints RESTART and waits for a line: the service has been
// killed and started again by then.
//
// usage: Crawl HOST:PORT
import crawlercommons.urlfrontier.URLFrontierGrpc;
import crawlercommons.urlfrontier.Urlfrontier.*;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

public class Crawl {
    static final String CRAWL = "java";
    static final int HOSTS = 25, SEEDS = 4, LINKS = 3, DEPTH = 2;
    static final int IN_FLIGHT = 100000;

    static void want(boolean ok, String what, Object... args) {
        if (!ok) {
            System.out.println("FAILED " + String.format(what, args));
            System.exit(1);
        }
    }

    interface Condition {
        boolean holds();
    }

    /** What does not come at all is found; a slow machine is no finding. */
    static final int PATIENCE = 300;

    static void waits(String what, Condition c) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE);
        while (!c.holds()) {
            want(System.nanoTime() < end, "not within %d s: %s", PATIENCE,
                    what);
            Thread.sleep(10);
        }
    }

    /** One stream of puts for the whole run. */
    static class StatusUpdater
            implements ClientResponseObserver<URLItem, AckMessage> {
        final URLFrontierGrpc.URLFrontierStub stub;
        final Map<String, URLItem> unacked = new ConcurrentHashMap<>();
        final Map<String, Integer> acks = new ConcurrentHashMap<>();
        final AtomicInteger resent = new AtomicInteger();
        volatile ClientCallStreamObserver<URLItem> transport;
        StreamObserver<URLItem> requests;
        volatile boolean closed, ended;

        StatusUpdater(ManagedChannel channel) {
            stub = URLFrontierGrpc.newStub(channel).withWaitForReady();
            requests = stub.putURLs(this);
        }

        synchronized void store(URLItem item) throws InterruptedException {
            while (unacked.size() >= IN_FLIGHT)
                Thread.sleep(1);
            unacked.put(item.getID(), item);
            requests.onNext(item);
        }

        synchronized void close() {
            closed = true;
            requests.onCompleted();
        }

        public void beforeStart(ClientCallStreamObserver<URLItem> stream) {
            transport = stream;
        }

        public void onNext(AckMessage ack) {
            URLItem item = unacked.remove(ack.getID());
            want(item != null, "an ack for nothing: %s", ack);
            want(ack.getStatus() != AckMessage.Status.FAIL, "%s", ack);
            acks.merge(ack.getStatus().name(), 1, Integer::sum);
        }

        public void onError(Throwable t) {
            want(!closed && Status.fromThrowable(t).getCode()
                    == Status.Code.UNAVAILABLE, "the stream ended: %s", t);
            synchronized (this) {
                requests = stub.putURLs(this);
                for (URLItem item : new ArrayList<>(unacked.values())) {
                    resent.incrementAndGet();
                    requests.onNext(item);
                }
            }
        }

        public void onCompleted() {
            ended = true;
        }
    }

    /** One question outstanding; what comes goes into a buffer. */
    static class Spout {
        final URLFrontierGrpc.URLFrontierStub stub;
        final ConcurrentLinkedQueue<URLInfo> buffer =
                new ConcurrentLinkedQueue<>();
        final AtomicBoolean inQuery = new AtomicBoolean();

        Spout(ManagedChannel channel) {
            stub = URLFrontierGrpc.newStub(channel).withWaitForReady();
        }

        URLInfo nextTuple() {
            URLInfo next = buffer.poll();
            if (next == null && inQuery.compareAndSet(false, true))
                stub.getURLs(GetParams.newBuilder()
                        .setMaxUrlsPerQueue(10).setMaxQueues(10)
                        .setDelayRequestable(300).setCrawlID(CRAWL).build(),
                        new StreamObserver<URLInfo>() {
                            public void onNext(URLInfo u) {
                                buffer.add(u);
                            }

                            public void onError(Throwable t) {
                                inQuery.set(false);
                            }

                            public void onCompleted() {
                                inQuery.set(false);
                            }
                        });
            return next;
        }
    }

    static URLInfo info(String url, String key, int depth) {
        return URLInfo.newBuilder().setUrl(url).setKey(key).setCrawlID(CRAWL)
                .putMetadata("depth", StringList.newBuilder()
                        .addValues("" + depth).build()).build();
    }

    static URLItem discovered(URLInfo info) {
        return URLItem.newBuilder().setID(info.getUrl()).setDiscovered(
                DiscoveredURLItem.newBuilder().setInfo(info)).build();
    }

    static URLItem fetched(URLInfo info) { // date 0: never again
        return URLItem.newBuilder().setID(info.getUrl() + " fetched").setKnown(
                KnownURLItem.newBuilder().setInfo(info)).build();
    }

    static String key(int host) {
        return host == 0 ? "_DEFAULT_" : "www.host" + host + ".example";
    }

    static URLFrontierGrpc.URLFrontierBlockingStub blocking;

    static Stats stats(String crawl) {
        return blocking.getStats(QueueWithinCrawlParams.newBuilder()
                .setCrawlID(crawl).build());
    }

    /** The whole tree, with a kill of the service in its midst. */
    static int crawl(ManagedChannel channel) throws Exception {
        StatusUpdater updater = new StatusUpdater(channel);
        Spout spout = new Spout(channel);
        Map<String, Integer> pages = new HashMap<>();
        int all = HOSTS * SEEDS * (1 + LINKS + LINKS * LINKS), fetches = 0;
        boolean killed = false;

        for (int h = 0; h < HOSTS; h++)
            for (int s = 0; s < SEEDS; s++)
                updater.store(discovered(
                        info("http://" + key(h) + "/" + s, key(h), 0)));
        waits("the seeds' acks", () -> updater.unacked.isEmpty());
        blocking.setDelay(QueueDelayParams.newBuilder() // the node's default
                .setDelayRequestable(0).build());
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE);
        while (pages.size() < all) {
            want(System.nanoTime() < end, "%d of %d pages", pages.size(), all);
            URLInfo u = spout.nextTuple();
            if (u == null) {
                Thread.sleep(1);
                continue;
            }
            int depth = Integer.parseInt(
                    u.getMetadataOrThrow("depth").getValues(0));
            want(u.getUrl().startsWith("http://" + u.getKey() + "/"), "%s", u);
            want(u.getCrawlID().equals(CRAWL), "%s", u);
            want(pages.merge(u.getUrl(), 1, Integer::sum) == 1,
                    "%s was served twice", u.getUrl());
            fetches++;
            for (int i = 0; depth < DEPTH && i < LINKS; i++)
                updater.store(discovered(info(
                        u.getUrl() + "/" + i, u.getKey(), depth + 1)));
            updater.store(fetched(u));
            if (!killed && fetches == all / 3) {
                killed = true;
                waits("a quiet spout", () -> !spout.inQuery.get());
                System.out.println("RESTART");
                new BufferedReader(new InputStreamReader(System.in)).readLine();
            }
        }
        waits("the last acks", () -> updater.unacked.isEmpty());
        Stats s = stats(CRAWL);
        want(s.getSize() == 0 && s.getInProcess() == 0, "left over: %s", s);
        want(s.getCountsOrThrow("completed") == all, "completed: %s", s);
        want(s.getNumberOfQueues() == HOSTS, "queues: %s", s);
        updater.close();
        waits("the end of the stream", () -> updater.ended);
        return all;
    }

    /** As many on their way as StormCrawler lets there be. */
    static void manyInFlight(ManagedChannel channel) throws Exception {
        StatusUpdater updater = new StatusUpdater(channel);

        for (int i = 0; i < 100000; i++)
            updater.store(URLItem.newBuilder().setID("" + i).setDiscovered(
                    DiscoveredURLItem.newBuilder().setInfo(URLInfo.newBuilder()
                            .setUrl("http://h" + i % 9 + "/" + i)
                            .setCrawlID("many"))).build());
        updater.close();
        waits("100,000 acks", () -> updater.ended);
        want(updater.acks.get("OK") == 100000, "acks: %s", updater.acks);
        want(stats("many").getSize() == 100000, "%s", stats("many"));
    }

    /** Retry-After as a block, Crawl-delay as a delay. */
    static void regulate() throws Exception {
        List<URLItem> items = new ArrayList<>();
        GetParams ask = GetParams.newBuilder().setCrawlID("regulated")
                .setKey("k").setMaxUrlsPerQueue(1).setDelayRequestable(1000)
                .build();
        BlockQueueParams.Builder block = BlockQueueParams.newBuilder()
                .setKey("k").setCrawlID("regulated");
        AtomicInteger got = new AtomicInteger();

        StreamObserver<URLItem> puts = URLFrontierGrpc.newStub(
                blocking.getChannel()).putURLs(new StreamObserver<>() {
                    public void onNext(AckMessage a) {
                        got.incrementAndGet();
                    }

                    public void onError(Throwable t) {
                        want(false, "%s", t);
                    }

                    public void onCompleted() {}
                });
        for (String url : List.of("u", "v"))
            puts.onNext(discovered(URLInfo.newBuilder().setUrl(url)
                    .setKey("k").setCrawlID("regulated").build()));
        waits("two acks", () -> got.get() == 2);
        blocking.blockQueueUntil(block.setTime(
                System.currentTimeMillis() / 1000 + 1000).build());
        want(!blocking.getURLs(ask).hasNext(), "a blocked queue is served");
        blocking.blockQueueUntil(block.setTime(0).build());
        blocking.setDelay(QueueDelayParams.newBuilder().setKey("k")
                .setCrawlID("regulated").setDelayRequestable(1000).build());
        Iterator<URLInfo> urls = blocking.getURLs(ask);
        want(urls.hasNext() && urls.next().getUrl().equals("u"), "no URL");
        want(!blocking.getURLs(ask.toBuilder().setMaxUrlsPerQueue(2).build())
                .hasNext(), "served before its delay");
        puts.onCompleted();
    }

    /** The other calls of the stub, and its compression and deadlines. */
    static void rest() {
        Local local = Local.newBuilder().build();

        want(blocking.listCrawls(local).getValuesList().contains(CRAWL),
                "no crawl");
        want(blocking.listNodes(Empty.newBuilder().build())
                .getValuesCount() == 1, "nodes");
        want(blocking.getActive(local).getState(), "not active");
        blocking.setLogLevel(LogLevelParams.newBuilder().setPackage("p")
                .setLevel(LogLevelParams.Level.WARN).build());
        want(blocking.withCompression("gzip").countURLs(CountUrlParams
                .newBuilder().setCrawlID("many").setFilter("/99").build())
                .getValue() == 1111, "the filter");
        want(blocking.listQueues(Pagination.newBuilder().setCrawlID("many")
                .build()).getValuesCount() == 9, "queues");
        Iterator<URLItem> items = blocking.listURLs(ListUrlParams.newBuilder()
                .setCrawlID("many").setSize(50000).build());
        int n = 0;
        for (; items.hasNext(); n++)
            want(items.next().hasKnown(), "not known");
        want(n == 50000, "%d listed", n);
        want(blocking.deleteCrawl(DeleteCrawlMessage.newBuilder()
                .setValue("many").build()).getValue() == 100000, "deleted");
        try {
            blocking.getURLStatus(URLStatusRequest.newBuilder()
                    .setUrl("u").setKey("x").setCrawlID("x").build());
            want(false, "a URL that is not there");
        } catch (StatusRuntimeException e) {
            want(e.getStatus().getCode() == Status.Code.NOT_FOUND, "%s", e);
        }
        try {
            blocking.setCrawlLimit(CrawlLimitParams.newBuilder()
                    .setKey("x").setCrawlID("x").setLimit(1).build());
            want(false, "a limit for nobody");
        } catch (StatusRuntimeException e) {
            want(e.getStatus().getCode() == Status.Code.UNKNOWN, "%s", e);
        }
    }

    public static void main(String[] args) throws Exception {
        ManagedChannel channel = ManagedChannelBuilder.forTarget(args[0])
                .usePlaintext().keepAliveTime(10, TimeUnit.SECONDS)
                .keepAliveWithoutCalls(true).build();

        blocking = URLFrontierGrpc.newBlockingStub(channel).withWaitForReady()
                .withDeadlineAfter(4 * PATIENCE, TimeUnit.SECONDS);
        int pages = crawl(channel);
        manyInFlight(channel);
        regulate();
        rest();
        channel.shutdown();
        want(channel.awaitTermination(PATIENCE, TimeUnit.SECONDS), "shutdown");
        System.out.println("a crawl in Java: " + pages
                + " pages, each once, over a kill; 100,000 puts in flight");
        System.exit(0);
    }
}

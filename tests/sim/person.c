/* SPDX-License-Identifier: MIT */
/*
 * person.c - the person of a seed, who runs a crawl and does not leave it
 * alone.
 *
 * A play has up to three parts. In the first a crawl is made, and interrupted,
 * resumed and steered a few times. In the second, weeks later, another crawl is
 * made --since the first and treated alike; not every seed has it. In the last
 * each crawl is resumed until a run ends by itself, and asked about everything.
 */
#include "tests/sim/person.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/dice.h"
#include "tests/sim/trouble.h"
#include "tests/sim/web_plan.h"

#define MINUTE  INT64_C(60000)
#define HOUR    (60 * MINUTE)
#define DAY     (24 * HOUR)

#define CHOICES 8
static const struct {
    const char *name;
    const char *choices[CHOICES]; /* the first is the default */
    bool is_switch;
    bool fixed; /* when a crawl starts */
} table[PERSON_SETTINGS] = {
    [SET_DEPTH] = {"depth", {"none", "0", "1", "2", "3", "5"}, 0, 0},
    [SET_SCOPE] = {"scope",
                   {"host", "any", "any", "domain", "prefix", "seed"},
                   0,
                   0},
    [SET_INCLUDE] = {"include", {"", "/d[02]/", "/d[013]/|/$"}, 0, 0},
    [SET_EXCLUDE] = {"exclude", {"", "/d1/", "/d3/", "[.]html$"}, 0, 0},
    [SET_MIME] = {"mime", {"", "text/html", "text/"}, 0, 0},
    [SET_MAX_URL_LEN] = {"max-url-len", {"2048", "40", "60"}, 0, 0},
    [SET_ALLOW_PRIVATE] = {"allow-private", {"no", "yes"}, true, 0},
    [SET_ALLOW_PORT] = {"allow-port", {"", "6000"}, 0, 0},
    [SET_FOLLOW] = {"follow",
                    {"a,area,iframe,link,canonical,alternate,meta-refresh,"
                     "sitemap,feed",
                     "a", "a,img,css", "a,area,iframe,media,header,script"},
                    0,
                    0},
    [SET_IGNORE] = {"ignore", {"", "iframe", "a", "canonical,link"}, 0, 0},
    [SET_ASSETS] = {"assets", {"off", "same-scope", "all"}, 0, 0},
    [SET_SITEMAP] = {"sitemap", {"auto", "off", "only"}, 0, 0},
    [SET_MAX_REDIRECTS] = {"max-redirects", {"5", "0", "1", "2"}, 0, 0},
    [SET_DUP_CONTENT] = {"dup-content", {"report", "skip"}, 0, 0},
    [SET_NEAR_DUP] = {"near-dup", {"report", "skip", "off"}, 0, 0},
    [SET_TRAPS] = {"traps", {"skip", "report", "off"}, 0, 0},
    [SET_ORDER] = {"order", {"breadth", "depth", "best"}, 0, 0},
    [SET_LIMIT] = {"limit", {"none", "1", "5", "12"}, 0, 0},
    [SET_PER_HOST] = {"per-host", {"none", "1", "3", "6"}, 0, 0},
    [SET_PER_DOMAIN] = {"per-domain", {"none", "2", "5"}, 0, 0},
    [SET_QUOTA] = {"quota", {"none", "5000", "40K"}, 0, 0},
    [SET_TIME] = {"time", {"none", "5s", "40s", "10m"}, 0, 0},
    [SET_MAX_BODY] = {"max-body", {"auto", "20K"}, 0, 0},
    [SET_MAX_LINKS] = {"max-links", {"50000", "1", "3"}, 0, 0},
    [SET_DELAY] = {"delay", {"1s", "100ms", "0", "3s", "20s"}, 0, 0},
    [SET_RANDOM_DELAY] = {"random-delay", {"no", "yes"}, true, 0},
    [SET_ADAPTIVE] = {"adaptive", {"yes", "no"}, true, 0},
    [SET_MAX_DELAY] = {"max-delay", {"30s", "5s", "5m"}, 0, 0},
    [SET_MAX_CRAWL_DELAY] = {"max-crawl-delay", {"5m", "2s", "1m"}, 0, 0},
    [SET_CONNS_PER_HOST] = {"conns-per-host", {"1", "3"}, 0, 0},
    [SET_ROBOTS] = {"robots", {"obey", "report", "off"}, 0, 0},
    [SET_NOINDEX] = {"noindex", {"report", "skip"}, 0, 0},
    [SET_QUEUE_KEY] = {"queue-key", {"host", "domain", "ip"}, 0, true},
    [SET_TRIES] = {"tries", {"3", "1", "2"}, 0, 0},
    [SET_RETRY_DELAY] = {"retry-delay", {"1s", "100ms", "10s"}, 0, 0},
    [SET_TIMEOUT] = {"timeout", {"20s", "3s"}, 0, 0},
    [SET_GIVE_UP] = {"give-up", {"5m", "10s", "1h"}, 0, 0},
    [SET_INSECURE] = {"insecure", {"no", "yes"}, true, 0},
    [SET_COOKIES] = {"cookies", {"no", "yes"}, true, true},
    [SET_FPR] = {"fpr", {"0.001", "0.5"}, 0, true},
    [SET_EXPECT] = {"expect", {"1000000", "1000", "10"}, 0, true},
    [SET_REFRESH] = {"refresh", {"off", "1h", "1d", "adaptive"}, 0, 0},
    [SET_REFRESH_MIN] = {"refresh-min", {"1h", "1m", "1d"}, 0, 0},
    [SET_REFRESH_SHARE] = {"refresh-share", {"0.5", "0", "1"}, 0, 0},
    [SET_KEEP_HISTORY] = {"keep-history", {"all", "1", "3"}, 0, 0},
    [SET_CHANGED_BY] = {"changed-by", {"text", "body", "words"}, 0, 0},
    [SET_RECORD] = {"record", {"none", "links", "meta", "all"}, 0, 0},
    [SET_FILTER] = {"filter",
                    {"scalable", "stacked", "bloom", "counting", "cuckoo",
                     "none"},
                    0,
                    0},
    [SET_MEMORY] = {"memory", {"512M", "96M"}, 0, 0},
    [SET_CHECKPOINT] = {"checkpoint", {"60s", "1s", "10m"}, 0, 0},
    [SET_THREADS] = {"threads", {"2", "1", "3"}, 0, 0},
    [SET_WARC] = {"warc", {"no", "yes"}, true, 0},
    [SET_JSONL] = {"jsonl", {"", PERSON_LINES}, 0, 0},
};

const char *person_value(const struct person_settings *s, enum person_setting k)
{
    return table[k].choices[s->choice[k]];
}

bool person_is_default(const struct person_settings *s, enum person_setting k)
{
    return s->choice[k] == 0;
}

bool person_says(const struct person_settings *s, enum person_setting k,
                 const char *value)
{
    return strcmp(person_value(s, k), value) == 0;
}

int64_t person_number(const struct person_settings *s, enum person_setting k)
{
    const char *text = person_value(s, k);
    char *unit = NULL;
    int64_t n = strtoll(text, &unit, 10);
    bool is_time = k == SET_TIME || k == SET_DELAY || k == SET_MAX_DELAY ||
                   k == SET_MAX_CRAWL_DELAY || k == SET_RETRY_DELAY ||
                   k == SET_TIMEOUT || k == SET_GIVE_UP || k == SET_REFRESH ||
                   k == SET_REFRESH_MIN || k == SET_CHECKPOINT;

    if (unit == text)
        return -1;
    return strcmp(unit, "ms") == 0  ? n
           : strcmp(unit, "K") == 0 ? n * 1024
           : strcmp(unit, "m") == 0 ? n * MINUTE
           : strcmp(unit, "h") == 0 ? n * 60 * MINUTE
           : strcmp(unit, "d") == 0 ? n * DAY
           : is_time                ? n * 1000
                                    : n;
}

/* ---- throwing settings --------------------------------------------------- */

static unsigned choice_count(enum person_setting k)
{
    unsigned n = 0;

    while (n < CHOICES && table[k].choices[n] != NULL)
        n++;
    return n;
}

static bool is_fixed_size(const struct person_settings *s)
{
    return person_says(s, SET_FILTER, "bloom") ||
           person_says(s, SET_FILTER, "counting");
}

/* What urlweir refuses, and what would take a simulation too long. */
static void make_sound(struct person_settings *s)
{
    if (person_says(s, SET_DELAY, "0")) {
        s->choice[SET_ADAPTIVE] = 1;
        s->choice[SET_RANDOM_DELAY] = 0;
    }
    if (person_number(s, SET_DELAY) > person_number(s, SET_MAX_DELAY) ||
        person_number(s, SET_RETRY_DELAY) > person_number(s, SET_MAX_DELAY))
        s->choice[SET_MAX_DELAY] = 0;
    if (person_says(s, SET_FOLLOW, "a") && person_says(s, SET_IGNORE, "a"))
        s->choice[SET_IGNORE] = 0;
    if (person_number(s, SET_DELAY) >= person_number(s, SET_GIVE_UP))
        s->choice[SET_GIVE_UP] = 0;
    if (person_says(s, SET_SITEMAP, "only") &&
        (!person_is_default(s, SET_DEPTH) || person_says(s, SET_SCOPE, "seed")))
        s->choice[SET_SITEMAP] = 0;
}

/* In how many of a hundred seeds it is thrown. A scalable filter, however few
 * URLs it has, is a file of 500 KB, and much memory takes time to set up. */
static unsigned chance_of(enum person_setting k)
{
    switch (k) {
    case SET_FILTER:
    case SET_MEMORY:
        return 90;
    case SET_SCOPE:
        return 60;
    case SET_COOKIES:
    case SET_REFRESH:
    case SET_FPR:
    case SET_JSONL:
        return 35;
    case SET_WARC:
    case SET_DEPTH:
    case SET_ORDER:
    case SET_ROBOTS:
    case SET_MAX_REDIRECTS:
    case SET_DUP_CONTENT:
        return 25;
    default:
        return 10;
    }
}

static void throw_first(struct person_settings *s, struct dice *d)
{
    memset(s, 0, sizeof *s);
    for (unsigned k = 0; k < PERSON_SETTINGS; k++)
        if (dice_chance(d, chance_of((enum person_setting)k)))
            s->choice[k] =
                (uint8_t)dice_below(d, choice_count((enum person_setting)k));
    if (is_fixed_size(s)) /* often too small, so that it is often wrong */
        s->choice[SET_EXPECT] = dice_chance(d, 50) ? 1 : 2;
    make_sound(s);
}

/* One to four settings are others, or none. */
static void throw_change(struct person_settings *s, struct dice *d)
{
    for (unsigned n = dice_below(d, 5); n > 0; n--) {
        unsigned k = dice_below(d, PERSON_SETTINGS);

        if (!table[k].fixed)
            s->choice[k] =
                (uint8_t)dice_below(d, choice_count((enum person_setting)k));
    }
    make_sound(s);
}

/* What bounds a run is taken back before all is judged, so that it is
 * complete; mostly. */
static void lift_limits(struct person_settings *s)
{
    static const enum person_setting limits[] = {SET_LIMIT, SET_PER_HOST,
                                                 SET_PER_DOMAIN, SET_QUOTA,
                                                 SET_TIME};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        s->choice[limits[i]] = 0;
}

/* What a setting kept out comes in before all is judged, in some seeds, whatever
 * kept it out. */
static void widen(struct person_settings *s, struct dice *d)
{
    static const enum person_setting widest_first[] = {
        SET_DEPTH,   SET_INCLUDE,       SET_EXCLUDE,     SET_MIME,
        SET_FOLLOW,  SET_MAX_URL_LEN,   SET_IGNORE,      SET_SITEMAP,
        SET_NOINDEX, SET_MAX_REDIRECTS, SET_DUP_CONTENT, SET_NEAR_DUP,
        SET_TRAPS,   SET_MAX_LINKS};

    for (size_t i = 0; i < sizeof widest_first / sizeof widest_first[0]; i++)
        s->choice[widest_first[i]] = 0;
    s->choice[SET_SCOPE] = 1; /* any */
    s->choice[SET_ALLOW_PRIVATE] = s->choice[SET_ALLOW_PORT] = 1;
    if (dice_chance(d, 50))
        s->choice[SET_ROBOTS] = 2; /* off */
    make_sound(s);
}

/* ---- a person ------------------------------------------------------------ */

/* The acts of a play that are left, in parts. */
struct person {
    const struct plan *plan;
    struct dice dice;
    struct person_settings kept[2]; /* of each crawl, as it has them now */
    unsigned dir;                   /* the crawl that is acted upon */
    unsigned crawls;                /* made so far */
    unsigned runs_left;             /* of this crawl, before its last */
    bool second;                    /* there will be another crawl */
    bool began;                     /* this crawl */
    bool said[PERSON_SETTINGS];     /* by the act before */
    bool unsure[PERSON_SETTINGS];   /* may not have been kept: said again */
    unsigned questions;             /* asked since its last run; counts on */
    unsigned last_tries;
    bool judged_runs;  /* its last run is over */
    char *words[4000]; /* what args point to */
    size_t word_count;
};

struct person *person_new(uint64_t seed, const struct plan *plan)
{
    struct person *p = xcalloc(1, sizeof *p);

    p->plan = plan;
    p->dice = dice_of(seed, "person");
    p->runs_left = dice_below(&p->dice, 5);
    p->second = dice_chance(&p->dice, 25);
    throw_first(&p->kept[0], &p->dice);
    return p;
}

void person_free(struct person *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->word_count; i++)
        free(p->words[i]);
    free(p);
}

static void say(struct person *p, struct sim_act *a, const char *word)
{
    size_t len = strlen(word) + 1;

    if (p->word_count == sizeof p->words / sizeof p->words[0] ||
        a->arg_count + 1 >= ACT_ARGS)
        return;
    p->words[p->word_count] = xmalloc(len);
    memcpy(p->words[p->word_count], word, len);
    a->args[a->arg_count++] = p->words[p->word_count++];
}

static void say_setting(struct person *p, struct sim_act *a,
                        const struct person_settings *s, enum person_setting k)
{
    char name[40];

    p->said[k] = true;

    snprintf(name, sizeof name, "--%s%s",
             table[k].is_switch && person_says(s, k, "no") ? "no-" : "",
             table[k].name);
    say(p, a, name);
    if (k == SET_JSONL && !person_is_default(s, k))
        say(p, a, a->dir == 0 ? PERSON_LINES "0" : PERSON_LINES "1");
    else if (!table[k].is_switch)
        say(p, a, person_value(s, k));
}

static void say_dir(struct person *p, struct sim_act *a, unsigned dir)
{
    say(p, a, dir == 0 ? "c0" : "c1");
}

/* How a run ends: by itself, more often than in any other way. */
static void throw_end(struct sim_act *a, struct dice *d)
{
    static const enum act_end ends[] = {END_BY_ITSELF, END_BY_ITSELF,
                                        END_BY_ITSELF, END_STOP,
                                        END_STOP,      END_STOP_TWICE,
                                        END_KILL,      END_KILL,
                                        END_KILL,      END_POWER_CUT,
                                        END_POWER_CUT};

    a->end = ends[dice_below(d, 11)];
    if (a->end == END_BY_ITSELF)
        return;
    a->end_after_ms = dice_chance(d, 70) ? dice_between(d, 0, 20000)
                                         : dice_between(d, 0, 5 * MINUTE);
    if (a->end != END_KILL && a->end != END_POWER_CUT)
        return;
    if (dice_chance(d, 40))
        a->end_at_step = dice_nth(d, 12);
    else if (dice_chance(d, 50))
        a->end_at_point = points_throw(d);
}

static int64_t throw_wait(struct dice *d)
{
    unsigned n = dice_below(d, 100);

    return n < 30   ? 0
           : n < 60 ? dice_between(d, 0, 5000)
           : n < 80 ? dice_between(d, 1000, 10 * MINUTE)
           : n < 95 ? dice_between(d, MINUTE, 3 * DAY)
                    : dice_between(d, DAY, 45 * DAY);
}

/* Pages with dates are looked for just before them and just after. */
static int64_t throw_wait_for(const struct person_settings *s, struct dice *d)
{
    int64_t interval = person_number(s, SET_REFRESH);

    return interval > 0 && dice_chance(d, 50)
               ? dice_between(d, interval * 2 / 5, interval * 6 / 5)
               : throw_wait(d);
}

static void add_seed(struct person *p, struct sim_act *a, const char *url)
{
    a->seeds[a->seed_count++] = url;
    say(p, a, url);
}

static void begin_act(struct person *p, struct sim_act *a, enum act_kind kind,
                      const char *command)
{
    memset(a, 0, sizeof *a);
    memset(p->said, 0, sizeof p->said);
    a->kind = kind;
    a->dir = p->dir;
    a->earlier = -1;
    a->settings = p->kept[p->dir];
    say(p, a, command);
}

/* A crawl that refreshes has no end but this. */
static void say_run(struct person *p, struct sim_act *a)
{
    if (!person_says(&a->settings, SET_REFRESH, "off"))
        say(p, a, "--until-idle");
}

/* Would the filter refuse it? */
static bool is_for_filter(const struct person_settings *s, unsigned k)
{
    return (k != SET_EXPECT || is_fixed_size(s)) &&
           (k != SET_FPR || !person_says(s, SET_FILTER, "none"));
}

/* One of these settings gets another value while the crawl runs. */
static void throw_set(struct person *p, struct sim_act *a)
{
    static const enum person_setting live[] = {SET_ORDER,   SET_CHECKPOINT,
                                               SET_GIVE_UP, SET_ADAPTIVE,
                                               SET_DEPTH,   SET_SCOPE,
                                               SET_INCLUDE, SET_EXCLUDE};
    enum person_setting k = live[dice_below(&p->dice, 8)];
    struct person_settings now = a->settings, sound;
    struct sim_steer s = {.verb = STEER_SET,
                          .after_ms = dice_between(&p->dice, 10, 20000)};

    now.choice[k] = (uint8_t)dice_below(&p->dice, choice_count(k));
    sound = now;
    make_sound(&sound);
    if (memcmp(&sound, &now, sizeof now) != 0 ||
        now.choice[k] == a->settings.choice[k])
        return;
    s.setting = k;
    s.choice = now.choice[k];
    s.what = table[k].name;
    s.value = table[k].is_switch ? person_says(&now, k, "no") ? "false" : "true"
                                 : person_value(&now, k);
    if (steering_add(&a->steering, &s)) {
        a->is_set = true;
        a->set_to = now;
    }
}

/* Another process reads the directory meanwhile. */
static void throw_reader(struct person *p, struct sim_act *a)
{
    static const char *const questions[][4] = {{"status", "--json"},
                                               {"export", "--what", "urls"},
                                               {"export", "--what", "pages"},
                                               {"export", "--what", "errors"},
                                               {"export", "--what", "drops"},
                                               {"audit", "--json"},
                                               {"verify"},
                                               {"explain"},
                                               {"diff"}};
    struct dice *d = &p->dice;
    unsigned which = dice_below(d, 9), n = 0;
    const char *dir = p->dir == 0 ? "c0" : "c1";

    if (!dice_chance(d, 12))
        return;
    a->reader.after_ms = dice_chance(d, 50) ? dice_between(d, 0, 1000)
                                            : dice_between(d, 0, 60000);
    a->reader.words[n++] = questions[which][0];
    a->reader.words[n++] = dir;
    for (unsigned i = 1; i < 4 && questions[which][i] != NULL; i++)
        a->reader.words[n++] = questions[which][i];
    if (strcmp(a->reader.words[0], "explain") == 0)
        a->reader.words[n++] =
            p->plan->pages[dice_below(d, (unsigned)p->plan->page_count)].url;
    if (strcmp(a->reader.words[0], "diff") == 0)
        a->reader.words[n++] = "c0";
}

/* What is done to it while it runs. A stop may come over DIR/control instead of
 * as a signal. */
static void throw_steering(struct person *p, struct sim_act *a)
{
    const struct sim_steer stop = {.verb = STEER_STOP,
                                   .after_ms = a->end_after_ms};

    steering_throw(&a->steering, p->plan, &p->dice);
    throw_reader(p, a);
    if (!a->last && !a->once && dice_chance(&p->dice, 15))
        throw_set(p, a);
    if (a->end == END_STOP && dice_chance(&p->dice, 30))
        (void)steering_add(&a->steering, &stop);
}

static void act_crawl(struct person *p, struct sim_act *a)
{
    unsigned more = dice_chance(&p->dice, 30) ? 1 + dice_below(&p->dice, 2) : 0;

    begin_act(p, a, ACT_CRAWL, "crawl");
    /* mostly the first page, from which most of a web can be reached */
    add_seed(
        p, a,
        p->plan
            ->pages[dice_chance(&p->dice, 85)
                        ? 0
                        : dice_below(&p->dice, (unsigned)p->plan->page_count)]
            .url);
    for (; more > 0; more--)
        add_seed(
            p, a,
            p->plan->pages[dice_below(&p->dice, (unsigned)p->plan->page_count)]
                .url);
    say(p, a, "-o");
    say_dir(p, a, p->dir);
    for (unsigned k = 0; k < PERSON_SETTINGS; k++)
        if ((!person_is_default(&a->settings, (enum person_setting)k) ||
             k == SET_THREADS) &&
            is_for_filter(&a->settings, k))
            say_setting(p, a, &a->settings, (enum person_setting)k);
    if (p->dir == 1) {
        a->earlier = 0;
        say(p, a, "--since");
        say_dir(p, a, 0);
        a->wait_ms = dice_between(&p->dice, MINUTE, 30 * DAY);
    }
    say_run(p, a);
    throw_end(a, &p->dice);
    throw_steering(p, a);
    trouble_failure(a, &p->dice, 6);
    trouble_clock(a, &p->dice);
    p->began = true;
}

void person_cluster(struct person *p, struct sim_act *a)
{
    /* What a cluster refuses, or a shard ends by. */
    static const enum person_setting alone[] = {SET_QUEUE_KEY, SET_JSONL,
                                                SET_TIME, SET_COOKIES};
    static const enum person_setting narrow[] = {SET_SCOPE,      SET_PER_HOST,
                                                 SET_PER_DOMAIN, SET_INCLUDE,
                                                 SET_MIME,       SET_DEPTH,
                                                 SET_DELAY,      SET_MAX_LINKS,
                                                 SET_FOLLOW,     SET_IGNORE};

    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
        p->kept[0].choice[alone[i]] = 0;
    if (!dice_chance(&p->dice, 60))
        p->kept[0].choice[SET_REFRESH] = 0;
    /* Mostly much is found, and far away. */
    for (size_t i = 0;
         i < sizeof narrow / sizeof narrow[0] && dice_chance(&p->dice, 85); i++)
        p->kept[0].choice[narrow[i]] = narrow[i] == SET_SCOPE;
    p->kept[0].choice[SET_LIMIT] = p->kept[0].choice[SET_QUOTA] = 0;
    if (dice_chance(&p->dice, 10))
        p->kept[0].choice[SET_QUOTA] = (uint8_t)(1 + dice_below(&p->dice, 2));
    if (dice_chance(&p->dice, 15))
        p->kept[0].choice[SET_LIMIT] = (uint8_t)(2 + dice_below(&p->dice, 2));
    /* Much is found, and longer ways first, through other shards. */
    if (dice_chance(&p->dice, 25)) {
        for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++)
            p->kept[0].choice[narrow[i]] = narrow[i] == SET_SCOPE;
        p->kept[0].choice[SET_DEPTH] = (uint8_t)(3 + dice_below(&p->dice, 2));
        p->kept[0].choice[SET_ORDER] = (uint8_t)dice_below(&p->dice, 3);
    }
    make_sound(&p->kept[0]);
    act_crawl(p, a);
    a->end = END_BY_ITSELF;
    a->faults = (struct life_faults){0};
    a->steering = (struct steering){.count = 0};
    a->reader = (struct life_reader){0};
    a->is_set = false;
    a->jump_ms = 0;
    a->last = true;
}

static void act_resume(struct person *p, struct sim_act *a, bool last)
{
    struct person_settings before = p->kept[p->dir], now = before;

    if (!last || p->last_tries == 0)
        throw_change(&now, &p->dice);
    if (last && dice_chance(&p->dice, 80))
        lift_limits(&now);
    if (last && p->last_tries == 0 && dice_chance(&p->dice, 25))
        widen(&now, &p->dice);
    begin_act(p, a, ACT_RESUME, "resume");
    say_dir(p, a, p->dir);
    a->wait_ms = throw_wait_for(&before, &p->dice);
    a->once = !last && dice_chance(&p->dice, 10);
    if (a->once)
        say(p, a, "--once");
    a->settings = now;
    for (unsigned k = 0; k < PERSON_SETTINGS; k++)
        if (now.choice[k] != before.choice[k] || p->unsure[k])
            say_setting(p, a, &now, (enum person_setting)k);
    say_run(p, a);
    a->last = last;
    if (!last) {
        throw_end(a, &p->dice);
        trouble_failure(a, &p->dice, 8);
    }
    throw_steering(p, a);
    trouble_clock(a, &p->dice);
    if (!a->once)
        p->kept[p->dir] = now;
}

/* ---- steering ------------------------------------------------------------ */

static void act_steer(struct person *p, struct sim_act *a)
{
    static const char *const reasons[] = {
        "http_404", "http_503,http_500",  "timeout,reset",
        "robots",   "robots_unreachable", ""};
    struct dice *d = &p->dice;
    unsigned what = dice_below(d, 4);

    if (what == 0) {
        begin_act(p, a, ACT_SEED, "seed");
        say_dir(p, a, p->dir);
        add_seed(
            p, a,
            p->plan->pages[dice_below(d, (unsigned)p->plan->page_count)].url);
    } else if (what == 1) {
        begin_act(p, a, ACT_RETRY, "retry");
        say_dir(p, a, p->dir);
        a->reason = reasons[dice_below(d, 6)];
        if (a->reason[0] != '\0') {
            say(p, a, "--reason");
            say(p, a, a->reason);
        }
    } else if (what == 2) {
        begin_act(p, a, ACT_REFRESH, "refresh");
        say_dir(p, a, p->dir);
        a->now = dice_chance(d, 60);
        if (a->now)
            say(p, a, "--now");
    } else {
        begin_act(p, a, ACT_BLOCK, "block");
        say_dir(p, a, p->dir);
        a->reason =
            p->plan->origins[dice_below(d, (unsigned)p->plan->origin_count)]
                .name;
        say(p, a, a->reason);
        say(p, a, "--for");
        a->block_ms = dice_chance(d, 50) ? 20000 : 10 * MINUTE;
        say(p, a, a->block_ms == 20000 ? "20s" : "10m");
    }
    a->wait_ms = dice_between(d, 0, 3000);
    trouble_cut(a, d);
    trouble_failure(a, d, 8);
    trouble_clock(a, d);
}

/* ---- questions ----------------------------------------------------------- */

static void ask_explain(struct person *p, struct sim_act *a)
{
    begin_act(p, a, ACT_EXPLAIN, "explain");
    say_dir(p, a, p->dir);
    say(p, a,
        p->plan->pages[dice_below(&p->dice, (unsigned)p->plan->page_count)]
            .url);
}

static void ask_diff(struct person *p, struct sim_act *a)
{
    begin_act(p, a, ACT_DIFF, "diff");
    a->earlier = 0;
    say_dir(p, a, 0);
    say_dir(p, a, 1);
    say(p, a, "--format");
    say(p, a, "jsonl");
    say(p, a, "--temp");
    say(p, a, ".");
}

static void ask(struct person *p, struct sim_act *a, enum act_kind kind)
{
    static const struct {
        const char *command, *more[3];
    } questions[] = {
        [ACT_STATUS] = {"status", {"--json"}},
        [ACT_EXPORT_URLS] = {"export", {"--what", "urls"}},
        [ACT_EXPORT_PAGES] = {"export", {"--what", "pages"}},
        [ACT_EXPORT_DROPS] = {"export", {"--what", "drops"}},
        [ACT_AUDIT] = {"audit", {"--json"}},
        [ACT_VERIFY] = {"verify", {NULL}},
    };

    if (kind == ACT_EXPLAIN) {
        ask_explain(p, a);
        return;
    }
    if (kind == ACT_DIFF) {
        ask_diff(p, a);
        return;
    }
    begin_act(p, a, kind, questions[kind].command);
    say_dir(p, a, p->dir);
    for (unsigned i = 0; i < 3 && questions[kind].more[i] != NULL; i++)
        say(p, a, questions[kind].more[i]);
}

static void ask_anything(struct person *p, struct sim_act *a)
{
    static const enum act_kind kinds[] = {ACT_STATUS,       ACT_EXPORT_URLS,
                                          ACT_EXPORT_PAGES, ACT_EXPORT_DROPS,
                                          ACT_AUDIT,        ACT_VERIFY,
                                          ACT_EXPLAIN};
    enum act_kind kind = kinds[dice_below(&p->dice, 7)];

    ask(p, a, kind);
    if (kind == ACT_VERIFY && dice_chance(&p->dice, 60)) {
        say(p, a, "--repair");
        trouble_cut(a, &p->dice);
    }
    trouble_failure(a, &p->dice, 8);
}

/* After the last run: its URLs, and most of the rest, in this order; false: all
 * was asked. */
static bool ask_the_last(struct person *p, struct sim_act *a)
{
    static const struct {
        enum act_kind kind;
        unsigned chance;
    } last[] = {{ACT_VERIFY, 60},       {ACT_EXPORT_URLS, 100},
                {ACT_STATUS, 70},       {ACT_EXPORT_PAGES, 50},
                {ACT_EXPORT_DROPS, 30}, {ACT_AUDIT, 30},
                {ACT_EXPLAIN, 50},      {ACT_DIFF, 100}};

    while (p->questions < sizeof last / sizeof last[0]) {
        enum act_kind kind = last[p->questions].kind;

        if (dice_chance(&p->dice, last[p->questions++].chance) &&
            (kind != ACT_DIFF || p->dir == 1)) {
            ask(p, a, kind);
            return true;
        }
    }
    return false;
}

/* ---- the play ------------------------------------------------------------ */

/* A run that was meant as the last and met a fault is done again. */
static bool was_cut_off(const struct sim_act *done)
{
    return done->exit_status < 0 || done->exit_status == 2 || done->fault_hit;
}

static bool is_run(const struct sim_act *a)
{
    return a->kind == ACT_CRAWL || a->kind == ACT_RESUME;
}

bool person_did(const struct sim_act *a, enum act_kind kind)
{
    bool did = a->kind == kind;

    for (unsigned i = 0; i < a->steering.count; i++) {
        const struct sim_steer *s = &a->steering.at[i];

        did = did || (s->asked_ms > 0 &&
                      ((kind == ACT_RETRY && s->verb == STEER_RETRY) ||
                       (kind == ACT_REFRESH && s->verb == STEER_REFRESH)));
    }
    return did;
}

/* A run that was cut off may have kept what it was told, or not. */
static void note_kept(struct person *p, const struct sim_act *done)
{
    if (done == NULL || !is_run(done) || done->once)
        return;
    for (unsigned k = 0; k < PERSON_SETTINGS && done->kind == ACT_RESUME; k++)
        p->unsure[k] = was_cut_off(done) && (p->unsure[k] || p->said[k]);
    for (unsigned i = 0; i < done->steering.count; i++) {
        const struct sim_steer *s = &done->steering.at[i];

        if (s->verb == STEER_SET && s->done)
            p->kept[done->dir].choice[s->setting] = (uint8_t)s->choice;
        if (s->verb == STEER_SET && s->asked_ms > 0 && !s->done)
            p->unsure[s->setting] = true;
    }
}

static void begin_second(struct person *p)
{
    p->second = false;
    p->dir = 1;
    p->began = p->judged_runs = false;
    p->questions = p->last_tries = 0;
    p->runs_left = dice_below(&p->dice, 3);
    p->kept[1] = p->kept[0];
    memset(p->unsure, 0, sizeof p->unsure);
    if (dice_chance(&p->dice, 50))
        throw_change(&p->kept[1], &p->dice);
}

bool person_next(struct person *p, const struct sim_act *done,
                 struct sim_act *next)
{
    note_kept(p, done);
    if (done != NULL && is_run(done) && done->last && !was_cut_off(done))
        p->judged_runs = true;
    if (p->judged_runs) {
        if (ask_the_last(p, next))
            return true;
        if (!p->second)
            return false;
        begin_second(p);
    }
    if (!p->began) {
        act_crawl(p, next);
        return true;
    }
    /* A kill before the directory was made leaves nothing to resume. */
    if (done != NULL && done->kind == ACT_RESUME && done->exit_status == 2 &&
        !done->fault_hit) {
        p->crawls++;
        if (p->crawls > 3)
            return false;
        act_crawl(p, next);
        return true;
    }
    if (dice_chance(&p->dice, 25))
        ask_anything(p, next);
    else if (dice_chance(&p->dice, 20))
        act_steer(p, next);
    else if (p->runs_left > 0) {
        p->runs_left--;
        act_resume(p, next, false);
    } else {
        act_resume(p, next, true);
        p->last_tries++;
    }
    return true;
}

void person_describe(const struct sim_act *a, struct buf *out)
{
    static const char *const ends[] = {"", "stop", "stop twice", "kill",
                                       "power cut"};

    buf_add_str(out, "urlweir");
    for (unsigned i = 0; i < a->arg_count; i++)
        buf_addf(out, a->args[i][0] == '\0' ? " ''" : " %s", a->args[i]);
    if (a->end != END_BY_ITSELF && a->end_at_step > 0)
        buf_addf(out, "  [%s at step %" PRIu64 "]", ends[a->end],
                 a->end_at_step);
    else if (a->end_at_point.name != NULL)
        buf_addf(out, "  [%s at the point %s:%u]", ends[a->end],
                 a->end_at_point.name, a->end_at_point.passage);
    else if (a->end != END_BY_ITSELF)
        buf_addf(out, "  [%s after %" PRId64 " ms]", ends[a->end],
                 a->end_after_ms);
    if (a->wait_ms > 0)
        buf_addf(out, "  [%" PRId64 " ms later]", a->wait_ms);
    steering_describe(&a->steering, out);
    if (a->reader.words[0] != NULL)
        buf_addf(out, "  [%s %s after %" PRId64 " ms]", a->reader.words[0],
                 a->reader.words[1], a->reader.after_ms);
    trouble_describe(a, out);
}

/* SPDX-License-Identifier: MIT */
/*
 * order.c - which URL of a host goes first.
 *
 *   part       points
 *   depth      1 up to one link from a seed, -1 beyond five
 *   path       1 up to 16 octets behind the host, -1 beyond 120
 *   priority   -2 to 2 for a sitemap's 0.0 to 1.0
 *   links      the logarithm to base 2 of the in-links, rounded down
 *   rules      the sum of the boosts that match
 *
 * All but links and rules are small on purpose: a page that many pages link to
 * outweighs them. Classes are whole points, so that a URL is moved at most a
 * few times while its in-links grow.
 */
#include "frontier/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/url/url_form.h"
#include "storage/rows/side_tables.h"

#define SHORT_PATH 16
#define LONG_PATH  120
#define NEAR       1
#define FAR        5
#define MOST_BOOST 100
#define FIRST      (ORDER_FIRST * 2 + MOST_BOOST) /* more than any sum */

struct rule {
    struct url_pattern *pattern;
    char *text; /* as given */
    int points; /* FIRST: of --first */
};

struct order {
    enum order_mode mode;
    struct rule *rules;
    size_t count;
};

static enum status add_rule(struct order *o, const char *option,
                            const char *text, size_t len, int points,
                            struct buf *error)
{
    struct rule *r = &o->rules[o->count];
    struct buf why;
    enum status st;

    buf_init(&why, 512);
    st = url_pattern_new(&r->pattern, bytes_of(text, len), &why);
    if (st == STATUS_OK) {
        r->text = xstrndup(text, strlen(text));
        r->points = points;
        o->count++;
    } else {
        buf_addf(error, "--%s '%s': %s", option, text, buf_str(&why));
    }
    buf_fini(&why);
    return st;
}

/* "REGEX=N": the last = counts, since an expression may have others. */
static enum status add_boost(struct order *o, const char *text,
                             struct buf *error)
{
    const char *equals = strrchr(text, '=');
    char *end = NULL;
    long points = equals != NULL ? strtol(equals + 1, &end, 10) : 0;

    if (equals == NULL || end == equals + 1 || *end != '\0' ||
        points < -MOST_BOOST || points > MOST_BOOST) {
        buf_addf(error, "--boost '%s': give REGEX=N, N from -%d to %d", text,
                 MOST_BOOST, MOST_BOOST);
        return STATUS_FORMAT;
    }
    return add_rule(o, "boost", text, (size_t)(equals - text), (int)points,
                    error);
}

enum status order_new(struct order **out, const struct order_options *o,
                      struct buf *error)
{
    struct order *made = xcalloc(1, sizeof *made);
    enum status st = STATUS_OK;

    made->mode = o->mode;
    made->rules =
        xcalloc(o->boost_count + o->first_count + 1, sizeof *made->rules);
    for (size_t i = 0; st == STATUS_OK && i < o->boost_count; i++)
        st = add_boost(made, o->boost[i], error);
    for (size_t i = 0; st == STATUS_OK && i < o->first_count; i++)
        st = add_rule(made, "first", o->first[i], strlen(o->first[i]), FIRST,
                      error);
    if (st != STATUS_OK) {
        order_free(made);
        return st;
    }
    *out = made;
    return STATUS_OK;
}

void order_free(struct order *o)
{
    if (o == NULL)
        return;
    for (size_t i = 0; i < o->count; i++) {
        url_pattern_free(o->rules[i].pattern);
        free(o->rules[i].text);
    }
    free(o->rules);
    free(o);
}

enum order_mode order_mode(const struct order *o)
{
    return o != NULL ? o->mode : ORDER_BREADTH;
}

const char *order_mode_name(enum order_mode mode)
{
    static const char *const names[] = {"breadth", "depth", "best"};

    return names[mode];
}

void order_describe(const struct order *o, struct buf *out)
{
    buf_addf(out, "%s 1", order_mode_name(order_mode(o)));
    for (size_t i = 0; o != NULL && i < o->count; i++)
        buf_addf(out, "\n%s %s",
                 o->rules[i].points == FIRST ? "first" : "boost",
                 o->rules[i].text);
}

/* ---- the parts ---- */

static int of_depth(uint32_t depth)
{
    return depth <= NEAR ? 1 : depth > FAR ? -1 : 0;
}

/* Octets behind "scheme://host/". */
static size_t path_octets(struct bytes url)
{
    const char *at = memchr(url.at, ':', url.len), *end = url.at + url.len;

    if (at == NULL || end - at < 3)
        return url.len;
    at = memchr(at + 3, '/', (size_t)(end - at - 3));
    return at != NULL ? (size_t)(end - at - 1) : 0;
}

static int of_path(struct bytes url)
{
    size_t octets = path_octets(url);

    return octets <= SHORT_PATH ? 1 : octets > LONG_PATH ? -1 : 0;
}

static int of_priority(int16_t priority)
{
    return priority == HINT_NO_PRIORITY ? 0 : (priority + 125) / 250 - 2;
}

static int of_links(uint32_t links)
{
    int points = 0;

    while (links >>= 1)
        points++;
    return points;
}

static int of_rules(const struct order *o, struct bytes url)
{
    int sum = 0;

    for (size_t i = 0; i < o->count; i++) {
        if (sum < FIRST && url_pattern_matches(o->rules[i].pattern, url))
            sum =
                o->rules[i].points == FIRST ? FIRST : sum + o->rules[i].points;
    }
    return sum;
}

static uint8_t class_of(int sum)
{
    if (sum < 0)
        return ORDER_LATER;
    return (uint8_t)(sum < ORDER_FIRST - 1 - ORDER_IN_TURN ? ORDER_IN_TURN + sum
                                                           : ORDER_FIRST - 1);
}

struct order_score order_score(const struct order *o,
                               const struct order_facts *facts)
{
    struct order_score s = {.class_ = ORDER_IN_TURN};

    switch (order_mode(o)) {
    case ORDER_BREADTH:
        break;
    case ORDER_DEPTH:
        s.depth = s.sum = facts->depth < ORDER_FIRST - ORDER_IN_TURN
                              ? (int)facts->depth
                              : ORDER_FIRST - ORDER_IN_TURN;
        s.class_ = (uint8_t)(ORDER_IN_TURN + s.sum);
        break;
    case ORDER_BEST:
        s.depth = of_depth(facts->depth);
        s.path = of_path(facts->url);
        s.priority = of_priority(facts->priority);
        s.links = of_links(facts->links);
        s.rules = of_rules(o, facts->url);
        s.sum = s.depth + s.path + s.priority + s.links + s.rules;
        s.class_ = s.rules == FIRST ? ORDER_FIRST : class_of(s.sum);
        break;
    }
    return s;
}

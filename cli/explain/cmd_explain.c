/* SPDX-License-Identifier: MIT */
/*
 * cmd_explain.c - `urlweir explain`: every decision taken about one URL.
 *
 * The store has the story of an admitted URL. For any other URL, this applies
 * the crawl's rules again and searches the examples kept of dropped links.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/record.h"
#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/crawl_command_line.h"
#include "cli/open_crawl.h"
#include "cli/shards/crawl_dirs.h"
#include "cli/status/stored_hosts.h"
#include "crawler/html/link_values.h"
#include "crawler/robots/robots.h"
#include "crawler/url_columns.h"
#include "frontier/order.h"
#include "frontier/outcome.h"
#include "frontier/reader.h"
#include "frontier/served/served.h"
#include "frontier/served/served_reader.h"
#include "frontier/traps/trap_table.h"
#include "frontier/url/host.h"
#include "frontier/url/url.h"
#include "frontier/url/url_form.h"
#include "job/crawl_setup.h"
#include "job/exit_code.h"
#include "job/settings/options.h"
#include "job/settings/settings.h"
#include "service/http/http_text.h"
#include "storage/rows/side_tables.h"
#include "storage/url_record.h"

/*
 * `urlweir explain` in a directory of `urlweir serve`.
 *
 * A service stores URLs as they are spelt, so this looks for the given text,
 * and for its canonical form if that differs. A URL that was removed and put
 * again has several rows, each naming the one before it; they make one story.
 */

#define ARENA_MOST ((size_t)64 << 20)
#define ROWS_MOST  100 /* the latest of a story */

struct explainer {
    struct reader *r;
    struct served_reader *served;
    struct bytes url; /* to look for */
    uint64_t *ids;    /* its newest rows */
    size_t count;
    json_t *out, *found;
};

/* ---- one row ---- */

static void add_step(void *ctx, const struct served_step *step)
{
    json_t *e = json_object();

    if (step->event == SERVED_EVENT_LEASE) {
        json_set_str(e, "event", "leased");
        json_set_time(e, "at", step->at_ms);
        json_set_time(e, "until", step->until_ms);
    } else if (step->due_ms == 0) {
        json_set_str(e, "event", "completed");
    } else {
        json_set_str(e, "event", "updated");
        json_set_time(e, "due_at", step->due_ms);
    }
    json_array_append_new(ctx, e);
}

static enum status tell_row(struct explainer *x, const struct url_row *row,
                            json_t *history)
{
    json_t *e = json_object();
    enum status st;

    json_set_str(e, "event", "put");
    json_set_time(e, "at", row->found_at_ms);
    json_array_append_new(history, e);
    st = served_reader_story(x->served, row->id, add_step, history);
    if (served_reader_get(x->served, row->id).state != URL_STATE_REMOVED)
        return st;
    e = json_object();
    json_set_str(e, "event", "removed");
    json_array_append_new(history, e);
    return st;
}

/* Tells the row `id` and those before it, oldest first. */
static enum status tell_story(struct explainer *x, uint64_t id, json_t *history)
{
    uint64_t ids[ROWS_MOST];
    struct url_row row;
    struct buf text;
    size_t n = 0;
    enum status st = STATUS_OK;

    buf_init(&text, SERVED_BYTES_MOST);
    while (st == STATUS_OK && id != 0 && n < ROWS_MOST) {
        ids[n++] = id;
        st = frontier_store_get(x->r->store, id, &row, &text);
        id = st == STATUS_OK && row.via < id ? row.via : 0;
    }
    while (st == STATUS_OK && n > 0) {
        st = frontier_store_get(x->r->store, ids[--n], &row, &text);
        if (st == STATUS_OK)
            st = tell_row(x, &row, history);
    }
    buf_fini(&text);
    return st;
}

/* ---- one URL of one queue ---- */

static enum status get_metadata(struct explainer *x, uint64_t id, json_t **out)
{
    struct arena *arena = arena_new(ARENA_MOST);
    struct buf metadata;
    enum status st;

    buf_init(&metadata, SERVED_BYTES_MOST);
    st = served_reader_metadata(x->served, id, &metadata);
    if (st == STATUS_OK)
        *out = http_metadata_json(buf_bytes(&metadata), arena);
    buf_fini(&metadata);
    arena_free(arena);
    return st;
}

/* Leaves out absent values. */
static void service_set_value(void *o, const char *name,
                              const struct record_value *value)
{
    if (value->type != RECORD_ABSENT)
        json_object_set_new(o, name, record_value_json(value));
}

static json_t *view_json(enum served_view_id view,
                         const struct served_record *f)
{
    json_t *o = json_object();

    column_view_each(&served_views[view], f, service_set_value, o);
    return o;
}

static enum status tell_one(struct explainer *x, uint64_t id)
{
    struct served_reader_url u = served_reader_get(x->served, id);
    const struct url_row row = {.id = id, .queue = u.queue, .url = x->url};
    struct served_record f = served_reader_record(x->served, &row);
    json_t *o, *history = json_array();
    enum status st = get_metadata(x, id, &f.metadata);

    o = view_json(SERVED_VIEW_FOUND, &f);
    json_decref(f.metadata);
    json_object_set_new(o, "queue", view_json(SERVED_VIEW_QUEUE, &f));
    if (st == STATUS_OK)
        st = tell_story(x, id, history);
    json_object_set_new(o, "history", history);
    json_array_append_new(x->found, o);
    return st;
}

static void note_id(void *ctx, uint64_t id)
{
    struct explainer *x = ctx;

    x->ids = xrealloc(x->ids, (x->count + 1) * sizeof *x->ids);
    x->ids[x->count++] = id;
}

static enum status tell_all(struct explainer *x, struct bytes url)
{
    enum status st;

    x->url = url;
    x->count = 0;
    st = served_reader_find(x->served, url, note_id, x);
    for (size_t i = 0; st == STATUS_OK && i < x->count; i++)
        st = tell_one(x, x->ids[i]);
    return st;
}

static enum status explain_url(struct explainer *x, const char *text)
{
    struct bytes given = bytes_of_str(text);
    enum status st = tell_all(x, given);
    struct url canonical;

    url_init(&canonical);
    if (st == STATUS_OK &&
        url_canonical(&canonical, given, NULL, NULL) == URL_OK &&
        !bytes_equal(url_text(&canonical), given))
        st = tell_all(x, url_text(&canonical));
    url_fini(&canonical);
    json_object_set_new(x->out, "put",
                        json_boolean(json_array_size(x->found) > 0));
    json_object_set(x->out, "found", x->found);
    return st;
}

/* ---- text ---- */

static void print_metadata(json_t *metadata)
{
    const char *name;
    json_t *values, *v;
    struct buf line;
    size_t i;

    buf_init(&line, SERVED_BYTES_MOST);
    /* cppcheck-suppress unknownMacro */
    json_object_foreach(metadata, name, values)
    {
        json_array_foreach(values, i, v)
        {
            buf_add_char(&line, ' ');
            format_terminal(&line, bytes_of_str(name));
            buf_add_char(&line, '=');
            format_terminal(&line, bytes_of(json_string_value(v),
                                            json_string_length(v)));
        }
    }
    if (line.len > 0)
        printf("  metadata:%s\n", buf_str(&line));
    buf_fini(&line);
}

static void print_one(json_t *o)
{
    json_t *e;
    size_t i;

    printf(" ");
    json_print_fields(o);
    printf("\n  queue:");
    json_print_fields(json_object_get(o, "queue"));
    printf("\n");
    print_metadata(json_object_get(o, "metadata"));
    /* cppcheck-suppress unknownMacro */
    json_array_foreach(json_object_get(o, "history"), i, e)
    {
        printf("    %zu.", i + 1);
        json_print_fields(e);
        putchar('\n');
    }
}

static void service_print_text(const struct explainer *x, const char *text)
{
    struct buf clean;
    json_t *o;
    size_t i;

    buf_init(&clean, SERVED_BYTES_MOST);
    format_terminal(&clean, bytes_of_str(text));
    printf("%s\n", buf_str(&clean));
    buf_fini(&clean);
    if (json_array_size(x->found) == 0)
        printf("  was never put into this frontier\n");
    /* cppcheck-suppress unknownMacro */
    json_array_foreach(x->found, i, o) print_one(o);
}

/* Prints all that is known of `url` in each crawl and queue that ever had it,
 * as docs/formats/explain.md describes. Returns an enum exit_code. */
static int service_explain(struct reader *r, const char *url, bool json)
{
    struct explainer x = {.r = r};
    int code = EXIT_DONE;
    enum status st = served_reader_open(&x.served, r, clock_wall_ms());

    if (st != STATUS_OK)
        return cannot_read("explain", r->dir, st);
    x.out = json_object();
    x.found = json_array();
    json_set_text(x.out, "url", bytes_of_str(url));
    st = explain_url(&x, url);
    if (st != STATUS_OK) {
        code = cannot_read("explain", r->dir, st);
    } else if (json) {
        json_dumpf(x.out, stdout,
                   JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));
        putchar('\n');
    } else {
        service_print_text(&x, url);
    }
    json_decref(x.found);
    json_decref(x.out);
    free(x.ids);
    served_reader_close(x.served);
    return code;
}

/* ---- the place of an admitted URL in the order of its host ---- */

static const char *class_name(uint8_t class_)
{
    return class_ == ORDER_FIRST     ? "first"
           : class_ > ORDER_IN_TURN  ? "before its turn"
           : class_ == ORDER_IN_TURN ? "in turn"
                                     : "later";
}

static void set_score(json_t *out, const struct order_facts *facts,
                      const struct order_score *s)
{
    const struct {
        const char *name;
        int value;
    } parts[] = {
        {"score", s->sum},          {"score_depth", s->depth},
        {"score_path", s->path},    {"score_priority", s->priority},
        {"score_links", s->links},  {"score_rules", s->rules},
        {"order_class", s->class_},
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_object_set_new(out, parts[i].name, json_integer(parts[i].value));
    json_set_str(out, "order_place", class_name(s->class_));
    json_set_uint(out, "in_links", facts->links);
}

static enum status in_links(struct reader *r, const struct url_record *f,
                            uint32_t *links)
{
    uint8_t class_;
    enum status st;

    *links = 1;
    st = early_store_get(r->db, f->url.queue, f->url.id, &class_, links);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* Adds order, and its score with the parts, unless all goes in order of
 * arrival. In-links are those stored: they are counted until the URL is done,
 * and stored at each doubling. */
static enum status explain_order(json_t *out, struct reader *r,
                                 const struct url_record *f,
                                 const struct crawl_settings *settings)
{
    const struct order_options o = {
        .mode = settings->order,
        .boost = settings->boost.item,
        .boost_count = settings->boost.count,
        .first = settings->first.item,
        .first_count = settings->first.count,
    };
    struct order_facts facts = {.url = f->url.url,
                                .depth = f->url.depth,
                                .priority = f->hint.priority};
    struct order_score score;
    struct order *order = NULL;
    struct buf error;
    enum status st = STATUS_OK;

    if (settings->order == ORDER_BREADTH)
        return STATUS_OK;
    buf_init(&error, 4096);
    if (order_new(&order, &o, &error) == STATUS_OK)
        st = in_links(r, f, &facts.links);
    if (order != NULL && st == STATUS_OK) {
        json_set_str(out, "order", order_mode_name(settings->order));
        score = order_score(order, &facts);
        set_score(out, &facts, &score);
    }
    order_free(order);
    buf_fini(&error);
    return st;
}

/* ---- which trap a URL belongs to, for `urlweir explain` ---- */

static void no_news(void *ctx, const struct trap_view *trap)
{
    (void)ctx;
    (void)trap;
}

static bool keep_body(void *ctx, const struct fetch_row *row)
{
    *(struct digest *)ctx = row->body_digest;
    return true;
}

/* Is the page, on the host it is on, one of a trap that is told by its body?
 * The body that is known has the page's address in it; so if the URL was
 * dropped as a trap's, any such trap of the host will do. */
static bool asks_body(struct reader *r, const struct trap_table *t,
                      uint64_t page, bool dropped, struct trap_view *trap)
{
    struct digest body = {0, 0};
    struct url_row row;
    struct bytes crawl, host;
    struct buf text;
    bool is = false;

    if (page == 0)
        return false;
    buf_init(&text, URL_LENGTH_CEILING + 64);
    if (frontier_store_get(r->store, page, &row, &text) == STATUS_OK &&
        page_store_each_of(r->pages, page, keep_body, &body) == STATUS_OK) {
        frontier_store_queue_name(r->store, row.queue, &crawl, &host);
        is = trap_table_has_body(t, host, body, trap) ||
             (dropped && trap_table_has_spiral(t, host, trap));
    }
    buf_fini(&text);
    return is;
}

/* Sets trap_rule, trap_pattern and trap_pages in `out` if the URL is of a
 * trap, or if `via`, the page it was found on (0: none), is one of a trap that
 * is told by its body. True: it is. */
static bool explain_trap(struct reader *r, const struct crawl_settings *s,
                         const struct url *u, uint64_t via, json_t *out)
{
    const struct frontier_traps traps = settings_traps(s);
    struct trap_options o = {.memory = UINT64_MAX, .found = no_news};
    struct trap_table *t = NULL;
    struct trap_view trap = {0};
    const char *reason = json_string_value(json_object_get(out, "reason"));
    bool dropped =
        reason != NULL && strcmp(reason, outcome_reason_name(REASON_TRAP)) == 0;
    bool is = false;

    if (traps.policy == TRAPS_OFF)
        return false;
    for (unsigned i = 0; i < TRAP_RULES_; i++)
        o.threshold[i] = traps.threshold[i];
    if (trap_table_open(&t, r->db, &o) == STATUS_OK)
        is = trap_table_explain(t, url_host(u), url_text(u), &trap) ||
             asks_body(r, t, via, dropped, &trap);
    if (is) {
        json_set_str(out, "trap_rule", trap_rule_name(trap.rule));
        json_set_text(out, "trap_pattern", trap.form);
        json_set_uint(out, "trap_pages", trap.pages);
    }
    trap_table_close(t);
    return is;
}

#define EXAMPLES 10 /* drops of a URL that are shown, the latest */

struct explain_settings {
    bool json;
    uint8_t from[1];
};

static const struct option_spec specs[] = {
    {.name = "json",
     .type = OPTION_FLAG,
     .at = offsetof(struct explain_settings, json),
     .section = "Output",
     .help = "one JSON object (docs/formats/explain.md)"},
};

static const struct option_table table =
    OPTION_TABLE(specs, struct explain_settings);

struct story {
    struct reader *r;
    struct url url;
    json_t *out;
    struct buf text, other_text;
    json_int_t dropped;    /* examples of drops that name it */
    uint64_t dropped_from; /* the page of the latest of them */
};

static void set_value(void *o, const char *name,
                      const struct record_value *value)
{
    json_set_value(o, name, value);
}

static void set_view(json_t *o, enum row_view_id view,
                     const struct url_record *f)
{
    column_view_each(&row_views[view], f, set_value, o);
}

/* ---- an admitted URL ---- */

static bool add_fetch(void *ctx, const struct fetch_row *row)
{
    struct story *s = ctx;
    struct url_record f = url_record_empty();
    json_t *e = json_object();

    f.fetch = *row;
    f.redirect_to = row->redirect_to != 0
                        ? reader_url(s->r, row->redirect_to, &s->text)
                        : row->redirect_url;
    reader_same_page(s->r, &f, &s->other_text);
    set_view(e, ROW_VIEW_HISTORY, &f);
    json_array_append_new(json_object_get(s->out, "history"), e);
    if (row->final) {
        json_object_set(s->out, "status", json_object_get(e, "status"));
        json_object_del(s->out, "reason"); /* that of an earlier fetch */
        json_object_set(s->out, "reason", json_object_get(e, "reason"));
    }
    return true;
}

/* Counts the links that led to the URL when it was already known; only --record
 * links stores them. */
static enum status tell_repeats(struct story *s, uint64_t id, uint64_t via)
{
    uint64_t again = 0;
    enum status st;

    if (link_store_recorded(s->r->links) == LINK_RECORD_NONE)
        return STATUS_OK;
    st = reader_find_newest(s->r);
    if (st == STATUS_OK)
        st = link_store_seen_again(s->r->links, id, via, &again);
    json_set_uint(s->out, "seen_again", again);
    return st;
}

static const char *filter_said(const struct crawl_settings *settings, bool fp)
{
    if (fp)
        return "maybe seen: a false positive, settled by the exact set";
    if (settings != NULL && settings->filter == FILTER_NONE)
        return "not asked";
    return "certainly new";
}

/* Names the budget that a queued URL waits for. */
static enum status tell_budget(struct story *s, uint32_t queue,
                               const struct crawl_settings *settings)
{
    const struct budgets b = crawl_setup_budgets(settings);
    struct stored_budgets *stored = NULL;
    const char *over;
    enum status st = stored_budgets_load(&stored, s->r, &b);

    if (st != STATUS_OK)
        return st;
    over = stored_budgets_over(stored, queue);
    if (over != NULL)
        json_set_str(s->out, "over_budget", over);
    stored_budgets_free(stored);
    return STATUS_OK;
}

static enum status tell_admitted(struct story *s, uint64_t id,
                                 const struct crawl_settings *settings)
{
    struct url_record f = url_record_empty();
    struct bytes crawl;
    enum status st = frontier_store_get(s->r->store, id, &f.url, &s->text);
    enum status hint;
    bool fp;

    if (st != STATUS_OK)
        return st;
    hint = hint_store_get(s->r->db, id, &f.hint);
    if (hint != STATUS_OK && hint != STATUS_NOT_FOUND)
        return hint;
    fp = (f.url.flags & URL_ROW_FALSE_POSITIVE) != 0;
    frontier_store_queue_name(s->r->store, f.url.queue, &crawl, &f.queue);
    f.via = reader_url(s->r, f.url.via, &s->other_text);
    json_object_set_new(s->out, "admitted", json_true());
    json_set_str(s->out, "filter", filter_said(settings, fp));
    set_view(s->out, ROW_VIEW_EXPLAIN, &f);
    st = tell_repeats(s, id, f.url.via);
    if (st == STATUS_OK && settings != NULL)
        st = explain_order(s->out, s->r, &f, settings);
    if (st == STATUS_OK && settings != NULL &&
        !frontier_store_is_done(s->r->store, id))
        st = tell_budget(s, f.url.queue, settings);
    return st == STATUS_OK ? page_store_each_of(s->r->pages, id, add_fetch, s)
                           : st;
}

/* ---- a URL that was not admitted ---- */

static void reopen_place(void *ctx, const struct url_row *row)
{
    struct url u;

    url_init(&u);
    if (url_parse(&u, row->url, NULL, NULL) == URL_OK)
        scope_add_seed(ctx, &u);
    url_fini(&u);
}

static void ask_scope(struct story *s, const struct crawl_settings *settings)
{
    struct crawl_setup setup;
    struct scope_verdict v;
    int code;

    if (crawl_setup_init(&setup, settings, &code) &&
        frontier_store_each_root(s->r->store, reopen_place, setup.scope) ==
            STATUS_OK) {
        crawl_setup_open_sitemaps(setup.scope, settings);
        v = scope_check(setup.scope, &s->url, 1);
        json_object_set_new(s->out, "in_scope", json_boolean(v.in));
        json_set_str(s->out, "scope_rule", v.rule);
        if (scope_checks(setup.scope, &s->url, 1, LINK_A))
            json_object_set_new(s->out, "check_external", json_true());
        else if (!v.in)
            json_set_str(s->out, "reason", outcome_reason_name(v.reason));
    }
    crawl_setup_fini(&setup);
}

/* Would the blocklist keep it out now? */
static void ask_blocklist(struct story *s,
                          const struct crawl_settings *settings)
{
    struct bytes url = url_text(&s->url);
    struct blocklist *b;
    bool blocked = false;
    int code;

    if (settings->block_filter == NULL ||
        !crawl_block_open(&b, "explain", settings, &code))
        return;
    if (blocklist_check(b, &url, 1, &blocked) == STATUS_OK &&
        blocklist_counts(b).unsure == 0) {
        json_object_set_new(s->out, "blocked", json_boolean(blocked));
        if (blocked)
            json_set_str(s->out, "reason",
                         outcome_reason_name(REASON_BLOCKLIST));
        if (blocked && settings->block_exact == NULL)
            json_set_str(s->out, "block_check",
                         "by the filter alone, which may be a false positive");
    }
    blocklist_close(b);
}

static void find_example(void *ctx, const struct drop_row *row)
{
    struct story *s = ctx;
    json_t *history = json_object_get(s->out, "history"), *e;

    if (!bytes_equal(row->url, url_text(&s->url)))
        return;
    e = json_object();
    json_set_time(e, "at", row->at_ms);
    json_set_str(e, "status", "dropped");
    json_set_text(e, "reason", row->reason);
    json_set_text(e, "via", reader_url(s->r, row->via, &s->text));
    json_set_text(s->out, "reason", row->reason);
    if (json_array_size(history) >= EXAMPLES)
        json_array_remove(history, 0);
    json_array_append_new(history, e);
    s->dropped++;
    s->dropped_from = row->via;
}

static enum status tell_unknown(struct story *s,
                                const struct crawl_settings *settings)
{
    enum status st;

    json_object_set_new(s->out, "admitted", json_false());
    json_set_str(s->out, "status", "not admitted");
    if (settings != NULL)
        ask_scope(s, settings);
    if (settings != NULL)
        ask_blocklist(s, settings);
    st = frontier_store_each_drop(s->r->store, true, find_example, s);
    if (st == STATUS_OK && settings != NULL &&
        explain_trap(s->r, settings, &s->url, s->dropped_from, s->out))
        json_set_str(s->out, "reason", outcome_reason_name(REASON_TRAP));
    if (s->dropped > 0)
        json_object_set_new(s->out, "drops_kept", json_integer(s->dropped));
    return st;
}

/* ---- robots.txt as it stands ---- */

static void ask_robots(struct story *s, const struct crawl_settings *settings)
{
    struct robots_row row;
    struct robots *rules;
    struct bytes line;
    struct buf text, agent;
    bool allowed;

    buf_init(&text, (size_t)1 << 20);
    buf_init(&agent, 4096);
    if (settings != NULL)
        settings_product_token(settings, &agent);
    if (robots_store_get(s->r->db, url_origin(&s->url), &row, &text) ==
            STATUS_OK &&
        row.http_status >= 200 && row.http_status < 300) {
        rules = robots_parse(row.body, agent.len > 0 ? buf_bytes(&agent)
                                                     : bytes_of_str("urlweir"));
        allowed = robots_allows(rules, url_path_query(&s->url), &line);
        json_object_set_new(s->out, "robots_allows", json_boolean(allowed));
        json_set_text(s->out, "robots_line", line);
        robots_free(rules);
    }
    buf_fini(&agent);
    buf_fini(&text);
}

/* ---- output ---- */

static void print_value(const char *name, const json_t *v)
{
    if (json_is_string(v))
        printf("  %-18s %s\n", name, json_string_value(v));
    else if (json_is_integer(v))
        printf("  %-18s %lld\n", name, (long long)json_integer_value(v));
    else if (json_is_real(v))
        printf("  %-18s %.3g\n", name, json_real_value(v));
    else if (json_is_boolean(v))
        printf("  %-18s %s\n", name, json_is_true(v) ? "yes" : "no");
}

static void print_text(json_t *o)
{
    const char *name;
    json_t *v;
    size_t i;

    printf("%s\n", json_string_value(json_object_get(o, "url")));
    /* cppcheck-suppress unknownMacro */
    json_object_foreach(o, name, v) if (strcmp(name, "url") != 0)
        print_value(name, v);
    if (json_is_false(json_object_get(o, "admitted")) &&
        json_object_get(o, "reason") == NULL)
        printf("  no page that was read is known to link to it\n");
    json_array_foreach(json_object_get(o, "history"), i, v)
    {
        printf("  %zu.", i + 1);
        json_print_fields(v);
        putchar('\n');
    }
}

/* Gives the URL the form that it has in this crawl; the file with its rules is
 * not needed then. */
static void give_form(struct story *s, struct crawl_settings *settings)
{
    struct url_form *form = NULL;

    if (url_forms_read(&form, settings, s->r) == STATUS_OK)
        url_form_apply(form, &s->url);
    url_form_free(form);
    free(settings->rewrite);
    settings->rewrite = NULL;
}

static enum status explain_in_dir(struct story *s, const char *dir)
{
    char *argv[] = {(char *)"resume", (char *)dir, NULL};
    struct crawl_settings settings, before;
    uint64_t id = 0;
    int code;
    bool have = settings_of_resume(&settings, &before, 2, argv, &code);
    enum status st;

    if (have)
        give_form(s, &settings);
    st = reader_find(s->r, &s->url, &id);

    json_set_text(s->out, "url", url_text(&s->url));
    json_object_set_new(s->out, "history", json_array());
    if (st == STATUS_OK)
        st = id != 0 ? tell_admitted(s, id, have ? &settings : NULL)
                     : tell_unknown(s, have ? &settings : NULL);
    if (st == STATUS_OK)
        ask_robots(s, have ? &settings : NULL);
    if (have) {
        settings_fini(&settings);
        settings_fini(&before);
    }
    return st;
}

static int explain(const char *dir, const char *text, bool json)
{
    struct reader r;
    struct story s = {.r = &r};
    enum url_reason why;
    int code = EXIT_DONE;
    enum status st;

    if (!open_crawl(&r, "explain", dir, &code))
        return code;
    if (is_service(&r)) {
        code = service_explain(&r, text, json);
        reader_close(&r);
        return code;
    }
    url_init(&s.url);
    buf_init(&s.text, URL_LENGTH_CEILING + 64);
    buf_init(&s.other_text, URL_LENGTH_CEILING + 64);
    s.out = json_object();
    why = url_canonical(&s.url, bytes_of_str(text), NULL, NULL);
    if (why != URL_OK) {
        fprintf(stderr, "urlweir explain: that is not an http(s) URL: %s\n",
                url_reason_text(why));
        code = EXIT_USAGE;
    } else if ((st = explain_in_dir(&s, dir)) != STATUS_OK) {
        code = cannot_read("explain", dir, st);
    } else if (json) {
        json_print(s.out);
    } else {
        print_text(s.out);
    }
    json_decref(s.out);
    buf_fini(&s.other_text);
    buf_fini(&s.text);
    url_fini(&s.url);
    reader_close(&r);
    return code;
}

struct asked {
    const struct explain_settings *s;
    const char *url;
    bool visited;
};

static int explain_dir(void *ctx, const struct crawl_dir *d)
{
    struct asked *a = ctx;

    a->visited = true;
    return explain(d->path, a->url, a->s->json);
}

static int explain_run(const struct usage *u, void *settings,
                       const struct option_list *operands)
{
    struct asked asked = {.s = settings, .url = operands->item[1]};
    int code =
        crawl_dirs_each(u->name, operands->item[0],
                        bytes_of_str(operands->item[1]), explain_dir, &asked);

    if (code == EXIT_DONE && !asked.visited)
        code = command_failed(u->name,
                              "nobody has begun with the shard that has it");
    return code;
}

const struct usage explain_usage = {
    .name = "explain",
    .synopsis = "explain DIR|kafka://HOST/NAME URL [--json]",
    .about = "Shows every decision a crawl took about one URL, oldest first: "
             "where it was found, what the filter said, the robots.txt line, "
             "each try; or why it was never admitted. For a service's "
             "directory: what became of the URL in each crawl and queue.",
    .table = &table,
    .least = 2,
    .most = 2,
    .operand = "a directory of crawl or serve, or the URL of a crawl in Kafka; "
               "and a URL",
    .run = explain_run,
};

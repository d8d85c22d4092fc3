/* SPDX-License-Identifier: MIT */
/* explain_order.c - the place of an admitted URL in the order of its host. */
#include "cli/explain/explain_order.h"

#include "base/record.h"
#include "frontier/order.h"
#include "storage/rows/early_store.h"

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
    json_object_set_new(out, "in_links",
                        json_integer((json_int_t)facts->links));
}

static enum status in_links(struct reader *r, const struct url_record *f,
                            uint32_t *links)
{
    struct early_store *early = NULL;
    uint8_t class_;
    enum status st = early_store_open(&early, r->db);

    *links = 1;
    if (st == STATUS_OK)
        st = early_store_get(early, f->url.queue, f->url.id, &class_, links);
    early_store_close(early);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

enum status explain_order(json_t *out, struct reader *r,
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

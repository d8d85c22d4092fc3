/* SPDX-License-Identifier: MIT */
/* metrics_filters.c - the filters by name that other programs use. */
#include "service/metrics/metrics_parts.h"

#define FILTERS "filters"

void metrics_add_filters(struct metrics_text *m, struct filter_shelf *shelf)
{
    struct filter_shelf_stats v;

    filter_shelf_get_stats(shelf, &v);
    metrics_one(m, FILTERS, "loaded", METRICS_GAUGE, "Filters by name.",
                v.filters);
    metrics_one(m, FILTERS, "memory_bytes", METRICS_GAUGE,
                "Memory of them and of their kept keys.", v.bytes);
    metrics_family(m, FILTERS, "checked_total", METRICS_COUNTER,
                   "Keys asked for, by answer.");
    metrics_uint(m, METRICS_LABELS({"answer", "new"}), v.checked_new);
    metrics_uint(m, METRICS_LABELS({"answer", "maybe"}), v.checked_maybe);
    metrics_one(m, FILTERS, "added_total", METRICS_COUNTER,
                "Keys added, repeats and those of builds too.", v.added);
    metrics_one(m, FILTERS, "removed_total", METRICS_COUNTER, "Keys removed.",
                v.removed);
    metrics_one(m, FILTERS, "builds_total", METRICS_COUNTER,
                "Builds from a source that were finished.", v.builds);
}

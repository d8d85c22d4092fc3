/* SPDX-License-Identifier: MIT */
/*
 * export_head.c - the head line of CSV without rows.
 *
 * Fields that are no columns of a view stand here a second time;
 * tests/cli/export.sh compares with the head of rows.
 */
#include "cli/export/export_head.h"

#include "crawler/url_columns.h"
#include "frontier/host_columns.h"

static const char *const fields[] = {
    [EXPORT_LINKS] = "src,dst,kind,rel,text,reason",
    [EXPORT_BROKEN] =
        "url,status,reason,http_status,redirect_to,src,kind,rel,text",
    [EXPORT_DROPS] = "reason,host,count",
    [EXPORT_EXAMPLES] = "reason,host,url,via,via_id,at",
    [EXPORT_DROPPED] = "url,reason,depth,kind,via,via_id,id",
    [EXPORT_QUEUES] = NULL,
};

static const struct column_view *view_of(enum export_what what)
{
    switch (what) {
    case EXPORT_URLS:
        return &row_views[ROW_VIEW_URLS];
    case EXPORT_PAGES:
        return &row_views[ROW_VIEW_PAGES];
    case EXPORT_FETCHES:
        return &row_views[ROW_VIEW_FETCHES];
    case EXPORT_ERRORS:
        return &row_views[ROW_VIEW_ERRORS];
    default:
        return &host_views[HOST_VIEW_EXPORT];
    }
}

void export_head(enum export_what what, struct buf *out)
{
    const struct column_view *v = view_of(what);

    if (fields[what] != NULL)
        buf_add_str(out, fields[what]);
    for (size_t i = 0; fields[what] == NULL && i < v->count; i++)
        buf_addf(out, "%s%s", i > 0 ? "," : "", column_of(v, i)->name);
    buf_add_str(out, "\r\n");
}

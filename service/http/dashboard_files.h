/*
 * dashboard_files.h - the files of service/dashboard/, embedded at build time.
 * Static memory.
 */
#ifndef URLWEIR_SERVICE_HTTP_DASHBOARD_FILES_H
#define URLWEIR_SERVICE_HTTP_DASHBOARD_FILES_H

#include "base/bytes.h"

struct bytes dashboard_index_html(void);
struct bytes dashboard_dashboard_css(void);
struct bytes dashboard_main_js(void);
struct bytes dashboard_api_js(void);
struct bytes dashboard_dom_js(void);
struct bytes dashboard_chart_js(void);
struct bytes dashboard_crawl_js(void);
struct bytes dashboard_served_js(void);
struct bytes dashboard_shards_js(void);
struct bytes dashboard_tables_js(void);
struct bytes dashboard_control_js(void);

#endif

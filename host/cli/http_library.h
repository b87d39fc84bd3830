/* libmicrohttpd, loaded when a server starts (base/library.h). Included by http.c alone, which has its table.
 */
#ifndef DEVLOG_CLI_HTTP_LIBRARY_H
#define DEVLOG_CLI_HTTP_LIBRARY_H

#include <microhttpd.h>

#include "base/library.h"

/* clang-format off */
#define MHD_FUNCTIONS(X) \
    X(MHD_add_response_header) X(MHD_create_response_from_buffer) X(MHD_create_response_from_fd64) \
    X(MHD_destroy_response) X(MHD_get_connection_info) X(MHD_lookup_connection_value) \
    X(MHD_queue_response) X(MHD_start_daemon) X(MHD_stop_daemon)
/* clang-format on */

static struct {
    MHD_FUNCTIONS(DL_LIBRARY_FIELD)
} mhd;
static const char *const mhd_names[] = {MHD_FUNCTIONS(DL_LIBRARY_NAME)};
#define MHD_add_response_header         mhd.MHD_add_response_header
#define MHD_create_response_from_buffer mhd.MHD_create_response_from_buffer
#define MHD_create_response_from_fd64   mhd.MHD_create_response_from_fd64
#define MHD_destroy_response            mhd.MHD_destroy_response
#define MHD_get_connection_info         mhd.MHD_get_connection_info
#define MHD_lookup_connection_value     mhd.MHD_lookup_connection_value
#define MHD_queue_response              mhd.MHD_queue_response
#define MHD_start_daemon                mhd.MHD_start_daemon
#define MHD_stop_daemon                 mhd.MHD_stop_daemon

static devlog_status load_mhd(devlog_error *err)
{
    return dl_library_load(DEVLOG_LIBMICROHTTPD, mhd_names, sizeof mhd_names / sizeof mhd_names[0], &mhd,
                           err);
}

#endif

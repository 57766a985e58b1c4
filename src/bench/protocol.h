/* What parent and worker say to each other: a JSON object a line over two pipes, "op" naming what it is.
 *
 *   parent                                   worker answers
 *   hello {kinds, options}                   starting*, listed {devices, notes}
 *   use {config, path, devices, backends}    starting*, ready {devices, points, cells}
 *   footprint {cell}                         footprint {fits, reason, ...}
 *   point {point, cells}                     stage {cell, stage, gpu}*, cell*, note*, done
 *   environment                              environment {record}
 *   quit, or the end of the pipe             (ends)
 *
 * Any request may be answered by error {code, native, text, log} instead. "starting" names what is being
 * touched, so that the parent knows what crashed.
 */
#ifndef GPUBENCH_BENCH_PROTOCOL_H
#define GPUBENCH_BENCH_PROTOCOL_H

#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strbuf.h"

#define PROTOCOL_MAX_LINE ((size_t)1 << 30) /* a longer one is nonsense */

struct channel {
    int in_fd, out_fd;    /* borrowed */
    struct strbuf buffer; /* bytes read that are not yet a message */
    size_t taken;         /* of them already handed out */
};

enum channel_result { CHANNEL_MESSAGE, CHANNEL_TIMEOUT, CHANNEL_CLOSED, CHANNEL_ERROR };

void channel_init(struct channel *channel, int in_fd, int out_fd);
void channel_fini(struct channel *channel); /* does not close the descriptors */

/* Sends message and frees it, also when that fails (ERR_WORKER: the other side is gone). A message of NULL is
 * one for which memory was lacking. */
bool channel_send(struct channel *channel, struct json *message, struct err *err) GB_NODISCARD;

/* Waits up to timeout_ms (-1: for ever) for a whole line. CHANNEL_ERROR, with err, is a line that is not a
 * JSON object, or a failed read. A signal ends the wait early as CHANNEL_TIMEOUT. */
enum channel_result channel_receive(struct channel *channel, int timeout_ms, struct json **message,
                                    struct err *err);

/* true when the other side said something or is gone: a receive would not wait. */
bool channel_pending(const struct channel *channel);

struct json *message_new(const char *op);
bool message_is(const struct json *message, const char *op);

/* An error as a message, and back into err (always false, so that it reads as the failure it is). */
struct json *message_error(const struct err *err);
bool message_take_error(const struct json *message, struct err *err);

#endif

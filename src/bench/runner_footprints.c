#include <stdio.h>

#include "base/clock.h"
#include "bench/runner_start.h"

/* Working out bytes takes no time; this is for a machine that swaps. */
#define LIMIT_NS UINT64_C(60000000000)

static void take_footprint(const struct json *answer, struct runner_footprint *out)
{
    uint64_t split = 0;
    out->fits = json_bool(json_get(answer, "fits"));
    snprintf(out->reason, sizeof out->reason, "%s", json_string(json_get(answer, "reason")));
    /* What is missing stays 0, which says that it is not known. */
    if (!json_u64(json_get(answer, "device_bytes"), &out->bytes.device_bytes) ||
        !json_u64(json_get(answer, "largest_alloc_bytes"), &out->bytes.largest_alloc_bytes) ||
        !json_u64(json_get(answer, "host_bytes"), &out->bytes.host_bytes) ||
        !json_u64(json_get(answer, "tape_bytes"), &out->bytes.tape_bytes) ||
        !json_u64(json_get(answer, "split"), &split))
        return;
    out->bytes.split = (uint32_t)split;
}

bool runner_footprints(struct runner *r, struct runner_footprint *out, struct err *err)
{
    for (size_t i = 0; i < r->grid.cell_count; i++) {
        struct json *request = message_new("footprint"), *answer = NULL;
        json_set_u64(request, "cell", i);
        out[i] = (struct runner_footprint){0};
        if (!channel_send(&r->session.channel, request, err))
            return false;
        enum session_result got =
            session_receive(&r->session, clock_now_ns() + LIMIT_NS, r->options.stop, &answer);
        if (got != SESSION_MESSAGE)
            return runner_lost(r, got, "working out what a cell needs", err);
        bool ok = !message_is(answer, "error") || message_take_error(answer, err);
        if (ok)
            take_footprint(answer, &out[i]);
        json_free(answer);
        if (!ok)
            return false;
    }
    return true;
}

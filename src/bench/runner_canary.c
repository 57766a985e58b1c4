#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/units.h"
#include "bench/runner_start.h"

#define BETWEEN_NS UINT64_C(10000000000)
#define LIMIT_NS UINT64_C(60000000000)

static bool keep(struct runner *r, const struct json *list, uint64_t at_ns, struct err *err)
{
    for (size_t i = 0; i < json_count(list); i++) {
        const struct json *from = json_at(list, i);
        struct canary c = {.at_ns = at_ns};
        uint64_t device;
        if (!json_u64(json_get(from, "device"), &device) || device >= r->choice.used_count)
            return err_set(err, ERR_WORKER, "the worker sent a canary of no device");
        c.device = (size_t)device;
        for (size_t k = 0; k < CANARY_KINDS; k++)
            if (!json_u64(json_get(from, canary_name((enum canary_kind)k)), &c.ns[k]))
                return err_set(err, ERR_WORKER, "the worker sent a canary without %s",
                               canary_name((enum canary_kind)k));
        void *array = r->canaries;
        if (!mem_grow(&array, &r->canary_capacity, r->canary_count + 1, sizeof c, "canaries", err))
            return false;
        r->canaries = array;
        r->canaries[r->canary_count++] = c;
    }
    return true;
}

/* One request and its answer. *lost: the worker is gone. */
static bool ask(struct runner *r, uint64_t now, bool *lost, struct err *err)
{
    struct json *answer = NULL;
    *lost = false;
    if (!channel_send(&r->session.channel, message_new("canary"), err))
        return false;
    enum session_result got = session_receive(&r->session, now + LIMIT_NS, r->options.stop, &answer);
    if (got == SESSION_STOP)
        return true;
    *lost = got != SESSION_MESSAGE;
    if (*lost)
        return runner_lost(r, got, "timing the canary", err);
    bool ok = message_is(answer, "error") ? message_take_error(answer, err)
                                          : keep(r, json_get(answer, "list"), now - r->canary_start_ns, err);
    json_free(answer);
    return ok;
}

bool runner_take_canary(struct runner *r, bool always, void (*note)(void *context, const char *text),
                        void *context, struct err *err)
{
    const uint64_t now = clock_now_ns();
    if (!r->options.canary || r->canary_off || (!always && now - r->canary_last_ns < BETWEEN_NS))
        return true;
    if (r->canary_start_ns == 0)
        r->canary_start_ns = now;
    struct err cause = ERR_INIT;
    bool lost;
    if (!ask(r, now, &lost, &cause)) {
        char text[1100];
        snprintf(text, sizeof text, "no canary: %s", cause.text);
        if (note != NULL)
            note(context, text);
        r->canary_off = true;
        err_fini(&cause);
        if (lost && (!runner_start(r, err) || !runner_use(r, err)))
            return false;
    }
    r->canary_last_ns = clock_now_ns();
    return true;
}

void runner_judge_canaries(const struct runner *r, void (*note)(void *context, const char *text),
                           void *context)
{
    for (size_t d = 0; d < r->choice.used_count && note != NULL; d++) {
        for (int k = 0; k < CANARY_KINDS; k++) {
            uint64_t fastest, slowest;
            double drift =
                canary_drift(r->canaries, r->canary_count, d, (enum canary_kind)k, &fastest, &slowest);
            if (drift <= CANARY_DRIFT)
                continue;
            char from[UNITS_MAX], to[UNITS_MAX], text[512];
            units_time(from, fastest);
            units_time(to, slowest);
            snprintf(text, sizeof text,
                     "%s was not steady: the same %s work took %s to %s in this run (%.0f %% apart); look "
                     "for other "
                     "programs and changing clocks",
                     r->devices[d].selector, canary_name((enum canary_kind)k), from, to, 100 * drift);
            note(context, text);
            break;
        }
    }
}

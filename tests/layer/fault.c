#include "layer/fault.h"

#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FRAMES 24

struct call {
    const char *name;
    uintptr_t site[2]; /* the program's innermost places, from the start of its image */
};

static struct {
    pthread_mutex_t lock;
    unsigned long at; /* the call that goes wrong */
    unsigned long counted;
    const char *only, *mode, *log, *times, *device, *slow;
    unsigned long launches;
    bool always;
    cl_int code;
    long objects[OBJECTS];
    uintptr_t image, image_end;
    struct call *calls;
    size_t call_count, call_room;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int find_image(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    state.image = info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && end > state.image_end)
            state.image_end = end;
    }
    return 1; /* the program itself comes first */
}

void fault_init(void)
{
    const char *at = getenv("FAULT_CALL"), *code = getenv("FAULT_CODE"), *mode = getenv("FAULT_MODE");
    state.at = at ? strtoul(at, NULL, 10) : 0;
    state.code = code ? (cl_int)strtol(code, NULL, 10) : CL_OUT_OF_RESOURCES;
    state.mode = mode ? mode : "error";
    state.only = getenv("FAULT_NAME");
    state.always = getenv("FAULT_ALWAYS") != NULL;
    state.log = getenv("FAULT_LOG");
    state.times = getenv("FAULT_TIMES");
    state.device = getenv("FAULT_DEVICE");
    state.slow = getenv("FAULT_SLOW");
    dl_iterate_phdr(find_image, NULL);
}

void fault_launch(void)
{
    unsigned long ms, which = 0;

    pthread_mutex_lock(&state.lock);
    const unsigned long launch = ++state.launches;
    pthread_mutex_unlock(&state.lock);
    if (state.slow && sscanf(state.slow, "%lu:%lu", &ms, &which) >= 1 && (which == 0 || which == launch))
        usleep((useconds_t)(ms * 1000));
}

bool fault_times(const char *kind)
{
    return state.times && strcmp(state.times, kind) == 0;
}

bool fault_device(const char *kind)
{
    const size_t length = strlen(kind);
    for (const char *at = state.device; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, kind, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static FILE *open_log(void)
{
    char path[4096];
    if (!state.log)
        return NULL;
    snprintf(path, sizeof path, "%s.%d", state.log, (int)getpid());
    return fopen(path, "ae");
}

static void find_site(uintptr_t site[2])
{
    void *frames[MAX_FRAMES];
    const int count = backtrace(frames, MAX_FRAMES);
    for (int i = 0, found = 0; i < count && found < 2; i++) {
        const uintptr_t at = (uintptr_t)frames[i];
        if (at >= state.image && at < state.image_end)
            site[found++] = at - state.image;
    }
}

static void remember(const char *name)
{
    struct call call = {.name = name};
    if (!state.log)
        return;
    find_site(call.site);
    if (state.call_count == state.call_room) {
        state.call_room = state.call_room ? 2 * state.call_room : 1024;
        state.calls = realloc(state.calls, state.call_room * sizeof call);
        if (!state.calls)
            abort();
    }
    state.calls[state.call_count++] = call;
}

static bool goes_wrong(const char *name)
{
    bool wrong = false;
    pthread_mutex_lock(&state.lock);
    remember(name);
    if (!state.only || strcmp(state.only, name) == 0) {
        state.counted++;
        wrong = state.at > 0 && (state.always ? state.counted >= state.at : state.counted == state.at);
    }
    if (wrong) {
        FILE *log = open_log();
        if (log) {
            fprintf(log, "acted %s\n", name);
            fclose(log);
        }
    }
    pthread_mutex_unlock(&state.lock);
    return wrong;
}

enum act fault_enter(const char *name, cl_int *code)
{
    *code = CL_SUCCESS;
    if (!goes_wrong(name))
        return ACT_PASS;
    if (strcmp(state.mode, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(state.mode, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL); /* sanitizers and drivers catch it */
        raise(SIGSEGV);
    }
    if (strcmp(state.mode, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(state.mode, "lie") == 0)
        return ACT_LIE;
    if (strcmp(state.mode, "garbage") == 0)
        return ACT_GARBAGE;
    *code = state.code;
    return ACT_FAIL;
}

void fault_count(enum object type, int delta)
{
    pthread_mutex_lock(&state.lock);
    state.objects[type] += delta;
    pthread_mutex_unlock(&state.lock);
}

__attribute__((destructor)) static void write_log(void)
{
    static const char *const types[OBJECTS] = {"context", "queue", "program", "kernel", "buffer", "event", "map"};
    FILE *log = state.call_count > 0 ? open_log() : NULL;
    if (!log)
        return;
    for (size_t i = 0; i < state.call_count; i++)
        fprintf(log, "call %s %lx:%lx\n", state.calls[i].name, (unsigned long)state.calls[i].site[0],
                (unsigned long)state.calls[i].site[1]);
    for (size_t i = 0; calls_names[i]; i++)
        fprintf(log, "wraps %s\n", calls_names[i]);
    for (int i = 0; i < OBJECTS; i++)
        if (state.objects[i] != 0)
            fprintf(log, "leak %s %ld\n", types[i], state.objects[i]);
    fprintf(log, "end\n");
    fclose(log);
    free(state.calls);
}

/* ---- what the loader asks for ---- */

static struct _cl_icd_dispatch dispatch;

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *size_ret)
{
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (what != CL_LAYER_API_VERSION || (value && size < sizeof version))
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, &version, sizeof version);
    if (size_ret)
        *size_ret = sizeof version;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *count_ret,
                                            const cl_icd_dispatch **out)
{
    if (!target || !count_ret || !out || count < sizeof dispatch / sizeof dispatch.clGetPlatformIDs)
        return CL_INVALID_VALUE;
    fault_init();
    dispatch = *target;
    calls_wrap(&dispatch, target);
    *count_ret = sizeof dispatch / sizeof dispatch.clGetPlatformIDs;
    *out = &dispatch;
    return CL_SUCCESS;
}

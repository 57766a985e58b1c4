#include "cli/fit_files.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/render.h"

static const char *const suffixes[] = {".json", ".png", ".csv"};
#define SUFFIXES (sizeof suffixes / sizeof suffixes[0])

/* false, naming it, where one of the files is there already. */
static bool are_new(const char *name, struct err *err)
{
    struct strbuf path = STRBUF_INIT;
    bool is_new = true;

    for (size_t i = 0; i < SUFFIXES && is_new; i++) {
        strbuf_reset(&path);
        strbuf_addf(&path, "%s%s", name, suffixes[i]);
        if (access(strbuf_str(&path), F_OK) == 0)
            is_new = err_set(err, ERR_IO, "%s is there already; choose another name with -o", strbuf_str(&path));
    }
    strbuf_fini(&path);
    return is_new;
}

bool fit_files_free(const char *name, struct err *err)
{
    const char *slash = strrchr(name, '/');
    struct strbuf folder = STRBUF_INIT;

    strbuf_add_bytes(&folder, slash ? name : ".", slash ? (size_t)(slash - name) + 1 : 1);
    bool ok = access(strbuf_str(&folder), W_OK | X_OK) == 0 ||
              err_set_native(err, ERR_IO, errno, "cannot write into %s", strbuf_str(&folder));
    strbuf_fini(&folder);
    return ok && are_new(name, err);
}

bool fit_files_prefix(const char *asked, const char *image, char **out, struct err *err)
{
    const char *slash = strrchr(image, '/');
    const char *base = strcmp(image, "-") == 0 ? "picture"
                       : slash                 ? slash + 1
                                               : image,
               *dot = strrchr(base, '.');
    const int length = dot && dot > base ? (int)(dot - base) : (int)strlen(base);
    struct strbuf name = STRBUF_INIT;

    if (asked)
        strbuf_add(&name, asked);
    for (unsigned n = 1; !asked; n++) {
        struct err taken = ERR_INIT;
        strbuf_reset(&name);
        strbuf_addf(&name, "%.*s-fit", length, base);
        if (n > 1)
            strbuf_addf(&name, "-%u", n);
        bool is_free = are_new(strbuf_str(&name), &taken);
        err_fini(&taken);
        if (is_free)
            break;
    }
    *out = strbuf_ok(&name, err) ? mem_strdup(strbuf_str(&name), err) : NULL;
    strbuf_fini(&name);
    return *out != NULL;
}

void fit_files_name(const char *prefix, const struct device_info *device, const struct render_spec *spec,
                    struct strbuf *out)
{
    strbuf_add(out, prefix);
    if (!device)
        return;
    strbuf_addf(out, "-%ux%u-t%u-%s", spec->width, spec->height, spec->triangles, device->selector);
    for (char *at = out->data ? out->data + strlen(prefix) : NULL; at && *at; at++)
        if (*at == ':')
            *at = '-';
}

static bool save_losses(const char *path, const struct fit_run *run, struct err *err)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_add(&text, "step,sigma,loss,seconds\n");
    for (uint32_t i = 0; i < run->count; i++) {
        char loss[UNITS_MAX] = ""; /* none, where it is not finite */
        if (isfinite(run->loss[i]))
            units_exact(loss, run->loss[i]);
        strbuf_addf(&text, "%u,%.9g,%s,%.6f\n", i, (double)run->sigma[i], loss, (double)run->at_ns[i] / 1e9);
    }
    bool ok = strbuf_ok(&text, err) && strbuf_save(&text, path, err);
    strbuf_fini(&text);
    return ok;
}

bool fit_files_save(const char *name, struct renderer *renderer, const struct scene *scene,
                    const struct render_spec *spec, const struct fit_run *run, struct err *err)
{
    struct strbuf paths[SUFFIXES] = {STRBUF_INIT, STRBUF_INIT, STRBUF_INIT};
    bool ok = true;

    for (size_t i = 0; i < SUFFIXES; i++) {
        strbuf_addf(&paths[i], "%s%s", name, suffixes[i]);
        ok = ok && strbuf_ok(&paths[i], err);
    }
    /* What can be kept is kept. */
    if (ok) {
        const bool saved[] = {
            scene_save(strbuf_str(&paths[0]), scene, err),
            save_losses(strbuf_str(&paths[2]), run, err),
            render_save(renderer, scene, run->sigma[run->best], spec->width, spec->height,
                        strbuf_str(&paths[1]), err),
        };
        ok = saved[0] && saved[1] && saved[2];
    }
    for (size_t i = 0; i < SUFFIXES; i++)
        strbuf_fini(&paths[i]);
    return ok;
}

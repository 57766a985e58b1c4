#include "report/label.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* "0:1" of "ocl:0:1". */
static const char *place_of(const struct device_info *info)
{
    return strncmp(info->selector, "ocl:", 4) == 0 ? info->selector + 4 : info->selector;
}

void label_opencl(struct strbuf *out, const struct device_info *info)
{
    strbuf_addf(out, "[%s%s%s]", place_of(info), *info->path ? " " : "", info->path);
}

void label_device(char out[LABEL_MAX], const struct results *results, size_t device)
{
    const struct device_info *info = results_device(results, device);

    if (!info) {
        snprintf(out, LABEL_MAX, "device %zu", device);
        return;
    }
    bool twice = false;
    for (size_t i = 0; i < results->device_count; i++)
        twice |= i != device && strcmp(results->devices[i].short_name, info->short_name) == 0;
    snprintf(out, LABEL_MAX, "%s%s%s", *info->short_name ? info->short_name : info->name, twice ? " " : "",
             twice ? place_of(info) : "");
}

void label_brief(char out[LABEL_MAX], const struct results *results, size_t device)
{
    label_device(out, results, device);
    char *last = strrchr(out, ' ');
    if (strlen(out) > 6 && last && strlen(last + 1) <= 6)
        memmove(out, last + 1, strlen(last + 1) + 1);
}

void label_sides(char first[LABEL_MAX], char second[LABEL_MAX], const struct results *results,
                 const struct cell *a, const struct cell *b)
{
    if (a->device != b->device) {
        label_brief(first, results, a->device);
        label_brief(second, results, b->device);
    } else if (strcmp(a->backend, b->backend) != 0) {
        snprintf(first, LABEL_MAX, "%s", a->backend);
        snprintf(second, LABEL_MAX, "%s", b->backend);
    } else {
        snprintf(first, LABEL_MAX, "first");
        snprintf(second, LABEL_MAX, "second");
    }
}

/* Words of a CPU's name that say nothing: trade marks, "CPU", "64-Core", "Processor", "@ 2.00GHz". */
static void add_name(struct strbuf *sb, const char *name)
{
    static const char *const noise[] = {"(R)", "(r)", "(TM)", "(tm)"};
    const char *at = strstr(name, " @ ");
    size_t len = at ? (size_t)(at - name) : strlen(name);

    for (size_t i = 0, word = 0; i < len; i += word) {
        word = strcspn(name + i, " ");
        if (word > len - i)
            word = len - i;
        if (!word) {
            word = 1;
            continue;
        }
        char text[DEVICE_NAME_MAX];
        snprintf(text, sizeof(text), "%.*s", (int)word, name + i);
        for (size_t n = 0; n < sizeof(noise) / sizeof(noise[0]); n++)
            for (char *found; (found = strstr(text, noise[n]));)
                memmove(found, found + strlen(noise[n]), strlen(found + strlen(noise[n])) + 1);
        bool said = *text && strcmp(text, "CPU") != 0 && strcmp(text, "Processor") != 0 &&
                    strcmp(text, "processor") != 0 && !strstr(text, "-Core");
        if (said)
            strbuf_addf(sb, "%s%s", sb->len ? " " : "", text);
    }
}

static const char *path_name(const char *path)
{
    if (strcmp(path, "avx512") == 0)
        return "AVX-512";
    return strcmp(path, "avx2") == 0 ? "AVX2" : path;
}

/* Options that matter here and are not what they are by default. */
static void add_options(struct strbuf *sb, const struct cell *line, key_set free)
{
    struct render_spec defaults;
    size_t count;
    const struct spec_key *keys = spec_keys(&count);
    key_set told = free | keys_of_point() | keys_named("call strategy reduction threads");

    spec_init(&defaults);
    for (size_t i = 0; i < count; i++) {
        char value[SPEC_TEXT_MAX];
        if ((told >> i & 1) || !spec_matters(&line->spec, &keys[i], line->kind) ||
            spec_equal(&line->spec, &defaults, &keys[i]))
            continue;
        spec_text(&line->spec, &keys[i], value);
        strbuf_addf(sb, ", %s %s", keys[i].name, value);
    }
}

static void add_method(struct strbuf *sb, const struct cell *line, key_set free)
{
    const char *joint = ", ";
    const char *const names[] = {"strategy", "reduction"};

    for (size_t i = 0; i < 2; i++) {
        char value[SPEC_TEXT_MAX];
        const struct spec_key *key = spec_find(names[i]);
        if (!key || (free & keys_named(names[i])) || !spec_matters(&line->spec, key, line->kind))
            continue;
        spec_text(&line->spec, key, value);
        strbuf_addf(sb, "%s%s", joint, value);
        joint = " + ";
    }
}

void label_line(char out[LABEL_MAX], const struct results *results, const struct cell *line, key_set free)
{
    const struct device_info *info = results_device(results, line->device);
    struct strbuf sb = STRBUF_INIT;

    if (info) {
        add_name(&sb, info->name);
        if (line->kind == BACKEND_OPENCL) {
            bool named = !*info->short_name || strstr(info->name, info->short_name);
            if (!named) {
                struct strbuf with = STRBUF_INIT;
                strbuf_addf(&with, "%s (%s)", info->short_name, strbuf_str(&sb));
                strbuf_fini(&sb);
                sb = with;
            }
            strbuf_addc(&sb, ' ');
            label_opencl(&sb, info);
        } else {
            uint32_t threads = line->spec.threads ? line->spec.threads : info->threads;
            if (threads)
                strbuf_addf(&sb, ", %" PRIu32 " thread%s", threads, threads == 1 ? "" : "s");
            if (*info->path)
                strbuf_addf(&sb, ", %s", path_name(info->path));
        }
    } else
        strbuf_addf(&sb, "device %zu", line->device);
    add_method(&sb, line, free);
    add_options(&sb, line, free);
    snprintf(out, LABEL_MAX, "%s", strbuf_str(&sb));
    strbuf_fini(&sb);
}

/* NULL where there is no config. */
static const char *scenes_of(const struct results *results, const struct render_spec *spec)
{
    if (!json_get(results->head, "config"))
        return NULL;
    return spec->source == SOURCE_FILE ? "scenes from files" : "random scenes";
}

void label_point(char out[LABEL_MAX], const struct results *results, const struct render_spec *spec,
                 key_set free)
{
    static const char *const names[] = {"mode", "size", "triangles", "batch", "sigma", "upstream"};
    const char *scenes = free & keys_named("source") ? NULL : scenes_of(results, spec);
    struct strbuf sb = STRBUF_INIT;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char value[SPEC_TEXT_MAX];
        const struct spec_key *key = spec_find(names[i]);
        bool quiet =
            !key || (free & keys_named(names[i])) || (strcmp(names[i], "upstream") == 0 && !spec->upstream);
        if (quiet)
            continue;
        spec_text(spec, key, value);
        const char *joint = sb.len ? ", " : "";
        if (strcmp(names[i], "mode") == 0 || strcmp(names[i], "size") == 0)
            strbuf_addf(&sb, "%s%s", joint, value);
        else if (strcmp(names[i], "triangles") == 0)
            strbuf_addf(&sb, "%s%s triangle%s", joint, value, spec->triangles == 1 ? "" : "s");
        else if (strcmp(names[i], "upstream") == 0)
            strbuf_addf(&sb, "%supstream gradients", joint);
        else
            strbuf_addf(&sb, "%s%s %s", joint, names[i], value);
    }
    if (scenes)
        strbuf_addf(&sb, "%s%s", sb.len ? ", " : "", scenes);
    snprintf(out, LABEL_MAX, "%s", strbuf_str(&sb));
    strbuf_fini(&sb);
}

void label_place(char out[LABEL_MAX], const struct render_spec *spec)
{
    char size[NUMBER_MAX];

    number_size(size, spec->width, spec->height);
    snprintf(out, LABEL_MAX, "%s × %" PRIu32, size, spec->triangles);
}

const char *label_status(const struct cell *cell)
{
    return cell ? cell_status_name(cell->status) : "-";
}

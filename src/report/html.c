/* Results as one page: no script, nothing loaded from elsewhere. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "report/page.h"
#include "report/view.h"

#define MODES (1u << MODE_FORWARD | 1u << MODE_GRADIENT)

/* Head members: an empty string where there is none. */
static const struct json *head_at(const struct results *results, const char *object, const char *key)
{
    const struct json *node = results->head ? json_get(results->head, object) : NULL;
    return node && key ? json_get(node, key) : node;
}

static const char *head_text(const struct results *results, const char *object, const char *key)
{
    const struct json *node = head_at(results, object, key);
    return node ? json_string(node) : "";
}

/* ---- the verdict ---- */

struct verdict {
    struct strbuf *out;
    size_t lines;
};

static bool add_verdict(void *context, const struct view *v, struct err *err)
{
    struct verdict *verdict = context;
    const struct plane *p = &v->plane;
    size_t seen[RATIO_TIE + 1] = {0};
    char names[2][LABEL_MAX], heading[LABEL_MAX];

    for (size_t s = 0; s < p->size_count; s++)
        for (size_t i = 0; i < p->triangle_count; i++) {
            struct ratio ratio;
            if (!ratio_of(view_partner(v, s, i), view_cell(v, s, i, NULL), &ratio, err))
                return false;
            seen[ratio.verdict]++;
        }
    label_sides(names[0], names[1], v->results, v->reference, v->line);
    size_t known = seen[RATIO_FIRST] + seen[RATIO_SECOND] + seen[RATIO_TIE];
    bool second = seen[RATIO_SECOND] >= seen[RATIO_FIRST]; /* has won more */
    const char *winner = names[second], *loser = names[!second];
    size_t won = seen[second ? RATIO_SECOND : RATIO_FIRST], lost = seen[second ? RATIO_FIRST : RATIO_SECOND];
    verdict->lines++;
    strbuf_add(verdict->out, "<p class=\"verdict\">");
    if (!known)
        page_textf(verdict->out, "%s and %s cannot be compared: no point has a time of both", names[1],
                   names[0]);
    else if (won == known)
        page_textf(verdict->out, "%s wins everywhere measured", winner);
    else {
        page_textf(verdict->out, "%s wins %zu of %zu points", winner, won, known);
        if (lost)
            page_textf(verdict->out, ", %s %zu", loser, lost);
        if (seen[RATIO_TIE])
            page_textf(verdict->out, "; %zu %s", seen[RATIO_TIE],
                       seen[RATIO_TIE] == 1 ? "is a tie" : "are ties");
    }
    view_heading(v, heading);
    page_textf(verdict->out, " (%s).", heading);
    strbuf_add(verdict->out, "</p>\n");
    return true;
}

/* ---- warnings ---- */

static void add_cell_warnings(struct strbuf *out, const struct results *results)
{
    size_t few = 0, outliers = 0;

    for (size_t i = 0; i < results->cell_count; i++) {
        const struct cell *cell = &results->cells[i];
        few += cell->status == CELL_OK && !cell->has_ci;
        outliers += cell->sample_count && cell->outliers * 20 > cell->sample_count;
        if (cell->status == CELL_OK)
            continue;
        strbuf_add(out, "<li>");
        page_textf(out, "%s %s: %s", cell->id ? cell->id : cell->backend, cell_status_name(cell->status),
                   cell->reason ? cell->reason : "no reason given");
        strbuf_add(out, "</li>\n");
    }
    if (few)
        strbuf_addf(out, "<li>%zu cells have too few samples for an interval</li>\n", few);
    if (outliers)
        strbuf_addf(out, "<li>%zu cells have outliers in over 5 %% of their samples</li>\n", outliers);
}

static void add_warnings(struct strbuf *out, const struct results *results)
{
    struct strbuf list = STRBUF_INIT;

    if (results->partial)
        strbuf_add(&list, "<li>The run was interrupted: not every cell was measured.</li>\n");
    add_cell_warnings(&list, results);
    if (list.len)
        strbuf_addf(out, "<h2>Warnings</h2>\n<ul>\n%s</ul>\n", strbuf_str(&list));
    out->failed |= list.failed;
    strbuf_fini(&list);
}

/* ---- the machine ---- */

static void add_fact(struct strbuf *out, const char *name, const char *text)
{
    if (!*text)
        return;
    strbuf_addf(out, "<dt>%s</dt><dd>", name);
    page_text(out, text);
    strbuf_add(out, "</dd>\n");
}

static void add_device(struct strbuf *out, const struct device_info *device)
{
    char memory[UNITS_MAX];

    strbuf_addf(out, "<dt>");
    page_text(out, device->selector);
    strbuf_addf(out, "</dt><dd>");
    page_text(out, device->name);
    if (*device->platform)
        page_textf(out, ", %s", device->platform);
    if (*device->driver_version)
        page_textf(out, ", driver %s", device->driver_version);
    if (device->compute_units)
        page_textf(out, ", %" PRIu32 " compute units", device->compute_units);
    if (device->threads)
        page_textf(out, ", %" PRIu32 " threads", device->threads);
    if (device->global_bytes) {
        units_bytes(memory, device->global_bytes);
        page_textf(out, ", %s", memory);
    }
    if (*device->path)
        page_textf(out, ", path %s", device->path);
    strbuf_add(out, "</dd>\n");
}

static void add_machine(struct strbuf *out, const struct results *results)
{
    const struct json *cpu = head_at(results, "machine", "cpu"), *model = cpu ? json_get(cpu, "model") : NULL;

    strbuf_add(out, "<h2>Machine</h2>\n<dl>\n");
    add_fact(out, "CPU", model ? json_string(model) : "");
    add_fact(out, "kernel", head_text(results, "machine", "kernel"));
    add_fact(out, "governor", head_text(results, "machine", "governor"));
    for (size_t i = 0; i < results->device_count; i++)
        add_device(out, &results->devices[i]);
    add_fact(out, "gpubench", head_text(results, "tool", "version"));
    add_fact(out, "revision", head_text(results, "tool", "revision"));
    add_fact(out, "compiler", head_text(results, "tool", "compiler"));
    add_fact(out, "measured", head_text(results, "created", NULL));
    strbuf_add(out, "</dl>\n");
}

/* A word as a POSIX shell reads it back. */
static void add_word(struct strbuf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";

    if (*word && strspn(word, plain) == strlen(word)) {
        page_text(out, word);
        return;
    }
    strbuf_addc(out, '\'');
    for (; *word; word++) {
        char one[2] = {*word, '\0'};
        if (*word == '\'')
            strbuf_add(out, "'\\''");
        else
            page_text(out, one);
    }
    strbuf_addc(out, '\'');
}

static void add_command(struct strbuf *out, const struct results *results)
{
    const struct json *command = head_at(results, "command", NULL);

    if (!command || !json_count(command))
        return;
    strbuf_add(out, "<h2>To measure it again</h2>\n<pre><code>");
    for (size_t i = 0; i < json_count(command); i++) {
        strbuf_add(out, i ? " " : "");
        add_word(out, json_string(json_at(command, i)));
    }
    strbuf_add(out, "</code></pre>\n");
}

bool results_write_html(const struct results *results, const struct table *tables, size_t count,
                        struct strbuf *out, struct err *err)
{
    struct verdict verdict = {out, 0};
    const char *name = head_text(results, "config", "name");

    strbuf_add(out,
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>gpubench: ");
    page_text(out, name);
    strbuf_addf(out, "</title>\n<style>\n%s</style></head>\n<body><main>\n<h1>gpubench: ", page_style);
    page_text(out, *name ? name : "results");
    strbuf_add(out, "</h1>\n");
    bool ok =
        view_each(results, MODES, VIEW_OTHERS, keys_named("size triangles"), add_verdict, &verdict, err);
    if (ok && !verdict.lines)
        strbuf_add(
            out, "<p class=\"verdict\">One device was measured: there is nothing to compare it with.</p>\n");
    if (ok)
        add_warnings(out, results);
    ok = ok && chart_heat(results, out, err) && chart_scaling(results, out, err) &&
         chart_phases(results, out, err);
    if (ok && count)
        strbuf_add(out, "<h2>Tables</h2>\n");
    for (size_t i = 0; ok && i < count; i++) {
        ok = table_ok(&tables[i], err);
        if (ok)
            page_table(out, &tables[i]);
    }
    ok = ok && chart_samples(results, out, err);
    if (!ok)
        return false;
    add_machine(out, results);
    add_command(out, results);
    strbuf_add(out, "</main></body></html>\n");
    return strbuf_ok(out, err);
}

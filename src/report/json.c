/* Tables as JSON: the text that a reader sees, and the figure behind it. */
#include "base/json.h"
#include "report/table.h"

static const char *mark_name(enum table_mark mark)
{
    static const char *const names[] = {
        [MARK_NONE] = "none", [MARK_WINNER] = "winner", [MARK_LOSER] = "loser",
        [MARK_TIE] = "tie",   [MARK_BAD] = "bad",       [MARK_DIM] = "dim"};
    return names[mark];
}

static void add_lines(struct json *object, const char *key, char *const *lines, size_t count)
{
    struct json *array = json_set_array(object, key);

    for (size_t i = 0; i < count; i++)
        json_add_string(array, lines[i]);
}

static void add_table(struct json *array, const struct table *t, const char *path)
{
    struct json *object = json_add_object(array);

    json_set_string(object, "name", t->name);
    json_set_string(object, "results", path);
    json_set_string(object, "title", t->title ? t->title : "");
    add_lines(object, "notes", t->notes, t->note_count);
    struct json *columns = json_set_array(object, "columns");
    for (size_t c = 0; c < t->column_count; c++)
        json_add_string(columns, t->columns[c].title);
    struct json *rows = json_set_array(object, "rows");
    for (size_t row = 0; row < t->row_count; row++) {
        struct json *fields = json_new_array();
        for (size_t c = 0; c < t->column_count; c++) {
            const struct table_field *field = &t->fields[row * t->column_count + c];
            struct json *out = json_add_object(fields);
            json_set_string(out, "text", field->text ? field->text : "");
            json_set_number(out, "value", field->value); /* NAN becomes null */
            json_set_string(out, "mark", mark_name(field->mark));
        }
        json_add(rows, fields);
    }
    add_lines(object, "remarks", t->footer, t->footer_count);
}

bool tables_write_json(const struct table_run *runs, size_t count, struct strbuf *out, struct err *err)
{
    struct json *root = json_new_object(), *array = json_set_array(root, "tables");
    bool ok = true;

    for (size_t r = 0; ok && r < count; r++)
        for (size_t i = 0; ok && i < runs[r].count; i++) {
            ok = table_ok(&runs[r].tables[i], err);
            if (ok)
                add_table(array, &runs[r].tables[i], runs[r].results ? runs[r].results->path : NULL);
        }
    ok = ok && json_print(root, true, out, err);
    json_free(root);
    return ok;
}

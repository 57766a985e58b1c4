#include "base/json_check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "base/utf8.h"

/* A key of an object that is still open. */
struct key {
    const char *text; /* in checker.names, decoded; set when the object closes */
    size_t offset;
    size_t line;
};

struct checker {
    const char *at, *end;
    const char *name;
    size_t line;
    size_t depth;
    struct strbuf path;
    struct strbuf names; /* decoded keys of the open objects, each with its NUL */
    struct key *keys;
    size_t key_count, key_capacity;
    struct err *err;
};

static bool check_value(struct checker *c);

GB_PRINTF(2, 3)
static bool fail(struct checker *c, const char *fmt, ...)
{
    struct strbuf text = STRBUF_INIT;
    va_list args;

    va_start(args, fmt);
    strbuf_addv(&text, fmt, args);
    va_end(args);
    /* A path can be as long as the document's keys; its end says where, its start is cut. */
    const char *path = strbuf_str(&c->path);
    size_t cut = c->path.len > 256 ? c->path.len - 256 : 0;
    while ((path[cut] & 0xC0) == 0x80)
        cut++;
    err_set(c->err, ERR_CONFIG, "%s:%zu: %s%s: %s", c->name, c->line, cut ? "..." : "", path + cut,
            strbuf_str(&text));
    strbuf_fini(&text);
    return false;
}

static bool expected(struct checker *c, const char *what)
{
    if (c->at == c->end)
        return fail(c, "expected %s, found the end of the document", what);
    unsigned char byte = (unsigned char)*c->at;
    if (byte < 0x20 || byte >= 0x7F)
        return fail(c, "expected %s, found byte 0x%02X", what, byte);
    return fail(c, "expected %s, found '%c'", what, byte);
}

static bool next_is(const struct checker *c, char byte)
{
    return c->at < c->end && *c->at == byte;
}

static void skip_blanks(struct checker *c)
{
    for (; c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r'); c->at++)
        if (*c->at == '\n')
            c->line++;
}

static size_t skip_digits(struct checker *c)
{
    const char *start = c->at;
    while (c->at < c->end && *c->at >= '0' && *c->at <= '9')
        c->at++;
    return (size_t)(c->at - start);
}

static bool check_number(struct checker *c)
{
    const char *start = c->at;

    if (next_is(c, '-'))
        c->at++;
    if (next_is(c, '0')) {
        c->at++;
        if (c->at < c->end && *c->at >= '0' && *c->at <= '9')
            return fail(c, "a number may not start with 0 and another digit");
    } else if (skip_digits(c) == 0) {
        return expected(c, "a digit");
    }
    if (next_is(c, '.')) {
        c->at++;
        if (skip_digits(c) == 0)
            return expected(c, "a digit after the decimal point");
    }
    if (next_is(c, 'e') || next_is(c, 'E')) {
        c->at++;
        if (next_is(c, '+') || next_is(c, '-'))
            c->at++;
        if (skip_digits(c) == 0)
            return expected(c, "a digit of the exponent");
    }

    char token[JSON_MAX_NUMBER + 1];
    size_t length = (size_t)(c->at - start);
    if (length >= sizeof(token))
        return fail(c, "a number of %zu characters; at most %d are read", length, JSON_MAX_NUMBER);
    memcpy(token, start, length);
    token[length] = '\0';
    double value;
    if (!units_parse_double(token, &value))
        return fail(c, "%s is not finite in double precision", token);
    return true;
}

static bool hex4(struct checker *c, unsigned *out)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++, c->at++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *found = c->at < c->end && *c->at ? strchr(digits, *c->at) : NULL;
        if (!found)
            return expected(c, "four hexadecimal digits after \\u");
        value = value * 16 + (unsigned)((found - digits) % 16);
    }
    *out = value;
    return true;
}

static void add_code_point(struct strbuf *out, unsigned code)
{
    if (code < 0x80) {
        strbuf_addc(out, (char)code);
    } else if (code < 0x800) {
        strbuf_addc(out, (char)(0xC0 | code >> 6));
        strbuf_addc(out, (char)(0x80 | (code & 0x3F)));
    } else {
        if (code < 0x10000) {
            strbuf_addc(out, (char)(0xE0 | code >> 12));
        } else {
            strbuf_addc(out, (char)(0xF0 | code >> 18));
            strbuf_addc(out, (char)(0x80 | (code >> 12 & 0x3F)));
        }
        strbuf_addc(out, (char)(0x80 | (code >> 6 & 0x3F)));
        strbuf_addc(out, (char)(0x80 | (code & 0x3F)));
    }
}

static bool check_unicode_escape(struct checker *c, struct strbuf *decoded)
{
    unsigned code = 0, low = 0;

    if (!hex4(c, &code))
        return false;
    if (code == 0)
        return fail(c, "\\u0000 in a string");
    if (code >= 0xDC00 && code <= 0xDFFF)
        return fail(c, "\\u%04X is half of a surrogate pair", code);
    if (code >= 0xD800 && code <= 0xDBFF) {
        if (c->end - c->at < 2 || c->at[0] != '\\' || c->at[1] != 'u')
            return fail(c, "\\u%04X is half of a surrogate pair", code);
        c->at += 2;
        if (!hex4(c, &low))
            return false;
        if (low < 0xDC00 || low > 0xDFFF)
            return fail(c, "\\u%04X\\u%04X is no surrogate pair", code, low);
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (decoded)
        add_code_point(decoded, code);
    return true;
}

static bool check_escape(struct checker *c, struct strbuf *decoded)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";

    c->at++;
    if (next_is(c, 'u')) {
        c->at++;
        return check_unicode_escape(c, decoded);
    }
    const char *letter = c->at < c->end && *c->at ? strchr(letters, *c->at) : NULL;
    if (!letter)
        return expected(c, "an escape that JSON has");
    if (decoded)
        strbuf_addc(decoded, bytes[letter - letters]);
    c->at++;
    return true;
}

/* A string; its text goes to `decoded` unless that is NULL. */
static bool check_string(struct checker *c, struct strbuf *decoded)
{
    c->at++;
    while (!next_is(c, '"')) {
        if (c->at == c->end)
            return fail(c, "a string without its closing quote");
        if (*c->at == '\\') {
            if (!check_escape(c, decoded))
                return false;
            continue;
        }
        if ((unsigned char)*c->at < 0x20)
            return fail(c, "byte 0x%02X in a string: a control character, or the closing quote is missing",
                        (unsigned char)*c->at);
        size_t n = utf8_sequence(c->at, (size_t)(c->end - c->at));
        if (n == 0)
            return fail(c, "byte 0x%02X in a string is not valid UTF-8", (unsigned char)*c->at);
        if (decoded)
            strbuf_add_bytes(decoded, c->at, n);
        c->at += n;
    }
    c->at++;
    return true;
}

static int by_text(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = strcmp(x->text, y->text);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* The keys from `first` on are those of the object that just closed. */
static bool check_duplicates(struct checker *c, size_t first)
{
    size_t count = c->key_count - first;

    if (count == 0)
        return true;
    struct key *keys = c->keys + first;
    for (size_t i = 0; i < count; i++)
        keys[i].text = c->names.data + keys[i].offset;
    qsort(keys, count, sizeof(*keys), by_text);
    for (size_t i = 1; i < count; i++) {
        if (strcmp(keys[i - 1].text, keys[i].text) != 0)
            continue;
        json_path_key(&c->path, keys[i].text);
        c->line = keys[i].line;
        return fail(c, "duplicate key (the first is on line %zu)", keys[i - 1].line);
    }
    return true;
}

static bool check_member(struct checker *c)
{
    if (!next_is(c, '"'))
        return expected(c, "a key in double quotes");
    size_t offset = c->names.len;
    void *keys = c->keys;
    if (!mem_grow(&keys, &c->key_capacity, c->key_count + 1, sizeof(*c->keys), c->name, c->err))
        return false;
    c->keys = keys;
    c->keys[c->key_count++] = (struct key){.offset = offset, .line = c->line};
    if (!check_string(c, &c->names))
        return false;
    strbuf_addc(&c->names, '\0');
    if (!strbuf_ok(&c->names, c->err))
        return false;

    size_t path_len = c->path.len;
    json_path_key(&c->path, c->names.data + offset);
    skip_blanks(c);
    if (!next_is(c, ':'))
        return expected(c, "':' after a key");
    c->at++;
    if (!check_value(c))
        return false;
    strbuf_cut(&c->path, path_len);
    return true;
}

static bool check_object(struct checker *c)
{
    size_t first_key = c->key_count, names_len = c->names.len;

    c->at++;
    skip_blanks(c);
    while (!next_is(c, '}')) {
        if (!check_member(c))
            return false;
        if (next_is(c, '}'))
            break;
        if (!next_is(c, ','))
            return expected(c, "',' or '}'");
        c->at++;
        skip_blanks(c);
        if (next_is(c, '}'))
            return fail(c, "a comma before '}'");
    }
    c->at++;
    if (!check_duplicates(c, first_key))
        return false;
    c->key_count = first_key;
    strbuf_cut(&c->names, names_len);
    return true;
}

static bool check_array(struct checker *c)
{
    size_t path_len = c->path.len;

    c->at++;
    skip_blanks(c);
    for (size_t index = 0; !next_is(c, ']'); index++) {
        json_path_index(&c->path, index);
        if (!check_value(c))
            return false;
        strbuf_cut(&c->path, path_len);
        if (next_is(c, ']'))
            break;
        if (!next_is(c, ','))
            return expected(c, "',' or ']'");
        c->at++;
        skip_blanks(c);
        if (next_is(c, ']'))
            return fail(c, "a comma before ']'");
    }
    c->at++;
    return true;
}

static bool check_word(struct checker *c)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(c->end - c->at) >= length && memcmp(c->at, words[i], length) == 0) {
            c->at += length;
            return true;
        }
    }
    return expected(c, "a value");
}

/* A value and the blanks around it. */
static bool check_value(struct checker *c)
{
    bool ok;

    skip_blanks(c);
    if (next_is(c, '{') || next_is(c, '[')) {
        if (++c->depth > JSON_MAX_DEPTH)
            return fail(c, "more than %d arrays and objects inside each other", JSON_MAX_DEPTH);
        ok = *c->at == '{' ? check_object(c) : check_array(c);
        c->depth--;
    } else if (next_is(c, '"')) {
        ok = check_string(c, NULL);
    } else if (next_is(c, '-') || (c->at < c->end && *c->at >= '0' && *c->at <= '9')) {
        ok = check_number(c);
    } else {
        ok = check_word(c);
    }
    if (ok)
        skip_blanks(c);
    return ok;
}

bool json_check(const char *text, size_t len, const char *name, struct err *err)
{
    struct checker c = {.at = text, .end = text + len, .name = name, .line = 1, .err = err};

    strbuf_add(&c.path, "$");
    bool ok = check_value(&c);
    if (ok && c.at != c.end)
        ok = expected(&c, "the end of the document");
    if (ok)
        ok = strbuf_ok(&c.path, err);
    strbuf_fini(&c.path);
    strbuf_fini(&c.names);
    free(c.keys);
    return ok;
}

void json_path_key(struct strbuf *path, const char *key)
{
    size_t plain = strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (plain > 0 && key[plain] == '\0') {
        strbuf_addc(path, '.');
        strbuf_add(path, key);
    } else {
        strbuf_addc(path, '[');
        json_quote(path, key);
        strbuf_addc(path, ']');
    }
}

void json_path_index(struct strbuf *path, size_t index)
{
    strbuf_addf(path, "[%zu]", index);
}

void json_quote(struct strbuf *out, const char *s)
{
    static const char letters[] = "\"\\bfnrt", bytes[] = "\"\\\b\f\n\r\t";
    size_t left = strlen(s);

    strbuf_addc(out, '"');
    while (left > 0) {
        const char *escape = strchr(bytes, *s);
        size_t n = utf8_sequence(s, left);
        if (escape) {
            strbuf_addc(out, '\\');
            strbuf_addc(out, letters[escape - bytes]);
        } else if (n == 1 && ((unsigned char)*s < 0x20 || *s == 0x7F)) {
            strbuf_addf(out, "\\u%04x", (unsigned char)*s);
        } else if (n == 0) {
            strbuf_add(out, "\xEF\xBF\xBD");
            n = 1;
        } else {
            strbuf_add_bytes(out, s, n);
        }
        s += n;
        left -= n;
    }
    strbuf_addc(out, '"');
}

/* A config is read or refused with a reason; its axes can be overridden with any text. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "plan/config.h"

static void override(struct config *config, const uint8_t *data, size_t size)
{
    char text[48];
    struct err err = ERR_INIT;
    size_t length = size < sizeof(text) - 1 ? size : sizeof(text) - 1;

    memcpy(text, data + size - length, length);
    text[length] = '\0';
    if (!config_override_axis(config, text, &err) && err.code == ERR_NONE)
        abort();
    err_fini(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct config config;
    struct json *root = json_parse((const char *)data, size, "input", &err);

    if (root && config_from_json(root, "configs/input", &config, &err)) {
        override(&config, data, size);
        config_fini(&config);
    } else if (err.code == ERR_NONE || err.text[0] == '\0') {
        abort();
    }
    json_free(root);
    err_fini(&err);
    return 0;
}

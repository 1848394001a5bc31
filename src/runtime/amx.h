#pragma once

extern "C" {

// Asks the operating system once for the tile registers of AMX, which it gives to processes that
// ask. Returns 0, or a tessera_error_code_t if it refuses, which it has then reported.
int tessera_request_amx(void *user_context);
}

/* The entry of programs that run compiled pipelines from a command line: see add_tessera_run. */
#pragma once
#include "runtime/tessera_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_run_function_t {
    int (*argv)(void *const *args);
    const tessera_filter_metadata_t *(*metadata)(void);
} tessera_run_function_t;

/* The command line of tessera-run, without its library: the functions are linked with the program.
 * Returns the program's exit code. */
int tessera_run_main(int argc, char **argv, const tessera_run_function_t *functions, int count);

/* Called by a pipeline's file of the type registration, before main(). Programs that link with
 * Tessera::RunMain have one, and a main function that offers whatever was registered; others define
 * their own. */
void tessera_register_function(int (*argv)(void *const *args),
                               const tessera_filter_metadata_t *(*metadata)(void));

#ifdef __cplusplus
}
#endif

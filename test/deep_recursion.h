#pragma once

// Whether tests may recurse a hundred thousand calls deep: the sanitizer of threads keeps a stack
// of its own that holds fewer.
#ifdef __SANITIZE_THREAD__
constexpr bool may_recurse_deeply = false;
#else
constexpr bool may_recurse_deeply = true;
#endif

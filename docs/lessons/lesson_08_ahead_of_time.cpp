// Lesson 8, second part: ahead of time, the program.
//
// It is linked with the library that the generator has written, and with no compiler. The header
// declares the function; what it takes, it can be asked for as well.
#include "check.h"
#include "lesson_08_brighten.h"
#include <cstring>
#include <tessera_runtime.h>
#include <vector>

int main() {
    // A tessera_buffer_t describes memory of the program's own: 50 columns and 8 rows.
    std::vector<uint8_t> memory(50 * 8, 100), result(50 * 8);
    tessera_dimension_t dims[] = {{0, 50, 1}, {0, 8, 50}};
    tessera_buffer_t input = {}, output = {};
    for (tessera_buffer_t *b : {&input, &output}) {
        b->type = {tessera_type_uint, 8, 1};
        b->dimensions = 2;
        b->dim = dims;
    }
    input.host = memory.data();
    output.host = result.data();
    memory[60] = 200;

    // It returns 0, or the code of an error.
    check(lesson_08_brighten(&input, 1.5f, &output) == 0);
    check(result[0] == 150 && result[60] == 255);

    // The library knows its arguments, their types and what they may be.
    const tessera_filter_metadata_t *about = lesson_08_brighten_metadata();
    check(about->num_arguments == 3);
    check(std::strcmp(about->arguments[1].name, "factor") == 0);
}

// The main function of an executable of generators.
#include <tessera_generator.h>

int main(int argc, char **argv) { return tessera::generator_main(argc, argv); }

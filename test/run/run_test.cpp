#include "aot/gpu_driver.h"
#include "base/error.h"
#include "files/format.h"
#include "files/formats.h"
#include "files/number.h"
#include <cmath>
#include <functional>

using namespace tessera;
using namespace tessera::files;

// tessera-run, as a user runs it.
namespace {

const tessera_type_t u8{tessera_type_uint, 8}, u16{tessera_type_uint, 16},
    i32{tessera_type_int, 32}, f32{tessera_type_float, 32}, f64{tessera_type_float, 64};

// The libraries of all tests, each written when it is first asked for.
class Libraries {
public:
    ~Libraries() {
        std::error_code ignored;
        if (!folder.empty()) fs::remove_all(folder, ignored);
    }
    std::string path(const std::string &generator, const std::string &function,
                     const std::string &words) {
        if (folder.empty()) {
            folder = (fs::temp_directory_path() / "tessera_libraries_XXXXXX").string();
            REQUIRE(mkdtemp(folder.data()));
        }
        std::string library = folder + "/" + function + ".a";
        if (!fs::exists(library)) {
            run("'" GENERATORS "' -g " + generator + " -f " + function + " -o " + folder +
                " -e static_library,object " + words);
        }
        return library;
    }

private:
    std::string folder;
};
Libraries libraries;

std::string library(const std::string &generator) {
    return libraries.path(generator, generator, "target=host");
}

constexpr const char *tool = "'" TESSERA_RUN "' ";

// What the tool prints; it succeeds.
std::string tessera_run(const std::string &words) { return run(tool + words); }
// What it prints where it fails, in one sentence that begins with "error: ".
std::string refusal(const std::string &words) {
    std::string output = run(tool + words, false);
    INFO(output);
    CHECK(has(output, "error: "));
    CHECK_FALSE(has(output, "terminate"));
    return output;
}
int exit_code(const std::string &words) {
    return WEXITSTATUS(std::system((tool + words + " > output.txt 2>&1").c_str()));
}

#define CHECK_REFUSED(words, sentence)                                                             \
    do {                                                                                           \
        std::string refused = refusal(words);                                                      \
        INFO(refused);                                                                             \
        CHECK(has(refused, sentence));                                                             \
    } while (false)

Array array_of(tessera_type_t type, const std::vector<int> &extents,
               const std::function<double(size_t)> &value) {
    Array a(type, extents);
    for (size_t i = 0; i < a.number_of_elements(); i++) {
        store_number(type, a.bytes.data() + i * size_t(type.bytes()), value(i));
    }
    return a;
}

std::vector<double> numbers(const std::string &path) {
    Array a = read_file(path, all_formats());
    std::vector<double> values;
    for (size_t i = 0; i < a.number_of_elements(); i++) {
        values.push_back(double(number_at(a.type, a.bytes.data() + i * size_t(a.type.bytes()))));
    }
    return values;
}
std::vector<int> extents(const std::string &path) { return read_file(path, all_formats()).extents; }

}  // namespace

TEST_SUITE("tessera-run") {
    TEST_CASE("a library describes its arguments") {
        Folder folder;
        std::string text = tessera_run(library("several") + " --describe");
        CHECK(has(text, "several, for x86-64-linux"));
        CHECK(has(text, "\n  in: input, 1 dimension of uint8, estimate [0, +100)\n"
                        "  both.0: output, 1 dimension of uint8, estimate [0, +100)\n"
                        "  both.1: output, 1 dimension of float32, estimate [0, +100)\n"
                        "  renamed: output, 1 dimension of uint8\n"));
        text = tessera_run(library("scalars") + " --describe");
        CHECK(has(text, "\n  flag: bool, default true\n"
                        "  i8: int8, default -8, at least -100, at most 100\n"
                        "  i16: int16\n  i32: int32, estimate 32\n"));
        CHECK(has(text, "  f16: float16\n  bf16: bfloat16\n"));
        CHECK(has(text, "  pointer: handle64\n  out: output, 1 dimension of float64, estimate [0, "
                        "+13)\n  exact: output, 0 dimensions of uint64\n"));
    }
    TEST_CASE("scalars of every type are passed") {
        Folder folder;
        std::string scalars = library("scalars");
        tessera_run(scalars + " flag=false i8=-100 i16=-32768 i32=estimate,default i64=-5000000000 "
                              "u8=255 u16=65535 u32=4294967295 u64=18446744073709551615 f16=1.5 "
                              "bf16=-2 f32=0.1 f64=1e-3 pointer=null --output_extents=out:[13] "
                              "out=out.npy exact=exact.npy");
        CHECK(numbers("out.npy") == std::vector<double>{0, -100, -32768, 32, -5000000000.0, 255,
                                                        65535, 4294967295.0, 1.5, -2, double(0.1f),
                                                        1e-3, 1});
        Array exact = read_file("exact.npy", all_formats());
        CHECK(exact.extents.empty());
        CHECK(exact.bytes == std::vector<uint8_t>(8, 0xff));
    }
    TEST_CASE("results are brought from a GPU") {
        Folder folder;
        run("'" GENERATORS "' -g scaled -o . -e static_library,device_code target=host-cuda");
        write_gpu_driver(contents_of("scaled.ptx"));
        const std::string words = "scaled.a in=zero --output_extents=[16] out=out.npy";
        std::string text = run(on_fake_gpu + "CAPABILITY=90 " + tool + words);
        CHECK(has(text, "1 launches of PTX\n"));
        std::vector<double> wanted;
        for (int i = 0; i < 16; i++) wanted.push_back(i % 4 * 10 + 1);
        CHECK(numbers("out.npy") == wanted);
        text = run(on_fake_gpu + "CAPABILITY=90 " + tool + words + " --benchmarks=all");
        CHECK(has(text, "Benchmark of scaled: "));
        CHECK(has(run("TESSERA_CUDA_DRIVER=/no/driver " + (tool + words), false),
                  "scaled failed: There is no driver for NVIDIA's GPUs"));
    }
    TEST_CASE("a scalar that is none of its type is refused") {
        Folder folder;
        std::string scalars = library("scalars") + " --default_input_scalars ";
        CHECK_REFUSED(scalars + "i8=128", "i8=128: 128 is no int8, which goes from -128 to 127");
        CHECK_REFUSED(scalars + "i16=abc", "i16=abc: 'abc' is no int16");
        CHECK_REFUSED(scalars + "i16=1.5", "i16=1.5: '1.5' is no int16");
        CHECK_REFUSED(scalars + "i16=", "i16=: '' is no int16");
        std::string after = scalars + "i16=1 i64=1 ";
        CHECK_REFUSED(after + "u8=-1", "u8=-1: -1 is no uint8, which goes from 0 to 255");
        CHECK_REFUSED(scalars + "flag=2", "flag=2: 2 is no bool, which goes from 0 to 1");
        CHECK_REFUSED(scalars + "i16=estimate", "i16=estimate: the pipeline says none for it");
        after += "u8=1 u16=1 u32=1 u64=1 ";
        CHECK_REFUSED(after + "f16=70000", "f16=70000: 70000 is too large for float16");
        CHECK_REFUSED(after + "f16=1 bf16=1 f32=1.0x", "f32=1.0x: '1.0x' is no float32");
        CHECK_REFUSED(after + "f16=1 bf16=inf f32=1 f64=nan pointer=7",
                      "pointer=7: a pointer can only be null");
        CHECK_REFUSED(scalars, "i16=estimate,default: the pipeline says none for it");
        CHECK_REFUSED(library("scalars"),
                      "flag has no value: say flag=VALUE, or --default_input_scalars");
    }
    TEST_CASE("random inputs are the same for a seed, and outputs are checked") {
        Folder folder;
        std::string several = library("several");
        std::string said = tessera_run(several + " in=random:7:[200] both.0=0.npy both.1=1.npy "
                                                 "renamed=r.npy");
        CHECK(said == "note: in is random, with the seed 7\n");
        CHECK(extents("r.npy") == std::vector{200});
        CHECK(tessera_run(several + " in=random:7:[200] --quiet --check=both.0=0.npy "
                                    "--check=both.1=1.npy") ==
              "check of both.0 against 0.npy: ok\ncheck of both.1 against 1.npy: ok\n");
        CHECK(exit_code(several + " in=random:8:[200] --quiet --check=renamed=r.npy") == 2);
        said = contents_of("output.txt");
        CHECK(has(said, "check of renamed against r.npy: "));
        CHECK(has(said, "elements of 200 too far away; the largest difference is "));
        said = tessera_run(several + " in=random:[200]");
        CHECK(has(said, "note: in is random, with the seed "));
        // The seed that is printed repeats the run.
        std::string seed = said.substr(said.rfind(' ') + 1);
        seed.pop_back();
        tessera_run(several + " in=random:" + seed + ":[50] renamed=a.npy");
        tessera_run(several + " in=random:" + seed + ":[50] --check=renamed=a.npy");
        CHECK_REFUSED(several + " in=random:x:[200]", "'x' is no seed, a whole number");
    }
    TEST_CASE("a check has a tolerance") {
        Folder folder;
        std::string several = library("several") + " in=constant:100:[100] --quiet ";
        auto expect = [](double value) {
            write_npy(array_of(f64, {100}, [=](size_t i) { return i == 3 ? value : 50; }), "e.npy",
                      "");
        };
        expect(50.5);
        CHECK(exit_code(several + "--check=both.1=e.npy") == 2);
        CHECK(contents_of("output.txt") ==
              "check of both.1 against e.npy: 1 element of 100 too far away; the largest "
              "difference is 0.5, at (3): 50 is computed, 50.5 expected\n");
        CHECK(tessera_run(several + "--check=both.1=e.npy --tolerance=0.5") ==
              "check of both.1 against e.npy: ok; the largest difference is 0.5, at (3): 50 is "
              "computed, 50.5 expected\n");
        CHECK(exit_code(several + "--check=both.1=e.npy --relative_tolerance=0.009") == 2);
        CHECK(exit_code(several + "--check=both.1=e.npy --relative_tolerance=0.01") == 0);
        expect(std::nan(""));
        CHECK(exit_code(several + "--check=both.1=e.npy --tolerance=1000") == 2);
        expect(INFINITY);
        CHECK(exit_code(several + "--check=both.1=e.npy --relative_tolerance=1") == 2);
        expect(50.5);
        CHECK(tessera_run(several + "--check=both.1=e.npy --parsable_output --tolerance=1") ==
              "several  WRONG_ELEMENTS_OF_both.1  0\n");
    }
    TEST_CASE("outputs are as large as the inputs allow") {
        Folder folder;
        std::string blur = library("small_blur");
        write_npy(array_of(u8, {40, 30}, [](size_t i) { return double(i % 40); }), "in.npy", "");
        std::string said = tessera_run(blur + " in=in.npy out=out.npy");
        CHECK(has(said, "in=in.npy: it begins at -1 in dimension 0, where the pipeline reads it"));
        CHECK(extents("out.npy") == std::vector{38, 29});
        CHECK(numbers("out.npy")[5] == 5 + 6 + 7 + 6);
        tessera_run(blur + " in=in.npy out=out.npy --output_extents=[10,20]");
        CHECK(extents("out.npy") == std::vector{10, 20});
        CHECK_REFUSED(blur + " in=in.npy --output_extents=[39,29]",
                      "in is 40x30, but 41x30 of it are needed for out of 39x29");
        CHECK_REFUSED(blur + " in=constant:1:[1,5]",
                      "in is 1x5, but 3x2 of it are needed for out of 1x1");
        CHECK_REFUSED(blur + " in=zero", "how large out is to be is not known");
        tessera_run(blur + " in=zero --output_extents=[7,5] out=out.npy");
        CHECK(extents("out.npy") == std::vector{7, 5});
        CHECK_REFUSED(blur + " in=zero --output_extents=[7]", "out has 2 dimensions, not 1");
        CHECK_REFUSED(blur + " in=zero --output_extents=ou:[7]",
                      "there is no output ou; did you mean out?; the outputs are out");
        CHECK_REFUSED(blur + " in=zero --output_extents=[7,-5]", "'-5' in [7,-5] is no extent");
        CHECK_REFUSED(blur + " in=zero --output_extents=7", "'7' is no list of extents");
        CHECK_REFUSED(blur + " in=zero --output_extents=estimate", "out has no estimates");
        CHECK_REFUSED(blur + " in=zero:estimate", "in has no estimates");
        CHECK_REFUSED(blur + " in=zero:[4]", "in has 2 dimensions, not 1");
        CHECK_REFUSED(blur + " in=zero:big", "'big' is no size");
        CHECK_REFUSED(blur + " in=constant:300:[9,9]", "300 is no uint8");
    }
    TEST_CASE("each output has the size that its inputs allow") {
        Folder folder;
        std::string product = library("product");
        write_npy(array_of(f32, {4, 3}, [](size_t i) { return double(i); }), "a.npy", "");
        tessera_run(product + " a=a.npy b=identity:[5,4] twice=default out=o.npy larger=l.npy");
        CHECK(extents("o.npy") == std::vector{5, 3});
        CHECK(numbers("o.npy") ==
              std::vector<double>{0, 1, 2, 3, 0, 4, 5, 6, 7, 0, 8, 9, 10, 11, 0});
        CHECK(extents("l.npy") == std::vector{8, 6});
        tessera_run(product + " --estimate_all out=o.npy larger=l.npy");
        CHECK(extents("o.npy") == std::vector{5, 3});
        CHECK(extents("l.npy") == std::vector{8, 6});
        std::string said =
            tessera_run(product + " a=zero:estimate b=zero:estimate_then_auto "
                                  "twice=true --verbose --output_extents=larger:[2,2]");
        CHECK(has(said, "note: larger: float32 [0, +2) stride 1 x [0, +2) stride 2"));
        CHECK(has(said, "note: out: float32 [0, +5) stride 1 x [0, +3) stride 5"));
        // What nobody knows, the pipeline's estimates say.
        said = tessera_run(product + " --default_input_buffers --default_input_scalars --verbose");
        CHECK(has(said, "note: out: float32 [0, +5) stride 1 x [0, +3) stride 5"));
    }
    TEST_CASE("pictures are converted to what arguments are") {
        Folder folder;
        std::string interleaved = library("interleaved") + " gain=1 ";
        auto sample = [](size_t i) { return double(i * 7 % 256); };
        Array rgb = array_of(u8, {20, 10, 3}, sample), rgba = array_of(u8, {20, 10, 4}, sample);
        Array grey = array_of(u16, {20, 10}, [](size_t i) { return double(i * 300); });
        write_png(rgb, "rgb.png", "");
        write_ppm(rgb, "rgb.ppm", "");
        write_png(rgba, "rgba.png", "");
        write_png(grey, "grey.png", "");
        std::string said = tessera_run(interleaved + "in=rgb.png out=out.png");
        CHECK(said == "note: in=rgb.png: its uint8 become float32; 255 becomes 1\n"
                      "note: out=out.png: its float32 become uint16; 1 becomes 65535\n");
        Array out = read_file("out.png", all_formats());
        CHECK(out.type == u16);
        CHECK(out.extents == rgb.extents);
        CHECK(numbers("out.png")[33] == sample(33) * 257);
        tessera_run(interleaved + "in=rgb.ppm --check=out=out.png");
        said = tessera_run(interleaved + "in=rgba.png out=a.npy --check=out=rgb.png");
        CHECK(has(said, "note: in=rgba.png: of its 4 channels 3 are used"));
        said = tessera_run(interleaved + "in=grey.png out=grey.ppm");
        CHECK(has(said, "note: in=grey.png: its 20x10 are taken as 20x10x1"));
        CHECK(has(said, "note: in=grey.png: its 1 channel becomes 3"));
        CHECK(numbers("grey.ppm")[233] == 33 * 300);
        // Floats are values.
        write_npy(array_of(f64, {20, 10, 3}, [](size_t) { return 0.5; }), "half.npy", "");
        said = tessera_run(interleaved + "in=half.npy out=half.png");
        CHECK(has(said, "note: in=half.npy: its float64 become float32\n"));
        CHECK(numbers("half.png")[0] == 32768);

        std::string blur = library("small_blur");
        said = tessera_run(blur + " in=rgb.png out=blurred.pgm");
        CHECK(
            has(said, "its colours become their brightness, for the argument has two dimensions"));
        CHECK(extents("blurred.pgm") == std::vector{18, 9});
        write_png(array_of(u8, {9, 9, 2}, sample), "ga.png", "");
        CHECK(has(tessera_run(blur + " in=ga.png"), "its alpha is left out"));
    }
    TEST_CASE("arrays keep their values, or are refused") {
        Folder folder;
        std::string blur = library("small_blur");
        auto refused = [&](const Array &a, const char *words) {
            write_npy(a, "a.npy", "");
            CHECK_REFUSED(blur + " in=a.npy", words);
        };
        auto at_7 = [](double value) { return [=](size_t i) { return i == 7 ? value : 1.0; }; };
        refused(array_of(f64, {5, 4}, at_7(0.5)),
                "in=a.npy: its element at (2, 1), 0.5, is no uint8");
        refused(array_of(i32, {5, 4}, at_7(-1)), "its element at (2, 1), -1, is no uint8");
        refused(array_of(i32, {5, 4, 3}, at_7(1)),
                "its array is 5x4x3, of 3 dimensions, but the argument has 2");
        write_npy(array_of(f64, {5, 4, 1, 1}, at_7(255)), "a.npy", "");
        std::string said = tessera_run(blur + " in=a.npy out=o.mat");
        CHECK(has(said, "note: in=a.npy: its 5x4x1x1 are taken as 5x4"));
        CHECK(has(said, "note: in=a.npy: its float64 become uint8\n"));
        CHECK(read_file("o.mat", all_formats(), "out").type == u16);
        std::string interleaved = library("interleaved");
        write_npy(array_of(f64, {2, 2, 3}, at_7(1e300)), "a.npy", "");
        CHECK_REFUSED(interleaved + " gain=1 in=a.npy",
                      "its element at (1, 1, 1), 1e+300, is too large for float32");
        write_mat(array_of(f32, {5}, at_7(1)), "row.mat", "in");
        std::string of_target = library("several");
        CHECK(has(refusal(of_target + " in=row.mat --output_extents=[6]"), "in is 5, but "));
    }
    TEST_CASE("elements of every kind pass through every format that can hold them") {
        Folder folder;
        for (const char *type : {"bool", "uint16", "int64", "float16", "bfloat16", "float64",
                                 "float8_e4m3", "float8_e5m2"}) {
            CAPTURE(type);
            std::string function = std::string("copies_") + type;
            std::string copies =
                libraries.path("copies", function, std::string("target=host in.type=") + type);
            std::string checks;
            tessera_run(copies + " in=random:3:[6,5,3] out=a.npy");
            for (const char *file : {"a.npy", "b.mat", "c.tif"}) {
                tessera_run(copies + " in=a.npy out=" + std::string(file));
                std::string said = tessera_run(copies + " in=" + file + " --check=out=a.npy");
                CHECK(has(said, "check of out against a.npy: ok\n"));
            }
        }
        std::string wide = libraries.path("copies", "copies_int64", "");
        CHECK_REFUSED(wide + " in=constant:-3:[4,4,1] out=a.png",
                      "out=a.png: its element at (0, 0, 0), -3, is no uint16");
        tessera_run(wide + " in=constant:300:[4,4,1] out=a.png");
        CHECK(numbers("a.png") == std::vector<double>(16, 300));
        CHECK_REFUSED(wide + " in=constant:3:[4,4,5] out=a.png",
                      "out=a.png: a .png file cannot have 5 channels");
        CHECK_REFUSED(
            wide + " in=constant:3:[4,4,1] out=a.jpg",
            "out=a.jpg: the path must end in .png, .pgm, .ppm, .npy, .mat, .tif or .tiff");
        CHECK_REFUSED(wide + " in=constant:3:[4,4,1] out=no/a.npy",
                      "out=no/a.npy: No such file or directory");
        CHECK_REFUSED(wide + " in=zero:[100000,100000,3]",
                      "100000x100000x3 are more elements than a buffer can have");
        CHECK_REFUSED(wide + " in=constant:3:[4,4,1] out=no/a.tif", "No such file or directory");
    }
    TEST_CASE("what is misspelt is not ignored") {
        Folder folder;
        std::string blur = library("small_blur");
        CHECK_REFUSED(blur + " inn=zero:[9,9]",
                      "there is no argument inn; did you mean in?; the arguments are in, out");
        CHECK_REFUSED(blur + " in=zero:[9,9] --qiet",
                      "there is no option --qiet; did you mean --quiet?");
        CHECK_REFUSED(blur + " in=zero:[9,9] in=zero:[8,8]", "in is given twice");
        CHECK_REFUSED(blur + " --check=out=a.npy --check=out=b.npy",
                      "--check is given twice for out");
        CHECK_REFUSED(blur + " --output_extents=[1,1] --output_extents=[2,2]",
                      "--output_extents is given twice");
        CHECK_REFUSED(blur + " in=zero:[9,9] out", "'out' is no name=value");
        CHECK_REFUSED(blur, "in has no value: say in=FILE, or --default_input_buffers");
        CHECK_REFUSED(blur + " in=zero:[9,9] --check=o.npy", "--check wants OUTPUT=FILE");
        CHECK_REFUSED(blur + " in=zero:[9,9] --check=in=o.npy",
                      "there is no output in; the outputs are out");
        CHECK_REFUSED(blur + " in=zero:[9,9] --benchmarks=some", "--benchmarks can only be all");
        CHECK_REFUSED(blur + " in=zero:[9,9] --tolerance=-1", "a tolerance is not negative");
        CHECK_REFUSED(blur + " in=zero:[9,9] --tolerance=x", "see --help");
        CHECK_REFUSED(blur + " in=constant", "constant wants a value");
        CHECK_REFUSED("", "the library is missing");
        CHECK(has(tessera_run("--help"), "input=random:SEED:SIZE"));
    }
    TEST_CASE("files that are missing, damaged or of another kind are refused") {
        Folder folder;
        std::string blur = library("small_blur");
        CHECK_REFUSED(blur + " in=no.png", "in=no.png: No such file or directory");
        write("text.png", "hello");
        CHECK_REFUSED(blur + " in=text.png",
                      "in=text.png: it is no PNG, PGM, PPM, NPY, MAT or TIFF file");
        write_png(array_of(u8, {9, 9}, [](size_t) { return 1.0; }), "a.png", "");
        write("cut.png", contents_of("a.png").substr(0, 60));
        CHECK_REFUSED(blur + " in=cut.png", "in=cut.png: ");
        CHECK_REFUSED(blur + " in=a.png --check=out=no.npy",
                      "--check=out=no.npy: No such file or directory");
        CHECK_REFUSED(blur + " in=a.png --check=out=a.png", "it is 9x9, but 7x8 are computed");
    }
    TEST_CASE("a pipeline that fails says why, and so does one that cannot be asked") {
        Folder folder;
        std::string scalars = library("scalars");
        std::string values =
            " --default_input_scalars i16=1 i64=1 u8=1 u16=1 u32=1 u64=1 f16=1 "
            "bf16=1 f32=1 pointer=null --output_extents=[13] --output_extents=exact:[] ";
        tessera_run(scalars + values + "f64=1");
        CHECK_REFUSED(scalars + values + "f64=2000", "scalars failed: ");
        CHECK(has(contents_of("output.txt"), "f64 is too large: 2.000000e+03"));
        CHECK_REFUSED(scalars + values + "f64=1 i8=101",
                      "error: it cannot say which inputs it needs: Parameter i8 is 101, but must "
                      "be at most 100");
        std::string unasked =
            libraries.path("small_blur", "unasked", "target=host-no_bounds_query");
        CHECK_REFUSED(unasked + " in=zero:[9,9]",
                      "the size of out has to be given: the library is compiled with "
                      "no_bounds_query");
        CHECK_REFUSED(unasked + " in=zero:[9,9] --output_extents=[9,9]", "unasked failed: ");
    }
    TEST_CASE("a library without a runtime, a shared one and an object are run alike") {
        Folder folder;
        std::string without = libraries.path("copies", "without",
                                             "target=host-no_runtime-user_context in.type=uint8");
        CHECK(has(tessera_run(without + " --describe"),
                  "  __user_context: the program's own pointer; null here\n"));
        std::string words = " in=random:1:[8,8,3] --output_extents=[8,8,3] --track_memory --quiet ";
        // The copy within it, and room for vectors behind it.
        std::string allocated = "bytes were allocated by without at once.";
        CHECK(has(tessera_run(without + words + "out=a.npy"), allocated));
        std::string object = without.substr(0, without.size() - 1) + "o";
        CHECK(has(tessera_run(object + words + "--check=out=a.npy"), allocated));
        std::string with = libraries.path("copies", "with_runtime", "target=host in.type=uint8");
        // The last one calls its own runtime, although the tool has one.
        for (const std::string &library : {without, with, "-Wl,-Bsymbolic " + with}) {
            run(c_compiler + "-shared -o lib.so -Wl,--whole-archive " + library +
                " -Wl,--no-whole-archive");
            std::string said = tessera_run("lib.so" + words + "--check=out=a.npy");
            CHECK(has(said, "bytes were allocated by with"));
            CHECK_FALSE(has(said, "At most 0 bytes"));
        }
        CHECK(has(tessera_run(without + words + "--parsable_output"),
                  "without  MEMORY_PEAK_BYTES  "));
    }
    TEST_CASE("what is no library of a generator is refused") {
        Folder folder;
        CHECK_REFUSED("no.a", "cannot load the library no.a: No such file or directory");
        write("text.a", "hello");
        CHECK_REFUSED("text.a", "cannot load the library text.a: it is no library");
        write("narrow.so", std::string("\x7f"
                                       "ELF\1") +
                               std::string(60, '\0'));
        CHECK_REFUSED("narrow.so", "it is not for a machine of 64 bits");
        write("bad.a", "!<arch>\nhello");
        CHECK_REFUSED("bad.a", "cannot load the library bad.a: the C compiler '");
        write("empty.c", "int nothing(void) { return 0; }\n");
        run(c_compiler + "-shared -fPIC empty.c -o empty.so");
        CHECK_REFUSED("empty.so", "cannot load the library empty.so: it describes no function");
        write("open.c", "int nowhere(void);\nint open_metadata(void) { return nowhere(); }\n");
        run(c_compiler + "-shared -fPIC open.c -o open.so");
        CHECK_REFUSED("open.so", "undefined symbol: nowhere");
        std::string cut = contents_of(library("small_blur")).substr(0, 3000);
        write("cut.a", cut);
        CHECK_REFUSED("cut.a", "cannot load the library cut.a: ");
        std::string again =
            run("CC=no-such-compiler " + std::string(tool) + library("small_blur") + " --describe",
                false);
        run("TMPDIR=/proc " + std::string(tool) + library("small_blur") + " --describe", false);
        CHECK(has(contents_of("output.txt"), "no temporary folder can be made: "));
        std::string shared = contents_of("empty.so");
        write("short.so", shared.substr(0, shared.size() - 200));
        CHECK_REFUSED("short.so", "cannot load the library short.so: it is damaged");
        CHECK(has(again, "the C compiler 'no-such-compiler' does not start: No such file or "
                         "directory; CC may name another"));
    }
    TEST_CASE("a function that another compiler has made is run by its metadata") {
        Folder folder;
        write("own.c", R"(
#include <tessera_runtime.h>
#ifndef VERSION
#define VERSION TESSERA_FILTER_METADATA_VERSION
#endif
#ifndef TYPE
#define TYPE tessera_type_int
#endif
static const tessera_filter_argument_t arguments[] = {
    {"code", tessera_argument_kind_input_scalar, 0, {tessera_type_int, 32, 1}, 0, 0, 0, 0, 0},
    {"out", tessera_argument_kind_output_buffer, 1, {TYPE, 64, 1}, 0, 0, 0, 0, 0}};
static const tessera_filter_metadata_t metadata = {VERSION, 2, arguments, "some target", "own"};
const tessera_filter_metadata_t *own_metadata(void) { return &metadata; }
int own_argv(void *const *args) {
    tessera_buffer_t *out = args[1];
    if (!out->host) return 0;
    for (int i = 0; i < out->dim[0].extent; i++) ((int64_t *)out->host)[i] = i * 10;
    return *(int *)args[0];
}
)");
        auto build = [](const std::string &flags) {
            run(c_compiler + "-shared -fPIC own.c -o own.so " + flags + include_runtime);
        };
        build("");
        tessera_run("own.so code=0 --output_extents=[4] out=out.npy");
        CHECK(numbers("out.npy") == std::vector<double>{0, 10, 20, 30});
        CHECK_REFUSED("own.so code=-7 --output_extents=[4]",
                      "own failed: it returned the error code -7");
        build("-DVERSION=7");
        CHECK_REFUSED("own.so", "its metadata is of version 7, but that of this program is 1");
        build("-DTYPE=tessera_type_handle");
        CHECK_REFUSED("own.so code=0", "out: there are no buffers of pointers here");
    }
    TEST_CASE("code for several targets is one function, and each by its name") {
        Folder folder;
        std::string many =
            libraries.path("of_target", "many", "target=x86-64-linux,x86-64-linux-avx2-fma");
        std::string described = tessera_run(many + " --describe");
        CHECK(has(described, "many, for x86-64-linux\n"));
        CHECK_FALSE(has(described, "many_x86_64_linux"));
        tessera_run(many + " in=constant:4:[16] out=o.npy");
        double result = numbers("o.npy")[0];
        CHECK((result == 41 || result == 42));
        tessera_run(many + " --name=many_x86_64_linux in=constant:4:[16] out=o.npy");
        CHECK(numbers("o.npy")[0] == 41);
        CHECK_REFUSED(many + " --name=meny in=constant:4:[16]",
                      "there is no function meny; did you mean many?; there is many");
    }
    TEST_CASE("a benchmark prints time and throughput") {
        Folder folder;
        std::string blur = library("small_blur") + " in=random:1:[66,65] --quiet --benchmarks=all "
                                                   "--benchmark_min_time=0.002 ";
        std::string said = tessera_run(blur);
        CHECK(has(said, "Benchmark of small_blur: "));
        CHECK(has(said, " ms per iteration, the best of "));
        CHECK(has(said, " megapixels/s of output."));
        said = tessera_run(blur + "--parsable_output --benchmark_max_iters=3");
        auto value = [&](const std::string &key) {
            std::string start = "small_blur  " + key + "  ";
            size_t at = said.find(start);
            REQUIRE(at != std::string::npos);
            return std::stod(said.substr(at + start.size()));
        };
        CHECK(value("ITERATIONS") <= 3);
        CHECK(value("SAMPLES") >= 1);
        double milliseconds = value("BEST_TIME_MSEC_PER_ITER");
        CHECK(milliseconds > 0);
        // 64x64 pixels; six digits are printed of each.
        double rate = value("THROUGHPUT_MPIX_PER_SEC");
        CHECK(rate == doctest::Approx(0.004096 / milliseconds * 1e3).epsilon(0.001));
        CHECK(has(said, "small_blur  TARGET  x86-64-linux"));
    }
}

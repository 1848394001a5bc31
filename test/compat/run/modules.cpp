#include "../program.h"

namespace {
std::string text_of(const std::string &path) {
    const std::vector<char> bytes = Internal::read_entire_file(path);
    return {bytes.begin(), bytes.end()};
}

// What is refused, and why: the message of the error.
template<typename F>
std::string refusal(const F &f) {
    try {
        f();
    } catch (const CompileError &e) {
        return e.what();
    }
    return "";
}

bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

Module module_of(const std::string &name, int added, const Target &target = get_host_target()) {
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    Func f("f");
    f(x) = in(x) + added;
    f.parallel(x, 8).vectorize(x, 4);
    return f.compile_to_module({in}, name, target);
}
}  // namespace

PROGRAM(modules_are_linked) {
    const Module one = module_of("add_one", 1), two = module_of("add_two", 2);
    const Module both = link_modules("both", {one, two});
    EXPECT(both.name() == "both" && both.target() == get_host_target());
    EXPECT(both.functions().size() == 2);
    EXPECT(both.get_function_by_name("add_two").args[0].is_buffer());
    EXPECT(both.get_function_by_name("add_two").args[0].is_input());
    EXPECT(both.get_function_by_name("add_two").args[1].is_output());

    Internal::TemporaryFile header("linked", ".h"), object("linked", ".o"), ll("linked", ".ll");
    both.compile({{OutputFileType::c_header, header.pathname()},
                  {OutputFileType::object, object.pathname()},
                  {OutputFileType::llvm_assembly, ll.pathname()}});
    for (const char *name : {"int add_one(", "int add_two("}) {
        EXPECT(has(text_of(header.pathname()), name));
    }
    EXPECT(has(text_of(ll.pathname()), "@add_one(") && has(text_of(ll.pathname()), "@add_two("));
    EXPECT(!text_of(object.pathname()).empty());
    return 0;
}
PROGRAM(modules_have_parts) {
    Module all("all", get_host_target());
    all.append(module_of("add_one", 1));
    all.append(module_of("add_two", 2).functions()[0]);
    EXPECT(all.submodules().size() == 1 && all.functions().size() == 1);
    const Module flat = all.resolve_submodules();
    EXPECT(flat.submodules().empty() && flat.functions().size() == 2);
    std::ostringstream text;
    text << all;
    EXPECT(has(text.str(), "add_one") && has(text.str(), "add_two"));
    return 0;
}
PROGRAM(modules_are_of_their_time) {
    Var x("x");
    Func f("f");
    f(x) = x;
    const Module before = f.compile_to_module({}, "before", get_host_target());
    f.vectorize(x, 8);
    std::ostringstream text;
    text << before;
    EXPECT(!has(text.str(), "ramp") && !has(text.str(), "x8"));
    return 0;
}
PROGRAM(modules_that_do_not_fit) {
    const Module one = module_of("add_one", 1);
    EXPECT(
        has(refusal([&] { link_modules("twice", {one, one}); }), "both have a function add_one"));
    const Target other("arm-64-linux");
    EXPECT(has(refusal([&] { link_modules("both", {one, Module("far", other)}); }),
               "but far for arm-64-linux"));
    EXPECT(has(refusal([&] { link_modules("none", {}); }), "there are no modules"));
    EXPECT(has(refusal([&] { one.get_function_by_name("add"); }),
               "the module add_one has no function add"));
    Module same = one;
    EXPECT(has(refusal([&] { same.append(one.functions()[0]); }), "a function add_one already"));
    Internal::TemporaryFile schedule("linked", ".h");
    EXPECT(has(
        refusal([&] {
            link_modules("all", {one}).compile({{OutputFileType::schedule, schedule.pathname()}});
        }),
        "is not of one pipeline"));
    return 0;
}
PROGRAM(modules_of_several_targets) {
    const std::vector<Target> targets = {Target("x86-64-linux-avx2"), Target("x86-64-linux")};
    std::vector<std::string> made;
    auto make = [&](const std::string &name, const Target &target) {
        made.push_back(target.to_string());
        return module_of(name, 1, target);
    };
    Internal::TemporaryFile library("several", ".a"), header("several", ".h");
    const std::map<OutputFileType, std::string> files = {
        {OutputFileType::static_library, library.pathname()},
        {OutputFileType::c_header, header.pathname()}};
    compile_multitarget("add_one", files, targets, {}, make);
    EXPECT(made.size() == 2);
    EXPECT(has(text_of(header.pathname()), "int add_one("));
    EXPECT(has(text_of(library.pathname()), "add_one_x86_64_linux_avx2"));

    compile_multitarget("add_one", {{OutputFileType::c_header, header.pathname()}}, {targets[1]},
                        {}, make);
    EXPECT(made.size() == 3);
    auto linked = [&](const std::string &name, const Target &target) {
        return link_modules(name, {module_of(name, 1, target)});
    };
    EXPECT(has(refusal([&] { compile_multitarget("add_one", files, targets, {}, linked); }),
               "is not of one pipeline"));
    return 0;
}
PROGRAM(runtime_beside_objects_of_several_targets) {
    Var x("x");
    Func f("f");
    f(x) = x;
    Internal::TemporaryFile prefix("objects", "");
    f.compile_to_multitarget_object_files(
        prefix.pathname(), {}, {Target("x86-64-linux-avx2"), Target("x86-64-linux")}, {"_a", "_b"});
    for (const char *file : {"_a.o", "_b.o", "_wrapper.o", "_runtime.o", ".h"}) {
        Internal::assert_file_exists(prefix.pathname() + file);
        Internal::file_unlink(prefix.pathname() + file);
    }
    f.compile_to_multitarget_object_files(
        prefix.pathname(), {},
        {Target("x86-64-linux-avx2-no_runtime"), Target("x86-64-linux-no_runtime")}, {"_a", "_b"});
    Internal::assert_no_file_exists(prefix.pathname() + "_runtime.o");
    for (const char *file : {"_a.o", "_b.o", "_wrapper.o", ".h"}) {
        Internal::file_unlink(prefix.pathname() + file);
    }
    return 0;
}

PROGRAM(aot_arguments) {
    Func brighter("brighter");
    Var x, y;
    Param<uint8_t> offset("offset");
    ImageParam input(type_of<uint8_t>(), 2);
    brighter(x, y) = input(x, y) + offset;
    brighter.vectorize(x, 16).parallel(y);
    std::string dir = std::filesystem::temp_directory_path().string() + "/";
    brighter.compile_to_static_library(dir + "w_b_arguments", {input, offset}, "brighter");
    EXPECT(std::filesystem::exists(dir + "w_b_arguments.a"));
    std::vector<Argument> args(2);
    args[0] = input;
    args[1] = offset;
    Target target;
    target.os = Target::Linux;
    target.arch = Target::X86;
    target.bits = 64;
    std::vector<Target::Feature> features;
    features.push_back(Target::AVX);
    features.push_back(Target::SSE41);
    target.set_features(features);
    brighter.compile_to_file(dir + "w_b_cross", args, "brighter", target);
    std::ifstream f(dir + "w_b_cross.o", std::ios::binary);
    char head[4] = {0};
    f.read(head, 4);
    EXPECT(head[0] == 0x7f && head[1] == 'E' && head[2] == 'L' && head[3] == 'F');
    return 0;
}

#pragma once
#include "files/array.h"
#include "options.h"
#include "sizes.h"

namespace tessera::run {

// Calls f; what it refuses then begins with `what`: the argument, as the user wrote it.
void with_context(const std::string &what, const std::function<void()> &f);

// The arguments of a call, made from the command line: files are read, sizes found, inputs filled.
class Arguments {
public:
    struct Buffer {
        const ArgumentInfo *about = nullptr;
        InputText text;               // of an input
        files::Array array;           // of an input from a file, until it is in the memory
        std::vector<uint8_t> memory;  // with room for the alignment
        tessera_buffer_t raw{};       // its dimensions are those of the BufferSize
    };

    // Throws RuntimeError, in terms of the command line.
    Arguments(const Function &f, const Options &options);
    Arguments(const Arguments &) = delete;
    ~Arguments();
    Arguments &operator=(const Arguments &) = delete;

    const std::vector<void *> &pointers() const { return args; }
    const std::vector<Buffer> &all_buffers() const { return buffers; }
    // Waits for all that still runs on a device. Throws RuntimeError if something went wrong there.
    void wait();
    // Brings results here that are on a device.
    void copy_to_host();
    // The elements of a buffer as they are now.
    static files::Array elements(const Buffer &b);

private:
    void for_each_on_device(const char *what, int (*work)(tessera_buffer_t &));
    void check_names() const;
    // Returns what the user wrote for an argument, or for all that nothing was written for.
    std::string text_of(const ArgumentInfo &about, const std::optional<std::string> &otherwise,
                        const char *what_to_say) const;
    void add_scalar(const ArgumentInfo &about);
    void add_buffer(const ArgumentInfo &about);
    void size_output(BufferSize &size) const;
    static void load(Buffer &b, BufferSize &size);
    void adapt_channels();
    void fill(Buffer &b, BufferSize &size);
    void use_file(Buffer &b, BufferSize &size) const;
    void choose_seed(Buffer &b) const;
    void note(const std::string &sentence) const;

    const Function &f;
    const Options &options;
    std::vector<Scalar> scalars;
    std::vector<void *> args;  // while sizes are looked for, null for buffers
    std::vector<BufferSize> sizes;
    std::vector<Buffer> buffers;  // as many as sizes
};

}  // namespace tessera::run

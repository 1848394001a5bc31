#pragma once
#include "driver/call_context.h"
#include "lang/argument.h"
#include "lang/buffer.h"
#include "lang/location.h"
#include <array>
#include <concepts>
#include <cstring>
#include <functional>
#include <map>
#include <span>
#include <string>

namespace tessera {

// An argument of a call: a buffer, or a number.
struct CallableArgument {
    template<typename T, int D>
    CallableArgument(const Buffer<T, D> &b)
        : is_buffer(true), type(Buffer<T, D>::static_type()),
          buffer(b.defined() ? b.raw_buffer() : nullptr) {}
    template<BufferView B>
    CallableArgument(const B &view)
        : is_buffer(true), type(view.type()),
          buffer(const_cast<tessera_buffer_t *>(view.raw_buffer())) {}
    CallableArgument(tessera_buffer_t *b) : is_buffer(true), buffer(b) {}
    template<typename T>
    requires std::is_arithmetic_v<T> || std::is_pointer_v<T>
    CallableArgument(const T &value) : type(type_of<T>()) {
        std::memcpy(&bits, &value, sizeof(T));
    }
    template<NarrowFloatType T>
    CallableArgument(T value) : type(type_of<T>()), bits(value.to_bits()) {}
    // A number of a type that is known when the program runs: its bytes are the first of `bits`.
    CallableArgument(Type type, uint64_t bits) : type(type), bits(bits) {}

    bool is_buffer = false;
    Type type;  // undefined: any
    tessera_buffer_t *buffer = nullptr;
    uint64_t bits = 0;
};

// A compiled pipeline as a function object: its arguments, then a Buffer per value of its outputs.
// A JITUserContext * may come first. Copies share the code. It keeps the handlers that the pipeline
// had when it was compiled; those of the context of a call come before them. A Buffer without
// memory makes the call a bounds query: it sets the regions of such buffers and computes nothing.
// Buffers of 2 GiB or more need Target::LargeBuffers.
class Callable {
    // The first one, which may be a JITUserContext * or a pointer to what is derived from it; and
    // the line of the call.
    struct FirstArgument {
        template<std::derived_from<JITUserContext> Context>
        FirstArgument(Context *context, Location at = Here::current())
            : given(0), context(context), is_context(true), at(at) {}
        template<std::convertible_to<CallableArgument> T>
        FirstArgument(const T &value, Location at = Here::current()) : given(value), at(at) {}
        CallableArgument given;
        JITUserContext *context = nullptr;
        bool is_context = false;
        Location at;
    };

public:
    bool defined() const { return contents != nullptr; }

    // Returns 0, or an error code if a handler of errors took the message; else a failure throws
    // RuntimeError with the line. So do arguments of the wrong number or type.
    template<typename... Args>
    int operator()(const FirstArgument &first, const Args &...args) const {
        const CallableArgument given[] = {first.given, CallableArgument(args)...};
        return call(std::span(given).subspan(first.is_context ? 1 : 0), first.context, first.at);
    }
    int operator()(Location at = Here::current()) const { return call({}, nullptr, at); }

    // The same for a list that is made when the program runs. Up to 32 arguments take no memory of
    // the heap.
    int call(std::span<const CallableArgument> args, JITUserContext *context = nullptr,
             Location at = Here::current()) const;

    // Returns the arguments of a call and then its outputs: their names, types and dimensions.
    const std::vector<Argument> &arguments() const;
    // Returns the name of the pipeline, or of the function of a library, and what it is compiled
    // for.
    const std::string &name() const;
    const Target &target() const;

    // Asks which regions inputs have to have: each buffer of the list that has no memory becomes
    // the one that is wanted of it, as Pipeline::infer_input_bounds does with what is not set.
    // Nothing is computed. Returns and throws as a call does.
    int infer_input_bounds(std::span<const CallableArgument> args,
                           JITUserContext *context = nullptr, Location at = Here::current()) const;

    // Returns the Callable as a std::function. Throws RuntimeError now if these are not the
    // arguments that the pipeline takes; with a JITUserContext * first, only when it is called.
    template<typename... Args>
    std::function<int(Args...)> make_std_function() const {
        if constexpr (sizeof...(Args) > 0) {
            if constexpr (std::is_same_v<std::tuple_element_t<0, std::tuple<Args...>>,
                                         JITUserContext *>) {
                return [self = *this](Args... args) { return self(args...); };
            }
        }
        check(std::array<CallableArgument, sizeof...(Args)>{wanted<Args>()...});
        return [self = *this](Args... args) { return self(args...); };
    }
    template<typename... Args>
    explicit operator std::function<int(Args...)>() const {
        return make_std_function<Args...>();
    }

private:
    friend class Pipeline;
    friend std::map<std::string, Callable> load_library(const std::string &, Location);
    using Purpose = driver::CallContext::Purpose;
    template<typename T>
    static CallableArgument wanted() {
        using U = std::decay_t<T>;
        if constexpr (std::is_class_v<U> && !NarrowFloatType<U>) {
            CallableArgument g(static_cast<tessera_buffer_t *>(nullptr));
            g.type = U::static_type();
            return g;
        } else {
            return CallableArgument(U());
        }
    }
    // Calls f(), unless the arguments do not fit.
    template<typename F>
    int call_if_they_fit(std::span<const CallableArgument> args, JITUserContext *context,
                         F f) const;
    int call_checked(std::span<const CallableArgument> args, JITUserContext *context,
                     Purpose purpose) const;
    int ask_inputs(std::span<const CallableArgument> args, JITUserContext *context) const;
    void check(std::span<const CallableArgument> args) const;
    void check_buffers(std::span<const CallableArgument> args) const;
    struct Contents;
    std::shared_ptr<const Contents> contents;
};

}  // namespace tessera

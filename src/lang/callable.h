#pragma once
#include "driver/jit_context.h"
#include "lang/buffer.h"
#include "lang/location.h"
#include <concepts>
#include <cstring>
#include <functional>

namespace tessera {

// A compiled pipeline as a function object: its arguments, then a Buffer per value of its outputs.
// A JITUserContext * may come first. Copies share the code. It keeps the handlers that the pipeline
// had when it was compiled; those of the context of a call come before them. A Buffer without
// memory makes the call a bounds query: it sets the regions of such buffers and computes nothing.
// Buffers of 2 GiB or more need Target::LargeBuffers.
class Callable {
    // An argument that a caller passes: a buffer, or a number.
    struct GivenArgument {
        template<typename T, int D>
        GivenArgument(const Buffer<T, D> &b)
            : is_buffer(true), type(Buffer<T, D>::static_type()),
              buffer(b.defined() ? b.raw_buffer() : nullptr) {}
        template<BufferView B>
        GivenArgument(const B &view)
            : is_buffer(true), type(view.type()),
              buffer(const_cast<tessera_buffer_t *>(view.raw_buffer())) {}
        GivenArgument(tessera_buffer_t *b) : is_buffer(true), buffer(b) {}
        template<typename T>
        requires std::is_arithmetic_v<T> || std::is_pointer_v<T>
        GivenArgument(const T &value) : type(type_of<T>()) {
            std::memcpy(&bits, &value, sizeof(T));
        }
        GivenArgument(float16_t value) : type(Float(16)), bits(value.to_bits()) {}
        GivenArgument(bfloat16_t value) : type(BFloat(16)), bits(value.to_bits()) {}
        bool is_buffer = false;
        Type type;
        tessera_buffer_t *buffer = nullptr;
        uint64_t bits = 0;
    };
    // The first one, which may be a JITUserContext * or a pointer to what is derived from it; and
    // the line of the call.
    struct FirstArgument {
        template<std::derived_from<JITUserContext> Context>
        FirstArgument(Context *context, Location at = Here::current())
            : given(0), context(context), is_context(true), at(at) {}
        template<std::convertible_to<GivenArgument> T>
        FirstArgument(const T &value, Location at = Here::current()) : given(value), at(at) {}
        GivenArgument given;
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
        std::vector<GivenArgument> given;
        if (!first.is_context) given.push_back(first.given);
        (given.push_back(GivenArgument(args)), ...);
        return call_at(first.at, first.context, given);
    }
    int operator()(Location at = Here::current()) const { return call_at(at, nullptr, {}); }

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
        check({wanted<Args>()...});
        return [self = *this](Args... args) { return self(args...); };
    }
    template<typename... Args>
    explicit operator std::function<int(Args...)>() const {
        return make_std_function<Args...>();
    }

private:
    friend class Pipeline;
    template<typename T>
    static GivenArgument wanted() {
        using U = std::decay_t<T>;
        if constexpr (std::is_class_v<U> && !std::is_same_v<U, float16_t> &&
                      !std::is_same_v<U, bfloat16_t>) {
            GivenArgument g(static_cast<tessera_buffer_t *>(nullptr));
            g.type = U::static_type();
            return g;
        } else {
            return GivenArgument(U());
        }
    }
    int call_at(const Location &at, JITUserContext *context,
                const std::vector<GivenArgument> &args) const;
    int call(JITUserContext *context, const std::vector<GivenArgument> &args) const;
    int call_checked(JITUserContext *context, std::vector<GivenArgument> args) const;
    void check(const std::vector<GivenArgument> &args) const;
    void check_buffers(const std::vector<GivenArgument> &args) const;
    struct Contents;
    std::shared_ptr<const Contents> contents;
};

}  // namespace tessera

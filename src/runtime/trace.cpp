// A trace file is a row of packets in the byte order of the machine. A packet is a PacketHeader,
// the coordinates (int32 each), the value (lanes times the bytes of an element), the name of the
// Func and the trace tag (each ended by a zero), zeros up to a multiple of four bytes, and the id
// of the thread (int32): at the end, where readers of halide_trace_packet_t skip it.
#include "runtime/message.h"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

using tessera::Message;

namespace {

struct PacketHeader {
    uint32_t bytes;  // of the whole packet
    int32_t id;
    tessera_type_t type;
    int32_t event, parent_id, value_index, dimensions;
};

const char *const event_names[] = {
    "load",        "store",      "begin realization", "end realization", "produce",
    "end produce", "consume",    "end consume",       "begin pipeline",  "end pipeline",
    "tag",         "begin task", "end task",
};

std::atomic<int32_t> last_id{0}, last_thread{0};

int32_t this_thread() {
    thread_local int32_t id = ++last_thread;
    return id;
}

size_t element_bytes(const tessera_type_t &type) { return size_t(type.bits + 7) / 8; }

template<typename T> T read(const void *p, int lane) {
    T value;
    std::memcpy(&value, static_cast<const uint8_t *>(p) + size_t(lane) * sizeof(T), sizeof(T));
    return value;
}

// Float16 has all the values of both; the exponents of e4m3 are 8 less there.
double value_of_e5m2(uint8_t bits) { return tessera_f16_to_f32(uint16_t(bits << 8)); }
double value_of_e4m3(uint8_t bits) {
    const int size = bits & 0x7f, sign = bits & 0x80;
    if (size == 0x7f) return value_of_e5m2(bits);  // not a number in both
    return 256 * tessera_f16_to_f32(uint16_t(sign << 8 | size << 7));
}

void print_value(Message &line, const tessera_type_t &type, const void *value, int lane) {
    bool is_int = type.code == tessera_type_int;
    switch (type.code << 8 | int(element_bytes(type) * 8)) {
    case tessera_type_int << 8 | 8: line << int(read<int8_t>(value, lane)); return;
    case tessera_type_int << 8 | 16: line << int(read<int16_t>(value, lane)); return;
    case tessera_type_int << 8 | 32: line << read<int32_t>(value, lane); return;
    case tessera_type_uint << 8 | 8: line << unsigned(read<uint8_t>(value, lane)); return;
    case tessera_type_uint << 8 | 16: line << unsigned(read<uint16_t>(value, lane)); return;
    case tessera_type_uint << 8 | 32: line << read<uint32_t>(value, lane); return;
    case tessera_type_float << 8 | 16:
        line << double(tessera_f16_to_f32(read<uint16_t>(value, lane)));
        return;
    case tessera_type_bfloat << 8 | 16:
        line << double(tessera_bf16_to_f32(read<uint16_t>(value, lane)));
        return;
    case tessera_type_float8_e4m3 << 8 | 8:
        line << value_of_e4m3(read<uint8_t>(value, lane));
        return;
    case tessera_type_float8_e5m2 << 8 | 8:
        line << value_of_e5m2(read<uint8_t>(value, lane));
        return;
    case tessera_type_float << 8 | 32: line << double(read<float>(value, lane)); return;
    case tessera_type_float << 8 | 64: line << read<double>(value, lane); return;
    default: break;
    }
    if (is_int) {
        line << read<int64_t>(value, lane);
    } else {
        line << read<uint64_t>(value, lane);
    }
}

// One lane: 7. Several: <7, 8, 9>.
template<typename PrintLane> void print_lanes(Message &line, int lanes, PrintLane print_lane) {
    if (lanes > 1) line << "<";
    for (int lane = 0; lane < lanes; lane++) {
        if (lane > 0) line << ", ";
        print_lane(lane);
    }
    if (lanes > 1) line << ">";
}

void print_site(Message &line, const tessera_trace_event_t &event, int lanes) {
    line << "(";
    for (int i = 0; i < event.dimensions / lanes; i++) {
        if (i > 0) line << ", ";
        print_lanes(line, lanes, [&](int lane) { line << event.coordinates[i * lanes + lane]; });
    }
    line << ")";
}

void print_region(Message &line, const tessera_trace_event_t &event) {
    for (int i = 0; i + 1 < event.dimensions; i += 2) {
        line << " [" << event.coordinates[i] << ", +" << event.coordinates[i + 1] << ")";
    }
}

void print_event(void *user_context, const tessera_trace_event_t &event, int32_t id) {
    bool known = event.event >= 0 && event.event < int(std::size(event_names));
    bool is_access = event.event == tessera_trace_load || event.event == tessera_trace_store;
    Message line;
    line << (known ? event_names[event.event] : "event") << " " << event.func;
    if (is_access) {
        int lanes = event.type.lanes ? event.type.lanes : 1;
        print_site(line, event, lanes);
        if (event.value_index > 0) line << "." << event.value_index;
        line << " = ";
        print_lanes(line, lanes,
                    [&](int lane) { print_value(line, event.type, event.value, lane); });
    } else {
        print_region(line, event);
    }
    if (event.trace_tag && *event.trace_tag) line << " \"" << event.trace_tag << "\"";
    line << "  #" << id << " in #" << event.parent_id << ", thread " << event.thread_id << "\n";
    tessera_print(user_context, line.c_str());
}

std::vector<uint8_t> make_packet(const tessera_trace_event_t &event, int32_t id) {
    std::vector<uint8_t> packet(sizeof(PacketHeader));
    auto add = [&](const void *data, size_t bytes) {
        const uint8_t *p = static_cast<const uint8_t *>(data);
        packet.insert(packet.end(), p, p + bytes);
    };
    const char *tag = event.trace_tag ? event.trace_tag : "";
    if (event.dimensions > 0) add(event.coordinates, size_t(event.dimensions) * sizeof(int32_t));
    if (event.value) add(event.value, element_bytes(event.type) * event.type.lanes);
    add(event.func, std::strlen(event.func) + 1);
    add(tag, std::strlen(tag) + 1);
    packet.resize((packet.size() + 3) / 4 * 4);
    add(&event.thread_id, sizeof(event.thread_id));
    PacketHeader header{
        uint32_t(packet.size()), id, event.type, event.event, event.parent_id, event.value_index,
        event.dimensions};
    if (!event.value) header.type.lanes = 0;
    std::memcpy(packet.data(), &header, sizeof(header));
    return packet;
}

int append_to_file(void *user_context, const char *path, const tessera_trace_event_t &event,
                   int32_t id) {
    std::vector<uint8_t> packet = make_packet(event, id);
    int error = tessera_append_to_file(user_context, path, packet.data(), packet.size());
    if (error == 0) return 0;
    return (Message() << "Cannot write to the trace file " << path << ": " << std::strerror(error))
        .raise(user_context, tessera_error_code_trace_failed);
}

// Null without one.
const char *trace_file() {
    for (const char *name : {"TESSERA_TRACE_FILE", "HL_TRACE_FILE"}) {
        const char *path = std::getenv(name);
        if (path && *path) return path;
    }
    return nullptr;
}

int32_t default_trace(void *user_context, const tessera_trace_event_t *event) {
    int32_t id = last_id.fetch_add(1) + 1;
    if (const char *path = trace_file()) {
        int error = append_to_file(user_context, path, *event, id);
        return error ? error : id;
    }
    print_event(user_context, *event, id);
    return id;
}

std::atomic<tessera_trace_t> custom_trace{default_trace};

}  // namespace

extern "C" {

[[gnu::weak]] int32_t tessera_trace(void *user_context, const tessera_trace_event_t *event) {
    tessera_trace_event_t here = *event;
    here.thread_id = this_thread();
    return custom_trace.load(std::memory_order_relaxed)(user_context, &here);
}

tessera_trace_t tessera_set_custom_trace(tessera_trace_t f) {
    return custom_trace.exchange(f ? f : default_trace);
}

int tessera_shutdown_trace(void) {
    int error = tessera_close_file();
    if (error == 0) return 0;
    return (Message() << "Cannot complete the trace file: " << std::strerror(error))
        .raise(nullptr, tessera_error_code_trace_failed);
}

int32_t tessera_default_trace(void *user_context, const tessera_trace_event_t *event) {
    return default_trace(user_context, event);
}
}

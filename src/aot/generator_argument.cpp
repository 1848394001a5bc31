#include "aot/generator_argument.h"
#include "aot/generator_base.h"

namespace tessera {

GeneratorArgument::GeneratorArgument(const ArgumentShape &shape, const char *role)
    : argument_shape(shape) {
    GeneratorBase &owner = GeneratorBase::under_construction(role, shape.name);
    owner.require_new_name(shape.name);
    what = str("the ", role, " ", shape.name, " of ", owner.generator_name());
    if (shape.dimensions < ArgumentShape::open)
        refuse("cannot have a negative number of dimensions");
    if (shape.kind == GeneratorArgumentKind::Buffer && shape.types.size() > 1 &&
        std::string(role) == "input") {
        refuse("has one type: it is a Buffer");
    }
}

void GeneratorArgument::refuse(const std::string &why) const {
    throw CompileError(str(what, " ", why));
}

void GeneratorArgument::set_types(const ArgumentTypes &types) {
    if (types.empty()) refuse("must have a type");
    if (!argument_shape.types.empty() && argument_shape.types != types) {
        refuse(str("is of ", join(argument_shape.types), " and cannot be of ", join(types)));
    }
    argument_shape.types = types;
}

void GeneratorArgument::set_dimensions(int dimensions) {
    if (dimensions < 0) refuse("cannot have a negative number of dimensions");
    int &known = argument_shape.dimensions;
    if (known != ArgumentShape::open && known != dimensions) {
        refuse(str("has ", known, " dimensions and cannot have ", dimensions));
    }
    known = dimensions;
}

void GeneratorArgument::set_array_size(int size) {
    if (!argument_shape.is_array) refuse("is no array");
    if (size < 0) refuse("cannot have a negative number of elements");
    int &known = argument_shape.size;
    if (known != ArgumentShape::open && known != size) {
        refuse(str("has ", known, " elements and cannot have ", size));
    }
    known = size;
}

bool GeneratorArgument::set_property(const std::string &property, const std::string &text) {
    if (property == "type") {
        ArgumentTypes types;
        std::istringstream words(text);
        for (std::string word; std::getline(words, word, ',');) {
            std::optional<Type> t = detail::parse_type(word);
            if (!t)
                refuse(str("cannot be of ", word, ": that is no type such as uint8 or float32"));
            types.push_back(*t);
        }
        set_types(types);
        return true;
    }
    if (property != "dim" && property != "size") return false;
    std::optional<int64_t> number = detail::parse_int(text);
    if (!number || *number != int(*number)) {
        refuse(str("wants a number for ", property, ", not ", text));
    }
    property == "dim" ? set_dimensions(int(*number)) : set_array_size(int(*number));
    return true;
}

const ArgumentTypes &GeneratorArgument::types_or_refuse() const {
    const ArgumentShape &s = argument_shape;
    if (s.types.empty()) refuse(str("has no type yet; give one by ", s.name, ".type=uint8"));
    return s.types;
}
int GeneratorArgument::dimensions_or_refuse() const {
    const ArgumentShape &s = argument_shape;
    if (s.dimensions == ArgumentShape::open) {
        refuse(str("has no number of dimensions yet; give one by ", s.name, ".dim=2"));
    }
    return s.dimensions;
}
size_t GeneratorArgument::size_or_refuse() const {
    const ArgumentShape &s = argument_shape;
    if (s.size == ArgumentShape::open) {
        refuse(str("has no number of elements yet; give one by ", s.name, ".size=2"));
    }
    return size_t(s.size);
}

std::string GeneratorArgument::element_name(size_t i) const {
    return argument_shape.is_array ? str(argument_shape.name, "_", i) : argument_shape.name;
}

void GeneratorArgument::require_shape(const std::vector<Type> &types, int dimensions,
                                      const char *given) {
    ArgumentShape &s = argument_shape;
    if (!s.types.empty() && s.types != types) {
        refuse(str("is of ", join(s.types), ", but ", given, " is of ", join(types)));
    }
    if (s.dimensions != ArgumentShape::open && s.dimensions != dimensions) {
        refuse(str("has ", s.dimensions, " dimensions, but ", given, " has ", dimensions));
    }
    s.types = types;
    s.dimensions = dimensions;
}

ArgumentShape detail::argument_shape(const std::string &name, GeneratorArgumentKind kind,
                                     const ArgumentTypes &fixed_types, int fixed_dimensions,
                                     const ArgumentTypes &types, int dimensions) {
    bool types_differ = !fixed_types.empty() && !types.empty() && fixed_types != types;
    bool dimensions_differ = fixed_dimensions != ArgumentShape::open &&
                             dimensions != ArgumentShape::open && fixed_dimensions != dimensions;
    if (types_differ || dimensions_differ) {
        throw CompileError(str(name, " is declared with a ", types_differ ? "type" : "number",
                               types_differ ? "" : " of dimensions",
                               " that is not that of its C++ type"));
    }
    ArgumentShape shape;
    shape.name = name;
    shape.kind = kind;
    shape.types = fixed_types.empty() ? types : fixed_types;
    shape.dimensions = fixed_dimensions == ArgumentShape::open ? dimensions : fixed_dimensions;
    return shape;
}

}  // namespace tessera

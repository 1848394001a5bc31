#include "docs/mapping.h"
#include "bindings.h"

namespace tessera::python {
namespace {

Mapping to_mapping(nb::args groups) {
    std::vector<LoopGroup> all;
    for (nb::handle group : groups) {
        std::vector<VarOrRVar> loops;
        for (const nb::object &loop : items(group)) loops.push_back(to_loop(loop));
        all.emplace_back(std::move(loops));
    }
    return Mapping(std::move(all));
}

std::string as_python(const Mapping &mapping) {
    std::vector<std::string> groups;
    for (const LoopGroup &group : mapping.groups()) {
        std::vector<std::string> names;
        for (const VarOrRVar &loop : group.loops()) names.push_back(loop.name());
        groups.push_back(str("[", join(names), "]"));
    }
    return str("map(", join(groups), ")");
}

std::vector<Mapping> mappings_of(nb::handle what, const TensorInstruction &instruction,
                                 MappingRule rule, nb::handle fixed, bool either_order) {
    MappingOptions options{rule, {}, either_order};
    for (const nb::object &loop : items(fixed)) options.fixed.push_back(to_loop(loop));
    if (nb::isinstance<Stage>(what))
        return possible_mappings(nb::cast<const Stage &>(what), instruction, options, here());
    return possible_mappings(to_func(what), instruction, options, here());
}

}  // namespace

void bind_mapping(nb::module_ &m) {
    nb::enum_<MappingRule>(m, "MappingRule", docs::mapping::rule)
        .value("Right", MappingRule::Right)
        .value("Subscripts", MappingRule::Subscripts);
    nb::class_<Mapping>(m, "Mapping", docs::mapping::class_)
        .def_prop_ro(
            "groups",
            [](const Mapping &mapping) {
                nb::list groups;
                for (const LoopGroup &group : mapping.groups())
                    groups.append(to_python(group.loops()));
                return groups;
            },
            docs::mapping::groups)
        .def("__eq__", [](const Mapping &a, const Mapping &b) { return a == b; })
        .def("__hash__", [](const Mapping &a) { return std::hash<std::string>()(as_python(a)); })
        .def("__repr__", &as_python);
    m.def("map", &to_mapping, "groups"_a, docs::mapping::map);
    m.def(
        "possible_mappings",
        [](nb::handle update, const TensorInstruction &instruction, MappingRule rule,
           nb::object fixed, bool either_order) {
            nb::list result;
            for (const Mapping &mapping :
                 mappings_of(update, instruction, rule, fixed, either_order))
                result.append(nb::cast(mapping));
            return result;
        },
        "update"_a, "instruction"_a, "rule"_a = MappingRule::Right, "fixed"_a = nb::list(),
        "either_order"_a = false, docs::mapping::possible_mappings);
}

}  // namespace tessera::python

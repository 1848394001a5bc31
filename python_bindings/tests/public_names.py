"""Lists the public names of C++ headers: a reader of declarations, which needs no compiler."""
import re

_TOKEN = re.compile(r"[A-Za-z_]\w*|::|\.\.\.|->|<<=|>>=|<=>|[-+*/%&|^<>=!]=|&&|\|\||\S")
_NOT_NAMES = frozenset(
    "if for while switch return sizeof operator static_assert decltype requires noexcept alignas constexpr template explicit "
    "throw catch new delete".split())


def _tokens(text):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^[ \t]*#[^\n]*", " ", text, flags=re.MULTILINE)
    text = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'', "0", text)
    return _TOKEN.findall(text)


def _skip(tokens, i, opening, closing):
    """Returns the place after what is balanced from tokens[i] on."""
    depth = 0
    while i < len(tokens):
        depth += (tokens[i] == opening) - (tokens[i] == closing)
        i += 1
        if depth == 0:
            return i
    return i


def _skip_template(tokens, i):
    """Returns the place after the <...> at tokens[i], in which >> closes two."""
    depth = 0
    while i < len(tokens):
        if tokens[i] == "(":
            i = _skip(tokens, i, "(", ")")
            continue
        depth += (tokens[i] == "<") - (tokens[i] == ">")
        i += 1
        if depth == 0:
            return i
    return i


class _Reader:
    def __init__(self, text):
        self.tokens = _tokens(text)
        self.names = []

    def read(self, begin, end, scope, is_class, is_public):
        """Reads the declarations of one scope: a namespace's, or a class's."""
        tokens, i = self.tokens, begin
        while i < end:
            t = tokens[i]
            if is_class and t in ("public", "private", "protected") and tokens[i + 1] == ":":
                is_public = t == "public"
                i += 2
            elif t == "template":
                i = _skip_template(tokens, i + 1)
            elif t == "namespace":
                i = self.namespace(i, scope)
            elif t in ("class", "struct") and self.body_of_class(i):
                i = self.class_(i, scope, is_public)
            elif t == "enum":
                i = self.enum(i, scope, is_public)
            elif t in ("using", "friend", "typedef", "concept", "extern"):
                i = self.end_of_declaration(i)
            else:
                i = self.declaration(i, scope, is_class, is_public)

    def namespace(self, i, scope):
        path = []
        i += 1
        while self.tokens[i] != "{":
            if self.tokens[i] != "::":
                path.append(self.tokens[i])
            i += 1
        end = _skip(self.tokens, i, "{", "}")
        # Others' namespaces, and what is not for users.
        if not {"ir", "driver", "std", "detail"} & set(path):
            self.read(i + 1, end - 1, scope + [p for p in path if p != "tessera"], False, True)
        return end

    def body_of_class(self, i):
        """Returns where the body of the class begins; None for a declaration without one."""
        while self.tokens[i] not in ("{", ";", "(", "="):
            i = _skip_template(self.tokens, i) if self.tokens[i] == "<" else i + 1
        return i if self.tokens[i] == "{" else None

    def class_(self, i, scope, is_public):
        name, body = self.tokens[i + 1], self.body_of_class(i)
        end = _skip(self.tokens, body, "{", "}")
        if is_public and self.tokens[i + 2] != "<":  # a specialization names nothing new
            self.names.append(scope + [name])
            self.read(body + 1, end - 1, scope + [name], True, self.tokens[i] == "struct")
        return self.end_of_declaration(end) if self.tokens[end] != ";" else end + 1

    def enum(self, i, scope, is_public):
        i += 2 if self.tokens[i + 1] in ("class", "struct") else 1
        name = self.tokens[i]
        while self.tokens[i] not in ("{", ";"):
            i += 1
        if self.tokens[i] == ";":
            return i + 1
        end = _skip(self.tokens, i, "{", "}")
        if is_public:
            self.names.append(scope + [name])
        return end + 1

    def end_of_declaration(self, i):
        while i < len(self.tokens):
            if self.tokens[i] == ";":
                return i + 1
            if self.tokens[i] == "{":
                i = _skip(self.tokens, i, "{", "}")
                if i < len(self.tokens) and self.tokens[i] == ";":
                    i += 1
                return i
            i = _skip(self.tokens, i, "(", ")") if self.tokens[i] == "(" else i + 1
        return i

    def declaration(self, i, scope, is_class, is_public):
        """Reads a function or a variable; what `(` follows is a function's name."""
        tokens, found, j = self.tokens, None, i
        while j < len(tokens) and tokens[j] not in (";", "{", "="):
            if tokens[j] == "operator":
                found = None
                break
            if tokens[j] == "<" and j > i and re.match(r"\w", tokens[j - 1]):
                j = _skip_template(tokens, j)
            elif tokens[j] == "(":
                before = tokens[j - 1]
                if before == "requires":
                    j = _skip(tokens, j, "(", ")")
                    continue
                if found is None and re.match(r"[A-Za-z_]", before) and before not in _NOT_NAMES:
                    found = before if tokens[j - 2] != "~" else ""
                j = _skip(tokens, j, "(", ")")
            elif tokens[j] == ":" and found is not None:  # the initializers of a constructor
                while tokens[j] != "{" or re.match(r"[\w>]", tokens[j - 1]):
                    j = _skip(tokens, j, *{"(": "()", "{": "{}"}[tokens[j]]) if tokens[j] in "({" else j + 1
                break
            else:
                j += 1
        is_constructor = is_class and found == scope[-1]
        if found and is_public and not is_constructor:
            self.names.append(scope + [found])
        return self.end_of_declaration(j)


def public_names(text):
    """Returns the names of classes, enums, methods and functions: "Func", "Func.realize", "cast"."""
    reader = _Reader(text)
    reader.read(0, len(reader.tokens), [], False, True)
    return {".".join(name) for name in reader.names}

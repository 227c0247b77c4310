"""Kinds of nodes and operators of the CUDA grammar, by what becomes of them in Terms."""

TRANSPARENT = {
    "parenthesized_expression",
    "condition_clause",
    "cast_expression",
    "template_argument_list",
    "subscript_argument_list",
    "co_await_expression",
    "type_descriptor",
}
LITERALS = {
    "number_literal",
    "char_literal",
    "string_literal",
    "true",
    "false",
    "null",
    "nullptr",
    "raw_string_literal",
}
ARITHMETIC = {"+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"}
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}

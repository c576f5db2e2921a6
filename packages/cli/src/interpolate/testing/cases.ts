/** Documents that are easy to get wrong, and what they become. Played by us, and by the real CLI where there is one. */
export interface Case {
  readonly name: string;
  readonly document: string;
  /** Texts of ops files. */
  readonly ops?: readonly string[];
  readonly var?: readonly string[];
  /** Texts of files of variables. */
  readonly varsFiles?: readonly string[];
  /** Names and texts of files. */
  readonly varFiles?: readonly (readonly [name: string, text: string])[];
  readonly env?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly flags?: readonly ("var-errs" | "var-errs-unused")[];
  /** A value, or words that must be in the error. */
  readonly expected: { readonly value: unknown } | { readonly error: RegExp };
}

const value = (expected: unknown) => ({ expected: { value: expected } });
const error = (words: RegExp) => ({ expected: { error: words } });

const VARIABLES: readonly Case[] = [
  {
    name: "a value keeps its type where it stands alone",
    document: "{i: ((i)), b: ((b)), z: ((z)), f: ((f)), l: ((l)), m: ((m)), s: ((s))}",
    var: ["i=8080", "b=true", "z=null", "f=1.5", "l=[1, two]", "m={a: {b: c}}", "s=text"],
    ...value({ i: 8080, b: true, z: null, f: 1.5, l: [1, "two"], m: { a: { b: "c" } }, s: "text" }),
  },
  {
    name: "inside text, strings and whole numbers",
    document: "url: 'https://((host)):((port))/((!path))?a=((a.b.1))'",
    var: ["host=db.internal", "port=5432", "path=x", "a={b: [x, z]}"],
    ...value({ url: "https://db.internal:5432/x?a=z" }),
  },
  { name: "a map inside text", document: "a: x((m))", var: ["m={a: 1}"], ...error(/m/) },
  { name: "true inside text", document: "a: x((m))", var: ["m=true"], ...error(/m/) },
  { name: "a decimal inside text", document: "a: x((m))", var: ["m=1.5"], ...error(/m/) },
  {
    name: "blanks",
    document: "{a: (( n )), b: (( n)), c: 'x(( n ))', d: '((n m))'}",
    var: ["n=1"],
    ...value({ a: 1, b: 1, c: "x(( n ))", d: "((n m))" }),
  },
  {
    name: "keys",
    document: "{'((k))': 1, 'a-((k))': {'((k2))': 2}}",
    var: ["k=name", "k2=other"],
    ...value({ name: 1, "a-name": { other: 2 } }),
  },
  {
    name: "what a variable holds is not looked at again",
    document: "a: ((x))",
    var: ["x=((y))", "y=1"],
    ...value({ a: "((y))" }),
  },
  {
    name: "paths into values",
    document: "{a: ((m.list.0)), b: ((m.list.-1)), c: ((m.0)), d: ((m.list.1.x))}",
    var: ["m={list: [p, {x: q}], '0': zero}"],
    ...value({ a: "p", b: { x: "q" }, c: "zero", d: "q" }),
  },
  { name: "a path to nothing", document: "a: ((m.x))", var: ["m={y: 1}"], ...error(/x/) },
  {
    name: "what nobody knows stays",
    document: "{a: ((x)), b: 'p ((y.z)) ((!w))', '((k))': 1}",
    ...value({ a: "((x))", b: "p ((y.z)) ((!w))", "((k))": 1 }),
  },
  {
    name: "what nobody knows, where all must be known",
    document: "{a: ((x)), b: 'p ((y.z)) ((!w))', c: ((known)), variables: [{name: v, type: password}]}",
    var: ["known=1"],
    flags: ["var-errs"],
    ...error(/Expected to find variables:\s+- v\s+- w\s+- x\s+- y(?:\s|$)/),
  },
  {
    name: "what nobody uses",
    document: "{a: ((x)), variables: [{name: d, type: password}]}",
    var: ["x=1", "extra=2", "deep.er=3", "d=4"],
    flags: ["var-errs-unused"],
    ...error(/Expected to use variables:\s+- deep\s+- extra(?:\s|$)/),
  },
  {
    name: "later sources win",
    document: "{a: ((a)), b: ((b)), c: ((c)), d: ((d)), e: ((e))}",
    env: { MY_a: "env", MY_b: "env", MY_c: "env", MY_d: "env", OTHER_e: "env", MYe: "no" },
    varsFiles: ["{b: file, c: file, d: file}", "{b: second}"],
    varFiles: [
      ["c", "text\n"],
      ["d", "text"],
    ],
    var: ["d=given"],
    ...value({ a: "env", b: "second", c: "text\n", d: "given", e: "((e))" }),
  },
  {
    name: "dots in names build maps",
    document: "{a: ((a)), b: ((b.c.d))}",
    var: ["a.x=1", "a.y=[2]", "b.c.d=3"],
    ...value({ a: { x: 1, y: [2] }, b: 3 }),
  },
  {
    name: "text keeps its form",
    document: "{a: ((a)), b: ((b)), c: ((c)), d: ((d)), e: ((e)), f: ((f))}",
    var: ["a=  two  blanks  ", "b='quoted'", 'c="1"', "d=line\nline\n", "e=x=y", "f='it''s'"],
    ...value({ a: "  two  blanks  ", b: "quoted", c: "1", d: "line\nline\n", e: "x=y", f: "it''s" }),
  },
  {
    name: "the environment is read as YAML",
    document: "{a: ((a)), b: ((b)), c: ((c))}",
    env: { MY_a: "[1, x]", MY_b: "'1'", MY_c: "" },
    ...value({ a: [1, "x"], b: "1", c: null }),
  },
  { name: "a variable without a value", document: "a: 1", var: ["a="], ...error(/empty/) },
  { name: "a variable without a name", document: "a: 1", var: ["=a"], ...error(/empty/) },
  { name: "a variable that is none", document: "a: 1", var: ["a"], ...error(/a/) },
  { name: "a value that is no YAML", document: "a: 1", var: ["a={b"], ...error(/a/) },
  { name: "a file of variables that is no map", document: "a: 1", varsFiles: ["[1]"], ...error(/vars0/) },
  {
    name: "an empty file of variables",
    document: "a: ((a))",
    varsFiles: [""],
    ...value({ a: "((a))" }),
  },
  {
    name: "definitions that have a value go, the others stay",
    document: "{a: ((p)), variables: [{name: p, type: password}, {name: q, type: rsa}, {name: r}]}",
    var: ["p=given", "r=1"],
    ...value({ a: "given", variables: [{ name: "q", type: "rsa" }] }),
  },
  {
    name: "all definitions have a value",
    document: "{a: ((p)), variables: [{name: p, type: password}]}",
    var: ["p=given"],
    ...value({ a: "given", variables: [] }),
  },
];

const SCALARS: readonly Case[] = [
  {
    name: "strings that look like something else",
    document:
      "['true', 'yes', 'y', 'null', '~', '', '1', '1.5', '1e3', '0x1f', '010', '1_000', '1:30', '.5', '-', '-1', '2020-01-01', '2020-01-01T00:00:00Z', '<<', '=', '.inf', ':sym', '*a', '&a', '!a', '@a', '%a', '`a', '{a', '[a', '# a', 'a: b', 'a #b', 'a:', '- a', '? a', 'a\\b', \"tab\\there\", ' a', 'a ']",
    ...value([
      ..."true yes y null ~".split(" "),
      "",
      ..."1 1.5 1e3 0x1f 010 1_000 1:30 .5 - -1 2020-01-01 2020-01-01T00:00:00Z".split(" "),
      ..."<< = .inf :sym *a &a !a @a %a `a {a [a".split(" "),
      ...["# a", "a: b", "a #b", "a:", "- a", "? a", "a\\b", "tab\there", " a", "a "],
    ]),
  },
  {
    name: "numbers and words",
    document:
      "[1, -1, 0, 0x1f, 010, 1.5, -0.25, true, False, yes, NO, on, off, null, ~, 10.0.0.1, 1.2.3, 10.0.0.0/24]",
    ...value([
      ...[1, -1, 0, 31, 8, 1.5, -0.25],
      ...[true, false, true, false, true, false, null, null, "10.0.0.1", "1.2.3", "10.0.0.0/24"],
    ]),
  },
  {
    name: "text of several lines",
    document: [
      "literal: |\n  one\n   two\n\n  three\nstrip: |-\n  one\n  two\nkeep: |+\n  one\n\n",
      'folded: >\n  one\n  two\n\n  three\nquoted: "a\\nb"\nends: "a \\nb"\nbegins: "  a\\nb\\n"\nbare: "\\n"\ntabs: "\\ta\\n\\tb\\n"\n',
    ].join(""),
    ...value({
      literal: "one\n two\n\nthree\n",
      strip: "one\ntwo",
      keep: "one\n\n",
      folded: "one two\nthree\n",
      quoted: "a\nb",
      ends: "a \nb",
      begins: "  a\nb\n",
      bare: "\n",
      tabs: "\ta\n\tb\n",
    }),
  },
  {
    name: "characters",
    document: 'a: "é \\u263a \\U0001f600 \\u0007 \\x85 \\u2028 \\ufeff"\n',
    ...value({ a: "é ☺ 😀 \u0007 \u0085 \u2028 \ufeff" }),
  },
  {
    name: "anchors, aliases and merging",
    document: "base: &b {a: 1, b: 2}\ncopy: *b\nmore:\n  <<: *b\n  b: 3\n",
    ...value({ base: { a: 1, b: 2 }, copy: { a: 1, b: 2 }, more: { a: 1, b: 3 } }),
  },
  { name: "an empty document", document: "", ...value(null) },
  {
    name: "a list",
    document: "- a\n- [b, [c]]\n- {d: []}\n- {}\n",
    ...value(["a", ["b", ["c"]], { d: [] }, {}]),
  },
];

const DOCUMENT =
  "{k: 1, m: {a: {b: 2}}, l: [x, m, z], g: [{name: web, p: 1}, {name: db, p: 2}, {name: 7}], a/b: {~c: 1, 'd:e': 2}}";
const op = (name: string, text: string, expected: Case["expected"], path?: string): Case => ({
  name: `${name}: ${text}`,
  document: DOCUMENT,
  ops: [text],
  expected,
  ...(path !== undefined && { path }),
});
const becomes = (path: string, text: string, expected: unknown) => op("op", text, { value: expected }, path);
const fails = (text: string) =>
  op("op that fails", text, { error: /operation \[\d\] in .*ops0|path|type|value/i });

const OPS: readonly Case[] = [
  becomes("/k", "[{type: replace, path: /k, value: [1]}]", [1]),
  becomes("/new", "[{type: replace, path: '/new?', value: 2}]", 2),
  becomes("/m", "[{type: replace, path: '/m/c?/d/e', value: 1}]", { a: { b: 2 }, c: { d: { e: 1 } } }),
  becomes("/new", "[{type: replace, path: '/new?/-', value: 1}]", [1]),
  becomes("/new", "[{type: replace, path: '/new?/name=x/v', value: 1}]", [{ name: "x", v: 1 }]),
  becomes("/l", "[{type: replace, path: /l/-1, value: Z}]", ["x", "m", "Z"]),
  becomes("/l", "[{type: replace, path: /l/-, value: w}]", ["x", "m", "z", "w"]),
  becomes("/l", "[{type: replace, path: '/l/0:before', value: w}]", ["w", "x", "m", "z"]),
  becomes("/l", "[{type: replace, path: '/l/-1:after', value: w}]", ["x", "m", "z", "w"]),
  becomes("/l", "[{type: replace, path: '/l/0:next', value: w}]", ["x", "w", "z"]),
  becomes("/l", "[{type: remove, path: '/l/-1:prev'}]", ["x", "z"]),
  becomes("/g/0", "[{type: replace, path: /g/name=web/p, value: 5}]", { name: "web", p: 5 }),
  becomes("/g/1", "[{type: replace, path: '/g/name=web:after', value: {name: new}}]", { name: "new" }),
  becomes("/g/-1", "[{type: replace, path: '/g/name=new?/x/y', value: 1}]", { name: "new", x: { y: 1 } }),
  becomes("/g/0/p", "[{type: replace, path: '/g/name=db:prev/p', value: 9}]", 9),
  becomes("/a~1b", "[{type: replace, path: /a~1b/~0c, value: 9}]", { "~c": 9, "d:e": 2 }),
  becomes("/a~1b/d~7e", "[{type: replace, path: /a~1b/d~7e, value: 9}]", 9),
  becomes("", "[{type: replace, path: '', value: [1]}]", [1]),
  becomes("/m", "[{type: remove, path: /m/a}]", {}),
  becomes("/k", "[{type: remove, path: '/gone?/x'}, {type: remove, path: '/g/name=gone?'}]", 1),
  becomes("/k", "[{type: test, path: /m/a, value: {b: 2}}, {type: test, path: /gone, absent: true}]", 1),
  becomes("/k", "[{type: replace, path: /k, value: ((v)), name: ignored}]", "((v))"),
  becomes("/gone?", "[]", null),
  becomes("/g/name=gone?", "[]", { name: "gone" }),
  becomes("/g/name=db", "[]", { name: "db", p: 2 }),
  fails("[{type: replace, path: /gone, value: 1}]"),
  fails("[{type: replace, path: /gone/x, value: 1}]"),
  fails("[{type: replace, path: /l/name, value: 1}]"),
  fails("[{type: replace, path: /m/0, value: 1}]"),
  fails("[{type: replace, path: /l/3, value: 1}]"),
  fails("[{type: replace, path: /g/name=gone/p, value: 1}]"),
  fails("[{type: replace, path: /g/name=7/p, value: 1}]"),
  fails("[{type: replace, path: '/new?/0', value: 1}]"),
  fails("[{type: remove, path: /gone}]"),
  fails("[{type: remove, path: ''}]"),
  fails("[{type: remove, path: /l/-}]"),
  fails("[{type: test, path: /k, value: 2}]"),
  fails("[{type: test, path: /k, absent: true}]"),
  fails("[{type: replace, path: k, value: 1}]"),
  fails("[{type: replace, path: /k}]"),
  fails("[{type: remove, path: /k, value: 1}]"),
  fails("[{type: paint, path: /k}]"),
  op("a path to nothing", "[]", { error: /gone/ }, "/gone"),
];

export const CASES: readonly Case[] = [...VARIABLES, ...SCALARS, ...OPS];

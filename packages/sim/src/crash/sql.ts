/** Effect of a statement on a database, read from its text. */
export type Statement =
  | { readonly does: "begin" | "commit" | "rollback" | "read" | "lock" }
  | {
      readonly does: "write";
      /** `insert intents`; one for each table it writes to. */
      readonly what: readonly string[];
      /** The number of rows the server reports is the number it has changed. */
      readonly counts: boolean;
    };

/** Comments and strings say nothing; a quoted name is never a verb. */
const TOKENS =
  /--[^\n]*|\/\*[\s\S]*?\*\/|\$([a-z_]\w*)?\$[\s\S]*?\$\1\$|\be'(?:[^'\\]|\\[\s\S]|'')*'|'(?:[^']|'')*'|"(?<quoted>(?:[^"]|"")*)"|(?<word>[a-z_][\w$]*)|(?<sign>[;.(])/gi;

interface Token {
  /** Text in lower case, unless it is quoted. */
  readonly text: string;
  readonly quoted: boolean;
}

const SCHEMA_VERBS = ["create", "alter", "drop", "truncate", "merge", "copy", "grant", "revoke", "comment"];

/** The statements of a query, in order. `functions`: those of the database that write. */
export const statementsIn = (
  query: string,
  functions: ReadonlySet<string> = new Set(),
): readonly Statement[] => tokensOf(query).map((tokens) => readStatement(tokens, functions));

/** Returns the functions that write, directly or through another, from bodies by name. */
export function writingFunctions(bodies: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>();
  const writes = (body: string) => tokensOf(body).some((tokens) => writesOf(tokens, found).length > 0);
  for (;;) {
    const more = [...bodies].filter(([name, body]) => !found.has(name) && writes(body));
    if (more.length === 0) return found;
    for (const [name] of more) found.add(name);
  }
}

/** Splits a query into the tokens of each statement. */
function tokensOf(query: string): readonly (readonly Token[])[] {
  const statements: Token[][] = [[]];
  for (const { groups = {} } of query.matchAll(TOKENS)) {
    if (groups.sign === ";") statements.push([]);
    else if (groups.quoted !== undefined) statements.at(-1)?.push({ text: groups.quoted, quoted: true });
    else if (groups.word !== undefined || groups.sign !== undefined)
      statements.at(-1)?.push({ text: (groups.word ?? groups.sign ?? "").toLowerCase(), quoted: false });
  }
  return statements.filter((tokens) => tokens.length > 0);
}

function writesOf(tokens: readonly Token[], functions: ReadonlySet<string>): readonly string[] {
  const isCall = (at: number) => tokens[at]?.text === "(" && tokens[at]?.quoted === false;
  const calls = tokens.flatMap(({ text }, at) => (functions.has(text) && isCall(at + 1) ? [text] : []));
  return [...tokens.flatMap((_, at) => writeAt(tokens, at)), ...calls];
}

function readStatement(tokens: readonly Token[], functions: ReadonlySet<string>): Statement {
  const word = (at: number) => (tokens[at]?.quoted === false ? tokens[at].text : "");
  const first = word(0);
  if (first === "begin" || (first === "start" && word(1) === "transaction")) return { does: "begin" };
  if (first === "commit" || first === "end") return { does: "commit" };
  // To a savepoint: the transaction goes on.
  if (first === "rollback" && !tokens.some((_, at) => word(at) === "to")) return { does: "rollback" };
  if (SCHEMA_VERBS.includes(first)) return { does: "write", what: [`${first} ${word(1)}`], counts: false };
  const what = writesOf(tokens, functions);
  if (what.length > 0) {
    const counts = first === "insert" || first === "update" || first === "delete";
    return { does: "write", what, counts: counts && what.length === 1 };
  }
  const locks = tokens.some((_, at) => word(at) === "for" && /^(update|share|no|key)$/.test(word(at + 1)));
  return { does: locks ? "lock" : "read" };
}

function writeAt(tokens: readonly Token[], at: number): readonly string[] {
  const word = (where: number) => (tokens[where]?.quoted === false ? tokens[where].text : "");
  const verb = word(at);
  if (verb === "insert" && word(at + 1) === "into") return [`insert ${tableAt(tokens, at + 2)}`];
  if (verb === "delete" && word(at + 1) === "from") return [`delete ${tableAt(tokens, at + 2)}`];
  if (verb !== "update") return [];
  // `for update`, `for no key update`, `on conflict do update`: part of something else. `update` as a name has no table.
  if (["for", "key", "do", "."].includes(word(at - 1))) return [];
  const table = tableAt(tokens, at + 1);
  return table === "" ? [] : [`update ${table}`];
}

/** `only`, a schema before it: the table is the last of the names. */
function tableAt(tokens: readonly Token[], at: number): string {
  const start = tokens[at]?.quoted === false && tokens[at].text === "only" ? at + 1 : at;
  const first = tokens[start];
  const qualified = tokens[start + 1]?.text === "." && tokens[start + 1]?.quoted === false;
  const name = qualified ? tokens[start + 2] : first;
  return name === undefined || (!name.quoted && /^[.(]$/.test(name.text)) ? "" : name.text;
}

import { parseYaml } from "@slipway/engine/documents/yaml";
import type { TypedInput } from "../command.ts";
import type { Tools } from "../tools.ts";
import { type Evaluated, evaluate } from "./evaluate.ts";
import { readInputs } from "./inputs.ts";
import { readTextOrInput } from "./read-text.ts";
import { openStore } from "./store.ts";

/** The document in a file, with everything the user gave put into it. */
export async function evaluateFile(
  path: string,
  given: TypedInput,
  tools: Pick<Tools, "env" | "random" | "clock">,
): Promise<Evaluated> {
  const what = path === "-" ? "the document from standard input" : path;
  const document = parseYaml(await readTextOrInput("the document", path), what);
  const { variables, ops, store } = await readInputs(given, tools.env);
  return evaluate({
    document,
    what,
    ops,
    variables,
    store: store === undefined ? undefined : await openStore(store, tools),
  });
}

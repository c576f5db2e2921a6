import { configuredCpis } from "../cpis/configured.ts";
import { keysOf } from "./documents.ts";
import type { Services } from "./services.ts";

interface NewContent {
  readonly type: string;
  readonly name: string;
  readonly content: string;
  /** How the endpoint calls a document that is none. */
  readonly number: number;
}

/** Refuses content that no config can have, before it is stored. */
export async function checkConfigContent(
  { db, documents, cpis }: Pick<Services, "db" | "documents" | "cpis">,
  { type, name, content, number }: NewContent,
): Promise<void> {
  await keysOf(documents, { text: content, what: `the ${type} config`, number });
  if (type === "cpi")
    for (const cpi of await configuredCpis({ db, documents }, { name, content })) cpis.check(cpi);
}

import { configuredCpis } from "../cpis/configured.ts";
import { checkShape, keysOf } from "./documents.ts";
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
  const what = `the ${type} config`;
  await keysOf(documents, { text: content, what, number });
  await checkShape(documents, { type, text: content, what, number });
  if (type === "cpi")
    for (const cpi of await configuredCpis({ db, documents }, { name, content })) cpis.check(cpi);
}

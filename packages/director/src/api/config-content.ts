import type { Documents } from "../documents/documents.ts";
import { keysOf } from "./documents.ts";
import { CpiConfigNotYet } from "./refusals.ts";

/** Refuses content that no config can have, before it is stored. `number`: how the endpoint calls it. */
export async function checkConfigContent(
  documents: Documents,
  { type, content, number }: { readonly type: string; readonly content: string; readonly number: number },
): Promise<void> {
  const { cpis } = await keysOf(documents, { text: content, what: `the ${type} config`, number }, "cpis");
  if (type !== "cpi" || cpis === undefined || cpis === null) return;
  if (Array.isArray(cpis) && cpis.length === 0) return;
  throw CpiConfigNotYet({ number });
}

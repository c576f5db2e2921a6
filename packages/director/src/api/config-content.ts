import { yamlMap } from "./documents.ts";
import { CpiConfigNotYet } from "./refusals.ts";

/** Refuses content that no config can have, before it is stored. `code`: how the endpoint calls it. */
export function checkConfigContent(type: string, content: string, code: number): void {
  const document = yamlMap(content, `the ${type} config`, code);
  const cpis = document.cpis;
  if (type !== "cpi" || cpis === undefined || cpis === null) return;
  if (Array.isArray(cpis) && cpis.length === 0) return;
  throw CpiConfigNotYet({ number: code });
}

import { DirectorError } from "@slipway/engine/model/director-error";
import { yamlMap } from "./documents.ts";

/** Refuses content that no config can have, before it is stored. `code`: how the endpoint calls it. */
export function checkConfigContent(type: string, content: string, code: number): void {
  const document = yamlMap(content, `the ${type} config`, code);
  const cpis = document.cpis;
  if (type !== "cpi" || cpis === undefined || cpis === null) return;
  if (Array.isArray(cpis) && cpis.length === 0) return;
  throw new DirectorError(
    code,
    "this Director works with the one CPI of its configuration file and cannot use a CPI config yet; nothing was stored",
  );
}

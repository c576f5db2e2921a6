import { basename, extname } from "node:path";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";

/** Returns the name of the CPI. Without a configured one: upstream's jobs have a directory of their own, others a file. */
export function cpiNameOf(cpi: DirectorConfig["cpi"], embedded = ""): string {
  const { name, exec_path: path } = cpi ?? {};
  if (name !== undefined || path === undefined) return name ?? embedded;
  return /\/jobs\/([^/]+)\/bin\/cpi$/.exec(path)?.[1] ?? basename(path, extname(path));
}

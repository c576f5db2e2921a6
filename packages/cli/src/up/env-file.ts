import { resolve } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { shellQuoted } from "@slipway/kernel/shell";
import type { Home } from "../home/home.ts";

export interface EnvAccess {
  /** Home directory for `slipway` itself: a shell that reads the file uses the same home afterwards. */
  readonly dir: string;
  readonly url: string;
  readonly caFile: string;
  /** Undefined where a configuration names the users: their passwords stay there. */
  readonly admin: { readonly name: string; readonly password: string } | undefined;
}

/** The lines a shell reads with `. env`. */
export function envText({ dir, url, caFile, admin }: EnvAccess): string {
  const lines = [
    ["SLIPWAY_HOME", dir],
    ["BOSH_ENVIRONMENT", url],
    ["BOSH_CA_CERT", caFile],
    ...(admin === undefined
      ? []
      : [
          ["BOSH_CLIENT", admin.name],
          ["BOSH_CLIENT_SECRET", admin.password],
        ]),
  ] as const;
  return lines.map(([name = "", value = ""]) => `export ${name}=${shellQuoted(value)}\n`).join("");
}

export const writeEnvFile = (home: Home, access: Omit<EnvAccess, "dir">): Promise<void> =>
  writeFileAtomic(home.envFile, envText({ dir: resolve(home.dir), ...access }), 0o600);

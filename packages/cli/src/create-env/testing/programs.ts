import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { passableDirectory } from "@slipway/testkit/temporary";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";

const PACKAGES = fileURLToPath(new URL("../../../..", import.meta.url));

export interface Built {
  readonly agent: string;
  readonly registry: string;
  readonly cpi: string;
  /** `slipway`, as far as this room goes. */
  readonly slipway: string;
}

const ENTRIES: Readonly<Record<keyof Built, string>> = {
  agent: "agent/src/bin/slipway-agent.ts",
  registry: "registry/src/bin/slipway-registry.ts",
  cpi: "cpi-local/src/main.ts",
  slipway: "cli/src/create-env/testing/child.ts",
};

/** The programs of the sources as they are now; gone after the last test of the file. */
export function builtPrograms(): () => Built {
  let dir = "";
  beforeAll(async () => {
    // Other users must reach them: a CPI may run its agents as somebody else.
    dir = await passableDirectory("programs");
    await Promise.all(
      Object.entries(ENTRIES).map(([name, entry]) =>
        build({
          entryPoints: [join(PACKAGES, entry)],
          outfile: join(dir, `${name}.cjs`),
          bundle: true,
          platform: "node",
          target: "node20",
          format: "cjs",
          conditions: ["source"],
          external: ["pg-native"],
          logLevel: "silent",
        }),
      ),
    );
    for (const name of Object.keys(ENTRIES)) await chmod(join(dir, `${name}.cjs`), 0o755);
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));
  const at = (name: keyof Built) => join(dir, `${name}.cjs`);
  return () => ({ agent: at("agent"), registry: at("registry"), cpi: at("cpi"), slipway: at("slipway") });
}

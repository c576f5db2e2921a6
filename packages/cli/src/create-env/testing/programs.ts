import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { beforeAll } from "vitest";

const PACKAGES = fileURLToPath(new URL("../../../..", import.meta.url));

export interface Built {
  readonly agent: string;
  readonly registry: string;
  readonly cpi: string;
  readonly renderer: string;
  /** `slipway`, with the commands of `create-env` alone. */
  readonly slipway: string;
  /** For tests that render. */
  readonly ruby?: string | undefined;
}

const ENTRIES: Readonly<Record<Exclude<keyof Built, "ruby">, string>> = {
  agent: "agent/src/bin/slipway-agent.ts",
  registry: "registry/src/bin/slipway-registry.ts",
  cpi: "cpi-local/src/main.ts",
  renderer: "engine/src/templates/render-worker.ts",
  slipway: "cli/src/create-env/testing/child.ts",
};

/** The programs of the sources as they are now, made once for all test files. */
export function builtPrograms(): () => Built {
  let built: Built | undefined;
  beforeAll(async () => {
    const made = async (name: keyof typeof ENTRIES, format: "cjs" | "esm" = "cjs") =>
      await bundle(join(PACKAGES, ENTRIES[name]), { format });
    const [agent, registry, cpi, renderer, slipway] = await Promise.all([
      made("agent"),
      made("registry"),
      made("cpi"),
      made("renderer", "esm"),
      made("slipway"),
    ]);
    built = { agent, registry, cpi, renderer, slipway };
  });
  return () => {
    if (built === undefined) throw new Error("the programs are there from the first test on");
    return built;
  };
}

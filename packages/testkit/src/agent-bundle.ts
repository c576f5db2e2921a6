import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";
import { temporaryDirectory } from "./temporary.ts";

const ENTRY = fileURLToPath(new URL("../../agent/src/bin/slipway-agent.ts", import.meta.url));

/** The program as it is delivered, made of the sources as they are now; gone after the last test of the file. */
export function agentBundle(): () => string {
  let file = "";
  let remove = async () => {};
  beforeAll(async () => {
    const directory = await temporaryDirectory();
    remove = directory.remove;
    file = join(directory.path, "slipway-agent.cjs");
    await build({
      entryPoints: [ENTRY],
      outfile: file,
      bundle: true,
      platform: "node",
      target: "node20",
      format: "cjs",
      conditions: ["source"],
      logLevel: "silent",
    });
  });
  afterAll(() => remove());
  return () => file;
}

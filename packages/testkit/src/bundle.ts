import { createHash } from "node:crypto";
import { chmod, mkdir, readFile, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build } from "esbuild";
import { beforeAll } from "vitest";
import { oncePerRun } from "./run.ts";

/** Either the path of a source, or a script and the directory its imports are relative to. */
export type BundleSource = string | { readonly script: string; readonly in: string };

export interface BundleOptions {
  readonly format?: "cjs" | "esm";
  /** Path of the bundle. Without it, the bundle is made once per test run, and all test files share it. */
  readonly to?: string;
  /** A fault to plant in one source: whoever judges must notice. */
  readonly plant?: SourceFault;
}

export interface SourceFault {
  /** How the source's path ends. */
  readonly file: string;
  /** Is there once. */
  readonly text: string;
  readonly instead: string;
}

/** Makes one file of a program, the way the build does, of the sources as they are now. Gives its path. */
export async function bundle(
  program: BundleSource,
  { format = "cjs", to, plant }: BundleOptions = {},
): Promise<string> {
  if (to !== undefined) return await make(program, format, to, plant);
  const id = createHash("sha256")
    .update(JSON.stringify([program, format, plant]))
    .digest("hex")
    .slice(0, 16);
  return await oncePerRun(`bundle-${id}`, (place) =>
    make(program, format, join(place, nameOf(program, format)), plant),
  );
}

/** For a whole test file: `const agent = bundled("../bin/slipway-agent.ts", import.meta.url)`, then `agent()`. */
export function bundled(entry: string, from: string): () => string {
  let path = "";
  beforeAll(async () => {
    path = await bundle(fileURLToPath(new URL(entry, from)));
  });
  return () => path;
}

const nameOf = (program: BundleSource, format: string): string =>
  `${typeof program === "string" ? basename(program, ".ts") : "script"}.${format === "cjs" ? "cjs" : "mjs"}`;

async function make(
  program: BundleSource,
  format: "cjs" | "esm",
  outfile: string,
  plant: SourceFault | undefined,
): Promise<string> {
  let planted = 0;
  const source: BuildOptions =
    typeof program === "string"
      ? { entryPoints: [program] }
      : { stdin: { contents: program.script, loader: "ts", resolveDir: program.in } };
  // Other users must reach it: a CPI may run its agents as somebody else.
  await mkdir(dirname(outfile), { recursive: true, mode: 0o755 });
  const unfinished = `${outfile}.unfinished`;
  await build({
    ...source,
    outfile: unfinished,
    bundle: true,
    platform: "node",
    target: "node20",
    format,
    conditions: ["source"],
    external: ["pg-native", "cpu-features", "*.node"],
    logLevel: "error",
    plugins:
      plant === undefined
        ? []
        : [
            {
              name: "plant",
              setup: ({ onLoad }) => {
                onLoad({ filter: /\.ts$/ }, async ({ path }) => {
                  if (!path.endsWith(plant.file)) return undefined;
                  const pieces = (await readFile(path, "utf8")).split(plant.text);
                  planted += pieces.length - 1;
                  return { contents: pieces.join(plant.instead), loader: "ts" };
                });
              },
            },
          ],
  });
  if (plant !== undefined && planted !== 1)
    throw new Error(`the fault was planted ${planted} times in ${plant.file}`);
  await chmod(unfinished, 0o755);
  await rename(unfinished, outfile);
  return outfile;
}

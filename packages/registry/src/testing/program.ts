import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { onTestFinished } from "vitest";
import { USER } from "./harness.ts";

/** Bundles one of our sources the way the build does, so that the tests run what is shipped. */
export const bundleOf = (source: string): Promise<string> =>
  bundle(fileURLToPath(new URL(source, import.meta.url)));

export const bundleProgram = (): Promise<string> => bundleOf("../bin/slipway-registry.ts");

export interface RegistryProgram {
  readonly child: ChildProcess;
  readonly url: string;
  readonly output: () => string;
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export async function writeConfig(dir: string, http: object = {}): Promise<string> {
  const file = join(dir, "registry.json");
  const base = { host: "127.0.0.1", port: 0, user: USER.username, password: USER.password };
  await writeFile(file, JSON.stringify({ http: { ...base, ...http }, dir: "state" }), {
    mode: 0o600,
  });
  return file;
}

/** Starts the bundled program and waits for its listening line. `limitKiB` bounds the size of files it may write. */
export async function startProgram(
  script: string,
  config: string,
  limitKiB?: number,
): Promise<RegistryProgram> {
  const node = [process.execPath, script, "--config", config] as const;
  const child =
    limitKiB === undefined
      ? spawn(node[0], node.slice(1), { stdio: ["ignore", "pipe", "pipe"] })
      : spawn("sh", ["-c", 'ulimit -f "$0" && exec "$@"', String(2 * limitKiB), ...node], {
          stdio: ["ignore", "pipe", "pipe"],
        });
  let output = "";
  const exited = once(child, "exit");
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      output += chunk.toString();
      const found = /listening on (\S+) .*\n/.exec(output)?.[1];
      if (found !== undefined) resolve(found);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("exit", () => reject(new Error(`the registry ended early: ${output}`)));
  });
  return {
    child,
    url,
    output: () => output,
    end: async (signal) => {
      child.kill(signal);
      const [code, by] = (await exited) as [number | null, NodeJS.Signals | null];
      return { code, signal: by };
    },
  };
}

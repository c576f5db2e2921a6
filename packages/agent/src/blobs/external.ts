import { join } from "node:path";
import { retry } from "@slipway/kernel/backoff";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import type { Exec } from "@slipway/kernel/exec";
import { exists } from "@slipway/kernel/files";
import type { Random } from "@slipway/kernel/random";
import type { Paths } from "../paths.ts";
import type { BlobstoreSettings } from "../settings/effective.ts";
import { writeState } from "../state/state-file.ts";
import { BlobstoreFailed } from "./errors.ts";

export interface ExternalTools {
  readonly paths: Paths;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
}

const BACKOFF = { tries: 3, firstDelayMs: 1000, longestDelayMs: 4000 };

/** Blobstores that a program of the stemcell talks to: `bosh-blobstore-<provider> -c FILE get|put FROM TO`. */
export const externalGet = (
  settings: BlobstoreSettings,
  id: string,
  to: string,
  tools: ExternalTools,
  signal: AbortSignal,
) => call(settings, ["get", id, to], tools, signal);

export const externalPut = (
  settings: BlobstoreSettings,
  from: string,
  id: string,
  tools: ExternalTools,
  signal: AbortSignal,
) => call(settings, ["put", from, id], tools, signal);

async function call(
  settings: BlobstoreSettings,
  args: readonly [string, string, string],
  tools: ExternalTools,
  signal: AbortSignal,
): Promise<void> {
  const { provider } = settings;
  const doing = `${args[0]} a blob`;
  if (!/^[\w-]+$/.test(provider))
    throw BlobstoreFailed({ provider: "(unprintable)", doing, why: "no such provider" });
  const config = join(tools.paths.boshDir, "etc", `blobstore-${provider}.json`);
  // Through a file, because arguments can be read by every user of the machine.
  await writeState(config, JSON.stringify(settings.options ?? {}));
  const program = await programOf(provider, tools.paths);
  const attempt = async () => {
    const result = await tools.exec(program, ["-c", config, ...args], { signal }).catch((cause: unknown) => {
      signal.throwIfAborted();
      throw BlobstoreFailed({ provider, doing, why: messageTrail(cause) }, { cause });
    });
    if (result.code !== 0)
      throw BlobstoreFailed({ provider, doing, why: `the program ended with ${result.code}` });
  };
  await retry(attempt, (error) => BlobstoreFailed.is(error), BACKOFF, { ...tools, signal });
}

/** Stemcells keep these programs beside the agent. */
async function programOf(provider: string, paths: Paths): Promise<string> {
  const name = `bosh-blobstore-${provider}`;
  const beside = join(paths.boshDir, "bin", name);
  return (await exists(beside)) ? beside : name;
}

/** Returns true if the stemcell has the program of this provider. */
export async function hasProgram(provider: string, paths: Paths): Promise<boolean> {
  const name = `bosh-blobstore-${provider}`;
  const places = [
    join(paths.boshDir, "bin"),
    ...["usr/local/bin", "usr/bin", "bin"].map((dir) => paths.system(dir)),
  ];
  for (const place of places) if (await exists(join(place, name))) return true;
  return false;
}

import { messageTrail } from "@slipway/kernel/errors";
import type { Cloud } from "../cloud.ts";
import { DiskCommandFailed } from "../errors.ts";
import type { Command } from "../namespaces.ts";

/** Runs a program on a disk: its output. One that ends with more than `most` has failed. */
export async function runOn(
  cloud: Cloud,
  disk: string,
  doing: string,
  [program, ...args]: Command,
  most = 0,
): Promise<string> {
  const done = await cloud.exec(program, args).catch((cause: unknown) => {
    throw DiskCommandFailed({ disk, doing, said: messageTrail(cause) }, { cause });
  });
  if (done.code <= most) return done.stdout;
  const said = (done.stdout + done.stderr).trim().slice(-500);
  throw DiskCommandFailed({ disk, doing, said: said || `${program} ended with ${done.code}` });
}

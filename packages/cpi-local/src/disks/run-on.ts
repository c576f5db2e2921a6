import { messageTrail } from "@slipway/kernel/errors";
import { DiskCommandFailed } from "../errors.ts";
import type { LocalCloud } from "../local-cloud.ts";
import type { NamespaceCommand } from "../namespaces.ts";

/** Runs a program on a disk: its output. One that ends with more than `most` has failed. */
export async function runOn(
  cloud: LocalCloud,
  disk: string,
  doing: string,
  [program, ...args]: NamespaceCommand,
  most = 0,
): Promise<string> {
  const done = await cloud.exec(program, args).catch((cause: unknown) => {
    throw DiskCommandFailed({ disk, doing, said: messageTrail(cause) }, { cause });
  });
  if (done.code <= most) return done.stdout;
  const said = (done.stdout + done.stderr).trim().slice(-500);
  throw DiskCommandFailed({ disk, doing, said: said || `${program} ended with ${done.code}` });
}

import { mkdir, open, readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { systemClock } from "@slipway/kernel/clock";
import { SlipwayError, toError } from "@slipway/kernel/errors";
import { systemExec } from "@slipway/kernel/exec";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { silentLog } from "../../log.ts";
import { pathsUnder } from "../../paths.ts";
import type { DiskSettings, EphemeralRequest } from "../disks.ts";
import { namespaceDisks } from "../namespace/disks/namespace-disks.ts";

/**
 * Runs inside a namespace and does, line by line, what a test outside asks. Mounts of a namespace can be made and seen
 * only from within.
 */
const [base = ""] = process.argv.slice(2);
const disks = namespaceDisks({
  config: {},
  paths: pathsUnder(base),
  exec: systemExec,
  clock: fakeClock({ hurry: true }),
  log: silentLog,
});
const held = new Map<string, { close(): Promise<void> }>();
const within = (ms: number): AbortSignal => {
  if (ms === 0) return AbortSignal.abort(new Error("looked once"));
  const controller = new AbortController();
  systemClock.after(ms, () => controller.abort(new Error(`${ms} ms are over`)));
  return controller.signal;
};

export interface DriverCommand {
  readonly do: string;
  readonly path?: string;
  readonly target?: string;
  readonly text?: string;
  readonly ms?: number;
  readonly options?: readonly string[];
  readonly disk?: DiskSettings;
  readonly ephemeral?: Omit<EphemeralRequest, "signal">;
}

async function perform(asked: DriverCommand): Promise<unknown> {
  const { path = "", target = "", disk, ms = 0 } = asked;
  switch (asked.do) {
    case "locate":
      return disk && disks.locate(disk, within(ms));
    case "prepare":
      return disk && disks.prepare(path, disk);
    case "mount":
      return disks.mount(await disks.mountSource(path), target, asked.options ?? []);
    case "unmount":
      return disks.unmount(target, within(ms));
    case "read-only":
      return disks.remountReadOnly(target);
    case "mounts":
      return (await disks.mounts()).filter((mount) => mount.target.startsWith(base));
    case "in-use":
      return disks.isInUse(path);
    case "copy":
      return disks.copy(path, target);
    case "ephemeral":
      return asked.ephemeral && disks.setUpEphemeral({ ...asked.ephemeral, signal: within(ms) });
    case "raw":
      return disks.setUpRawEphemeral(disk === undefined ? [] : [disk.hint]);
    case "mkdir":
      return mkdir(path, { recursive: true });
    case "write":
      return writeFile(path, asked.text ?? "");
    case "read":
      return readFile(path, "utf8");
    case "hold":
      return void held.set(path, await open(path, "a"));
    case "release":
      return held.get(path)?.close();
    case "run":
      return systemExec(path, asked.options ?? []);
    default:
      throw new Error(`bug: nobody can ${asked.do}`);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const reply = await perform(JSON.parse(line) as DriverCommand).then(
    (value) => ({ value: value ?? null }),
    (error: unknown) => ({
      error: toError(error).message,
      code: error instanceof SlipwayError ? error.code : (toError(error) as { code?: string }).code,
    }),
  );
  process.stdout.write(`${JSON.stringify(reply)}\n`);
}
// Deadlines that never came must not keep it alive.
process.exit(0);

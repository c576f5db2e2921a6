import { CommandFailed, CommandMissing, type Exec, mustRun } from "@slipway/kernel/exec";
import { CopyDiffers, CopyNoSpace, UnmountBusy } from "../../disk-errors.ts";
import { differences } from "./compare-trees.ts";
import type { DiskContext } from "./context.ts";
import { copiersTo, holdersOf } from "./holders.ts";

const HOLDER_PATIENCE_MS = 60_000;

/**
 * Copies a tree with everything it has, then compares both byte by byte. `cp` does the copying, as Node can neither
 * read extended attributes nor set times to the nanosecond; the comparing is ours, so that cp need not be believed.
 *
 * Safe to repeat: what an interrupted copy left can only be part of the source, and is replaced name by name. The
 * target is never emptied; anything else in it makes the copy differ, which is an error and not a reason to delete.
 */
export async function verifiedCopy(context: DiskContext, from: string, to: string): Promise<void> {
  await waitUntilLeft(context, to);
  const args = [
    "-dRx",
    "--preserve=mode,ownership,timestamps,links,xattr",
    "--sparse=always",
    "--remove-destination",
    "--",
    `${from}/.`,
    to,
  ];
  const copied = await context.exec("cp", args);
  const said = copied.stderr.trim().slice(-1000);
  if (copied.code !== 0 && /no space left|disk quota exceeded/i.test(said))
    throw CopyNoSpace({ from, to, said });
  if (copied.code !== 0) {
    throw CommandFailed({
      doing: `copying ${from} to ${to}`,
      program: "cp",
      code: copied.code,
      stderr: said,
    });
  }
  await mustRun(context.exec, `writing the copy in ${to} to its disk`, "sync", ["-f", to]);
  const found = await differences(await withAttributes(context), from, to);
  if (found.length > 0) throw CopyDiffers({ from, to, differences: found });
}

/**
 * An agent that was killed leaves its cp running; two at once would replace each other's files. Between two files cp
 * holds nothing open, so it is looked for by its arguments as well.
 */
async function waitUntilLeft(context: DiskContext, to: string): Promise<void> {
  const giveUp = context.clock.monotonic() + HOLDER_PATIENCE_MS;
  for (;;) {
    const copiers = await copiersTo(context.paths, to);
    const holders = copiers.length > 0 ? copiers : await holdersOf(context.paths, to);
    if (holders.length === 0) return;
    if (context.clock.monotonic() >= giveUp)
      throw UnmountBusy({ target: to, doing: "copying to it", holders });
    await context.clock.sleep(1000);
  }
}

/**
 * Without getfattr (a small stemcell) extended attributes rest on cp alone, which was told to fail if it cannot keep
 * them.
 */
async function withAttributes(context: DiskContext): Promise<Exec> {
  try {
    await context.exec("getfattr", ["--version"]);
    return context.exec;
  } catch (error) {
    if (!CommandMissing.is(error)) throw error;
    context.log.warn("getfattr is not installed: the extended attributes of the copy are not compared");
    return async (program, args) => ({ program, args, code: 0, stdout: "", stderr: "" });
  }
}

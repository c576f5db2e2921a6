import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentMachine } from "@slipway/testkit/agent-machine";

/** Moment of a kill: before the n-th command runs, after it has, or while it runs on without its agent. */
export interface KillMoment {
  readonly when: "before" | "after" | "during";
  readonly at: number;
}

/** Commands that change disks and mounts. Commands that only read leave nothing behind. */
const COMMANDS = ["mount", "umount", "cp", "sync", "mke2fs", "resize2fs", "e2fsck"];
/** The first place the agent looks for programs; in the sandbox it is ours. */
const FIRST_IN_PATH = "/usr/local/sbin";

/**
 * Commands that kill the agent which runs them, at a moment that was chosen before. Everything else they do is done by
 * the real ones.
 */
export class DeadlyCommands {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  static async in(machine: AgentMachine, names: readonly string[] = COMMANDS): Promise<DeadlyCommands> {
    const dir = join(machine.dir, "commands");
    const bin = join(dir, "bin");
    await mkdir(bin, { recursive: true });
    for (const name of names) {
      await writeFile(join(bin, name), script(dir));
      await chmod(join(bin, name), 0o755);
    }
    const commands = new DeadlyCommands(dir);
    await commands.disarm();
    await machine.sandbox?.run("mount", "--bind", bin, FIRST_IN_PATH);
    return commands;
  }

  /** Counts commands from now on, and kills the agent at this moment. */
  async arm({ when, at }: KillMoment): Promise<void> {
    await writeFile(join(this.#dir, "calls"), "");
    await writeFile(join(this.#dir, "moment"), `${when} ${at}\n`);
  }

  async disarm(): Promise<void> {
    await this.arm({ when: "before", at: 0 });
  }

  /** Returns the commands that ran since the kill was armed. */
  async calls(): Promise<readonly string[]> {
    const text = await readFile(join(this.#dir, "calls"), "utf8");
    return text.split("\n").filter((line) => line !== "");
  }

  async close(): Promise<void> {
    await rm(this.#dir, { recursive: true, force: true });
  }
}

/** `during` lets the orphan run a hundredth of the time, so that the next agent meets it at its work. */
const script = (dir: string) => `#!/bin/sh
name=\${0##*/}
for place in /usr/bin /usr/sbin /bin /sbin; do
  [ -x "$place/$name" ] && real="$place/$name" && break
done
# Whoever else finds these first in its PATH, the test itself included, gets the real ones.
grep -q slipway-agent "/proc/$PPID/cmdline" || exec "$real" "$@"
echo "$name $*" >> '${dir}/calls'
read -r when at < '${dir}/moment'
[ "$(grep -c '' '${dir}/calls')" = "$at" ] || exec "$real" "$@"
case "$when" in
  before) kill -9 "$PPID"; exit 1 ;;
  after) "$real" "$@"; kill -9 "$PPID" ;;
  during)
    "$real" "$@" &
    orphan=$!
    kill -9 "$PPID"
    while kill -STOP "$orphan" 2>/dev/null; do
      sleep 0.05
      kill -CONT "$orphan" 2>/dev/null
      sleep 0.0005
    done ;;
esac
`;

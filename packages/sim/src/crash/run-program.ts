import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { systemClock } from "@slipway/kernel/clock";
import { toError } from "@slipway/kernel/errors";
import type { ChildOrder, ChildReport } from "./child-order.ts";
import type { PointId } from "./points.ts";

/** Nothing here takes longer than seconds, not even on a busy machine. */
const LONGEST_RUN_MS = 300_000;

/** The program of a child Director, what starts it, and the file for its compiled code. */
export interface ChildProgram {
  readonly file: string;
  readonly starter: string;
  readonly code: string;
}

export interface ProgramWatch {
  readonly killAfterMs: number | undefined;
  /** Called when all of its threads stand still at a point that it was to stop at. */
  readonly stopped: (point: PointId) => Promise<"go on" | "kill">;
}

/** A child Director, to its end or to its death. It says on its third pipe where it stops. */
export function runProgram(
  { file, starter, code }: ChildProgram,
  order: ChildOrder,
  { killAfterMs, stopped }: ProgramWatch,
): Promise<ChildReport | "killed"> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [starter, file, JSON.stringify(order), code], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
    let out = "";
    let err = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      out += text;
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    let failed: Error | undefined;
    const fail = (error: unknown) => {
      failed ??= toError(error);
      child.kill("SIGKILL");
    };
    const holds = async (line: string) => {
      await standsStill(child.pid ?? 0);
      const next = await stopped(JSON.parse(line) as PointId);
      child.kill(next === "kill" ? "SIGKILL" : "SIGCONT");
    };
    createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => void holds(line).catch(fail));
    // One that stands still would do so for ever.
    const endWithUs = () => child.kill("SIGKILL");
    process.on("exit", endWithUs);
    const kill =
      killAfterMs === undefined ? undefined : systemClock.after(killAfterMs, () => child.kill("SIGKILL"));
    const giveUp = systemClock.after(LONGEST_RUN_MS, () =>
      fail(new Error("the Director has not come to an end")),
    );
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("exit", endWithUs);
      kill?.();
      giveUp();
      if (failed !== undefined) return reject(new Error(`${failed.message}: ${err.slice(-2000)}`));
      if (signal === "SIGKILL") return resolve("killed");
      if (code === 0) return resolve(JSON.parse(out) as ChildReport);
      reject(new Error(`the Director ended with ${code ?? signal}: ${err.slice(-2000)}`));
    });
  });
}

/** Waits until a process stands still. It says where it stops before it does. A killed process stands still, too. */
async function standsStill(pid: number): Promise<void> {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => ") Z");
    // After the program's name, in brackets: the state.
    if (/\) [TtZX]/.test(stat)) return;
    await systemClock.sleep(1);
  }
}

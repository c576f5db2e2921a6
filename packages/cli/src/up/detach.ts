import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import { LOG_LIMIT, LOG_LIMIT_VARIABLE } from "@slipway/kernel/resilient-output";
import { boundLog } from "../bound-log.ts";
import type { PreparedCpi } from "../cpis/descriptor.ts";
import { cpiNamed } from "../cpis/table.ts";
import { makeHome } from "../home/make-home.ts";
import type { Tools } from "../tools.ts";
import { chooseConfig, type UpOptions } from "./config.ts";
import { DetachFailed } from "./errors.ts";
import { findCloud, type RunningDirector } from "./running.ts";

const PAUSE_MS = 50;

/** Starts `slipway up` in the background, and waits until it answers. */
export async function detach(
  options: UpOptions,
  prepared: PreparedCpi,
  tools: Pick<Tools, "home" | "clock" | "random" | "stop" | "programs" | "env">,
): Promise<RunningDirector> {
  const { home, clock, stop } = tools;
  await makeHome(home, process.getuid?.() ?? 1);
  // Checked here too, so that an occupied port is reported at once and not only in the log.
  await chooseConfig(options, home, tools.random);
  const { child, ended, logFrom } = await launch(options, prepared, tools);
  let over: string | undefined;
  void ended.then((how) => {
    over = how;
  });
  try {
    for (;;) {
      const before = over;
      // Also one that was started elsewhere in the same moment.
      const found = await findCloud({ home, clock, stop }, options.port);
      if (found !== undefined) return found;
      if (before !== undefined)
        throw DetachFailed({ how: before, log: home.logFile, said: await lastLines(home.logFile, logFrom) });
      await clock.sleep(PAUSE_MS, stop);
    }
  } catch (error) {
    if (over === undefined) child.kill("SIGTERM");
    await ended;
    throw error;
  } finally {
    child.unref();
  }
}

async function launch(
  { port, config, noConfig, acceptConfig, accept = [], transport }: UpOptions,
  prepared: PreparedCpi,
  { home, programs, env }: Pick<Tools, "home" | "programs" | "env">,
): Promise<{ readonly child: ChildProcess; readonly ended: Promise<string>; readonly logFrom: number }> {
  const own = cpiNamed(prepared.cpi).launch(prepared);
  const accepted = [...accept, ...(acceptConfig === true ? ["config"] : [])];
  const flags = [
    ...(port === undefined ? [] : ["--port", String(port)]),
    ...(config === undefined ? [] : ["--config", resolve(config)]),
    ...(noConfig === true ? ["--no-config"] : []),
    ...(accepted.length === 0 ? [] : ["--accept", accepted.join(",")]),
    ...(transport === undefined ? [] : [`--${transport}`]),
    ...["--cpi", prepared.cpi],
    ...own.args,
  ];
  const [program = "", ...args] = [...programs.self, "up", ...flags];
  await boundLog(home.logFile);
  // Readable, so that it can be kept short while it is written to.
  const log = await open(home.logFile, "a+", 0o600);
  try {
    const logFrom = (await log.stat()).size;
    const child = spawn(program, args, {
      cwd: "/",
      env: {
        ...env,
        ...own.env,
        SLIPWAY_HOME: resolve(home.dir),
        [LOG_LIMIT_VARIABLE]: String(LOG_LIMIT),
      },
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
    });
    // Before the log is closed, which is waited for: a child that ends at once must not go unseen.
    return { child, ended: endOf(child), logFrom };
  } finally {
    await log.close();
  }
}

async function endOf(child: ChildProcess): Promise<string> {
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    return signal === null ? `ended with ${code}` : `was ended by ${signal}`;
  } catch (error) {
    return `cannot be started: ${messageTrail(error)}`;
  }
}

const MOST_READ = 16 * 1024;
const LAST_LINES = 15;

/** The end of what was written since `from`. */
export async function lastLines(path: string, from: number): Promise<string> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const start = Math.max(from, size - MOST_READ);
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.max(size - start, 0)),
      0,
      undefined,
      start,
    );
    const lines = buffer.toString("utf8", 0, bytesRead).trimEnd().split("\n").slice(-LAST_LINES);
    return lines.map((line) => `  ${line}`).join("\n");
  } finally {
    await file.close();
  }
}

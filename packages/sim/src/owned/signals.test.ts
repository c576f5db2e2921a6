import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const PROGRAMS = {
  sim: { source: "../bin/sim.ts", args: ["--histories", "1000"] },
  pairs: { source: "../bin/pairs.ts", args: [] },
  crash: { source: "../bin/crash.ts", args: ["--only", "deploy"] },
  bench: { source: "../bench/main.ts", args: ["deploy", "1000"] },
} as const;

const NODE_MODULES = fileURLToPath(new URL("../../../../node_modules", import.meta.url));

interface Server {
  readonly pid: number;
  readonly dataDir: string;
}

/** Database servers among the children of a process. */
function serversOf(parent: number): readonly Server[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const [program = "", flag, dataDir] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const [, ppid] = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      const isServer = program.endsWith("/postgres") && flag === "-D" && Number(ppid) === parent;
      return isServer && dataDir !== undefined ? [{ pid: Number(pid), dataDir }] : [];
    } catch {
      return [];
    }
  });
}

describe.runIf(process.platform === "linux")("a program that is ended by a signal", () => {
  let dir = "";
  const running = new Set<ChildProcess>();
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "slipway-signals-"));
    // The server's package is found beside the program.
    await symlink(NODE_MODULES, join(dir, "node_modules"));
  });
  afterAll(async () => {
    for (const child of running) child.kill("SIGKILL");
    await rm(dir, { recursive: true, force: true });
  });

  async function start(name: keyof typeof PROGRAMS) {
    const { source, args } = PROGRAMS[name];
    const file = join(dir, `${name}.cjs`);
    if (!existsSync(file)) await bundle(fileURLToPath(new URL(source, import.meta.url)), { to: file });
    const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] });
    running.add(child);
    child.once("exit", () => running.delete(child));
    const said: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => said.push(text));
    const servers = async () => {
      const find = () => serversOf(child.pid ?? 0);
      await expect.poll(find, { timeout: 60_000, interval: 2 }).not.toEqual([]);
      return find();
    };
    return { child, said, servers };
  }

  /** The signal comes twice: from the terminal, and from the program that started this one. */
  async function end(child: ChildProcess, signal: "SIGINT" | "SIGTERM"): Promise<unknown> {
    const ended = once(child, "exit");
    child.kill(signal);
    child.kill(signal);
    return await ended;
  }

  const left = (servers: readonly Server[]) =>
    servers.filter(({ pid, dataDir }) => existsSync(`/proc/${pid}`) || existsSync(dataDir));

  it.each([
    ["sim", "SIGTERM", 143],
    ["pairs", "SIGINT", 130],
    ["crash", "SIGTERM", 143],
    ["bench", "SIGTERM", 143],
  ] as const)("leaves no database behind while %s is starting (%s)", async (name, signal, code) => {
    const { child, servers } = await start(name);
    const found = await servers();
    expect(await end(child, signal)).toEqual([code, null]);
    expect(left(found)).toEqual([]);
  });

  it("leaves no database behind while sim plays histories", async () => {
    const { child, said, servers } = await start("sim");
    await expect.poll(() => said.join(""), { timeout: 120_000 }).toContain("seed");
    const found = await servers();
    expect(await end(child, "SIGTERM")).toEqual([143, null]);
    expect(left(found)).toEqual([]);
  });

  it("ends the programs of a benchmark first, and removes its directories", async () => {
    const children = new URL("../../../../bench/measure.mjs", import.meta.url).href;
    const scratch = await mkdtemp(join(dir, "scratch-"));
    // A program that takes its time to end, as a Director does that stops its database.
    const program = `process.on("SIGTERM", () => setTimeout(() => process.exit(0), 100)); console.log("started");`;
    const bench = `import { removedAtEnd, startNode } from ${JSON.stringify(children)};
      removedAtEnd(${JSON.stringify(scratch)});
      const child = startNode(["-e", ${JSON.stringify(`${program} setInterval(() => {}, 1e6);`)}], { stdio: "pipe" });
      child.stdout.once("data", () => console.log("started", child.pid));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", bench], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    running.add(child);
    child.once("exit", () => running.delete(child));
    const [said] = (await once(child.stdout, "data")) as [Buffer];
    const pid = Number(said.toString().split(" ")[1]);
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    expect(await end(child, "SIGTERM")).toEqual([143, null]);
    expect([existsSync(`/proc/${pid}`), existsSync(scratch)]).toEqual([false, false]);
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { bundle, bundled } from "@slipway/testkit/bundle";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it, onTestFinished } from "vitest";
import { CpiLost } from "./cloud.ts";
import { ForkServer } from "./fork-server.ts";
import { type StartProcess, startHere } from "./started-process.ts";
import { callPath, callText, cpiFile, isAlive, OK, tempDir } from "./testing/cpi-files.ts";

const program = bundled("./fork-server-program.ts", import.meta.url);

function openServer(file = program()): ForkServer {
  const server = new ForkServer({ program: file, clock: systemClock, random: systemRandom });
  onTestFinished(() => server.close());
  return server;
}

/** Answers with the id of its parent. */
const PARENT = `#!/bin/sh\nprintf '{"result":"%s","error":null,"log":""}' "$PPID"\n`;
const parentBy = async (start: StartProcess): Promise<number> =>
  Number((await callText(PARENT, { start })).reply?.result);

/** A CPI that works until the file `go` is there, and says so by `done` beside it. */
const WORKING = `#!/bin/sh
echo $$ > "$0.pid"
while [ ! -e "$0.go" ]; do sleep 0.02; done
echo '${OK}'
echo done > "$0.done"
`;

const gone = (pid: number) => expect.poll(() => isAlive(pid)).toBe(false);

describe("the fork server", () => {
  it("starts all programs from one process that is not this one", async () => {
    const server = openServer();
    const [first, second] = await Promise.all([parentBy(server.start), parentBy(server.start)]);
    expect(first).toBe(second);
    expect(first).not.toBe(process.pid);
  });

  it("starts programs as children of this process once it is closed", async () => {
    const server = openServer();
    await server.close();
    expect(await parentBy(server.start)).toBe(process.pid);
  });

  it("gives a program the umask, directory, limits and session that a child has", async () => {
    const text = `#!/bin/sh
answer=$(umask; pwd; cksum < /proc/$$/limits; cat /proc/$$/oom_score_adj /proc/$$/cgroup
  grep -E '^(SigBlk|SigIgn|CapEff|Groups|Uid)' /proc/$$/status | tr '\\t' ' '
  read -r pid _ _ _ group session rest < /proc/$$/stat
  [ "$pid" = "$group" ] && [ "$pid" = "$session" ] && echo leads
  ls /proc/$$/fd)
printf '{"result":"%s","error":null,"log":""}' "$(printf %s "$answer" | tr '\\n' ' ')"
`;
    const here = await callText(text, { start: startHere });
    const there = await callText(text, { start: openServer().start });
    expect(String(here.reply?.result)).toContain("leads");
    expect(there.reply).toEqual(here.reply);
  });

  it("has nothing of a program's environment, input or arguments in its own command line or environment", async () => {
    const server = openServer();
    const parent = await parentBy(server.start);
    await callText(PARENT, { start: server.start, env: { TOKEN: "CANARY" }, configFile: "/etc/CANARY" });
    for (const file of ["cmdline", "environ"])
      expect(await readFile(`/proc/${parent}/${file}`, "utf8")).not.toContain("CANARY");
  });

  it("is started again after it was killed", async () => {
    const server = openServer();
    const first = await parentBy(server.start);
    process.kill(first, "SIGKILL");
    await gone(first);
    await expect.poll(() => parentBy(server.start)).not.toBe(process.pid);
    expect(await parentBy(server.start)).not.toBe(first);
  });

  it("goes on when everything of the service is asked to end", async () => {
    const server = openServer();
    const parent = await parentBy(server.start);
    process.kill(parent, "SIGTERM");
    expect(await parentBy(server.start)).toBe(parent);
  });

  it("leaves neither its process nor its socket when it is closed", async () => {
    const server = openServer();
    const parent = await parentBy(server.start);
    const command = await readFile(`/proc/${parent}/cmdline`, "utf8");
    const socket = command.split("\0").find((word) => word.endsWith("/s")) ?? "";
    expect(existsSync(socket)).toBe(true);
    await server.close();
    await gone(parent);
    expect(existsSync(join(socket, ".."))).toBe(false);
  });
});

describe("without a usable fork server programs are started as children:", () => {
  it("its program is missing", async () => {
    expect(await parentBy(openServer("/no/such/program.cjs").start)).toBe(process.pid);
  });

  it("its program ends at once", async () => {
    const dir = await tempDir();
    await writeFile(join(dir, "ends.cjs"), "");
    expect(await parentBy(openServer(join(dir, "ends.cjs")).start)).toBe(process.pid);
  });

  it("it dies while it starts a program, which is started once", async () => {
    const dir = await tempDir();
    const dies = await bundle(`${import.meta.dirname}/fork-server-program.ts`, {
      to: join(dir, "dies.cjs"),
      plant: {
        file: "fork-server-program.ts",
        text: "if (child.pid !== undefined) report({ id, pid: child.pid });",
        instead: 'process.kill(process.pid, "SIGKILL");',
      },
    });
    const { path, note } = await cpiFile(`#!/bin/sh
if [ -n "$(cat)" ]; then echo ran >> "$0.ran"; fi
echo '${OK}'
`);
    const { reply } = await callPath(path, { start: openServer(dies).start });
    expect(reply).toEqual(JSON.parse(OK));
    expect(await note("cpi.ran")).toBe("ran\n");
  });
});

describe("when the fork server is killed during a call,", () => {
  async function killedDuring(text: string, clock: Clock = systemClock) {
    const server = openServer();
    const parent = await parentBy(server.start);
    const { path, note } = await cpiFile(text);
    const called = callPath(path, { start: server.start, clock, deadlineMs: 50_000, graceMs: 100 });
    await expect.poll(() => note("cpi.pid")).toMatch(/\n/);
    process.kill(parent, "SIGKILL");
    await gone(parent);
    return { called, path, pid: Number(await note("cpi.pid")) };
  }

  it("the CPI goes on, and its answer counts", async () => {
    const { called, path } = await killedDuring(WORKING);
    await writeFile(`${path}.go`, "");
    const { reply, log } = await called;
    expect(reply).toEqual(JSON.parse(OK));
    expect(log).toContain("exit_status: no end seen");
  });

  it("a CPI that ends without an answer has an unknown outcome", async () => {
    const { called, path } = await killedDuring(WORKING.replace(`echo '${OK}'`, "exit 1"));
    await writeFile(`${path}.go`, "");
    expect((await called).error).toBeInstanceOf(CpiLost);
  });

  it("the deadline holds, and ends the group of the CPI", async () => {
    const clock = fakeClock();
    const { called, pid } = await killedDuring(WORKING, clock);
    await clock.advance(50_000);
    expect((await called).error).toBeInstanceOf(CpiLost);
    await gone(pid);
  });
});

describe.each(["as a child", "by the fork server"])("a CPI that was started %s", (way) => {
  it("goes on to its end when the starter is killed, and leaves nothing else", async () => {
    const { path, dir, note } = await cpiFile(WORKING);
    const starter = await bundle(
      {
        script: `
        import { systemClock } from "@slipway/kernel/clock";
        import { systemRandom } from "@slipway/kernel/random";
        import { execCpiPort } from "./exec-cpi.ts";
        import { ForkServer } from "./fork-server.ts";
        const [, , path, program] = process.argv;
        const start = program === undefined ? undefined
          : new ForkServer({ program, clock: systemClock, random: systemRandom }).start;
        const request = { method: "has_vm", arguments: ["vm-1"], context: {} };
        await execCpiPort({ path, clock: systemClock, start })
          .call(request, { deadlineMs: 600_000, log: () => undefined, hide: (text) => text });`,
        in: import.meta.dirname,
      },
      { format: "esm" },
    );
    const args = way === "as a child" ? [] : [program()];
    const child = spawn(process.execPath, [starter, path, ...args], {
      stdio: "inherit",
      env: { TMPDIR: dir },
    });
    const ended = once(child, "exit");
    await expect.poll(() => note("cpi.pid")).toMatch(/\n/);
    const pid = Number(await note("cpi.pid"));
    child.kill("SIGKILL");
    await ended;
    expect(isAlive(pid)).toBe(true);
    await writeFile(`${path}.go`, "");
    await gone(pid);
    await expect.poll(() => readdir(dir)).not.toContainEqual(expect.stringMatching(/^slipway-/));
  });
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { bundled } from "@slipway/testkit/bundle";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CpiLost, CpiRefused } from "./cloud.ts";
import { CpiAnswerUnusable, CpiNotRun, CpiStopped } from "./errors.ts";
import { execCpiPort } from "./exec-cpi.ts";
import { ForkServer } from "./fork-server.ts";
import { type StartProcess, startHere } from "./started-process.ts";
import {
  type CallText,
  callPath as callPathBy,
  callText as callTextBy,
  cpiFile,
  isAlive,
  logBook,
  OK,
  request,
  tempDir,
} from "./testing/cpi-files.ts";

const sh = (body: string) => `#!/bin/sh\n${body}\n`;
const answers = (json: string) => sh(`cat >/dev/null\ncat <<'END'\n${json}\nEND`);

/** Alive means: not even waiting to be reaped. */
const gone = (pid: number) => expect.poll(() => isAlive(pid)).toBe(false);

const program = bundled("./fork-server-program.ts", import.meta.url);
let server: ForkServer;
beforeAll(() => {
  server = new ForkServer({ program: program(), clock: systemClock, random: systemRandom });
});
afterAll(() => server.close());

const WAYS: readonly [string, StartProcess][] = [
  ["as a child", startHere],
  ["by the fork server", (command) => server.start(command)],
];

describe.each(WAYS)("started %s,", (_way, start) => {
  const callPath = (path: string, options: CallText = {}, sent = request()) =>
    callPathBy(path, { start, ...options }, sent);
  const callText = (text: string, options: CallText = {}, sent = request()) =>
    callTextBy(text, { start, ...options }, sent);

  describe("a CPI executable is run as upstream runs it", () => {
    it("without arguments, with one compact line and no newline on stdin", async () => {
      const { reply } = await callText(
        sh(`input=$(cat; echo x)
      printf '{"result":[%s,"%s"],"error":null,"log":""}' "$(printf %s "\${input%x}" | wc -c)" "$#"`),
      );
      expect(reply?.result).toEqual([JSON.stringify(request()).length, "0"]);
    });

    it("passes --configFile only if there is a config file", async () => {
      const { reply } = await callText(sh(`printf '{"result":"%s","error":null,"log":""}' "$*"`), {
        configFile: "/etc/a cpi.json",
      });
      expect(reply?.result).toBe("--configFile /etc/a cpi.json");
    });

    it.each([
      [{}, "PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
      [
        { TMPDIR: "/t", HOME: "/h", PATH: "/mine", SECRET: "CANARY" },
        "HOME=/h PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/t",
      ],
    ])("passes a fixed PATH, and of %j only TMPDIR and HOME", async (environment, seen) => {
      const text = sh(`printf '{"result":"%s","error":null,"log":""}' \\
      "$(env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^OLDPWD= | sort | tr '\\n' ' ')"`);
      const { reply } = await callText(text, { environment });
      expect(String(reply?.result).trim()).toBe(seen);
    });

    it.each(["cpi.js", "cpi.cjs", "cpi.mjs"])("runs %s with this Node, executable or not", async (name) => {
      const text = `process.stdout.write(${JSON.stringify(OK)})`;
      expect((await callText(text, { name, mode: 0o600 })).reply).toEqual(JSON.parse(OK));
    });

    it("accepts an answer without reading of the input, with white space around it, and with any exit code", async () => {
      const large = request("set_vm_metadata", ["vm-1", { text: "x".repeat(1 << 20) }]);
      const { reply, log } = await callText(
        sh(`exec 0<&-\nprintf '\\n  %s  \\n' '${OK}'\nexit 3`),
        {},
        large,
      );
      expect(reply).toEqual(JSON.parse(OK));
      expect(log).toBe("[external-cpi] [cpi-1] exit_status: exit code 3\n");
    });
  });

  describe("stderr is passed on", () => {
    it("while the CPI works", async () => {
      const { path } = await cpiFile(
        sh(`echo begun >&2; while [ ! -e "$0.go" ]; do sleep 0.02; done; echo '${OK}'`),
      );
      const book = logBook();
      const options = { deadlineMs: 50_000, log: book.log, hide: (text: string) => text };
      const called = execCpiPort({ path, clock: systemClock, start }).call(request(), options);
      await expect.poll(() => book.text).toBe("begun\n");
      await writeFile(`${path}.go`, "");
      expect((await called).result).toBe(true);
    });

    it("whole, where a character falls between two reads", async () => {
      const text = `
      const bytes = Buffer.from("größer als ∞\\n");
      let at = 0;
      const next = () => {
        if (at < bytes.length) process.stderr.write(bytes.subarray(at, ++at), () => setTimeout(next, 2));
        else process.stdout.write(${JSON.stringify(OK)});
      };
      next();`;
      expect((await callText(text, { name: "cpi.cjs" })).log).toContain("größer als ∞\n");
    });

    it("up to a bound, past which the CPI still answers", async () => {
      const text = sh(`head -c 3000000 /dev/zero | tr '\\0' x >&2\necho '${OK}'`);
      const { reply, log } = await callText(text, { maxStderrChars: 1000 });
      expect(reply?.result).toBe(true);
      expect(log.match(/x/g)?.length).toBeLessThan(1010);
      expect(log).toContain("\n[external-cpi] more than 1000 characters on stderr: the rest is left out\n");
    });

    it("replaces invalid UTF-8 bytes", async () => {
      const { reply, log } = await callText(sh(`printf 'a\\377b\\n' >&2\necho '${OK}'`));
      expect(reply?.result).toBe(true);
      expect(log).toContain("a\ufffdb\n");
    });
  });

  describe("a CPI that cannot be run did nothing, and is refused:", () => {
    it.each([
      ["missing", async () => join(await tempDir(), "none")],
      ["a missing script", async () => join(await tempDir(), "none.cjs")],
      ["not executable", async () => (await cpiFile(answers(OK), { mode: 0o644 })).path],
    ])("%s", async (_, make) => {
      const path = await make();
      const { error } = await callPath(path);
      expect(error).toBeInstanceOf(CpiRefused);
      expect((error as CpiRefused).message).toBe(`Failed to run cpi: '${path}' is not executable`);
      expect((error as CpiRefused).okToRetry).toBe(false);
      expect(CpiNotRun.is((error as Error).cause)).toBe(true);
    });

    it.each([
      ["a directory", () => tempDir()],
      ["an interpreter that is not there", async () => (await cpiFile("#!/no/such/program\n")).path],
    ])("%s", async (_, make) => {
      const path = await make();
      const { error } = await callPath(path);
      expect(error).toBeInstanceOf(CpiRefused);
      expect((error as Error).message).toMatch(/^Failed to run cpi: '.*' cannot be started: E[A-Z]+$/);
    });

    it("cancelled before it was run: nothing is started", async () => {
      const { path, note } = await cpiFile(sh(`echo ran > "$0.ran"\necho '${OK}'`));
      const reason = new Error("by admin");
      const { error } = await callPath(path, { signal: AbortSignal.abort(reason) });
      expect(error).toBe(reason);
      expect(await note("cpi.ran")).toBeUndefined();
    });
  });

  describe("a CPI with an invalid answer is lost:", () => {
    it.each([
      ["nothing", sh("cat >/dev/null"), /ParserError - the reply .* it is empty \(exit code 0\): ''/],
      ["junk", sh("echo Traceback: no such luck"), /ParserError - .*: 'Traceback: no such luck\n'/],
      ["a log line before the answer", sh(`echo starting\necho '${OK}'`), /ParserError - /],
      ["a second object", sh(`echo '${OK}'\necho '${OK}'`), /ParserError - /],
      ["half an answer", sh(`printf '{"result":tr'`), /ParserError - /],
      [
        "bytes that are not UTF-8",
        sh(`printf '{"result":"\\377","error":null,"log":""}'`),
        /ParserError - .*UTF-8/,
      ],
      ["no log", answers('{"result":1,"error":null}'), /SchemaValidationError: reply.log: it is missing/],
      ["no result", answers('{"error":null,"log":""}'), /SchemaValidationError: reply.result/],
      ["an array", answers("[1]"), /SchemaValidationError: /],
      [
        "an error without a flag",
        answers('{"result":1,"error":{"type":"T","message":""},"log":""}'),
        /ok_to_retry/,
      ],
      [
        "a log that is a number",
        answers('{"result":1,"error":null,"log":7}'),
        /SchemaValidationError: reply.log/,
      ],
      ["death by a signal", sh("kill -SEGV $$"), /ParserError - .*\(signal SIGSEGV\)/],
      ["an exit code only", sh("exit 9"), /ParserError - .*\(exit code 9\)/],
    ])("%s", async (_, text, words) => {
      const { error } = await callText(text);
      expect(error).toBeInstanceOf(CpiLost);
      expect((error as Error).message).toMatch(/^Invalid CPI response - /);
      expect((error as Error).message).toMatch(words);
      expect((error as Error).message).toContain("in 'has_vm' CPI method (CPI request ID: 'cpi-1')");
      expect((error as CpiLost).method).toBe("has_vm");
      expect(CpiAnswerUnusable.is((error as Error).cause)).toBe(true);
    });

    it("what it printed instead is shown in part, without what must be hidden", async () => {
      const { error } = await callText(sh(`echo "key CANARY $(head -c 5000 /dev/zero | tr '\\0' x)"`));
      expect((error as Error).message).toContain("key hidden xxx");
      expect((error as Error).message.length).toBeLessThan(700);
    });

    it("what a reply of the wrong form says of an error is shown, without what must be hidden", async () => {
      const { error } = await callText(
        answers('{"result":"r","error":{"message":"quota of CANARY"},"log":7}'),
      );
      expect((error as Error).message).toContain("; it says: 'quota of hidden'");
    });

    it("a flood on stdout is ended, and what started it", async () => {
      const { path, note } = await cpiFile(sh(`echo $$ > "$0.pid"\nyes '${OK}'`));
      const { error } = await callPath(path, { maxStdoutBytes: 100_000 });
      expect(error).toBeInstanceOf(CpiLost);
      expect((error as Error).message).toMatch(/stopped: more than 100000 bytes on stdout/);
      await gone(Number(await note("cpi.pid")));
    });
  });

  describe("a CPI that does not come to an end is stopped", () => {
    const HANG = sh(`echo $$ > "$0.pid"\n(trap '' TERM; sleep 600) &
    echo $! > "$0.child"\ntrap '' TERM\necho waiting for the cloud >&2\necho ready > "$0.ready"\nwhile :; do sleep 1; done`);

    it("at its deadline, with everything it started, even if it ignores being asked", async () => {
      const { path, note } = await cpiFile(HANG);
      const clock = fakeClock();
      const called = callPath(path, { clock, deadlineMs: 3600_000, graceMs: 5000 });
      await expect.poll(() => note("cpi.ready")).toBeDefined();
      await clock.advance(3600_000);
      expect(isAlive(Number(await note("cpi.pid")))).toBe(true);
      await clock.advance(5000);
      const { error, log } = await called;
      expect(error).toBeInstanceOf(CpiLost);
      expect((error as Error).message).toMatch(
        /no answer within 3600 s .*whether it did the work is not known/,
      );
      expect(CpiStopped.is((error as Error).cause)).toBe(true);
      expect(log).toContain("waiting for the cloud\n");
      for (const name of ["cpi.pid", "cpi.child"]) await gone(Number(await note(name)));
    });

    it("when the task is cancelled, whose reason is kept as the cause", async () => {
      const { path, note } = await cpiFile(HANG);
      const stop = new AbortController();
      const called = callPath(path, { signal: stop.signal, graceMs: 100 });
      await expect.poll(() => note("cpi.ready")).toBeDefined();
      const reason = new Error("by admin");
      stop.abort(reason);
      const { error } = await called;
      expect(error).toBeInstanceOf(CpiLost);
      expect((error as Error).message).toContain("the task was cancelled");
      expect(((error as Error).cause as Error).cause).toBe(reason);
      for (const name of ["cpi.pid", "cpi.child"]) await gone(Number(await note(name)));
    });

    it("ends a child that ignores the signal together with the CPI", async () => {
      const { path, note } = await cpiFile(
        sh(
          `(trap '' TERM; echo ready > "$0.ready"; while :; do sleep 1; done) &\necho $! > "$0.child"\nwait`,
        ),
      );
      const stop = new AbortController();
      const called = callPath(path, { signal: stop.signal, clock: fakeClock() });
      await expect.poll(() => note("cpi.ready")).toBeDefined();
      await expect.poll(() => note("cpi.child")).toMatch(/\n/);
      stop.abort(new Error("by admin"));
      expect((await called).error).toBeInstanceOf(CpiLost);
      await gone(Number(await note("cpi.child")));
    });

    /** Answers once it is asked to stop. */
    const lateWith = (json: string) => `
    process.on("SIGTERM", () => process.stdout.write(${JSON.stringify(json)}, () => process.exit(0)));
    require("node:fs").writeFileSync(__filename + ".ready", "");
    setInterval(() => undefined, 1000);`;
    const cancelled = async (json: string) => {
      const { path, note } = await cpiFile(lateWith(json), { name: "cpi.cjs" });
      const stop = new AbortController();
      const called = callPath(path, { signal: stop.signal });
      await expect.poll(() => note("cpi.cjs.ready")).toBeDefined();
      stop.abort(new Error("by admin"));
      return await called;
    };

    it("takes a result that the CPI gives while it is stopped", async () => {
      expect((await cancelled(OK)).reply).toEqual(JSON.parse(OK));
    });

    it("does not take an error given while the CPI is stopped as proof that nothing was done", async () => {
      const { error } = await cancelled(
        '{"result":null,"error":{"type":"Bosh::Clouds::CloudError","message":"cut with CANARY","ok_to_retry":false},"log":""}',
      );
      expect(error).toBeInstanceOf(CpiLost);
      expect((error as Error).message).toContain("its last word: cut with hidden");
    });

    it("neither waits for nor ends a child that outlives the CPI with its pipes open", async () => {
      const { path, note } = await cpiFile(sh(`sleep 600 &\necho $! > "$0.child"\necho '${OK}'`));
      const { reply } = await callPath(path);
      expect(reply?.result).toBe(true);
      const child = Number(await note("cpi.child"));
      expect(isAlive(child)).toBe(true);
      process.kill(child, "SIGKILL");
    });
  });
});

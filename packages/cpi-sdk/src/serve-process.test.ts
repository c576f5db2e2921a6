import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { bundled } from "@slipway/testkit/bundle";
import { replyOf, runCpi, startCpi, writeConfig } from "@slipway/testkit/executable";
import { ask, DIRECTOR, typeOf, vmArgs } from "@slipway/testkit/requests";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { tempDir, until } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";

sampleTests(1 / 3);

const fixture = bundled("fixture-cpi.ts", new URL("./testing/", import.meta.url).href);
const INFO = JSON.stringify({ method: "info", arguments: [], context: { director_uuid: DIRECTOR } });

async function stage() {
  const dir = await tempDir();
  const args = ["--configFile", await writeConfig(dir, { fixture: { dir } })];
  const calls = () =>
    existsSync(join(dir, "calls")) ? readFileSync(join(dir, "calls"), "utf8").trim().split("\n") : [];
  return {
    dir,
    args,
    calls,
    start: (request: object) => startCpi(fixture(), JSON.stringify(request), { args }),
    run: (request: object) => runCpi(fixture(), JSON.stringify(request), { args }),
    reached: (line: string) => until(line, () => (calls().includes(line) ? true : undefined)),
    records: () => readdir(join(dir, "sdk", "requests")),
    vms: () => readdir(join(dir, "vms")),
  };
}

describe("asked to stop", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "by %s, create_vm cleans up, says so and exits with 0",
    async (signal) => {
      const { start, reached, calls, vms, records } = await stage();
      const { child, ended } = start(
        ask("create_vm", vmArgs({ act: "wait-for-abort" }), { requestId: "cpi-1" }),
      );
      await reached("waiting");
      child.kill(signal);
      const { error } = replyOf(await ended);
      expect(error).toMatchObject({ type: typeOf("CloudError"), ok_to_retry: false });
      expect(error?.message).toContain(`SDK-003 create_vm was interrupted by ${signal}`);
      expect(calls().slice(1)).toEqual(["made", "waiting", "undo VM", "undo address"]);
      expect(await vms()).toEqual([]);
      expect(await records()).toEqual([]);
    },
  );

  it("a create_vm that does not listen is waited for a while, then undone, reported and remembered", async () => {
    const { dir, start, reached, vms, records } = await stage();
    await writeFile(join(dir, "hold"), "");
    const { child, ended } = start(ask("create_vm", vmArgs(), { requestId: "cpi-1" }));
    await reached("made");
    child.kill("SIGTERM");
    const { error } = replyOf(await ended);
    expect(error?.message).toMatch(/interrupted by SIGTERM.*left behind \(token [0-9a-f]{32}\)/);
    expect(await vms()).toEqual([]);
    expect(await records()).toHaveLength(1);
  });

  it("another method is answered at once", async () => {
    const { start, reached } = await stage();
    const { child, ended } = start(ask("set_vm_metadata", ["vm-1", { act: "wait-for-abort" }]));
    await reached("waiting");
    child.kill("SIGTERM");
    expect(replyOf(await ended).error?.message).toContain("set_vm_metadata was interrupted by SIGTERM");
  });
});

describe("killed between the cloud's answer and the record", () => {
  it("the repeat has the same token, is marked as repeated, and makes no second VM", async () => {
    const { dir, start, run, reached, calls, vms } = await stage();
    await writeFile(join(dir, "hold"), "");
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-482913" });
    const { child, ended } = start(request);
    await reached("made");
    child.kill("SIGKILL");
    expect(await ended).toMatchObject({ signal: "SIGKILL", stdout: "" });
    const [first = ""] = calls();
    expect(first).toMatch(/^createVm [0-9a-f]{32} false$/);

    await rm(join(dir, "hold"));
    const { result } = replyOf(await run(request));
    expect(calls()).toEqual([first, "made", first.replace("false", "true"), "made"]);
    expect(await vms()).toEqual([(result as [string])[0]]);

    // And a third time, after a lost reply: from memory.
    expect(replyOf(await run(request)).result).toEqual(result);
    expect(calls()).toHaveLength(4);
  });
});

describe("a caller that has gone", () => {
  const closing = async (name: "stdout" | "stderr", input: string, args: readonly string[] = []) => {
    const child = spawn(process.execPath, [fixture(), ...args], { env: {}, stdio: ["pipe", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (said += text));
    child[name].destroy();
    await once(child[name], "close");
    child.stdin.end(input);
    const [code, signal] = (await once(child, "close")) as [number | null, string | null];
    return { code, signal, said };
  };

  it("a caller that closed stdout gets no reply, and stderr no stack trace", async () => {
    expect(await closing("stdout", INFO)).toEqual({ code: 0, signal: null, said: "" });
  });

  it("a caller that closed stdout does not stop what was begun", async () => {
    const { args, vms } = await stage();
    const request = ask("create_vm", vmArgs(), { requestId: "cpi-1" });
    expect(await closing("stdout", JSON.stringify(request), args)).toMatchObject({ code: 0, signal: null });
    expect(await vms()).toHaveLength(1);
  });

  it("a caller that closed only stderr is answered, however much there is to log", async () => {
    const { args } = await stage();
    for (const act of ["log-much", "print"]) {
      const { code, said } = await closing(
        "stderr",
        JSON.stringify(ask("set_vm_metadata", ["vm-1", { act }])),
        args,
      );
      expect(code).toBe(0);
      expect(JSON.parse(said)).toMatchObject({ result: null, error: null });
    }
  });
});

describe("the configuration file", () => {
  const HAS_VM = JSON.stringify(ask("set_vm_metadata", ["vm-1", {}]));

  it.each<[string, (file: string) => string[]]>([
    ["--configFile FILE", (file) => ["--configFile", file]],
    ["-configFile FILE", (file) => ["-configFile", file]],
    ["--configFile=FILE", (file) => [`--configFile=${file}`]],
    ["-configFile=FILE", (file) => [`-configFile=${file}`]],
  ])("is named by %s", async (_, words) => {
    const dir = await tempDir();
    const args = words(await writeConfig(dir, { fixture: { dir } }));
    expect(replyOf(await runCpi(fixture(), HAS_VM, { args })).error).toBeNull();
  });

  it("may have the properties at its top", async () => {
    const dir = await tempDir();
    await writeFile(join(dir, "flat.json"), JSON.stringify({ fixture: { dir } }));
    const args = ["--configFile", join(dir, "flat.json")];
    expect(replyOf(await runCpi(fixture(), HAS_VM, { args })).error).toBeNull();
  });

  it.each<[string, string | undefined, string]>([
    ["missing", undefined, "it cannot be read"],
    ["empty", "", "it is empty"],
    ["no JSON", '{"password":"CANARY-in-the-file"', "not acceptable JSON"],
    ["no object", "[]", "expected an object"],
    ["with a key twice", '{"fixture":{"dir":"a","dir":"b"}}', 'the key "dir" stands twice'],
    ["with a __proto__ key", '{"fixture":{"__proto__":{"dir":"a"}}}', "__proto__ key"],
    ["without the CPI's section", "{}", "fixture.dir: it is missing"],
  ])("that is %s is told, with exit code 0", async (_, text, words) => {
    const file = join(await tempDir(), "cpi.json");
    if (text !== undefined) await writeFile(file, text);
    const { error } = replyOf(await runCpi(fixture(), HAS_VM, { args: ["--configFile", file] }));
    expect(error?.type).toBe(typeOf("CloudError"));
    expect(error?.message).toContain(words);
  });

  it.each([
    [["--configFile"]],
    [["--configFile="]],
    [["--verbose"]],
    [["cpi.json"]],
    [["--configFile", "a", "b"]],
  ])("named by %j is a mistake that is told", async (args) => {
    const { error } = replyOf(await runCpi(fixture(), HAS_VM, { args }));
    expect(error?.message).toMatch(/SDK-002 .*command line.*--configFile/);
  });
});

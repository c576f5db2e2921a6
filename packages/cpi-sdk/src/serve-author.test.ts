import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { bundled } from "@slipway/testkit/bundle";
import { PLANTED_CONTEXT, PLANTED_ENV, PLANTED_PROPERTIES } from "@slipway/testkit/canaries";
import { replyOf, runCpi, writeConfig } from "@slipway/testkit/executable";
import { ask, typeOf, vmArgs } from "@slipway/testkit/requests";
import { tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";

const fixture = bundled("fixture-cpi.ts", new URL("./testing/", import.meta.url).href);

/** Runs the fixture with every secret planted; `replyOf` sees to it that none comes out. */
async function stage() {
  const dir = await tempDir();
  const properties = { ...PLANTED_PROPERTIES, fixture: { dir, api_pin: "CANARY-pin" } };
  const args = ["--configFile", await writeConfig(dir, properties)];
  const run = (method: string, values: readonly unknown[]) =>
    runCpi(fixture(), JSON.stringify(ask(method, values, { context: PLANTED_CONTEXT })), { args });
  return {
    run,
    /** Runs any method other than the create methods. */
    act: (act: string) => run("set_vm_metadata", ["vm-1", { act }]),
    create: (act: string) => run("create_vm", vmArgs({ act }, PLANTED_ENV)),
    calls: async () => (await readFile(join(dir, "calls"), "utf8")).trim().split("\n"),
    vms: () => readdir(join(dir, "vms")),
  };
}

describe("an author's method that", () => {
  it.each([
    ["throws a string", "throw-string", "something other than an error was thrown: out of coffee"],
    ["throws undefined", "throw-undefined", "something other than an error was thrown: undefined"],
    ["throws a secret", "throw-secret", "login with <redacted> failed"],
    [
      "rejects a promise nobody waits for",
      "reject-elsewhere",
      "uncaught in set_vm_metadata: stray <redacted>",
    ],
    ["throws where nobody catches", "throw-elsewhere", "uncaught in set_vm_metadata: stray <redacted>"],
  ])("%s is answered as a CloudError", async (_, act, words) => {
    const { error } = replyOf(await (await stage()).act(act));
    expect(error).toMatchObject({ type: typeOf("CloudError"), ok_to_retry: false });
    expect(error?.message).toContain(words);
  });

  it("never returns is answered as a CloudError at its deadline", async () => {
    const { error } = replyOf(await (await stage()).run("reboot_vm", ["vm-1"]));
    expect(error).toMatchObject({ type: typeOf("CloudError"), ok_to_retry: false });
    expect(error?.message).toContain("reboot_vm did not finish within 0.3 s");
  });

  it("prints to stdout does so on stderr, without the secrets", async () => {
    const run = await (await stage()).act("print");
    expect(replyOf(run)).toEqual({ result: null, error: null, log: "" });
    expect(run.stderr.match(/noise \{ api_pin: '<redacted>' \}/g)).toHaveLength(4);
    expect(run.stderr).toContain('{"result":"not the reply","error":null,"log":"<redacted>"}\n');
    expect(run.stderr).toContain("bytes of noise <redacted>\n");
    expect(run.stderr).toContain("noise on stderr <redacted>\n");
  });

  it("prints a mebibyte to stdout loses none of it", async () => {
    const run = await (await stage()).act("print-much");
    expect(replyOf(run).error).toBeNull();
    expect(run.stderr).toBe("x".repeat(2 ** 20));
  });

  it("logs ten mebibytes has them on stderr, and their ends in the reply", async () => {
    const run = await (await stage()).act("log-much");
    const { log, error } = replyOf(run);
    expect(error).toBeNull();
    expect(run.stderr.length).toBeGreaterThan(10 * 2 ** 20);
    expect(log.length).toBeLessThan(300 * 1024);
    expect(log).toMatch(/characters left out/);
  });

  it("leaves a timer running does not keep the caller waiting", async () => {
    // The timer never ends: a CPI that waited for it would not come back within the time of a test.
    expect(replyOf(await (await stage()).act("leave-open")).error).toBeNull();
  });

  it.each([
    ["a bigint", 1],
    ["a circle", 2],
  ])("returns %s, which JSON cannot say, broke the contract", async (_, cpu) => {
    const run = await (await stage()).run("calculate_vm_cloud_properties", [
      { ram: 1, cpu, ephemeral_disk_size: 1 },
    ]);
    expect(replyOf(run).error).toEqual({
      type: typeOf("CpiError"),
      message: "the CPI broke its contract: its result cannot be written as JSON",
      ok_to_retry: false,
    });
  });
});

describe("a create method that", () => {
  it.each([
    ["throws a string", "throw-string"],
    ["throws a secret", "throw-secret"],
    ["rejects a promise nobody waits for", "reject-elsewhere"],
    ["throws where nobody catches", "throw-elsewhere"],
  ])("%s has cleaned up before the caller hears of it", async (_, act) => {
    const { create, calls, vms } = await stage();
    const { error } = replyOf(await create(act));
    expect(error?.type).toBe(typeOf("CloudError"));
    expect(await calls()).toEqual([expect.stringMatching(/^createVm/), "made", "undo VM", "undo address"]);
    expect(await vms()).toEqual([]);
  });

  it("never returns is given up after its deadline and grace, and says what to look for", async () => {
    const { run, calls } = await stage();
    const { error } = replyOf(await run("create_disk", [1, { act: "never" }, null]));
    expect(error).toMatchObject({ type: typeOf("CloudError"), ok_to_retry: false });
    expect(error?.message).toMatch(
      /create_disk did not finish within 2 s.*left behind \(token [0-9a-f]{32}\): it was still at work/,
    );
    expect(await calls()).toEqual(["undo disk"]);
  });

  it("works is answered with its result, its log and no secret", async () => {
    const { create, vms } = await stage();
    const { result } = replyOf(await create("none"));
    expect(result).toEqual([expect.stringMatching(/^vm-[0-9a-f]{32}$/), expect.anything()]);
    expect(await vms()).toEqual([(result as [string])[0]]);
  });
});

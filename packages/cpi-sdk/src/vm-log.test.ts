import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { ask, errorOf, resultOf } from "@slipway/testkit/requests";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { vmLog } from "./vm-log.ts";

const SETTINGS = JSON.stringify({
  agent_id: "8a1c0d8e",
  mbus: "https://user:the-mbus-password@0.0.0.0:6868",
  env: {
    bosh: {
      mbus: { cert: { private_key: "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----" } },
    },
  },
});

describe("the log of a VM", () => {
  it("has no credential of the VM's settings in it, nor one of any URL", () => {
    const log = vmLog(
      "listens at https://user:the-mbus-password@0.0.0.0:6868\nkey MIIEvQIBADANBgkqhkiG9w0\nfetches http://a:other@h/x\n",
      SETTINGS,
    );
    for (const secret of ["the-mbus-password", "MIIEvQIBADANBgkqhkiG9w0", "other@"])
      expect(log).not.toContain(secret);
    expect(log).toMatch(/^listens at .*\nkey <redacted>\nfetches http:\/\/<redacted>@h\/x\n$/);
  });

  it.each(["", "the last\n", "the last", "older\n".repeat(5_000)])(
    "ends with a line of its own that says that the VM is off",
    (log) => {
      expect(vmLog(log, "", { off: true })).toMatch(/(^|\n)the VM is off\n$/);
      expect(vmLog(log, "")).not.toContain("off");
    },
  );

  it("is cut to its end, in whole lines", () => {
    const log = vmLog(`${"an older line\n".repeat(5_000)}the last\n`, "no JSON at all");
    expect(log.length).toBeLessThanOrEqual(16 * 1024);
    expect(log).toMatch(/^(an older line\n)+the last\n$/);
  });

  it("is announced by a CPI that has it, and by no other", async () => {
    const without = embed(cloudCpi(new MemoryCloud()));
    const having = embed(cloudCpi(new MemoryCloud(), { methods: { getVmLog: () => "a line\n" } }));
    const announced = { capabilities: { get_vm_log: true } };
    expect(resultOf(await without.request(ask("info", [])))).not.toMatchObject(announced);
    expect(errorOf(await without.request(ask("get_vm_log", ["vm-1"]))).type).toMatch(/NotImplemented$/);
    expect(resultOf(await having.request(ask("info", [])))).toMatchObject(announced);
    expect(resultOf(await having.request(ask("get_vm_log", ["vm-1"])))).toBe("a line\n");
  });
});

import { defineError } from "@slipway/kernel/errors";
import { cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { ask, errorOf, KNOWN_TYPES, typeOf } from "@slipway/testkit/requests";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import {
  CpiFailure,
  cloudError,
  cpiError,
  diskNotAttached,
  diskNotFound,
  networkNotFound,
  noDiskSpace,
  notImplemented,
  notSupported,
  stemcellNotFound,
  vmCreationFailed,
  vmNotFound,
} from "./errors.ts";

/** Returns the error that a caller gets when the author's method throws this. */
async function thrown(value: unknown) {
  const rebootVm = () => {
    throw value;
  };
  return errorOf(
    await embed(cloudCpi(new MemoryCloud(), { methods: { rebootVm } })).request(ask("reboot_vm", ["vm-1"])),
  );
}

describe("an author's error goes out under its type", () => {
  const retry = { okToRetry: true };
  it.each([
    [vmNotFound("vm-1"), "Bosh::Clouds::VMNotFound", "VM 'vm-1' not found", false],
    [diskNotFound("d-1"), "Bosh::Clouds::DiskNotFound", "Disk 'd-1' not found", false],
    [diskNotFound("d-1", retry), "Bosh::Clouds::DiskNotFound", "Disk 'd-1' not found", true],
    [stemcellNotFound("s-1"), "Bosh::Clouds::StemcellNotFound", "Stemcell 's-1' not found", false],
    [networkNotFound("n-1"), "Bosh::Clouds::NetworkNotFound", "Network 'n-1' not found", false],
    [
      diskNotAttached("vm-1", "d-1"),
      "Bosh::Clouds::DiskNotAttached",
      "Disk 'd-1' is not attached to VM 'vm-1'",
      false,
    ],
    [noDiskSpace("full", retry), "Bosh::Clouds::NoDiskSpace", "full", true],
    [vmCreationFailed("quota", retry), "Bosh::Clouds::VMCreationFailed", "quota", true],
    [vmCreationFailed("quota"), "Bosh::Clouds::VMCreationFailed", "quota", false],
    [notSupported("smaller"), "Bosh::Clouds::NotSupported", "smaller", false],
    [notImplemented("x"), "Bosh::Clouds::NotImplemented", "Method is not known, got: 'x'", false],
    [cloudError("down"), "Bosh::Clouds::CloudError", "down", false],
    [cpiError("broken"), "Bosh::Clouds::CpiError", "broken", false],
  ])("%s", async (failure, type, message, ok_to_retry) => {
    expect(await thrown(failure)).toEqual({ type, message, ok_to_retry });
    expect(KNOWN_TYPES).toContain(type);
  });

  it("reports each cause of an error once", async () => {
    const cause = new Error("connect ECONNREFUSED", { cause: new Error("socket hang up") });
    expect((await thrown(cloudError("the cloud is away", { cause }))).message).toBe(
      "the cloud is away: connect ECONNREFUSED: socket hang up",
    );
    expect((await thrown(cloudError("same", { cause: new Error("same") }))).message).toBe("same");
  });
});

describe("whatever else is thrown is a CloudError with words in it", () => {
  class Odd extends Error {
    override readonly name = "Odd";
  }
  const circular = new Error("round");
  circular.cause = circular;

  it.each<[string, unknown, string]>([
    ["an error", new Error("boom"), "boom"],
    ["an error without a message", new Error(), "Error"],
    ["an error of the author's own", new Odd(""), "Odd"],
    ["an error that is its own cause", circular, "round"],
    ["a string", "out of coffee", "something other than an error was thrown: out of coffee"],
    ["an empty string", "", "something other than an error was thrown"],
    ["undefined", undefined, "something other than an error was thrown: undefined"],
    ["null", null, "something other than an error was thrown: null"],
    ["a number", 42, "something other than an error was thrown: 42"],
    ["NaN", Number.NaN, "something other than an error was thrown: NaN"],
    ["a symbol", Symbol("s"), "something other than an error was thrown: Symbol(s)"],
    ["a bigint", 10n, "something other than an error was thrown: 10"],
    ["an object", { message: "not an error" }, "something other than an error was thrown: an object"],
    [
      "an object without a prototype",
      Object.create(null),
      "something other than an error was thrown: an object",
    ],
    ["an array", ["x"], "something other than an error was thrown: an object"],
    ["an error whose message is no text", Object.assign(new Error(), { message: 42 }), "42"],
    ["an abort", new DOMException("stopped", "AbortError"), "stopped"],
  ])("%s", async (_, value, message) => {
    expect(await thrown(value)).toEqual({
      type: typeOf("CloudError"),
      message: expect.stringContaining(message),
      ok_to_retry: false,
    });
  });

  it("a rejected promise counts as thrown", async () => {
    const rebootVm = () => Promise.reject("later");
    const client = embed(cloudCpi(new MemoryCloud(), { methods: { rebootVm } }));
    expect(errorOf(await client.request(ask("reboot_vm", ["vm-1"]))).message).toContain("later");
  });

  it("an error of the catalogue shows its code and what to do next; a bug is the CPI's", async () => {
    const define = (kind: "bug" | "outside") =>
      defineError<{ what: string }>({
        code: "TST-001",
        kind,
        message: (p) => `${p.what} fell over`,
        next: "Lift it.",
      });
    expect(await thrown(define("outside")({ what: "It" }))).toMatchObject({
      type: typeOf("CloudError"),
      message: "TST-001 It fell over. Lift it.",
    });
    expect((await thrown(define("bug")({ what: "It" }))).type).toBe(typeOf("CpiError"));
  });

  it("a message of a mebibyte is cut, never inside a character", async () => {
    for (const text of ["x".repeat(2 ** 20), "🦀".repeat(2 ** 18), `x${"🦀".repeat(2 ** 18)}`]) {
      const { message } = await thrown(new Error(text));
      expect(message.length).toBeLessThanOrEqual(16 * 1024);
      expect(message.length).toBeGreaterThan(16_000);
      expect(message).not.toMatch(/\p{Surrogate}/u);
    }
  });
});

describe("a CpiFailure", () => {
  it("is an error like others when it is caught", () => {
    const failure = new CpiFailure("VMNotFound", "gone", { cause: "why" });
    expect(failure).toBeInstanceOf(Error);
    expect(failure).toMatchObject({ name: "CpiFailure", message: "gone", cause: "why", okToRetry: false });
  });
});

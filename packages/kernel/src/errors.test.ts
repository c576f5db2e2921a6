import { describe, expect, it } from "vitest";
import {
  defineError,
  defineErrorClass,
  errorText,
  messageTrail,
  SlipwayError,
  systemCode,
  toError,
} from "./errors.ts";

const DiskFull = defineError<{ disk: string }>({
  code: "TST-001",
  kind: "outside",
  message: (p) => `the disk ${p.disk} is full`,
  next: "Make room.",
});
const Other = defineError<Record<never, never>>({
  code: "TST-002",
  kind: "operator",
  message: () => "something else",
  next: "Look.",
});

describe("upstream's number and the HTTP status", () => {
  it("are of the definition, or follow from the parameters", () => {
    const Fixed = defineError<{ name: string }>({
      code: "TST-020",
      kind: "operator",
      number: 70000,
      status: 404,
      message: (p) => `no ${p.name}`,
      next: "Look.",
    });
    const Told = defineError<{ number: number }>({
      code: "TST-021",
      kind: "operator",
      number: (p) => p.number,
      message: () => "no",
      next: "Look.",
    });
    expect(Fixed({ name: "x" })).toMatchObject({ code: "TST-020", number: 70000, status: 404 });
    expect(Told({ number: 5 })).toMatchObject({ number: 5, status: undefined });
  });
});

describe("an error of the catalogue", () => {
  it("carries its code, kind, message, next step and cause, and is an Error", () => {
    const cause = new Error("ENOSPC");
    const error = DiskFull({ disk: "d1" }, { cause });
    expect(error).toBeInstanceOf(SlipwayError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({
      name: "SlipwayError",
      code: "TST-001",
      kind: "outside",
      message: "the disk d1 is full",
      next: "Make room.",
    });
    expect(error.cause).toBe(cause);
  });

  it("has no cause when none was given", () => {
    expect("cause" in DiskFull({ disk: "d1" })).toBe(false);
  });

  it("is recognised by its own definition and no other", () => {
    const error = DiskFull({ disk: "d1" });
    expect(DiskFull.is(error)).toBe(true);
    expect(Other.is(error)).toBe(false);
    for (const thing of [new Error("the disk d1 is full"), { code: "TST-001" }, null, undefined, "TST-001"])
      expect(DiskFull.is(thing)).toBe(false);
  });

  it("names in its next step what it is about, and leaves other braces alone", () => {
    const NoTask = defineError<{ id: number; why: string }>({
      code: "TST-003",
      kind: "operator",
      message: (p) => `task ${p.id}: ${p.why}`,
      next: "See task {id}, {why}, {toString} and {}.",
    });
    const error = NoTask({ id: 7, why: "{id}" });
    expect(error.next).toBe("See task 7, {id}, {toString} and {}.");
    expect(NoTask.next).toContain("{id}");
  });

  it("gives what it was made with to who asks for it, and prints it nowhere", () => {
    const error = DiskFull({ disk: "d1" });
    expect(DiskFull.paramsOf(error)).toEqual({ disk: "d1" });
    expect(Other.paramsOf(error)).toBeUndefined();
    expect(DiskFull.paramsOf(new Error("the disk d1 is full"))).toBeUndefined();
    expect(Object.keys(error)).not.toContain("disk");
  });

  it("shows its definition, so that documentation is made from it", () => {
    expect(DiskFull.code).toBe("TST-001");
    expect(DiskFull.kind).toBe("outside");
    expect(DiskFull.next).toBe("Make room.");
    expect(DiskFull.message({ disk: "x" })).toBe("the disk x is full");
  });
});

describe("the trail of messages", () => {
  const chain = (...messages: readonly string[]): Error =>
    [...messages]
      .reverse()
      .reduce<Error | undefined>(
        (cause, message) => new Error(message, cause === undefined ? undefined : { cause }),
        undefined,
      ) ?? new Error("");

  it("goes from the outside to the innermost cause", () => {
    expect(messageTrail(chain("a failed", "b failed", "c"))).toBe("a failed: b failed: c");
  });

  it("says each message once, also when the outer one already holds the inner", () => {
    expect(messageTrail(chain("cannot write: ENOSPC", "ENOSPC", "ENOSPC"))).toBe("cannot write: ENOSPC");
  });

  it("leaves out empty messages", () => {
    expect(messageTrail(chain("", "inner"))).toBe("inner");
    expect(messageTrail(new Error(""))).toBe("");
  });

  it("ends for errors that are their own cause", () => {
    const a = new Error("a");
    const b = new Error("b", { cause: a });
    a.cause = b;
    expect(messageTrail(a)).toBe("a: b");
  });

  it("ends for a chain longer than anybody reads", () => {
    const long = chain(...Array.from({ length: 10_000 }, (_, i) => `step-${i};`));
    expect(messageTrail(long).split(": ")).toHaveLength(8);
  });

  it.each([
    ["text", "something other than an error was thrown: text"],
    [42, "something other than an error was thrown: 42"],
    [null, "something other than an error was thrown: null"],
    [Symbol("s"), "something other than an error was thrown: Symbol(s)"],
    [{ password: "canary" }, "something other than an error was thrown: an object"],
  ])("of a thrown %o says what was thrown, but not what an object holds", (thrown, text) => {
    expect(messageTrail(thrown)).toBe(text);
    expect(toError(thrown).message).toBe(text);
  });

  it("shortens a long text that was thrown", () => {
    expect(messageTrail("x".repeat(10_000)).length).toBeLessThan(300);
  });
});

describe("an error at the edge", () => {
  it("describes an error of the catalogue by code, message, causes and next step", () => {
    const cause = new Error("write failed", { cause: new Error("ENOSPC") });
    expect(errorText(DiskFull({ disk: "d1" }, { cause }))).toBe(
      "TST-001 the disk d1 is full\n  caused by: write failed: ENOSPC\n  next: Make room.",
    );
    expect(errorText(DiskFull({ disk: "d1" }))).toBe("TST-001 the disk d1 is full\n  next: Make room.");
  });

  it("describes any other error by its trail, which is never empty", () => {
    expect(errorText(new Error("a", { cause: new Error("b") }))).toBe("a: b");
    expect(errorText(new Error(""))).toBe("unknown error");
    expect(errorText(undefined)).toBe("unknown error");
  });
});

describe("the code of a system error", () => {
  it("is there for errors of the system only", () => {
    expect(systemCode(Object.assign(new Error("x"), { code: "ENOENT" }))).toBe("ENOENT");
    expect(systemCode(Object.assign(new Error("x"), { code: 7 }))).toBeUndefined();
    expect(systemCode(new Error("x"))).toBeUndefined();
    expect(systemCode({ code: "ENOENT" })).toBeUndefined();
  });
});

describe("a class of errors", () => {
  class Lost extends defineErrorClass({
    code: "TST-030",
    about: "the boat",
    kind: "outside",
    next: "Look.",
  }) {
    override readonly name = "Lost";
  }
  class Drowned extends Lost {
    static override readonly code: string = "TST-031";
  }

  it("has its definition, belongs to the catalogue and prints its cause and the next step once", () => {
    const error = new Lost("the boat is gone", { cause: new Error("a storm") });
    expect(error).toBeInstanceOf(SlipwayError);
    expect(error).toMatchObject({
      name: "Lost",
      code: "TST-030",
      kind: "outside",
      typed: false,
    });
    expect(errorText(error)).toBe("TST-030 the boat is gone\n  caused by: a storm\n  next: Look.");
    expect([Lost.code, Lost.kind, Lost.next]).toEqual(["TST-030", "outside", "Look."]);
  });

  it("may have subclasses with codes of their own", () => {
    const error = new Drowned("gone");
    expect([error instanceof Lost, error.code, Drowned.code, Lost.code]).toEqual([
      true,
      "TST-031",
      "TST-031",
      "TST-030",
    ]);
  });
});

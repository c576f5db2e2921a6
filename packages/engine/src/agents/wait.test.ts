import { toError } from "@slipway/kernel/errors";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { AgentRefused, AgentSilent, WrongAgent } from "./agent.ts";
import { type Answer, NoAnswer } from "./question.ts";
import { failureOfConnection, failureOfTimeout } from "./transport-failure.ts";
import { waitUntilReady } from "./wait.ts";

const PONG: Answer = { kind: "value", value: "pong" };
const restarting = (what: string): Answer => ({ kind: "exception", message: `restarting agent: ${what}` });
const silent = (failure: NoAnswer["failure"]) => new NoAnswer("no answer", failure);
const unconnected = (code: string) =>
  silent(failureOfConnection({ code, why: `connect ${code}`, phase: "connecting", reused: false }));
const refused = () => unconnected("ECONNREFUSED");

/** Pings get one after the other, the last for ever; those that throw `silent` by time take theirs. */
async function waiting(script: readonly (Answer | Error)[], withinMs = 600_000, signal?: AbortSignal) {
  const clock = fakeClock({ hurry: true });
  const timeouts: number[] = [];
  const told: string[] = [];
  const began = clock.monotonic();
  const outcome = await waitUntilReady({
    name: "agent a",
    withinMs,
    clock,
    signal,
    waits: (message) => told.push(message),
    ping: async (timeoutMs) => {
      timeouts.push(timeoutMs);
      const answer = script[Math.min(timeouts.length, script.length) - 1];
      if (answer instanceof Error) throw answer;
      return answer ?? PONG;
    },
  }).then(
    () => undefined,
    (error: unknown) => toError(error),
  );
  return { outcome, timeouts, told, tookMs: clock.monotonic() - began };
}

describe("waiting for an agent", () => {
  it("ends with the first pong, whatever was before", async () => {
    const script = [refused(), restarting("waiting for disks"), new WrongAgent("other"), refused(), PONG];
    const { outcome, timeouts } = await waiting(script);
    expect(outcome).toBeUndefined();
    expect(timeouts).toHaveLength(5);
  });

  it("says now and then whom it waits for, how long and why; nothing while it is quick", async () => {
    const { told } = await waiting([restarting("waiting for disks")], 60_000);
    expect(told.map((line) => line.replace(/for 1\d s/, "for 10 s"))).toEqual([
      "agent a has not been ready for 10 s, and is given 60 s: it says that it is waiting for disks",
      expect.stringMatching(/^agent a has not been ready for 2\d s, and is given 60 s/),
      expect.stringMatching(/^agent a has not been ready for 4\d s, and is given 60 s/),
    ]);
    expect((await waiting([refused(), PONG])).told).toEqual([]);
  });

  it("ends at once with any other exception", async () => {
    const { outcome, timeouts } = await waiting([
      refused(),
      { kind: "exception", message: "disk vol-1 was not mounted: wrong filesystem" },
    ]);
    expect(outcome).toBeInstanceOf(AgentRefused);
    expect(outcome?.message).toBe("agent a refused ping: disk vol-1 was not mounted: wrong filesystem");
    expect(timeouts).toHaveLength(2);
  });

  it("ends at once when the agent does not accept the password", async () => {
    const { outcome, timeouts } = await waiting([new AgentRefused("password")]);
    expect(outcome).toBeInstanceOf(AgentRefused);
    expect(timeouts).toHaveLength(1);
  });

  it.each<
    [
      what: string,
      script: readonly (Answer | Error)[],
      kind: typeof AgentSilent | typeof WrongAgent,
      said: RegExp,
    ]
  >([
    [
      "what it waits for",
      [restarting("waiting for settings (settings, 3 s)")],
      AgentSilent,
      /: it says that it is waiting for settings \(settings, 3 s\); next: fix/,
    ],
    [
      "a refused connection",
      [refused()],
      AgentSilent,
      /\(\d+ tries\): the connection is refused: .*\(ECONNREFUSED\); next: wait for the agent/,
    ],
    [
      "no route",
      [unconnected("EHOSTUNREACH")],
      AgentSilent,
      /no route to it \(EHOSTUNREACH\); next: see that the VM runs/,
    ],
    [
      "dropped packets",
      [silent(failureOfTimeout("connecting"))],
      AgentSilent,
      /nobody takes the connection; next/,
    ],
    [
      "a handshake that hangs",
      [silent(failureOfTimeout("handshake"))],
      AgentSilent,
      /does not finish the TLS handshake/,
    ],
    ["a stranger", [new WrongAgent("it is agent b")], WrongAgent, /: it is agent b; next: see which VM/],
    [
      "its last words and what came after",
      [restarting("waiting for disk vol-1"), refused()],
      AgentSilent,
      /refused: .*; \d+ s before that it said that it was waiting for disk vol-1; next/,
    ],
  ])("reports %s if it is never ready", async (_, script, kind, said) => {
    const { outcome, tookMs } = await waiting(script, 600_000);
    expect(outcome).toBeInstanceOf(kind);
    expect(outcome?.message).toMatch(/^agent a was not ready within 600 s \(\d+ tries\): /);
    expect(outcome?.message).toMatch(said);
    expect(tookMs).toBeGreaterThan(599_000);
    expect(tookMs).toBeLessThanOrEqual(600_000);
  });

  it("gives an agent that is slow to shake hands more time, and one that is not there a second", async () => {
    expect((await waiting([silent(failureOfTimeout("handshake"))], 3_000)).timeouts.slice(0, 6)).toEqual([
      1000, 2000, 2500, 2250, 2000, 1750,
    ]);
    expect(
      new Set((await waiting([silent(failureOfTimeout("connecting"))], 3_000)).timeouts.slice(0, 8)),
    ).toEqual(new Set([1000]));
  });

  it("ends with its caller", async () => {
    const cancel = new AbortController();
    cancel.abort(new Error("cancelled by admin"));
    expect((await waiting([refused()], 600_000, cancel.signal)).outcome?.message).toBe("cancelled by admin");
  });
});

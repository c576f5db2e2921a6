import { CpiLost } from "@slipway/engine/clouds/cloud";
import type { CpiRequest } from "@slipway/protocol/cpi/envelope";
import { describe, expect, it } from "vitest";
import type { SimClients } from "../director/director-in-sim.ts";
import { type CallFault, strike } from "./second-fault.ts";

/** Clients that note what they do, with a fault at their second call. */
function stage(fault: CallFault) {
  const done: string[] = [];
  const real: SimClients = {
    cpi: ({ method }) => {
      done.push(method);
      return Promise.resolve({ result: "ok" as never, error: null, log: "" });
    },
    ask: (_, method) => {
      done.push(method);
      return Promise.resolve({ value: "ok" });
    },
  };
  const crash = () => {
    done.push("death");
    return Promise.resolve();
  };
  const { clients, calls, hit, catchUp } = strike(real, { nth: 2, cpi: fault, agent: fault }, crash);
  const cpi = (method: string) =>
    clients.cpi({ method, arguments: [], context: {} } as unknown as CpiRequest).then(
      ({ error }) => (error === null ? "answered" : "refused"),
      (error: unknown) => (error instanceof CpiLost ? "lost" : String(error)),
    );
  return { done, cpi, ask: (method: string) => clients.ask("agent", method, []), calls, hit, catchUp };
}

describe("a fault at the second call of a life", () => {
  it.each<[CallFault, string, readonly string[]]>([
    ["refused", "refused", ["info", "has_vm"]],
    ["lost", "lost", ["info", "create_vm", "has_vm"]],
    ["slow", "lost", ["info", "has_vm", "create_vm"]],
  ])("%s: the CPI call ends as %s, and the others go their way", async (fault, ended, done) => {
    const life = stage(fault);
    expect([await life.cpi("info"), await life.cpi("create_vm"), await life.cpi("has_vm")]).toEqual([
      "answered",
      ended,
      "answered",
    ]);
    await life.catchUp();
    expect(life.done).toEqual(done);
    expect(life.hit()).toBe(`${fault} at 2 (cpi create_vm)`);
  });

  it("lets nothing be done after a crash", async () => {
    const life = stage("crash");
    expect([await life.cpi("info"), await life.cpi("create_vm"), await life.cpi("has_vm")]).toEqual([
      "answered",
      "lost",
      "lost",
    ]);
    expect(await life.ask("ping")).toHaveProperty("silent");
    expect(life.done).toEqual(["info", "create_vm", "death"]);
    expect(life.calls).toEqual(["cpi info", "cpi create_vm"]);
  });

  it("lets an agent refuse without doing anything", async () => {
    const life = stage("refused");
    await life.ask("ping");
    expect(await life.ask("mount_disk")).toHaveProperty("exception");
    expect(life.done).toEqual(["ping"]);
  });
});

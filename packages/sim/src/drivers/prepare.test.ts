import { describe, expect, it } from "vitest";
import type { EndedTask } from "./testing/bench.ts";
import { jobsStage, onAsk, shopRelease, web } from "./testing/jobs-stage.ts";
import type { OutsideCall } from "./watch-clients.ts";

const { stage, done, run, upload, task, converges } = jobsStage();

const shop = (vmType = "small", swap = false) =>
  task([{ name: "web", instances: 1, jobs: [web()], vmType }], {}, { swap });
const newRelease = () => upload(shopRelease({ version: "2", web: "another template", lib: "# other" }));

/** Messages that tell when something is sent, fetched and stopped. */
const TOLD = ["put_blob", "prepare", "drain", "stop", "apply", "start"];

const agentCalls = ({ calls }: EndedTask): readonly Extract<OutsideCall, { readonly peer: "agent" }>[] =>
  calls.flatMap((call) => (call.peer === "agent" ? [call] : []));

/** Returns the messages to the agent that runs `web` in the end. */
async function told(ended: EndedTask): Promise<readonly string[]> {
  const { instances } = await stage.bench.remembered();
  const agents = instances.flatMap(({ vms }) => vms.map(({ agentId }) => String(agentId)));
  return agentCalls(ended)
    .filter(({ agentId, method }) => agents.includes(agentId) && TOLD.includes(method))
    .filter(({ args }) => !String(args[0]).includes("dns"))
    .map(({ method }) => method);
}

describe("an agent prepares an update", () => {
  it("fetches packages and jobs before drain, and is sent nothing while its jobs are stopped", async () => {
    await done(shop());
    await newRelease();
    const ended = await converges(shop());
    const messages = await told(ended);
    expect(messages.filter((method) => method !== "put_blob")).toEqual([
      ...["prepare", "drain", "stop", "apply", "start"],
    ]);
    expect(messages.indexOf("put_blob")).toBeLessThan(messages.indexOf("prepare"));
    expect(messages.slice(messages.indexOf("prepare"))).not.toContain("put_blob");
    const [prepared, applied] = ["prepare", "apply"].map(
      (method) => agentCalls(ended).findLast((call) => call.method === method)?.args[0],
    );
    expect(prepared).toEqual(applied);
  });

  it("fails before anything is stopped when something cannot be fetched", async () => {
    await done(shop());
    await newRelease();
    const refuse = onAsk("prepare", () => Promise.resolve({ exception: "No space left on device" }));
    const ended = await run(shop(), { interference: refuse });
    expect([ended.state, ended.message]).toEqual([
      "error",
      expect.stringContaining("No space left on device"),
    ]);
    expect(ended.calls.map(({ method }) => method)).not.toContain("stop");
    await converges(shop());
  });

  it("goes on without it when its agent does not know the message", async () => {
    await done(shop());
    await newRelease();
    const unaware = onAsk("prepare", () => Promise.resolve({ exception: "unknown message prepare" }));
    const messages = await told(await done(shop(), { interference: unaware }));
    expect(messages.slice(messages.indexOf("stop"))).toEqual([
      "stop",
      "put_blob",
      "put_blob",
      "apply",
      "start",
    ]);
  });

  it("is sent everything again when what it had prepared is gone", async () => {
    await done(shop());
    await newRelease();
    const lost = onAsk("stop", (_, carryOut) => {
      for (const { agent } of stage.bench.world.vms.values()) {
        agent.unpacked.clear();
        agent.blobs.clear();
      }
      return carryOut();
    });
    const messages = await told(await done(shop(), { interference: lost }));
    expect(messages.slice(messages.indexOf("stop"))).toEqual([
      ...["stop", "apply", "put_blob", "put_blob", "apply", "start"],
    ]);
  });

  it("is not asked to prepare when its VM is replaced", async () => {
    await done(shop());
    const ended = await done(shop("big"));
    expect(ended.calls.map(({ method }) => method)).not.toContain("prepare");
  });

  it("fetches packages on the VM that takes over while the old one still runs", async () => {
    await done(shop("small", true));
    const ended = await converges(shop("big", true));
    const methods = agentCalls(ended).map(({ method }) => method);
    expect(methods.indexOf("prepare")).toBeGreaterThan(0);
    expect(methods.indexOf("prepare")).toBeLessThan(methods.indexOf("drain"));
    expect(agentCalls(ended).find(({ method }) => method === "prepare")?.args[0]).toMatchObject({
      job: {},
      packages: { server: {} },
    });
    expect(await told(ended)).toEqual(["apply", "put_blob", "prepare", "put_blob", "apply", "start"]);
  });
});

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { describe, expect, it } from "vitest";
import { AgentRefused, AgentSilent, AgentUnaware } from "./agent.ts";
import { answers, fakeAgents, values } from "./testing/fake-agent.ts";
import { introduced } from "./testing/real-agent.ts";

const bundle = agentBundle();
const fakes = fakeAgents();

const blobOf = (version: number, name = "db.internal") => {
  const bytes = Buffer.from(JSON.stringify({ records: [["10.0.0.5", name]], version, record_keys: [] }));
  const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
  return { bytes, blob: { blobId: "dns-records", digest, version } };
};

describe("DNS records", () => {
  it("are taken over by a real agent, newer ones only, each in the place of the one before", async () => {
    const { agent, machine, start } = await introduced(bundle());
    await start();
    const written = () => readFile(machine.paths.dnsRecords, "utf8");
    for (const version of [5, 6]) {
      const { bytes, blob } = blobOf(version);
      await agent.putBlob(blob.blobId, bytes);
      await agent.syncDns(blob);
      expect(await written()).toBe(bytes.toString());
    }
    const old = blobOf(4, "old.internal");
    await agent.putBlob(old.blob.blobId, old.bytes);
    await agent.syncDns(old.blob);
    expect(await written()).toBe(blobOf(6).bytes.toString());
    const newer = blobOf(7);
    await expect(agent.syncDns(newer.blob)).rejects.toBeInstanceOf(AgentRefused);
  });

  it("are not taken when the agent says anything else than that they are", async () => {
    const odd = await fakes.open(values(() => "perhaps"));
    await expect(odd.agent.syncDns(blobOf(1).blob)).rejects.toBeInstanceOf(AgentSilent);
    expect(odd.asked[0]).toMatchObject({
      method: "sync_dns",
      arguments: ["dns-records", blobOf(1).blob.digest, 1],
    });
    const old = await fakes.open((_, response) =>
      answers(response, { exception: { message: "unknown message sync_dns" } }),
    );
    await expect(old.agent.syncDns(blobOf(1).blob)).rejects.toBeInstanceOf(AgentUnaware);
  });
});

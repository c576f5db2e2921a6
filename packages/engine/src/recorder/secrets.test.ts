import { systemClock } from "@slipway/kernel/clock";
import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import { expectNoSecrets, PLANTED_CONTEXT, PLANTED_ENV, PLANTED_PROPERTIES } from "@slipway/testkit/canaries";
import { describe, expect, it } from "vitest";
import { type Agent, AgentRefused, type Agents } from "../agents/agent.ts";
import type { Cloud } from "../clouds/cloud.ts";
import { cloudOf, createArgs, DISK, info, no, ok, VM } from "../clouds/testing/scripted-cpi.ts";
import { recordCalls } from "./recorder.ts";

const CANARY_PEM = "-----BEGIN PRIVATE KEY-----\nCANARY-of-a-key-of-one-line\n-----END PRIVATE KEY-----\n";
const HINT = {
  iscsi_settings: { initiator_name: "i", username: "u", target: "t", password: "CANARY-iscsi" },
  id: "the-id",
};
const CLOUD = { type: "small", password: "CANARY-cloud", nested: { api_key: "CANARY-nested" } };
const DISKS = { system: "/dev/sda", persistent: { "disk-1": HINT } };
const NETWORKS = { private: { type: "manual" as const, ip: "10.0.0.2", cloud_properties: CLOUD } };

const noAgents = {} as Agents;

function recordingOf(clients: { readonly cloud?: Cloud; readonly agents?: Agents }) {
  const lines: ConversationLine[] = [];
  const clouds = {
    names: [""],
    configured: false,
    nameOf: (name: string) => name,
    cloud: () => clients.cloud as Cloud,
  };
  const recording = recordCalls({ clouds, agents: clients.agents ?? noAgents }, systemClock, (line) =>
    lines.push(line),
  );
  return { lines, recording };
}

describe("no credential of a call shows in the conversation", () => {
  it.each(["well", "error", "junk"])(
    "shows no secret of a CPI that repeats all its input and answers %s",
    async (how) => {
      const parrot = (result: unknown) => (request: unknown) => {
        const said = JSON.stringify(request);
        if (how === "error") return no("Bosh::Clouds::CloudError", `I was told ${said}`);
        return ok(how === "junk" ? { said } : result);
      };
      const { cloud, call } = cloudOf(
        {
          info: info(2, { attach_disk_takes_disks: true }),
          create_vm: parrot(["vm-1", NETWORKS]),
          attach_disk: parrot(HINT),
          calculate_vm_cloud_properties: parrot({ password: "CANARY-calculated" }),
          create_disk: parrot("disk-2"),
          create_stemcell: parrot("img-1"),
          delete_vm: parrot(null),
        },
        { properties: { ...PLANTED_CONTEXT, ...PLANTED_PROPERTIES } },
      );
      const { lines, recording } = recordingOf({ cloud });
      const own = recording.about("db/1").clouds.cloud("");
      const options = () => call({ stemcellApiVersion: 2, disks: DISKS });
      const calls = [
        own.createVm(createArgs({ env: PLANTED_ENV, cloudProperties: CLOUD, networks: NETWORKS }), options()),
        own.createDisk(1, CLOUD, null, options()),
        own.attachDisk(VM, DISK, options()),
        own.updateDisk(DISK, 1, CLOUD, options()),
        own.createStemcell("/image", CLOUD, {}, options()),
        own.calculateVmCloudProperties({ ram: 1, cpu: 1, ephemeral_disk_size: 1 }, options()),
        own.deleteVm(VM, options()),
      ];
      await Promise.allSettled(calls);
      expect(lines.map(({ message }) => message).sort()).toEqual(
        [
          "attach_disk",
          "calculate_vm_cloud_properties",
          "create_disk",
          "create_stemcell",
          "create_vm",
        ].concat(["delete_vm", "info", "update_disk"]),
      );
      expectNoSecrets(JSON.stringify(lines));
      const created = lines.find(({ message }) => message === "create_vm");
      expect(created).toMatchObject({
        to: "cpi:",
        instance: "db/1",
        api_version: 2,
        stemcell_api_version: 2,
      });
      expect(created?.request).toMatchObject([
        "8a1c0d8e",
        "img-17",
        { type: "<redacted>", password: "<redacted>" },
        { private: { type: "manual", ip: "10.0.0.2" } },
        [DISK],
        { bosh: { password: "<redacted>", tags: { team: "a" } } },
      ]);
      if (how === "error") expect(created?.error).toContain("I was told");
      if (how === "well")
        expect(lines.find(({ message }) => message === "attach_disk")?.answer).toMatchObject({
          id: "the-id",
          iscsi_settings: { target: "t", password: "<redacted>" },
        });
    },
  );

  it.each([true, false])(
    "shows no secret of an agent that repeats all its input; it refuses: %s",
    async (refuses) => {
      const answer = async (...told: readonly unknown[]): Promise<never> => {
        if (refuses) throw new AgentRefused(`I was told ${JSON.stringify(told)}`);
        return {
          jobState: "running",
          raw: { spec: "CANARY-of-a-state" },
          networks: NETWORKS,
        } as unknown as never;
      };
      const agent = new Proxy({} as Agent, { get: () => answer });
      const agents = { ...noAgents, agent: () => agent } as Agents;
      const { lines, recording } = recordingOf({ agents });
      const one = recording.about("db/1").agents.agent({ agentId: "a-1" as never, agentUrl: "https://x" });
      const spec = {
        deployment: "shop",
        networks: { a: { ip: "10.0.0.2", cloud_properties: { password: "CANARY-in-a-network" } } },
        properties: { db: { password: "CANARY-of-a-job" } },
        resource_pool: { cloud_properties: { key: "CANARY-of-a-pool" } },
        template_hashes: { x: "CANARY-unknown" },
      };
      const settings = {
        trusted_certs: CANARY_PEM,
        mbus: { urls: ["https://mbus:CANARY-mbus@10.0.0.2:6868"], cert: { private_key: CANARY_PEM } },
        blobstores: [{ provider: "dav", options: { password: "CANARY-blobs" } }],
      };
      await Promise.allSettled([
        one.apply(spec),
        one.prepare(spec),
        one.drain("shutdown", spec),
        one.runScript("pre-start", { TOKEN: "CANARY-of-a-script" }),
        one.addPersistentDisk("vol-1", HINT),
        one.updateSettings(settings),
        one.getState(true),
        one.writeStoreFile("note", "CANARY-on-a-disk"),
        one.readStoreFile("note"),
      ]);
      expect(lines).toHaveLength(9);
      expectNoSecrets(JSON.stringify(lines));
      if (refuses) expect(lines[0]?.error).toContain("I was told");
      expect(lines[0]).toMatchObject({
        to: "agent:a-1",
        instance: "db/1",
        message: "apply",
        request: [{ deployment: "shop", networks: { a: { ip: "10.0.0.2" } } }],
      });
      expect(lines.find(({ message }) => message === "add_persistent_disk")?.request).toMatchObject([
        "vol-1",
        { id: "the-id", iscsi_settings: { password: "<redacted>" } },
      ]);
      if (!refuses)
        expect(lines.find(({ message }) => message === "get_state")?.answer).toEqual({
          job_state: "running",
        });
    },
  );
});

import { AgentRefused, AgentSilent, AgentUnaware, type StoreFiles } from "@slipway/engine/agents/agent";
import { LARGEST_STORE_FILE } from "@slipway/protocol/agent/store-file";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Harness, startHarness } from "../testing/harness.ts";
import { seedShop, WEB_0, WEB_1 } from "../testing/seed.ts";

/** A disk behind an agent; `trouble` is what it does instead of answering. */
const files = new Map<string, string>();
let trouble: Error | undefined;
const asked: string[] = [];
const agent: StoreFiles = {
  writeStoreFile: async (path, content) => {
    asked.push(`write ${path}`);
    if (trouble !== undefined) throw trouble;
    files.set(path, content);
  },
  readStoreFile: async (path) => {
    asked.push(`read ${path}`);
    if (trouble !== undefined) throw trouble;
    return files.get(path) ?? "";
  },
};

let api: Harness;
beforeAll(async () => {
  api = await startHarness({
    agents: {
      agent: ({ agentId, agentUrl }) => {
        expect({ agentId, agentUrl }).toEqual({ agentId: "ag-1", agentUrl: "https://10.0.0.2:6868" });
        return agent;
      },
    },
  });
  await seedShop(api.db);
});
afterAll(() => api.close());
beforeEach(() => {
  files.clear();
  asked.splice(0);
  trouble = undefined;
});

const url = (instance: string, path?: string) =>
  `/deployments/shop/instance_groups/${instance}/store${path === undefined ? "" : `?path=${encodeURIComponent(path)}`}`;
const put = (instance: string, path: string | undefined, body: string, user = "admin") =>
  api.ask("PUT", url(instance, path), { user, type: "text/plain", body });
const events = async () =>
  (await api.get(`/events?instance=web/${WEB_0}&object_type=store_file`)).json as Record<string, unknown>[];

describe("a file of an instance's persistent disk", () => {
  it.each(["web/0", `web/${WEB_0}`])("is written and read through the agent of %s", async (instance) => {
    expect((await put(instance, "notes/today", "ahoy, Grüße\n")).status).toBe(204);
    expect(await api.get(url(instance, "notes/today"))).toMatchObject({ status: 200, body: "ahoy, Grüße\n" });
    expect(asked).toEqual(["write notes/today", "read notes/today"]);
  });

  it("leaves an event without its content when it is written, and one more with the error when that fails", async () => {
    const before = (await events()).length;
    await put("web/0", "note", "a-canary");
    trouble = new AgentRefused("agent ag-1 refused write_store_file: the disk is full");
    expect(await put("web/0", "note", "a-canary")).toMatchObject({
      status: 400,
      json: { code: 450001, description: expect.stringContaining("the disk is full") },
    });
    const found = (await events()).slice(0, -before || undefined);
    const event = { action: "write", object_name: "note", user: "admin", deployment: "shop" };
    expect(found).toMatchObject([{ ...event, error: expect.stringContaining("full") }, event, event]);
    expect(found[0]?.parent_id).toBe(found[1]?.id);
    expect(JSON.stringify(found)).not.toContain("canary");
  });

  it("is for administrators only, reading too", async () => {
    expect((await put("web/0", "note", "x", "reader")).status).toBe(401);
    expect((await api.get(url("web/0", "note"), "reader")).status).toBe(401);
    expect(asked).toEqual([]);
  });

  it.each([
    [`web/${WEB_1}`, "note", 400, 70004, "has no VM"],
    ["web/7", "note", 404, 70001, "'shop/web/7' doesn't exist"],
    ["web/0", undefined, 400, 40001, "path"],
    ["web/0", "../note", 400, 40005, "relative"],
    ["web/0", "/etc/passwd", 400, 40005, "relative"],
  ])(
    "of %s at %j is refused with %i, code %i, before an agent is asked",
    async (instance, path, status, code, words) => {
      const refusal = { status, json: { code, description: expect.stringContaining(words) } };
      expect(await put(instance, path, "x")).toMatchObject(refusal);
      expect(await api.get(url(instance, path))).toMatchObject(refusal);
      expect(asked).toEqual([]);
    },
  );

  it("is refused if it is larger than an agent takes", async () => {
    expect(await put("web/0", "note", "x".repeat(LARGEST_STORE_FILE + 1))).toMatchObject({
      status: 400,
      json: { code: 40005, description: expect.stringContaining("1 MiB") },
    });
    expect(asked).toEqual([]);
  });

  it.each([
    [new AgentUnaware("unknown message"), 450001, "not Slipway's"],
    [new AgentSilent("agent ag-1 did not answer"), 450002, "did not answer"],
  ])("cannot be had of an agent that is %s", async (error, code, words) => {
    trouble = error;
    const refusal = { status: 400, json: { code, description: expect.stringContaining(words) } };
    expect(await put("web/0", "note", "x")).toMatchObject(refusal);
    expect(await api.get(url("web/0", "note"))).toMatchObject(refusal);
    expect(api.errors).toEqual([]);
  });

  it("needs a disk", async () => {
    await api.db.updateTable("persistent_disks").set({ active: false }).execute();
    expect(await put("web/0", "note", "x")).toMatchObject({ status: 400, json: { code: 520000 } });
    expect(asked).toEqual([]);
    await api.db.updateTable("persistent_disks").set({ active: true }).execute();
  });
});

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Blobs } from "@slipway/engine/blobs/blobs";
import { directoryBlobs } from "@slipway/engine/blobs/directory-blobs";
import { systemRandom } from "@slipway/kernel/random";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Harness, startHarness } from "../testing/harness.ts";
import { seedShop, WEB_0, WEB_1 } from "../testing/seed.ts";

let api: Harness;
let blobs: Blobs;
let remove: () => Promise<void>;
beforeAll(async () => {
  const directory = await temporaryDirectory();
  ({ remove } = directory);
  const dir = join(directory.path, "b");
  await mkdir(dir);
  blobs = directoryBlobs({ dir, random: systemRandom });
  api = await startHarness({ blobs });
  await seedShop(api.db);
});
afterAll(async () => {
  await api.close();
  await remove();
});
beforeEach(() => void api.queued.splice(0));

const SHOP = "/deployments/shop";

describe("logs", () => {
  it.each([
    ["web/0", "?type=job", { types: "job", filters: [] }],
    [
      `web/${WEB_0}`,
      "?filters=a%2C**%2F*.log&type=agent,system",
      { types: "agent,system", filters: ["a", "**/*.log"] },
    ],
    ["web/*", "", { types: "job", filters: [] }],
    ["*/*", "", { types: "job", filters: [] }],
  ])("are fetched by a task for %s%s, of instances that have a VM", async (which, query, asked) => {
    expect((await api.get(`${SHOP}/jobs/${which}/logs${query}`)).status).toBe(302);
    expect(api.queued).toMatchObject([
      {
        type: "fetch_logs",
        description: "fetch logs",
        deployment: "shop",
        params: { deployment: "shop", instances: [WEB_0], ...asked },
      },
    ]);
  });

  it.each([
    ["web/0/logs?type=weather", 40005],
    ["web/7/logs", 70001],
    [`web/${WEB_1}/logs`, 70004],
    ["nobody/*/logs", 70009],
  ])("%s are refused with upstream's number", async (path, code) => {
    expect((await api.get(`${SHOP}/jobs/${path}`)).json).toMatchObject({ code });
    expect(api.queued).toEqual([]);
  });
});

describe("a resource", () => {
  it("is sent as it is, with its length", async () => {
    const { id } = await blobs.put(Readable.from([Buffer.from("log "), Buffer.from("of web")]));
    const answer = await api.get(`/resources/${id}`);
    expect(answer).toMatchObject({ status: 200, body: "log of web" });
    expect(answer.headers["content-length"]).toBe("10");
  });

  it.each(["none", "..%2Fadmin-password", ".half"])("%s is not there", async (id) => {
    expect(await api.get(`/resources/${id}`)).toMatchObject({ status: 404, json: { code: 100002 } });
  });

  it("is for administrators", async () => {
    const { id } = await blobs.put(Readable.from([Buffer.from("log")]));
    expect((await api.get(`/resources/${id}`, "reader")).status).toBe(401);
  });
});

describe("ssh", () => {
  const send = (body: object) =>
    api.ask("POST", `${SHOP}/ssh`, { type: "application/json", body: JSON.stringify(body) });
  const USER = { user: "bosh_a", public_key: "ssh-rsa K" };

  it.each([
    [
      { job: "web", ids: ["0"], indexes: ["0"] },
      { group: "web", instances: ["0"] },
    ],
    [{ ids: [], indexes: [3] }, { instances: ["3"] }],
    [{}, { instances: [] }],
  ])("is set up by a task for %j", async (target, where) => {
    expect((await send({ command: "setup", deployment_name: "shop", target, params: USER })).status).toBe(
      302,
    );
    expect(api.queued[0]).toMatchObject({ type: "ssh", deployment: "shop" });
    expect(api.queued[0]?.params).toEqual({ deployment: "shop", command: "setup", ...where, ...USER });
  });

  it("is cleaned up by the names of users", async () => {
    const params = { user_regex: "^bosh_a" };
    expect((await send({ command: "cleanup", target: { ids: [] }, params })).status).toBe(302);
    expect(api.queued[0]?.params).toMatchObject({ command: "cleanup", ...params });
  });

  it.each([
    [{ command: "enter", target: {}, params: USER }, 40005],
    [{ command: "setup", target: {}, params: { user: "bosh_a" } }, 40001],
    [{ command: "cleanup", target: {}, params: USER }, 40001],
  ])("%j is refused", async (body, code) => {
    expect((await send(body)).json).toMatchObject({ code });
    expect(api.queued).toEqual([]);
  });
});

import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { AGENT } from "@slipway/testkit/certificates";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import type { ActionCall } from "./action.ts";
import { apply } from "./apply.ts";
import { drain } from "./drain.ts";
import { getState } from "./get_state.ts";
import { runScript } from "./run_script.ts";
import { ssh } from "./ssh.ts";
import { updateSettings } from "./update_settings.ts";

let world: FakeWorld;
let call: ActionCall;

beforeEach(async () => {
  world = await fakeWorld();
  call = { services: world.services, protocol: 3, signal: new AbortController().signal };
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

const network = { type: "manual", ip: "10.0.0.5", cloud_properties: { net: "n" }, dns_record_name: "0.node" };
const spec = {
  deployment: "shop",
  name: "api",
  index: 0,
  id: "6f2f",
  az: "z1",
  networks: { private: network },
};

describe("get_state", () => {
  test("has empty maps for a fresh VM, never null, and nothing that was not applied", async () => {
    const state = await getState({}, call);
    expect(state).toMatchObject({
      job_state: "running",
      agent_id: "agent-1",
      vm: { name: "vm-1" },
      index: null,
      networks: {},
      packages: {},
      resource_pool: {},
      rendered_templates_archive: null,
      job: { name: null, templates: null },
    });
    expect(state).not.toHaveProperty("vitals");
    expect(state).not.toHaveProperty("processes");
  });

  test("has vitals only when asked for the full state", async () => {
    expect(await getState({ filter: "full" }, call)).toHaveProperty("vitals");
    expect(await getState({ filter: "other" }, call)).not.toHaveProperty("vitals");
  });

  test("echoes networks as they were applied, unknown keys included", async () => {
    await apply({ spec: spec as never }, call);
    const state = (await getState({}, call)) as { networks: JsonObject };
    expect(state.networks.private).toEqual(network);
  });
});

describe("apply", () => {
  test("stores the specification and writes the instance files readable for all users", async () => {
    expect(await apply({ spec: spec as never }, call)).toBe("applied");
    const { instanceDir } = world.services.paths;
    expect(await readFile(join(instanceDir, "deployment"), "utf8")).toBe("shop");
    expect((await stat(join(instanceDir, "id"))).mode & 0o777).toBe(0o644);
    expect(world.spec?.name).toBe("api");
  });

  test("refuses a network the VM was not created with, and changes nothing", async () => {
    await expect(apply({ spec: { ...spec, networks: { other: {} } } as never }, call)).rejects.toThrow(
      "Network 'other' is not found in settings",
    );
    expect(world.spec).toBeUndefined();
  });

  test("fills in what a dynamic network got, and leaves its other keys", async () => {
    await rm(world.services.paths.base, { recursive: true });
    world = await fakeWorld({ agent_id: "agent-1", networks: { dyn: { type: "dynamic" } } } as never);
    await apply(
      { spec: { networks: { dyn: { type: "dynamic", keep: 1 } } } as never },
      { ...call, services: world.services },
    );
    expect(world.spec?.networks?.dyn).toMatchObject({ ip: "10.9.9.9", gateway: "10.9.9.1", keep: 1 });
  });

  test("takes the given address of a preconfigured network, not that of the default route", async () => {
    await rm(world.services.paths.base, { recursive: true });
    const dyn = { type: "dynamic", ip: "127.254.1.2", preconfigured: true };
    world = await fakeWorld({ agent_id: "agent-1", networks: { dyn } } as never);
    await apply(
      { spec: { networks: { dyn: { type: "dynamic", keep: 1 } } } as never },
      { ...call, services: world.services },
    );
    expect(world.spec?.networks?.dyn).toMatchObject({ ip: "127.254.1.2", keep: 1 });
  });

  test("takes create-env's first specification, whose archive is named by empty strings", async () => {
    const first = {
      ...spec,
      configuration_hash: "unused-configuration-hash",
      rendered_templates_archive: { blobstore_id: "", sha1: "" },
    };
    expect(await apply({ spec: first as never }, call)).toBe("applied");
  });
});

describe("drain", () => {
  test("is done at once without jobs; before a shutdown it publishes an alert", async () => {
    expect(await drain({ type: "update", spec: spec as never }, call)).toBe(0);
    expect(world.published).toEqual([]);
    expect(await drain({ type: "shutdown" }, call)).toBe(0);
    expect(world.published).toEqual([{ topic: "shutdown", payload: null }]);
  });

  test("refuses invalid requests", async () => {
    await expect(drain({ type: "update" }, call)).rejects.toThrow("Drain update requires new spec");
    await expect(drain({ type: "status" }, call)).rejects.toThrow("Unexpected call with drain type 'status'");
  });
});

test("run_script without jobs succeeds, and a path is not a script", async () => {
  expect(await runScript({ script: "pre-start", options: {} }, call)).toEqual({});
  await expect(runScript({ script: "../../x", options: {} }, call)).rejects.toThrow("without a path");
});

describe("ssh", () => {
  test("sets a user up and says how to reach and recognise the VM", async () => {
    const params = { user: "bosh_a", public_key: "ssh-rsa AAAA" };
    expect(await ssh({ command: "setup", params }, call)).toEqual({
      command: "setup",
      status: "success",
      ip: "10.0.0.5",
      host_public_key: "ssh-rsa AAAA host",
    });
    expect(world.told).toContainEqual({
      what: "createSshUser",
      args: ["bosh_a", "ssh-rsa AAAA", "10.0.0.5"],
    });
  });

  test("refuses other commands and invalid patterns", async () => {
    await expect(ssh({ command: "x", params: {} }, call)).rejects.toThrow("Unknown command for SSH method");
    await expect(ssh({ command: "cleanup", params: { user_regex: "(" } }, call)).rejects.toThrow(
      "regular expression",
    );
  });
});

describe("update_settings", () => {
  const pem = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----`;

  test("replaces the trusted certificates, also by an empty list, and drops comments between them", async () => {
    await updateSettings({ settings: { trusted_certs: `junk\n${pem("A")}\nmore\n${pem("B")}\n` } }, call);
    await updateSettings({ settings: {} }, call);
    const given = world.told
      .filter(({ what }) => what === "setTrustedCertificates")
      .map(({ args }) => args[0]);
    expect(given).toEqual([[pem("A"), pem("B")], []]);
  });

  const cert = { ca: AGENT.ca, certificate: AGENT.certificate, private_key: AGENT.privateKey };

  test("takes up new credentials of the bus while it runs, and does nothing for the same ones", async () => {
    let reconnects = 0;
    const reconnect = async () => ++reconnects > 0;
    const own = { ...call, services: { ...world.services, reconnect } };
    for (let time = 0; time < 2; time++) await updateSettings({ settings: { mbus: { cert } } as never }, own);
    expect(reconnects).toBe(1);
    expect(world.restarts).toEqual([]);
  });

  test("restarts the agent for another bus", async () => {
    await updateSettings({ settings: { mbus: { cert, urls: ["nats://elsewhere"] } } as never }, call);
    expect(world.restarts).toHaveLength(1);
  });

  test("does not store credentials that are of no use", async () => {
    const settings = { mbus: { cert: { ...cert, private_key: "k" } } };
    await expect(updateSettings({ settings } as never, call)).rejects.toThrow("cannot be used");
    expect(world.services.settings.updates()).toEqual({});
  });

  test("fails for a disk association without an attached disk", async () => {
    const settings = { disk_associations: [{ name: "d", cid: "vol-9" }] };
    await expect(updateSettings({ settings }, call)).rejects.toThrow("vol-9");
  });
});

import { readExample } from "@slipway/testkit/wire-examples";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { cpiContext } from "../cpi/context.ts";
import { createVm } from "../cpi/methods/create_vm.ts";
import { agentSettings, updateSettings } from "../settings/agent-settings.ts";
import { diskHintWire } from "../settings/disk-hint.ts";
import { env } from "../settings/env.ts";
import { persistentDiskHints } from "../settings/persistent-disk-hints.ts";
import { registryUserData } from "../settings/user-data.ts";
import { json, open, openWith } from "./json.ts";
import { hidden, type Schema, secret } from "./marks.ts";
import { REDACTED, redact, secretsIn } from "./redact.ts";

const shown = (schema: Schema, value: unknown) => JSON.stringify(redact(schema, value));

let count = 0;
const canary = () => `canary-${++count}-${"x".repeat(8)}`;

const iscsi = () => ({ initiator_name: "iqn.1", username: "chap", target: "10.0.0.9", password: canary() });
const blobstore = () => ({
  provider: "dav",
  options: {
    endpoint: `https://agent:${canary()}@10.0.0.4`,
    password: canary(),
    tls: { private_key: canary() },
  },
});
const planted = () => ({
  agent_id: "agent-shown",
  vm: { name: "name-shown", secret_note: canary() },
  mbus: `https://mbus-user:${canary()}@0.0.0.0:6868`,
  ntp: ["ntp-shown"],
  blobstore: blobstore(),
  networks: {
    berth: { type: "manual", ip: "10.20.1.17", cloud_properties: { token: canary(), deep: [canary()] } },
  },
  disks: {
    system: "/dev/sda",
    ephemeral: "/dev/sdb",
    persistent: {
      "disk-shown": { iscsi_settings: { ...iscsi(), chap_secret: canary() }, vendor_key: canary() },
    },
  },
  env: {
    mine: { password: canary() },
    persistent_disk_fs: "xfs",
    bosh: {
      password: canary(),
      mbus: {
        urls: [`nats://u:${canary()}@host-hidden:4222`],
        cert: { ca: "ca-shown", private_key: canary() },
      },
      blobstores: [blobstore()],
      group: "group-shown",
      groups: ["groups-shown"],
      tags: { team: "tag-shown" },
      anything: canary(),
    },
  },
  unknown_key: canary(),
});

const SHOWN = [
  "agent-shown",
  "name-shown",
  "ntp-shown",
  "dav",
  "10.20.1.17",
  "/dev/sda",
  "/dev/sdb",
  "disk-shown",
].concat(["iqn.1", "xfs", "ca-shown", "group-shown", "groups-shown", "tag-shown"]);

describe("redacted agent settings", () => {
  it("show no secret, wherever one was planted, and everything else", () => {
    const text = shown(agentSettings, planted());
    expect(text).not.toContain("canary");
    for (const part of SHOWN) expect(text).toContain(part);
  });

  it("keep the names of what was hidden", () => {
    expect(redact(agentSettings, planted())).toMatchObject({
      mbus: REDACTED,
      networks: { berth: { cloud_properties: { token: REDACTED, deep: REDACTED } } },
      blobstore: { options: { endpoint: REDACTED, password: REDACTED, tls: REDACTED } },
      env: { mine: { password: REDACTED }, bosh: { password: REDACTED, anything: REDACTED } },
      unknown_key: REDACTED,
    });
  });

  it("leave the settings themselves as they were", () => {
    const value = planted();
    const before = structuredClone(value);
    redact(agentSettings, value);
    expect(value).toEqual(before);
  });
});

describe("redacted parts", () => {
  const args = Object.fromEntries(createVm.args.map((argument) => [argument.name, argument.schema]));

  it("redacted create_vm arguments show ids, addresses, groups and tags but no canary", () => {
    const settings = planted();
    expect(redact(args.agent_id as Schema, "agent-1")).toBe("agent-1");
    expect(shown(args.cloud_properties as Schema, { key: canary(), list: [canary()] })).not.toContain(
      "canary",
    );
    const networks = shown(args.networks as Schema, settings.networks);
    expect(networks).toContain("10.20.1.17");
    expect(networks).not.toContain("canary");
    const text = shown(args.env as Schema, settings.env);
    for (const part of ["group-shown", "groups-shown", "tag-shown"]) expect(text).toContain(part);
    expect(text).not.toContain("canary");
  });

  it("a redacted context shows the caller and the VM, and nothing of the CPI config", () => {
    const context = {
      director_uuid: "uuid-shown",
      request_id: "cpi-123456",
      vm: { stemcell: { api_version: 2 }, disks: { persistent: { "disk-1": { iscsi_settings: iscsi() } } } },
      access_key: canary(),
      endpoint: `https://u:${canary()}@host`,
      nested: { deep: [{ password: canary() }] },
      text: canary(),
    };
    expect(redact(cpiContext, context)).toEqual({
      director_uuid: "uuid-shown",
      request_id: "cpi-123456",
      vm: {
        stemcell: { api_version: 2 },
        disks: {
          persistent: {
            "disk-1": {
              iscsi_settings: {
                initiator_name: "iqn.1",
                username: "chap",
                target: "10.0.0.9",
                password: REDACTED,
              },
            },
          },
        },
      },
      access_key: REDACTED,
      endpoint: REDACTED,
      nested: { deep: REDACTED },
      text: REDACTED,
    });
  });

  it("redacted hints, stored hints, user-data and updates hide passwords and endpoints", () => {
    expect(shown(diskHintWire, { iscsi_settings: iscsi() })).not.toContain("canary");
    expect(
      shown(persistentDiskHints, readExample("settings/persistent-disk-hints.iscsi.json")),
    ).not.toContain("not-a-real");
    const endpoint = { registry: { endpoint: `http://u:${canary()}@host` }, server: { name: "name-shown" } };
    expect(shown(registryUserData, endpoint)).toBe(
      '{"registry":{"endpoint":"<redacted>"},"server":{"name":"name-shown"}}',
    );
    const update = { blobstores: [blobstore()], mbus: { urls: [canary()], cert: { private_key: canary() } } };
    expect(shown(updateSettings, update)).not.toContain("canary");
  });

  it("values that do not fit the schema are redacted whole", () => {
    const schema = open({
      name: v.string(),
      kind: v.picklist(["a"]),
      list: v.array(v.string()),
      one: v.union([v.string(), v.number()]),
    });
    const odd = { name: ["canary"], kind: "canary", list: "canary", one: { canary: "canary" } };
    expect(redact(schema, odd)).toEqual({ name: REDACTED, kind: REDACTED, list: REDACTED, one: REDACTED });
    expect(redact(schema, "canary")).toBe(REDACTED);
    expect(redact(v.strictTuple([v.string()]), ["a", "canary"])).toEqual(["a", REDACTED]);
  });

  it("absent values stay absent, so that readers can see it", () => {
    const schema = open({ a: v.optional(v.nullable(secret(v.string()))), b: hidden(json()) });
    expect(redact(schema, { a: null, b: null })).toEqual({ a: null, b: null });
    expect(redact(schema, {})).toEqual({});
  });

  it("keys with names of prototypes set no prototype", () => {
    const value = JSON.parse('{"__proto__":{"polluted":"canary"},"constructor":"canary"}') as unknown;
    for (const schema of [cpiContext, agentSettings, diskHintWire, openWith({}, hidden(json()))]) {
      const out = redact(schema, value) as { polluted?: unknown };
      expect(out.polluted).toBeUndefined();
      expect(JSON.stringify(out)).not.toContain("canary");
    }
  });
});

describe("the secrets in a value", () => {
  it("are those of the schema, and the passwords inside URLs on their own", () => {
    const value = planted();
    const found = secretsIn(agentSettings, value);
    expect(found).toContain(value.env.bosh.password);
    expect(found).toContain(value.env.bosh.mbus.cert.private_key);
    expect(found).toContain(value.mbus);
    expect(found).toContain(value.mbus.slice("https://mbus-user:".length, -"@0.0.0.0:6868".length));
    expect(found).toContain(value.disks.persistent["disk-shown"].iscsi_settings.password);
  });

  it("are also what no schema knows, when its name says credential or it is a URL with a password", () => {
    const value = planted();
    const found = secretsIn(agentSettings, value);
    const { options } = value.blobstore;
    expect(found).toContain(options.password);
    expect(found).toContain(options.tls.private_key);
    expect(found).toContain(options.endpoint.slice("https://agent:".length, -"@10.0.0.4".length));
    expect(found).toContain(value.networks.berth.cloud_properties.token);
    expect(found).toContain(value.env.mine.password);
    expect(found).toContain(value.vm.secret_note);
    expect(found).toContain(value.disks.persistent["disk-shown"].iscsi_settings.chap_secret);
  });

  it.each(
    [
      "password",
      "admin_password",
      "password_hash",
      "passwd",
      "db_pass",
      "secret_access_key",
      "access_key_id",
    ].concat([
      "api_key",
      "apikey",
      "json_key",
      "account_key",
      "ssh-key",
      "auth_token",
      "client_secret",
      "credentials_json",
    ]),
  )("are found under the name %s in a CPI config", (name) => {
    expect(secretsIn(cpiContext, { director_uuid: "d", [name]: "canary-1" })).toEqual(["canary-1"]);
    expect(secretsIn(cpiContext, { director_uuid: "d", a: [{ [name]: ["canary-1"] }] })).toEqual([
      "canary-1",
    ]);
  });

  it("are as written and as meant where a URL escapes them", () => {
    const found = secretsIn(secret(v.string()), "http://user:p%40ss%2Fword@host:25777");
    expect(found).toEqual(expect.arrayContaining(["p%40ss%2Fword", "p@ss/word"]));
    expect(secretsIn(secret(v.string()), "http://user:100%zz@host")).toContain("100%zz");
  });

  it("are not plain words of a configuration, which would blot out a log", () => {
    const found = secretsIn(env, {
      bosh: { blobstores: [{ provider: "dav", options: { user: "agent", password: "canary-1" } }] },
    });
    expect(found).toEqual(["canary-1"]);
    const context = {
      director_uuid: "director-1",
      endpoint: "https://iaas.example",
      region: "east",
      key_name: "default",
    };
    expect(secretsIn(cpiContext, context)).toEqual([]);
  });

  it("are not texts too short to be looked for", () => {
    expect(secretsIn(secret(v.string()), "abc")).toEqual([]);
    expect(secretsIn(secret(v.string()), "abcd")).toEqual(["abcd"]);
  });

  it("are found where the value does not fit its schema", () => {
    expect(secretsIn(agentSettings, { env: { bosh: { password: ["canary-1"] } } })).toEqual(["canary-1"]);
    expect(secretsIn(agentSettings, ["x", { password: "canary-2" }])).toEqual(["canary-2"]);
    expect(secretsIn(diskHintWire, { lun: 7, iscsi_settings: { password: "canary-3" } })).toEqual([
      "canary-3",
    ]);
  });

  it("are found at any depth, without exhausting the stack", () => {
    let deep: unknown = { password: "canary-1" };
    for (let i = 0; i < 100_000; i++) deep = i % 2 === 0 ? [deep] : { x: deep };
    const context = { director_uuid: "d", deep };
    expect(secretsIn(cpiContext, context)).toEqual(["canary-1"]);
    expect(secretsIn(cpiContext, { director_uuid: "d", password: deep })).toEqual(["canary-1"]);
    expect(redact(cpiContext, context)).toMatchObject({ director_uuid: "d" });
  });
});

describe("every kind of object schema", () => {
  const field = { password: secret(v.string()), name: v.string() };
  const kinds: Record<string, Schema> = {
    object: v.object(field),
    strictObject: v.strictObject(field),
    looseObject: v.looseObject(field),
    objectWithRest: v.objectWithRest(field, hidden(json())),
    "strict inside optional": v.optional(v.strictObject(field)),
  };
  it.each(Object.entries(kinds))("hides what is secret in it: %s", (_, schema) => {
    const text = shown(schema, { name: "shown", password: "canary-in-a-kind" });
    expect(text).toContain("shown");
    expect(text).not.toContain("canary");
  });

  it("refuses a kind whose parts it does not know, rather than show it whole", () => {
    const untaught = v.intersect([v.object(field), v.object({})]);
    expect(() => redact(untaught, { name: "n", password: "canary" })).toThrow(/nobody taught/);
  });
});

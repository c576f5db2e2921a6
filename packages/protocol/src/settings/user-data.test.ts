import { arbitraryFor, mutated } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutNulls } from "../schema/without-nulls.ts";
import { type AgentSettings, agentSettings } from "./agent-settings.ts";
import {
  encodeUserData,
  parseUserData,
  type RegistryUserData,
  readUserData,
  registryUserData,
} from "./user-data.ts";

const SETTINGS = {
  agent_id: "agent-1",
  vm: { name: "größe" },
  disks: { system: "/dev/sda", persistent: {} },
};
const REGISTRY = { registry: { endpoint: "http://registry:fake@10.0.0.4:25777" } };
const base64url = (text: string) => Buffer.from(text, "utf8").toString("base64url");

describe("user-data", () => {
  it("reads user-data with an agent id as settings, even beside a registry", () => {
    expect(readUserData(SETTINGS)).toEqual({ ok: true, userData: { form: "settings", settings: SETTINGS } });
    const both = { ...SETTINGS, ...REGISTRY };
    expect(readUserData(both)).toEqual({ ok: true, userData: { form: "settings", settings: both } });
  });

  it.each([[{}], [{ agent_id: "" }], [{ agent_id: null }]])(
    "user-data with %j and an endpoint leads to the registry",
    (id) => {
      const value = { ...id, ...REGISTRY };
      const userData = withoutNulls(value);
      expect(readUserData(value)).toEqual({ ok: true, userData: { form: "registry", userData } });
    },
  );

  it.each([[null], [[]], ["agent-1"], [7], [undefined]])("rejects user-data that is %j", (value) => {
    expect(readUserData(value)).toMatchObject({ ok: false });
  });

  it("rejects user-data without agent id and registry, naming both", () => {
    expect(readUserData({ server: { name: "vm-1" } })).toEqual({
      ok: false,
      problems: [
        "user-data has neither an agent_id nor a registry endpoint",
        "user-data.registry: it is missing",
      ],
    });
  });

  it("judges user-data with an agent id as settings, even if they are broken", () => {
    const broken = { ...REGISTRY, agent_id: "agent-1", disks: { system: { path: "/dev/sda" } } };
    expect(readUserData(broken)).toEqual({
      ok: false,
      problems: ["user-data.disks.system: expected string, got an object"],
    });
  });

  it("shows no secret when it rejects user-data", () => {
    const broken = {
      ...SETTINGS,
      mbus: { url: "https://user:canary-1@host" },
      env: { bosh: { password: ["canary-2"] } },
    };
    const read = readUserData(broken);
    expect(JSON.stringify(read)).not.toContain("canary");
    expect(read.ok).toBe(false);
  });
});

describe("user-data as a metadata service serves it", () => {
  const text = JSON.stringify(SETTINGS);
  const wanted = { ok: true, userData: { form: "settings", settings: SETTINGS } };

  it.each([
    ["JSON", text],
    ["JSON with space around", `\n ${text}\n`],
    ["URL-safe base64 without padding", base64url(text)],
    ["the same in quotes", `"${base64url(text)}"`],
    ["the same with a line end", `${base64url(text)}\n`],
  ])("is read from %s", (_, source) => {
    expect(parseUserData(source)).toEqual(wanted);
  });

  it.each([1, 2, 3, 4, 5, 6])("is read from base64 of every length, such as %i more", (n) => {
    const longer = { ...SETTINGS, vm: { name: "x".repeat(n) } };
    expect(parseUserData(base64url(JSON.stringify(longer)))).toMatchObject({ ok: true });
  });

  it.each([
    ["nothing", ""],
    ["quotes with nothing in them", '""'],
    ["some text", "#!/bin/sh"],
    ["a length that is no base64", "abcde"],
    ["base64 of no JSON", base64url("plain text")],
    ["base64 with padding, which an agent refuses", Buffer.from('{"a":1}').toString("base64")],
    ["JSON that is no object", "42"],
    ["a JSON text", '"agent-1"'],
    ["binary", "\u0000\ufffd{"],
  ])("is refused when it is %s", (_, source) => {
    expect(parseUserData(source)).toEqual({
      ok: false,
      problems: ["user-data is neither JSON nor URL-safe base64 of JSON"],
    });
  });

  it("rejects a list and names the type", () => {
    expect(parseUserData("[]")).toEqual({
      ok: false,
      problems: ["user-data is an object, got an array of 0"],
    });
  });

  it("reads or rejects any text without throwing", () => {
    const source = fc.oneof(fc.string(), fc.base64String(), fc.stringMatching(/^[\w-]{0,40}$/), fc.json());
    fc.assert(
      fc.property(source, (served) => {
        expect(parseUserData(served)).toHaveProperty("ok");
      }),
      { numRuns: tries(500) },
    );
  });

  it("comes back from encoding as it was, plain and in base64", () => {
    const registry = arbitraryFor(registryUserData).filter((value) => !("agent_id" in (value as object)));
    const form = fc.oneof(
      arbitraryFor(agentSettings)
        .map(withoutNulls)
        .map((settings) => ({
          form: "settings" as const,
          settings: settings as AgentSettings,
        })),
      registry
        .map(withoutNulls)
        .map((userData) => ({ form: "registry" as const, userData: userData as RegistryUserData })),
    );
    fc.assert(
      fc.property(form, (userData) => {
        const encoded = encodeUserData(userData);
        expect(parseUserData(encoded)).toEqual({ ok: true, userData });
        expect(parseUserData(base64url(encoded))).toEqual({ ok: true, userData });
      }),
    );
  });

  it("spoiled is read or refused with a reason", () => {
    fc.assert(
      fc.property(arbitraryFor(agentSettings).chain(mutated), (value) => {
        const read = readUserData(value);
        if (!read.ok) expect(read.problems.length).toBeGreaterThan(0);
      }),
    );
  });
});

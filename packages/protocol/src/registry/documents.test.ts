import { describe, expect, it } from "vitest";
import { matches } from "../schema/check.ts";
import { redact, secretsIn } from "../schema/redact.ts";
import { REGISTRY_PORT, registrySettingsReply, registryStatusReply, settingsPath } from "./documents.ts";

describe("the registry", () => {
  it("has the settings of an instance under its name, however odd that is", () => {
    expect(settingsPath("vm-1")).toBe("/instances/vm-1/settings");
    expect(settingsPath("../a b/ü?#")).toBe("/instances/..%2Fa%20b%2F%C3%BC%3F%23/settings");
    expect(REGISTRY_PORT).toBe(25777);
  });

  it("replies with settings only when all is well", () => {
    expect(matches(registrySettingsReply, { status: "ok", settings: "{}" })).toBe(true);
    expect(matches(registrySettingsReply, { status: "error", settings: "{}" })).toBe(false);
    expect(matches(registrySettingsReply, { status: "ok" })).toBe(false);
    expect(matches(registryStatusReply, { status: "ok" })).toBe(true);
    expect(matches(registryStatusReply, { status: "fine" })).toBe(false);
  });

  it("settings in a reply are never shown", () => {
    const reply = { status: "ok", settings: '{"mbus":"canary-1"}' };
    expect(redact(registrySettingsReply, reply)).toEqual({ status: "ok", settings: "<redacted>" });
    expect(secretsIn(registrySettingsReply, reply)).toContain(reply.settings);
  });
});

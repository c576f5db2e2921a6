import { describe, expect, it } from "vitest";
import type { Given } from "../command.ts";
import { gatewayFlags } from "./gateway.ts";

const given = (texts: Readonly<Record<string, string>>, flags: readonly string[] = []): Given => ({
  argument: () => undefined,
  argumentsFrom: () => [],
  text: (name) => texts[name],
  texts: () => [],
  flag: (name) => flags.includes(name),
});
const HOST = { "gw-host": "jump", "gw-user": "me" };
const ENV = { BOSH_GW_HOST: "other", BOSH_GW_USER: "them", BOSH_GW_PRIVATE_KEY: "/keys/it" };

describe("a way through another host", () => {
  it("is none without one, or when it is switched off", () => {
    expect(gatewayFlags(given({}), {})).toEqual([]);
    expect(gatewayFlags(given(HOST, ["gw-disable"]), {})).toEqual([]);
    expect(gatewayFlags(given(HOST), { BOSH_GW_DISABLE: "true" })).toEqual([]);
  });

  it("is what was typed, else what the environment says", () => {
    const [, typed] = gatewayFlags(given(HOST), ENV);
    expect(typed).toMatch(/^ProxyCommand=ssh -W \[%h\]:%p .*-l 'me' -- 'jump'$/);
    expect(typed).toContain("-o 'IdentityFile=/keys/it'");
    expect(gatewayFlags(given({}), ENV)[1]).toMatch(/-l 'them' -- 'other'$/);
  });

  it("is a host and a name, and nothing that ssh or a shell reads", () => {
    const odd = { "gw-host": "-oProxyCommand=x", "gw-user": "$(id)'%h", "gw-private-key": "/a b" };
    const [, flag] = gatewayFlags(given(odd), {});
    expect(flag).toMatch(/ -l '\$\(id\)'\\''%%h' -- '-oProxyCommand=x'$/);
    expect(flag).toContain("-o 'IdentityFile=/a b'");
  });

  it("needs a name", () => {
    expect(() => gatewayFlags(given({ "gw-host": "jump" }), {})).toThrow("--gw-host needs --gw-user");
  });
});

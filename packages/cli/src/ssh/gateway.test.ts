import { describe, expect, it } from "vitest";
import type { Given } from "../command.ts";
import { toldGateway, typedGateway } from "./gateway.ts";

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
    expect(typedGateway(given({}), {})).toBeUndefined();
    expect(typedGateway(given(HOST, ["gw-disable"]), {})).toEqual([]);
    expect(typedGateway(given(HOST), { BOSH_GW_DISABLE: "true" })).toEqual([]);
  });

  it("is what was typed, else what the environment says", () => {
    const [, typed] = typedGateway(given(HOST), ENV) ?? [];
    expect(typed).toMatch(/^ProxyCommand=ssh -W \[%h\]:%p .*-l 'me' -- 'jump'$/);
    expect(typed).toContain("-o 'IdentityFile=/keys/it'");
    expect(typedGateway(given({}), ENV)?.[1]).toMatch(/-l 'them' -- 'other'$/);
  });

  it("is a host and a name, and nothing that ssh or a shell reads", () => {
    const odd = { "gw-host": "-oProxyCommand=x", "gw-user": "$(id)'%h", "gw-private-key": "/a b" };
    const [, flag] = typedGateway(given(odd), {}) ?? [];
    expect(flag).toMatch(/ -l '\$\(id\)'\\''%%h' -- '-oProxyCommand=x'$/);
    expect(flag).toContain("-o 'IdentityFile=/a b'");
  });

  it("needs a name", () => {
    expect(() => typedGateway(given({ "gw-host": "jump" }), {})).toThrow("--gw-host needs --gw-user");
  });
});

it.each([
  [{}, []],
  [{ gateway_host: null, gateway_user: null }, []],
  [{ gateway_host: "jump.example" }, ["-o", "ProxyJump=vcap@jump.example"]],
  [{ gateway_host: "10.0.0.6", gateway_user: "jumpbox" }, ["-o", "ProxyJump=jumpbox@10.0.0.6"]],
  [{ gateway_host: "fd00::6", gateway_user: "jumpbox" }, ["-o", "ProxyJump=jumpbox@[fd00::6]"]],
  [{ gateway_host: "-oProxyCommand=x" }, "bad"],
  [{ gateway_host: "a b" }, "bad"],
  [{ gateway_host: "jump,other" }, "bad"],
  [{ gateway_host: "jump", gateway_user: "-l" }, "bad"],
  [{ gateway_host: "jump", gateway_user: "a$(b)" }, "bad"],
])("the gateway %j that the Director names is %j for ssh", (told, flags) => {
  expect(toldGateway(told)).toEqual(flags);
});

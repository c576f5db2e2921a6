import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { describe, expect, it } from "vitest";
import type { TypedInput } from "../command.ts";
import { AllProxy } from "../proxy/all-proxy.ts";
import type { SlipwayPrograms } from "../tools.ts";
import { gatewayOptions, socksGateway, typedGateway } from "./gateway.ts";

const given = (texts: Readonly<Record<string, string>>, flags: readonly string[] = []): TypedInput => ({
  argument: () => undefined,
  argumentsFrom: () => [],
  text: (name) => texts[name],
  texts: () => [],
  flag: (name) => flags.includes(name),
});
const HOST = { "gw-host": "jump", "gw-user": "me" };
const ENV = { BOSH_GW_HOST: "other", BOSH_GW_USER: "them", BOSH_GW_PRIVATE_KEY: "/keys/it" };

describe("a way through another host", () => {
  it("is absent without one, or when it is switched off", () => {
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

describe("a way through a SOCKS5 proxy", () => {
  const through = (texts: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) => {
    const proxy = new AllProxy({ env, clock: systemClock, random: systemRandom });
    const programs = { self: ["/opt/no de", "/opt/slipway.cjs"] } as unknown as SlipwayPrograms;
    return socksGateway(given(texts, ["gw-disable"]), { env, proxy, programs });
  };

  it("is what was typed, else what the environment says, and none where it is typed empty", async () => {
    const env = { BOSH_ALL_PROXY: "socks5://other:1080" };
    const call = "ProxyCommand='/opt/no de' '/opt/slipway.cjs' '__through-socks5'";
    expect(await through({ "gw-socks5": "mine:9" }, env)).toEqual({
      flags: ["-o", `${call} 'socks5://mine:9' %h %p`],
      env: {},
    });
    expect((await through({}, env))?.flags[1]).toBe(`${call} 'socks5://other:1080' %h %p`);
    expect(await through({ "gw-socks5": "" }, env)).toBeUndefined();
    expect(await through({})).toBeUndefined();
  });

  it("has its password in the environment alone, and nothing that ssh or a shell reads", async () => {
    const { flags = [], env = {} } =
      (await through({ "gw-socks5": "socks5://a%20%27b:CANARY@[::1]:9" })) ?? {};
    expect(flags[1]).toContain(" 'socks5://a%%20'\\''b@[::1]:9' %h %p");
    expect(flags.join(" ")).not.toContain("CANARY");
    expect(Object.values(env)).toEqual(["CANARY"]);
  });

  it("is named by its option if it is invalid", async () => {
    await expect(through({ "gw-socks5": "http://x" })).rejects.toThrow(
      "--gw-socks5 (BOSH_ALL_PROXY) cannot be used",
    );
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
  expect(gatewayOptions(told)).toEqual(flags);
});

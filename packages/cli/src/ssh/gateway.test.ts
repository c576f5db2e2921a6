import { expect, it } from "vitest";
import { gatewayFlags } from "./gateway.ts";

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
])("the gateway %j is %j for ssh", (told, flags) => {
  expect(gatewayFlags(told)).toEqual(flags);
});

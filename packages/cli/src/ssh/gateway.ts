import type { SshAnswer } from "@slipway/protocol/director/ssh";

const HOST = /^[A-Za-z0-9][A-Za-z0-9.:_-]*$/;
const USER = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;

/**
 * Through which host the Director says that VMs are reached: what ssh is told of it. It asks there with the keys and the
 * known hosts of whoever calls us. `bad`: it could be an option, or a part of one.
 */
export function gatewayFlags({
  gateway_host: host,
  gateway_user: user,
}: Pick<SshAnswer, "gateway_host" | "gateway_user">): readonly string[] | "bad" {
  if (host === undefined || host === null || host === "") return [];
  const name = user === undefined || user === null || user === "" ? "vcap" : user;
  if (!HOST.test(host) || !USER.test(name)) return "bad";
  return ["-o", `ProxyJump=${name}@${host.includes(":") ? `[${host}]` : host}`];
}

import { isIP } from "node:net";
import { messageTrail } from "@slipway/kernel/errors";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { sshAnswer } from "@slipway/protocol/director/ssh";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { pathSegment } from "../api/request-path.ts";
import { ENV_NAME, type EnvAgent } from "../create-env/agents/at-endpoint.ts";
import { slug } from "../states/slug.ts";
import { SshRefused } from "./errors.ts";
import { gatewayOptions } from "./gateway.ts";
import type { Host } from "./session.ts";

export const SSH_PORT = 22;

/** A host that is known by its key. */
export interface KnownHost extends Host {
  readonly hostKey: string;
}

/** Makes users in VMs, and removes them. */
export interface SshUsers {
  setUp(user: string, publicKey: string): Promise<readonly KnownHost[]>;
  cleanUp(userRegex: string): Promise<unknown>;
}

export function sshUsersOfDirector(
  asked: string | undefined,
  deployment: string,
  api: DirectorApi,
): SshUsers {
  const to = asked === undefined ? undefined : slug(asked);
  const ids = to?.id === undefined ? [] : [to.id];
  const target = { ...(to === undefined ? {} : { job: to.group }), ids, indexes: ids };
  const begin = (command: string, params: object, last = false) =>
    api.begin({
      last,
      method: "POST",
      path: `/deployments/${pathSegment(deployment)}/ssh`,
      contentType: "application/json",
      body: JSON.stringify({ command, deployment_name: deployment, target, params }),
    });
  return {
    setUp: async (user, publicKey) => {
      const task = await begin("setup", { user, public_key: publicKey });
      await api.follow(task, { quiet: true });
      return foundIn(await api.output(task, "result"));
    },
    /** Does not wait for the task's end, as upstream. */
    cleanUp: (userRegex) => begin("cleanup", { user_regex: userRegex }, true),
  };
}

/** The agent of create-env's VM, without a Director. */
export const sshUsersOfAgent = (agent: Pick<EnvAgent, "sshSetup" | "sshCleanup">): SshUsers => ({
  setUp: async (user, publicKey) => {
    const { ip, port = SSH_PORT, hostPublicKey } = await agent.sshSetup(user, publicKey);
    return [{ ...believed(ENV_NAME, ip, hostPublicKey), port, through: [] }];
  },
  cleanUp: (userRegex) => agent.sshCleanup(userRegex),
});

const HOST_KEY = /^[\w@.-]+ [\w+/=]+$/;

/** Checks that ssh gets an address and a key, and nothing that could be an option. */
function believed(name: string, ip: string, key: string) {
  // A comment behind the key is not needed.
  const hostKey = key.trim().split(" ").slice(0, 2).join(" ");
  if (isIP(ip) === 0 || !HOST_KEY.test(hostKey))
    throw SshRefused({ why: `${name} has no address or no key` });
  return { name, ip, hostKey };
}

function foundIn(result: string): readonly KnownHost[] {
  let document: unknown;
  try {
    document = parseStrictJson(result, "the result");
  } catch (cause) {
    throw SshRefused({ why: messageTrail(cause) }, { cause });
  }
  const checked = check(v.array(sshAnswer), document, "result");
  if (!checked.ok) throw SshRefused({ why: checked.problems.join("; ") });
  if (checked.value.length === 0) throw SshRefused({ why: "it names no VM" });
  return checked.value.map((answer) => {
    const { status, ip = "", host_public_key: key = "", port = SSH_PORT, job, id } = answer;
    const name = `${job}/${id}`;
    if (status !== "success") throw SshRefused({ why: `${name}: ${status}` });
    const through = gatewayOptions(answer);
    if (through === "bad") throw SshRefused({ why: "its gateway is no host, or its user there has no name" });
    return { ...believed(name, ip, key), port, through };
  });
}

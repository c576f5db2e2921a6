import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { CommandMissing, systemExec } from "@slipway/kernel/exec";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { sshAnswer } from "@slipway/protocol/director/ssh";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { piece } from "../api/request-path.ts";
import { slug } from "../states/slug.ts";
import type { Tools } from "../tools.ts";
import { NoSsh, NoWayIn } from "./errors.ts";
import { gatewayFlags } from "./gateway.ts";

/** One VM that can be entered. */
export interface Host {
  /** `web/6f1c`. */
  readonly name: string;
  readonly ip: string;
  readonly port: number;
  /** What ssh is told of the way there. */
  readonly through: readonly string[];
}

export interface Session {
  readonly user: string;
  readonly hosts: readonly Host[];
  /** What ssh and scp are told: who we are, and whom to believe. */
  flags(host: Host): readonly string[];
}

/** Makes a user with a key of its own in the VMs for as long as `work` takes. Nothing of it stays. */
export async function withSession<T>(
  asked: string | undefined,
  tools: Pick<Tools, "director" | "mustDeployment" | "random" | "ui">,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const deployment = tools.mustDeployment();
  const api = await tools.director();
  const dir = await mkdtemp(join(tmpdir(), "slipway-ssh-"));
  try {
    await chmod(dir, 0o700);
    const key = join(dir, "key");
    await makeKey(key);
    const user = `bosh_${tools.random.hex(8).slice(0, 15)}`;
    const order = orderOf(asked, deployment, api);
    try {
      const publicKey = await readFile(`${key}.pub`, "utf8");
      const hosts = await order.setUp({ user, public_key: publicKey });
      const known = join(dir, "known_hosts");
      await writeFile(known, hosts.map(knownLine).join(""), { mode: 0o600 });
      return await work({
        user,
        hosts,
        flags: ({ port, through }) => [...flagsOf(key, known, port), ...through],
      });
    } finally {
      await order
        .cleanUp({ user_regex: `^${user}` })
        .catch((error: unknown) => tools.ui.note(`The user ${user} was not removed: ${messageTrail(error)}`));
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function makeKey(path: string): Promise<void> {
  try {
    await systemExec("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "slipway", "-f", path]);
  } catch (cause) {
    if (CommandMissing.is(cause) || systemCode(cause) === "ENOENT") throw NoSsh({ program: "ssh-keygen" });
    throw cause;
  }
}

interface Found extends Host {
  readonly hostKey: string;
}

function orderOf(asked: string | undefined, deployment: string, api: DirectorApi) {
  const to = asked === undefined ? undefined : slug(asked);
  const ids = to?.id === undefined ? [] : [to.id];
  const target = { ...(to === undefined ? {} : { job: to.group }), ids, indexes: ids };
  const begin = (command: string, params: object, last = false) =>
    api.begin({
      last,
      method: "POST",
      path: `/deployments/${piece(deployment)}/ssh`,
      contentType: "application/json",
      body: JSON.stringify({ command, deployment_name: deployment, target, params }),
    });
  return {
    setUp: async (params: object): Promise<readonly Found[]> => {
      const task = await begin("setup", params);
      await api.follow(task, { quiet: true });
      return foundIn(await api.output(task, "result"));
    },
    /** As upstream, its end is not waited for. */
    cleanUp: (params: object) => begin("cleanup", params, true),
  };
}

const SSH_PORT = 22;
const HOST_KEY = /^[\w@.-]+ [\w+/=]+$/;

/** What is told to ssh is an address and a key, and nothing that could be an option. */
function foundIn(result: string): readonly Found[] {
  let document: unknown;
  try {
    document = parseStrictJson(result, "the result");
  } catch (cause) {
    throw NoWayIn({ why: messageTrail(cause) }, { cause });
  }
  const checked = check(v.array(sshAnswer), document, "result");
  if (!checked.ok) throw NoWayIn({ why: checked.problems.join("; ") });
  if (checked.value.length === 0) throw NoWayIn({ why: "it names no VM" });
  return checked.value.map((answer) => {
    const { status, ip = "", host_public_key: key = "", port = SSH_PORT, job, id } = answer;
    const name = `${job}/${id}`;
    if (status !== "success") throw NoWayIn({ why: `${name}: ${status}` });
    // A comment behind the key is not needed.
    const hostKey = key.trim().split(" ").slice(0, 2).join(" ");
    if (isIP(ip) === 0 || !HOST_KEY.test(hostKey)) throw NoWayIn({ why: `${name} has no address or no key` });
    const through = gatewayFlags(answer);
    if (through === "bad") throw NoWayIn({ why: "its gateway is no host, or its user there has no name" });
    return { name, ip, port, hostKey, through };
  });
}

const knownLine = ({ ip, port, hostKey }: Found): string =>
  `${port === SSH_PORT ? ip : `[${ip}]:${port}`} ${hostKey}\n`;

/** As upstream; nothing of the caller's own configuration counts. */
const flagsOf = (key: string, known: string, port: number): readonly string[] => [
  ...["-F", "none", "-i", key],
  ...[
    "ServerAliveInterval=30",
    "ForwardAgent=no",
    "PasswordAuthentication=no",
    "IdentitiesOnly=yes",
    `IdentityFile=${key}`,
    "StrictHostKeyChecking=yes",
    `UserKnownHostsFile=${known}`,
    `Port=${port}`,
    "LogLevel=ERROR",
  ].flatMap((option) => ["-o", option]),
];

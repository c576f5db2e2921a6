import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { CommandMissing, systemExec } from "@slipway/kernel/exec";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { vm } from "@slipway/protocol/director/instance";
import { sshAnswer } from "@slipway/protocol/director/ssh";
import { check } from "@slipway/protocol/schema/check";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { piece } from "../api/request-path.ts";
import type { Given, Option } from "../command.ts";
import { BadArgument, Contradiction } from "../parse/errors.ts";
import { slug } from "../states/slug.ts";
import type { Tools } from "../tools.ts";
import { NoSsh, NoVmMeant, NoWayIn } from "./errors.ts";
import { toldGateway, typedGateway } from "./gateway.ts";

/** One VM that can be entered. */
export interface Host {
  /** `web/6f1c`. */
  readonly name: string;
  readonly ip: string;
  readonly port: number;
  /** What ssh is told of the way there, unless somebody has typed another. */
  readonly through: readonly string[];
}

export interface Session {
  readonly user: string;
  readonly hosts: readonly Host[];
  /** What ssh and scp are told: who we are, and whom to believe. */
  flags(host: Host): readonly string[];
}

export type SessionTools = Pick<Tools, "director" | "mustDeployment" | "random" | "ui" | "env">;

/** With the key and the user that were typed, or with those of a session that is made for it. */
export async function withSession<T>(
  asked: string | undefined,
  given: Given,
  tools: SessionTools,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const typed = typedGateway(given, tools.env);
  const key = given.text("private-key");
  const session = (one: Session): Session => ({
    ...one,
    flags: (host) => [...one.flags(host), ...(typed ?? host.through)],
  });
  if (key !== undefined)
    return await work(session(await ownSession(asked, key, given.text("username"), tools)));
  if (given.text("username") !== undefined)
    throw Contradiction({ problem: "--username is the user of --private-key, which is not given" });
  return await withMadeSession(asked, tools, (made) => work(session(made)));
}

/** As upstream: nobody tells which key a VM has, so any is believed. */
async function ownSession(
  asked: string | undefined,
  key: string,
  user = "vcap",
  tools: SessionTools,
): Promise<Session> {
  // It stands where ssh would also read an option.
  if (!/^[A-Za-z_][\w.-]*$/.test(user)) throw BadArgument({ given: user, what: "the name of a user" });
  const deployment = tools.mustDeployment();
  const path = `/deployments/${piece(deployment)}/vms`;
  const vms = await (await tools.director()).json({ method: "GET", path }, v.array(vm));
  const to = asked === undefined ? undefined : slug(asked);
  const hosts = vms
    .filter(({ active, job, id, index }) => {
      const isIt = to?.id === undefined || to.id === id || to.id === String(index);
      return active !== false && (to === undefined || to.group === job) && isIt;
    })
    .map(({ job, id, ips }) => ({ name: `${job}/${id}`, ip: ips?.[0] ?? "", port: SSH_PORT, through: [] }))
    .filter(({ ip }) => isIP(ip) !== 0);
  if (hosts.length === 0) throw NoVmMeant({ asked, deployment });
  return { user, hosts, flags: ({ port }) => flagsOf(key, undefined, port) };
}

/** Makes a user with a key of its own in the VMs for as long as `work` takes. Nothing of it stays. */
async function withMadeSession<T>(
  asked: string | undefined,
  tools: SessionTools,
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
        flags: ({ port }) => flagsOf(key, known, port),
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

/** For who has a user in the VMs already. */
export const KEY_OPTIONS: readonly Option[] = [
  { flags: "-i, --private-key <path>", about: "enter with this key; no user is made" },
  { flags: "-l, --username <name>", about: "of --private-key (vcap)" },
];

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
    const through = toldGateway(answer);
    if (through === "bad") throw NoWayIn({ why: "its gateway is no host, or its user there has no name" });
    return { name, ip, port, hostKey, through };
  });
}

const knownLine = ({ ip, port, hostKey }: Found): string =>
  `${port === SSH_PORT ? ip : `[${ip}]:${port}`} ${hostKey}\n`;

/** As upstream; nothing of the caller's own configuration counts. */
const flagsOf = (key: string, known: string | undefined, port: number): readonly string[] => [
  ...["-F", "none", "-i", key],
  ...[
    "ServerAliveInterval=30",
    "ForwardAgent=no",
    "PasswordAuthentication=no",
    "IdentitiesOnly=yes",
    `IdentityFile=${key}`,
    `StrictHostKeyChecking=${known === undefined ? "no" : "yes"}`,
    `UserKnownHostsFile=${known ?? "/dev/null"}`,
    `Port=${port}`,
    "LogLevel=ERROR",
  ].flatMap((option) => ["-o", option]),
];

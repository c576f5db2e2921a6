import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { CommandMissing, systemExec } from "@slipway/kernel/exec";
import { vm } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import { pathSegment } from "../api/request-path.ts";
import type { TypedInput } from "../command.ts";
import { ENV_NAME, withAgentAt } from "../create-env/agents/at-endpoint.ts";
import { BadArgument, Contradiction } from "../parse/errors.ts";
import { slug } from "../states/slug.ts";
import type { Tools } from "../tools.ts";
import { endpointOf } from "./endpoint.ts";
import { NoSsh, NoVmMeant } from "./errors.ts";
import { socksGateway, typedGateway } from "./gateway.ts";
import { type KnownHost, SSH_PORT, type SshUsers, sshUsersOfAgent, sshUsersOfDirector } from "./ssh-users.ts";

/** One VM that can be entered. */
export interface Host {
  /** `web/6f1c`. */
  readonly name: string;
  readonly ip: string;
  readonly port: number;
  /** Options of ssh for the way there, unless the user typed another. */
  readonly through: readonly string[];
}

export interface SshSession {
  readonly user: string;
  readonly hosts: readonly Host[];
  /** Returns options of ssh and scp: the identity, and the host keys to trust. */
  flags(host: Host): readonly string[];
  /** Environment variables of ssh and scp besides the inherited ones. */
  readonly env?: Readonly<Record<string, string>>;
}

export type SessionTools = Pick<
  Tools,
  "director" | "mustDeployment" | "random" | "ui" | "env" | "clock" | "stop" | "proxy" | "programs"
>;

/** With the key and the user that were typed, or with those of a session that is made for it. */
export async function withSession<T>(
  asked: string | undefined,
  given: TypedInput,
  tools: SessionTools,
  work: (session: SshSession) => Promise<T>,
): Promise<T> {
  const socks = await socksGateway(given, tools);
  const typed = socks?.flags ?? typedGateway(given, tools.env);
  const key = given.text("private-key");
  const session = (one: SshSession): SshSession => ({
    ...one,
    flags: (host) => [...one.flags(host), ...(typed ?? host.through)],
    env: socks?.env ?? {},
  });
  const endpoint = await endpointOf(given, tools.env, asked);
  if (key !== undefined) {
    const hosts = async () =>
      endpoint === undefined
        ? await vmsMeant(asked, tools)
        : [{ name: ENV_NAME, ip: endpoint.host, port: SSH_PORT, through: [] }];
    return await work(session(await ownSession(hosts, key, given.text("username"))));
  }
  if (given.text("username") !== undefined)
    throw Contradiction({ problem: "--username is the user of --private-key, which is not given" });
  const enter = (order: SshUsers) => withMadeSession(order, tools, (made) => work(session(made)));
  if (endpoint !== undefined)
    return await withAgentAt(endpoint, tools, (agent) => enter(sshUsersOfAgent(agent)));
  return await enter(sshUsersOfDirector(asked, tools.mustDeployment(), await tools.director()));
}

/** Opens a session with the user's own key. As upstream, any host key is accepted: none is known. */
async function ownSession(
  hosts: () => Promise<readonly Host[]>,
  key: string,
  user = "vcap",
): Promise<SshSession> {
  // It stands where ssh would also read an option.
  if (!/^[A-Za-z_][\w.-]*$/.test(user)) throw BadArgument({ given: user, what: "the name of a user" });
  return { user, hosts: await hosts(), flags: ({ port }) => flagsOf(key, undefined, port) };
}

async function vmsMeant(asked: string | undefined, tools: SessionTools): Promise<readonly Host[]> {
  const deployment = tools.mustDeployment();
  const path = `/deployments/${pathSegment(deployment)}/vms`;
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
  return hosts;
}

/** Makes a user with a key of its own in the VMs for as long as `work` takes. Nothing of it stays. */
async function withMadeSession<T>(
  order: SshUsers,
  tools: SessionTools,
  work: (session: SshSession) => Promise<T>,
): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-ssh-"));
  try {
    await chmod(dir, 0o700);
    const key = join(dir, "key");
    await makeKey(key);
    const user = `bosh_${tools.random.hex(8).slice(0, 15)}`;
    try {
      const publicKey = await readFile(`${key}.pub`, "utf8");
      const hosts = await order.setUp(user, publicKey);
      const known = join(dir, "known_hosts");
      await writeFile(known, hosts.map(knownLine).join(""), { mode: 0o600 });
      return await work({
        user,
        hosts,
        flags: ({ port }) => flagsOf(key, known, port),
      });
    } finally {
      await order
        .cleanUp(`^${user}`)
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

const knownLine = ({ ip, port, hostKey }: KnownHost): string =>
  `${port === SSH_PORT ? ip : `[${ip}]:${port}`} ${hostKey}\n`;

/** Returns upstream's options of ssh; the user's own configuration is ignored. */
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

import { lchown, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import type { Log } from "../../log.ts";
import { ownerOf } from "../linux/system/accounts.ts";
import { writeCertificates } from "../linux/system/certificates.ts";
import { setKernelHostname } from "../linux/system/hostname.ts";
import { writeHosts } from "../linux/system/hosts.ts";
import { writeNtpServers } from "../linux/system/time.ts";
import { vitalsReader } from "../linux/system/vitals.ts";
import type { SystemPlatform } from "../platform.ts";
import { type SshdTools, sandboxSshd } from "./sshd.ts";

export interface SandboxPermits {
  /** The sandbox has a host name of its own (a UTS namespace), and may set it. */
  readonly hostname?: boolean;
  /** The sandbox has an `/etc` and `/usr/local` of its own. */
  readonly etc?: boolean;
}

export interface NamespaceSystemTools extends SshdTools {
  readonly log: Log;
  readonly permits?: SandboxPermits;
  /** Ends the sandbox's init. */
  readonly powerOff: () => Promise<void>;
}

/**
 * A sandbox shares users, clock and mostly `/etc` with its host: what would reach out of it is left undone, and what
 * others read is written below its own base directory.
 */
export function namespaceSystem(tools: NamespaceSystemTools): SystemPlatform {
  const { paths, log, permits = {}, powerOff } = tools;
  const sshd = sandboxSshd(tools);
  const hostsFile = permits.etc ? paths.system("etc", "hosts") : join(paths.boshDir, "etc", "hosts");
  const certificates = permits.etc
    ? paths.system("usr", "local", "share", "ca-certificates")
    : join(paths.boshDir, "etc", "ca-certificates");
  return {
    setHostname: async (agentId) => {
      if (permits.hostname) await setKernelHostname(paths, agentId);
    },
    writeHosts: async (records, agentId) => {
      await mkdir(dirname(hostsFile), { recursive: true, mode: 0o755 });
      await writeHosts(hostsFile, records, agentId, log);
    },
    setPassword: async (user) =>
      log.info(`the password of ${user} is not set: a sandbox has its host's users`),
    setAuthorizedKeys: async (user) =>
      log.info(`the ssh keys of ${user} are not set: a sandbox has its host's users`),
    createSshUser: sshd.createUser,
    deleteSshUsers: sshd.deleteUsers,
    hostPublicKey: sshd.hostPublicKey,
    setNtp: async (servers) => {
      await writeNtpServers(paths, servers, log);
    },
    setTrustedCertificates: async (pems) => {
      await writeCertificates(certificates, pems);
    },
    chown: async (path, user) => {
      try {
        const owner = await ownerOf(paths, user);
        await lchown(path, owner.uid, owner.gid);
      } catch (error) {
        // Most users of the host do not exist in a user namespace.
        log.warn(`${path} keeps its owner: ${messageTrail(error)}`);
      }
    },
    // The rules of logrotate are the host's.
    setLogRotation: async () => false,
    powerOff,
    vitals: vitalsReader(paths),
  };
}

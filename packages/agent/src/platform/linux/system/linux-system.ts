import { lchown } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { type Exec, mustRun } from "@slipway/kernel/exec";
import type { Log } from "../../../log.ts";
import type { Paths } from "../../../paths.ts";
import type { SystemPlatform } from "../../platform.ts";
import { ownerOf } from "./accounts.ts";
import { setAuthorizedKeys } from "./authorized-keys.ts";
import { updateCertificates, writeCertificates } from "./certificates.ts";
import { setHostname } from "./hostname.ts";
import { writeHosts } from "./hosts.ts";
import { writeLogrotate } from "./logrotate.ts";
import { setPassword } from "./passwords.ts";
import { createSshUser, deleteSshUsers, hostPublicKey } from "./ssh-users.ts";
import { syncTime, writeNtpServers } from "./time.ts";
import { vitalsReader } from "./vitals.ts";

export interface SystemTools {
  readonly paths: Paths;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly log: Log;
}

export function linuxSystem(tools: SystemTools): SystemPlatform {
  const { paths, exec, clock, log } = tools;
  return {
    setHostname: (agentId) => setHostname(paths, agentId),
    writeHosts: (records, agentId) => writeHosts(paths.system("etc", "hosts"), records, agentId, log),
    setPassword: (user, cryptHash) => setPassword(exec, user, cryptHash),
    setAuthorizedKeys: (user, keys) => setAuthorizedKeys(paths, user, keys),
    createSshUser: async (user, publicKey) => {
      await createSshUser(user, publicKey, tools);
      return undefined;
    },
    deleteSshUsers: (pattern) => deleteSshUsers(pattern, tools),
    hostPublicKey: () => hostPublicKey(paths),
    setNtp: async (servers) => {
      if (await writeNtpServers(paths, servers, log)) await syncTime(paths, exec, clock, log);
    },
    setTrustedCertificates: async (pems) => {
      const directory = paths.system("usr", "local", "share", "ca-certificates");
      // An image without certificates lacks the program too; it only matters once there is something to trust.
      if (await writeCertificates(directory, pems)) await updateCertificates(exec, clock, log);
    },
    chown: async (path, user) => {
      const owner = await ownerOf(paths, user);
      await lchown(path, owner.uid, owner.gid);
    },
    setLogRotation: (size) => writeLogrotate(paths, size),
    powerOff: async () => {
      await mustRun(exec, "shutting down", "shutdown", ["-P", "0"]);
    },
    vitals: vitalsReader(paths),
  };
}

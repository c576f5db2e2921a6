import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where `slipway` keeps what belongs to this machine's cloud: `SLIPWAY_HOME`. */
export interface Home {
  readonly dir: string;
  /** The Director's state directory: database, certificates, generated password. */
  readonly director: string;
  /** What the CPI keeps: sandboxes, disks and stemcells of the local one; for Docker only what it has answered. */
  readonly cloud: string;
  /** Shell lines that point the `bosh` CLI and `slipway` at the Director. Mode 0600. */
  readonly envFile: string;
  /** Which CPI its VMs are made by, and on which engine. */
  readonly cpiFile: string;
  /** What runs: pid, port, since when. Gone when nothing does. */
  readonly runFile: string;
  /** Of a Director in the background. */
  readonly logFile: string;
  /** Environments that `log-in` and `alias-env` remember. Mode 0600. */
  readonly loginFile: string;
}

/** The database of root runs as another user, who must be able to reach it: root's home is closed to him. */
export function homeOf(env: Readonly<Record<string, string | undefined>>, uid: number): Home {
  const given = env.SLIPWAY_HOME;
  const state = env.XDG_STATE_HOME || join(homedir(), ".local", "state");
  const dir = resolve(given || (uid === 0 ? "/var/lib/slipway" : join(state, "slipway")));
  return {
    dir,
    director: join(dir, "director"),
    cloud: join(dir, "cloud"),
    envFile: join(dir, "env"),
    cpiFile: join(dir, "cpi.json"),
    runFile: join(dir, "running.json"),
    logFile: join(dir, "director.log"),
    loginFile: join(dir, "logins.json"),
  };
}

import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Directory of this machine's cloud: `SLIPWAY_HOME`. */
export interface Home {
  readonly dir: string;
  /** The Director's state directory: database, certificates, generated password. */
  readonly director: string;
  /** Files of the CPI: sandboxes, disks and stemcells of the local one; for Docker only recorded answers. */
  readonly cloud: string;
  /** Shell lines that point the `bosh` CLI and `slipway` at the Director. Mode 0600. */
  readonly envFile: string;
  /** Names the CPI that makes its VMs, and the engine. */
  readonly cpiFile: string;
  /** Describes the running Director: pid, port, start time. Absent if none runs. */
  readonly runFile: string;
  /** Log of a Director in the background. */
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

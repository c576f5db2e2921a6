import { basename, dirname, extname, join, resolve } from "node:path";
import { StatePathMissing } from "./errors.ts";

/** The places of one environment: the state file, and a directory beside it for what does not fit into it. */
export interface Workspace {
  /** Base of relative paths in the manifest. */
  readonly manifestDir: string;
  readonly stateFile: string;
  readonly lockFile: string;
  readonly dir: string;
  /** Our authority and the secret of the agents' passwords, where the manifest gives no certificate. */
  readonly keys: string;
  readonly registry: string;
  /** Directory of the local CPI, unless its properties name another. */
  readonly cloud: string;
  readonly downloads: string;
  /** Emptied at every start. */
  readonly temporary: string;
  readonly cpiLog: string;
}

/** Upstream's rule: `lab.yml` has its state in `lab-state.json`, beside it. */
export function workspaceOf(manifest: string, state: string | undefined): Workspace {
  if (manifest === "-" && state === undefined) throw StatePathMissing({});
  const stateFile = resolve(
    state ?? join(dirname(manifest), `${basename(manifest, extname(manifest))}-state.json`),
  );
  const dir = `${stateFile.replace(/\.json$/, "")}.slipway`;
  return {
    manifestDir: manifest === "-" ? process.cwd() : dirname(resolve(manifest)),
    stateFile,
    lockFile: `${stateFile}.lock`,
    dir,
    keys: join(dir, "keys"),
    registry: join(dir, "registry"),
    cloud: join(dir, "cloud"),
    downloads: join(dir, "downloads"),
    temporary: join(dir, "tmp"),
    cpiLog: join(dir, "cpi.log"),
  };
}

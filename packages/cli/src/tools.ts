import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { DirectorApi } from "./api/director-api.ts";
import type { Home } from "./home/home.ts";
import type { AllProxy } from "./proxy/all-proxy.ts";
import type { Ui } from "./ui/ui.ts";

/** Files beside `slipway`: executables that run as separate processes, and the release that the demo deploys. */
export interface SlipwayPrograms {
  /** This program: `[process.execPath, ".../slipway.cjs"]`. */
  readonly self: readonly string[];
  /** The agent's bundle. */
  readonly agent: string;
  readonly registry: string;
  /** The program of the threads that render templates. */
  readonly renderer: string;
  /** The release of the demo, and a manifest for it. */
  readonly demo: { readonly release: string; readonly manifest: string };
  /** The Ruby they run; default: the one that is installed with them. */
  readonly ruby?: string | undefined;
}

/** Dependencies of every command. */
export interface Tools {
  readonly ui: Ui;
  readonly clock: Clock;
  readonly random: Random;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: Home;
  readonly programs: SlipwayPrograms;
  /** Aborted by Ctrl-C. */
  readonly stop: AbortSignal;
  /** Through which Directors, and what create-env asks, are reached. */
  readonly proxy: AllProxy;
  /** The Director the global options, the environment or `slipway up` point at, connected when first asked for. */
  director(): Promise<DirectorApi>;
  /** `-d` or BOSH_DEPLOYMENT. */
  readonly deployment: string | undefined;
  /** The same, for commands that need one: an error that says how to name it. */
  mustDeployment(): string;
}

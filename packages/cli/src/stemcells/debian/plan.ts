import { EPOCH } from "@slipway/cpi-docker/image-files";
import { FINISH } from "./root-files.ts";

/** Packages that our agent and the Docker CPI's disk helper run, and that Node.js needs. The rest is Debian's smallest system. */
const PACKAGES = [
  "ca-certificates",
  "e2fsprogs",
  "fdisk",
  "iproute2",
  "libatomic1",
  "libstdc++6",
  "mount",
  "passwd",
  "procps",
  "util-linux",
];

/** Keeps licenses: a copy of the image must include them. */
const WITHOUT = [
  "path-exclude=/usr/share/man/*",
  "path-exclude=/usr/share/info/*",
  "path-exclude=/usr/share/locale/*",
  "path-exclude=/usr/share/lintian/*",
  "path-exclude=/usr/share/bash-completion/*",
  "path-exclude=/usr/share/doc/*",
  "path-include=/usr/share/doc/*/copyright",
];

/** Comes with mmdebstrap. Without it the package that merges `/usr` is installed, and brings all of Perl. */
export const MERGED_USR = "/usr/share/mmdebstrap/hooks/maybe-merged-usr";

/** Names of files in the directory where it runs. */
export const FILES_TAR = "files.tar";
export const ROOT_TAR = "root.tar";

export interface Bootstrap {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The sources: an address may have a password, which is nothing for an argument. */
  readonly input: string;
}

/**
 * How mmdebstrap is called. Its archive has its files in the order of their names, with numeric owners and one time. No
 * device nodes: containers and sandboxes bring their own.
 */
export function planBootstrap(order: {
  readonly suite: string;
  readonly lines: readonly string[];
  readonly more: readonly string[];
  /** Else in a user namespace. */
  readonly root: boolean;
  readonly checkValidUntil: boolean;
  /** True if this mmdebstrap has the merged-usr hook. */
  readonly mergedUsr: boolean;
  readonly env: Readonly<Record<string, string>>;
}): Bootstrap {
  return {
    args: [
      `--mode=${order.root ? "root" : "unshare"}`,
      "--variant=minbase",
      "--format=tar",
      `--include=${[...new Set([...PACKAGES, ...order.more])].sort().join(",")}`,
      ...WITHOUT.map((option) => `--dpkgopt=${option}`),
      ...(order.checkValidUntil ? [] : ['--aptopt=Acquire::Check-Valid-Until "false"']),
      "--skip=output/dev",
      ...(order.mergedUsr ? [`--hook-dir=${MERGED_USR}`] : []),
      `--customize-hook=tar-in ${FILES_TAR} /`,
      `--customize-hook=${FINISH}`,
      order.suite,
      ROOT_TAR,
      "-",
    ],
    env: { ...order.env, SOURCE_DATE_EPOCH: String(EPOCH) },
    input: `${order.lines.join("\n")}\n`,
  };
}

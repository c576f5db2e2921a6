import { shellQuoted } from "@slipway/kernel/shell";

/** Selects the logs to read. */
export interface LogChoice {
  readonly agent: boolean;
  readonly system: boolean;
  /** Globs under the logs of jobs. */
  readonly only: readonly string[];
  readonly jobs: readonly string[];
}

const JOB_LOGS = "/var/vcap/sys/log";

/** The command that follows them in a VM, for a shell there: with `sudo` where the user is not the one of the jobs. */
export function tailCommand(
  choice: LogChoice,
  options: { readonly follow: boolean; readonly lines: number | undefined; readonly quiet: boolean },
): string {
  const flags = [
    ...(options.follow ? ["-F"] : []),
    ...(options.lines === undefined ? [] : ["-n", String(options.lines)]),
    ...(options.quiet ? ["-q"] : []),
  ];
  // Only wildcards mean something to that shell.
  const globs = placesOf(choice).map((place) => place.replaceAll(/[^\w./*?[\]-]/g, (one) => `\\${one}`));
  const script = `shopt -s globstar nullglob; f=(${globs.join(" ")}); [ \${#f[@]} -gt 0 ] || { echo "no such logs" >&2; exit 1; }; exec tail ${flags.join(" ")} "\${f[@]}"`;
  const bash = `bash -c ${shellQuoted(script)}`;
  return `if [ "$(id -u)" = 0 ]; then exec ${bash}; else exec sudo -n ${bash}; fi`;
}

function placesOf({ agent, system, only, jobs }: LogChoice): readonly string[] {
  const wanted = [
    ...only.map((glob) => `${JOB_LOGS}/${glob}`),
    ...jobs.map((job) => `${JOB_LOGS}/${job}/*.log`),
    ...(agent ? ["/var/vcap/bosh/log/*"] : []),
    ...(system ? ["/var/log/**/*.log", "/var/log/syslog"] : []),
  ];
  return wanted.length > 0 ? wanted : [`${JOB_LOGS}/**/*.log`];
}

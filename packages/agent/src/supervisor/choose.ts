import { join } from "node:path";
import { exists } from "@slipway/kernel/files";
import type { Paths } from "../paths.ts";
import { BadUsage } from "../settings/errors.ts";
import type { BuiltinParts } from "./builtin/builtin-supervisor.ts";
import type { MonitParts } from "./monit/monit-supervisor.ts";
import type { RunningSupervisor } from "./supervisor.ts";

export type SupervisorChoice =
  | { readonly kind: "builtin" }
  | { readonly kind: "monit"; readonly control: string; readonly program: string };

/**
 * `-M monit` and `-M builtin` say it. Without the flag monit is used where the stemcell has its control file: a monit
 * that somebody installed for other ends is left alone.
 */
export async function chooseSupervisor(name: string | undefined, paths: Paths): Promise<SupervisorChoice> {
  const own = join(paths.boshDir, "etc", "monitrc");
  if (name === undefined) return (await exists(own)) ? await monitWith([own], paths) : { kind: "builtin" };
  if (name === "builtin") return { kind: "builtin" };
  if (name === "monit")
    return await monitWith(
      [own, paths.system("etc", "monit", "monitrc"), paths.system("etc", "monitrc")],
      paths,
    );
  throw BadUsage({ why: `the supervisor ${JSON.stringify(name)} is not known; there are builtin and monit` });
}

async function monitWith(controls: readonly string[], paths: Paths): Promise<SupervisorChoice> {
  const control = await firstOf(controls);
  if (control === undefined) throw BadUsage({ why: `-M monit: there is none of ${controls.join(", ")}` });
  const programs = [
    join(paths.boshDir, "bin", "monit"),
    ...[
      ["usr", "bin"],
      ["usr", "sbin"],
      ["usr", "local", "bin"],
    ].map((dir) => paths.system(...dir, "monit")),
  ];
  const program = await firstOf(programs);
  if (program === undefined)
    throw BadUsage({ why: `monit is not installed: there is none of ${programs.join(", ")}` });
  return { kind: "monit", control, program };
}

async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if (await exists(path)) return path;
  return undefined;
}

/** Each is loaded only where it is used. */
export async function makeSupervisor(
  choice: SupervisorChoice,
  parts: BuiltinParts & Omit<MonitParts, "control" | "program">,
): Promise<RunningSupervisor> {
  if (choice.kind === "monit") {
    const { MonitSupervisor } = await import("./monit/monit-supervisor.ts");
    return new MonitSupervisor({ ...parts, ...choice });
  }
  const { BuiltinSupervisor } = await import("./builtin/builtin-supervisor.ts");
  return new BuiltinSupervisor(parts);
}

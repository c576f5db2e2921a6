import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Held, HeldKind, Inventory } from "@slipway/director/backup/inventory";
import { messageTrail } from "@slipway/kernel/errors";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Home } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { rememberedConfig } from "./remembered-config.ts";

/** What the removal of a home leaves in clouds, and no record names any more. */
export interface LeftBehind {
  readonly held: readonly Held[];
  /** The Director's own CPI, for messages. */
  readonly own: string;
  readonly deployments: readonly string[];
  /** Why the records cannot be read. */
  readonly trouble?: string;
}

const NOTHING: LeftBehind = { held: [], own: "", deployments: [] };

/** Reads the records, of a Director that runs or not. What the home's own sandboxes or containers are is not in it. */
export async function leftBehind({ home, clock }: Pick<Tools, "home" | "clock">): Promise<LeftBehind> {
  try {
    const config = await configOfHome(home);
    if (
      config.database?.url === undefined &&
      !existsSync(join(home.director, "database", "data", "PG_VERSION"))
    )
      return NOTHING;
    const { readInventory } = await import("@slipway/director/backup/inventory");
    return elsewhere(await readInventory({ stateDir: home.director, config, clock }), config);
  } catch (error) {
    return { ...NOTHING, trouble: messageTrail(error) };
  }
}

async function configOfHome(home: Home): Promise<DirectorConfig> {
  const { readConfig } = await import("@slipway/director/start/config-file");
  return await readConfig(await rememberedConfig(home));
}

function elsewhere({ own, held, deployments }: Inventory, config: DirectorConfig): LeftBehind {
  const path = own === undefined ? config.cpi?.exec_path : undefined;
  const executable = own?.kind === "executable" ? own.name : path;
  const left = held.filter(({ cpi }) => cpi !== "" || executable !== undefined);
  return { held: left, own: executable ?? "", deployments };
}

const MOST = 10;

/** Lines for the operator, by CPI and kind, with cids to look for. */
export function leftBehindLines({ held, own }: LeftBehind): readonly string[] {
  const cpis = [...new Set(held.map(({ cpi }) => cpi))];
  return cpis.flatMap((cpi) => {
    const of = held.filter((one) => one.cpi === cpi);
    const kinds = [...new Set(of.map(({ kind }) => kind))];
    return [
      `In the cloud of the CPI ${cpi || own} these stay, and nothing will know them:`,
      ...kinds.flatMap((kind) =>
        kindLines(
          kind,
          of.filter((one) => one.kind === kind),
        ),
      ),
    ];
  });
}

function kindLines(kind: HeldKind, held: readonly Held[]): readonly string[] {
  const shown = held.slice(0, MOST).map(({ cid, about }) => `    ${cid} (${about})`);
  const more = held.length > MOST ? [`    and ${held.length - MOST} more`] : [];
  return [`  ${held.length} ${kind}${held.length === 1 ? "" : "s"}:`, ...shown, ...more];
}

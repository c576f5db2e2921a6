import { existsSync } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import type { Held, HeldKind, Inventory } from "@slipway/director/backup/inventory";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { backendOf } from "../cpis/choice.ts";
import { counted, type HomeState, type VmWords } from "../cpis/descriptor.ts";
import type { Home } from "../home/home.ts";
import type { Tools } from "../tools.ts";
import { requireConfirmation } from "../ui/require-confirmation.ts";
import { rememberedConfig } from "./config.ts";
import { ContainersLeft, DeploymentsLeft } from "./errors.ts";

/** Files of a home. Other files in the directory are not Slipway's, and stay. */
const OURS =
  /^(director|director\.before-restore-.*|cloud|demo|completion|env|port|(cpi|nats|config|running|logins)\.json|(up|demo)\.lock.*|director\.log.*)$/;

const DELETE_FIRST =
  "To have them deleted, answer no, and run `slipway up --detach`, `slipway delete-disk CID` for each orphaned disk and `slipway clean-up --all`.";

/** Asks before anything is stopped. Says what will be lost, and refuses if resources without a record would be left. */
export async function confirmRemoval(tools: Tools): Promise<void> {
  const { home, ui } = tools;
  const backend = await backendOf(tools);
  const seen = await backend.look();
  if (backend.outlives && (seen.vms.length > 0 || seen.trouble !== undefined))
    throw ContainersLeft({
      dir: home.dir,
      why: seen.trouble ?? `it has ${counted(seen.vms.length, backend.words)}`,
    });
  const left = await leftBehind(tools);
  // Of another CPI: nothing here knows its VMs once the records are gone.
  if (left.held.some(({ kind }) => kind === "VM"))
    throw DeploymentsLeft({ dir: home.dir, names: left.deployments });
  ui.line(`${home.dir} will be removed: ${contentsOf(seen, backend.words)}, and what is on them.`);
  for (const line of leftBehindLines(left)) ui.line(line);
  if (left.held.length > 0) ui.line(DELETE_FIRST);
  if (left.trouble !== undefined)
    ui.line(`What its records name in other clouds is not known: ${left.trouble}`);
  await requireConfirmation(ui, "Remove it all?");
}

const contentsOf = ({ vms, disks }: HomeState, words: VmWords): string =>
  [
    "the Director's records, certificates and passwords, the remembered log-ins",
    counted(vms.length, words),
    ...(disks === undefined ? [] : [`${disks} ${disks === 1 ? "disk" : "disks"}`]),
  ].join(", ");

/** Removes a stopped home. Resolves to the remaining files, which are not Slipway's. */
export async function removeHome({
  home,
  programs,
}: Pick<Tools, "home" | "programs">): Promise<readonly string[]> {
  if (!existsSync(home.dir)) return [];
  const { removeCloud } = await import("@slipway/cpi-local/power");
  await removeCloud({ dir: home.cloud, agent: programs.agent });
  for (const name of (await readdir(home.dir)).filter((one) => OURS.test(one)))
    await rm(join(home.dir, name), { recursive: true, force: true });
  const left = await readdir(home.dir);
  if (left.length === 0) await removeIfEmpty(home);
  return left;
}

async function removeIfEmpty({ dir }: Home): Promise<void> {
  try {
    await rmdir(dir);
  } catch (error) {
    // A file was made there meanwhile, or the directory above may not be changed.
    if (!["ENOTEMPTY", "EACCES", "EPERM", "EBUSY"].includes(systemCode(error) ?? "")) throw error;
  }
}

/** Resources that the removal of a home leaves in clouds without any record. */
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
  const { readConfig } = await import("@slipway/director/start/configuration");
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

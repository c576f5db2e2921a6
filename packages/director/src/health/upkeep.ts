import { slug } from "@slipway/engine/model/names";
import { DAY_MS } from "@slipway/engine/pki/authority";
import type { NatsAuthorities } from "../nats/rotation.ts";
import { behind } from "../store/nats-authorities.ts";
import { sinceRestore } from "../store/restores.ts";
import type { Db } from "../store/schema.ts";
import type { Watched } from "./model.ts";

/** Upkeep that is not done yet, although no instance is unwell for it. */
export interface UpkeepNote {
  /** Names no instance: users who may not read instances may read it. */
  readonly what: string;
  /** `web/5c1e of shop`. */
  readonly who: readonly string[];
}

/** Renewed long before: when one comes so near to its end, its agent is away, or its authority ends, too. */
const NEAR_MS = 30 * DAY_MS;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** Deployments not looked at since a restore, authorities of NATS not taken up, certificates of agents that end soon. */
export async function upkeepNotes(
  db: Db,
  nats: NatsAuthorities | undefined,
  watched: readonly Watched[],
  now: number,
): Promise<readonly UpkeepNote[]> {
  const ending = watched.filter(
    ({ deployed, vm }) => deployed && vm?.certificateUntil != null && vm.certificateUntil - now < NEAR_MS,
  );
  const who = ending.map((one) => `${slug(one)} of ${one.deployment}`);
  const what = `the certificates of ${counted(who.length, "agent")} end within 30 days`;
  return [...(await restored(db)), ...(await takeover(db, nats)), ...(who.length > 0 ? [{ what, who }] : [])];
}

async function restored(db: Db): Promise<readonly UpkeepNote[]> {
  const since = await sinceRestore(db);
  if (since === undefined) return [];
  const { takenAt, unseen } = since;
  const what = `restored from a backup of ${new Date(takenAt).toISOString()}, ${counted(unseen.length, "deployment")} not looked at yet; for each: \`bosh -d NAME cloud-check\``;
  return [{ what, who: unseen }];
}

async function takeover(db: Db, nats: NatsAuthorities | undefined): Promise<readonly UpkeepNote[]> {
  if (nats === undefined) return [];
  const { mark, next } = nats.now();
  const { agents, making } = await behind(db, mark);
  const who = agents.map(
    ({ deployment, instance, ignored }) =>
      `${instance} of ${deployment}${ignored ? ", which is ignored" : ""}`,
  );
  const late = who.length + making;
  const waits = `${counted(late, "agent")} ${late === 1 ? "has" : "have"} not taken up whom to believe on NATS`;
  if (next !== undefined)
    return [{ what: `another authority takes over on NATS${late === 0 ? "" : `: ${waits}`}`, who }];
  return who.length === 0 ? [] : [{ what: waits, who }];
}

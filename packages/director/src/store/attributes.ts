import type { Random } from "@slipway/kernel/random";
import { OtherUuid } from "./errors.ts";
import type { Db } from "./schema.ts";

/** `update-resurrection off`: `true`. */
export const RESURRECTION_PAUSED = "resurrection_paused";

export async function findAttribute(db: Db, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("director_attributes")
    .select("value")
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.value;
}

export async function setAttribute(db: Db, name: string, value: string): Promise<void> {
  await db
    .insertInto("director_attributes")
    .values({ name, value })
    .onConflict((on) => on.column("name").doUpdateSet({ value }))
    .execute();
}

/** Returns the UUID of the Director, made once; Directors that start together agree on it. Throws if it is not `wanted`. */
export async function directorUuid(db: Db, random: Random, wanted?: string): Promise<string> {
  await db
    .insertInto("director_attributes")
    .values({ name: "uuid", value: wanted ?? random.uuid() })
    .onConflict((on) => on.column("name").doNothing())
    .execute();
  const uuid = await findAttribute(db, "uuid");
  if (uuid === undefined) throw new Error("bug: the Director's uuid is gone right after it was made");
  if (wanted !== undefined && uuid !== wanted) throw OtherUuid({ uuid, wanted });
  return uuid;
}

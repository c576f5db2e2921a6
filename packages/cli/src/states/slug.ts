import { BadArgument } from "../parse/errors.ts";

export interface Slug {
  readonly group: string;
  /** An index or an id; undefined: the whole group. */
  readonly id: string | undefined;
}

/** `web`, `web/0`, `web/6f1c...` */
export function slug(given: string): Slug {
  const [group = "", id, ...more] = given.split("/");
  if (group === "" || id === "" || more.length > 0) throw badSlug(given);
  return { group, id };
}

/** One instance. */
export function instanceSlug(given: string): { readonly group: string; readonly id: string } {
  const { group, id } = slug(given);
  if (id === undefined) throw badSlug(given);
  return { group, id };
}

const badSlug = (given: string) => BadArgument({ given, what: "an instance: group/id or group/index" });

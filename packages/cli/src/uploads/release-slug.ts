import { BadArgument } from "../parse/errors.ts";

export interface ReleaseSlug {
  readonly name: string;
  readonly version: string;
}

/** `name/version` */
export function releaseSlug(given: string): ReleaseSlug {
  const slug = releaseOrSeries(given);
  if (slug.version === undefined) throw BadArgument({ given, what: "a release: name/version" });
  return { name: slug.name, version: slug.version };
}

/** `name/version`, or `name` for all versions. */
export function releaseOrSeries(given: string): { readonly name: string; readonly version?: string } {
  const [name = "", version, ...more] = given.split("/");
  if (name === "" || version === "" || more.length > 0)
    throw BadArgument({ given, what: "a release: name/version" });
  return version === undefined ? { name } : { name, version };
}

/** `os/version` */
export function stemcellSlug(given: string): string {
  const [os = "", version = "", ...more] = given.split("/");
  if (os === "" || version === "" || more.length > 0)
    throw BadArgument({ given, what: "a stemcell's operating system and version: os/version" });
  return given;
}

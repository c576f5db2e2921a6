import { ENV_NAME } from "../create-env/agents/at-endpoint.ts";
import { BadArgument } from "../parse/errors.ts";
import type { Host } from "./session.ts";

/** One side of a copy: a path here, or one in VMs. */
export interface CopySide {
  readonly slug: string | undefined;
  readonly path: string;
}

/** `web/0:/tmp/x` is in a VM, with --director `:/tmp/x`; what has no colon, or one behind a slash of a path, is here. */
export function sideOf(given: string, atDirector = false): CopySide {
  const at = given.indexOf(":");
  if (atDirector && at === 0) return { slug: ENV_NAME, path: given.slice(1) };
  const before = given.slice(0, Math.max(0, at));
  const isHere = at <= 0 || before.startsWith(".") || before.startsWith("/") || before.split("/").length > 2;
  return isHere ? { slug: undefined, path: given } : { slug: before, path: given.slice(at + 1) };
}

export interface Copy {
  /** The VMs it is from or to. */
  readonly slug: string;
  /** Returns scp's arguments after its options. */
  readonly args: (user: string, host: Host) => readonly string[];
}

/** From here to VMs or back; several files only into one place. */
export function copyOf(given: readonly string[], atDirector = false): Copy {
  const sides = given.map((one) => sideOf(one, atDirector));
  const slugs = [...new Set(sides.flatMap(({ slug }) => slug ?? []))];
  const [slug] = slugs;
  const example = atDirector ? ":/tmp" : "web/0:/tmp";
  const what = `files here and a place in VMs, or the other way: ./app.log ${example}`;
  if (slug === undefined || slugs.length > 1 || sides.length < 2)
    throw BadArgument({ given: given.join(" "), what });
  return {
    slug,
    args: (user, host) =>
      sides.map((side) =>
        side.slug === undefined
          ? here(side.path.replaceAll("((instance_id))", host.name.split("/").at(-1) ?? ""))
          : `${user}@${host.ip.includes(":") ? `[${host.ip}]` : host.ip}:${side.path}`,
      ),
  };
}

/** No option, and no host of scp's own. */
const here = (path: string): string => (path.startsWith("/") || path.startsWith(".") ? path : `./${path}`);

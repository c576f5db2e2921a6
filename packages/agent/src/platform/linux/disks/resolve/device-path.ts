import { realpath } from "node:fs/promises";
import { type DiskContext, underRoot } from "../context.ts";
import type { Strategy } from "./strategy.ts";

/** The path as the hint has it; links are followed. */
export const exactPath: Strategy = async (target, context) => {
  if (target.path === undefined) return undefined;
  if (!target.path.startsWith("/"))
    return { tried: `path ${target.path}: not an absolute path`, devices: [] };
  return existing(context, [target.path], target.dev);
};

/**
 * IaaS name the slot (`/dev/sdf`), drivers name the device after themselves: the same letter as xvd, vd or sd, tried
 * in upstream's order.
 */
export const mappedPath: Strategy = async (target, context) => {
  const letter = /^\/dev\/sd([a-z]+)$/.exec(target.path ?? "")?.[1];
  if (letter === undefined) return exactPath(target, context);
  return existing(context, [`/dev/xvd${letter}`, `/dev/vd${letter}`, `/dev/sd${letter}`], target.dev);
};

async function existing(context: DiskContext, paths: readonly string[], dev: string | undefined) {
  const said: string[] = [];
  for (const path of paths) {
    const here = underRoot(context, path);
    const number = await context.nodes.numberOf(here);
    if (number === undefined) {
      said.push(`${path} is no block device`);
    } else if (dev !== undefined && dev !== number) {
      said.push(`${path} is device ${number}, the hint says ${dev}`);
    } else {
      const real = here.includes("/mapper/") ? here : await realpath(here);
      return { tried: `path ${path}`, devices: [real] };
    }
  }
  return { tried: `path ${said.join(", ")}`, devices: [] };
}

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type CertifyAdapter, isAdapter } from "@slipway/cpi-sdk/certify-adapter";
import { BadUsage } from "../errors.ts";

export interface LoadedAdapter extends CertifyAdapter {
  /** The CPI's executable, as a path. */
  readonly program: string;
}

/** A name is that of a package `cpi-NAME` beside ours; anything with a slash is the path of an adapter's module. */
export async function loadAdapter(cpi: string, packages: string): Promise<LoadedAdapter> {
  const path = cpi.includes("/") ? resolve(cpi) : join(packages, `cpi-${cpi}`, "dist", "certify-adapter.cjs");
  if (!existsSync(path))
    throw BadUsage({ why: `there is no CPI '${cpi}' for --cpi: its adapter would be ${path}` });
  const { adapter } = (await import(pathToFileURL(path).href)) as { readonly adapter?: unknown };
  if (!isAdapter(adapter)) throw BadUsage({ why: `${path} exports no adapter for --cpi` });
  return { ...adapter, program: join(dirname(path), adapter.executable) };
}

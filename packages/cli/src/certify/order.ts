import { access, constants, readFile } from "node:fs/promises";
import type { ContractVersion } from "@slipway/certify/cpi/check";
import type { CertifyOrder } from "@slipway/certify/session/certify";
import { type CloudFile, readCloudFile } from "@slipway/certify/session/cloud-file";
import { parseYaml } from "@slipway/engine/documents/yaml";
import type { Random } from "@slipway/kernel/random";
import type { TypedInput } from "../command.ts";
import { CertifyFileMissing, CertifyOptionInvalid } from "./errors.ts";

const SEED_BYTES = 4;

/** Returns what was typed, with its files read and checked. */
export async function orderOf(given: TypedInput, random: Random): Promise<CertifyOrder> {
  const cpi = given.text("cpi");
  if (cpi === undefined) throw CertifyOptionInvalid({ option: "cpi", why: "must name the CPI's executable" });
  const path = async (option: string) => await readable(option, given.text(option));
  await readable("cpi", cpi);
  return {
    cpi,
    config: await path("config"),
    cloud: await cloudFileOf(await path("cloud")),
    image: await path("stemcell"),
    versions: versionsOf(given.text("versions") ?? "2"),
    only: given.texts("only"),
    seed: given.text("seed") ?? random.hex(SEED_BYTES),
  };
}

async function readable<P extends string | undefined>(option: string, path: P): Promise<P> {
  if (path === undefined) return path;
  try {
    await access(path, constants.R_OK);
    return path;
  } catch (cause) {
    throw CertifyFileMissing({ option, path }, { cause });
  }
}

async function cloudFileOf(path: string | undefined): Promise<CloudFile> {
  if (path === undefined) return {};
  return readCloudFile(parseYaml(await readFile(path, "utf8"), path), path);
}

function versionsOf(typed: string): readonly ContractVersion[] {
  const known = new Map<string, ContractVersion>([
    ["1", 1],
    ["2", 2],
    ["3", 3],
  ]);
  return [...new Set(typed.split(","))].map((word) => {
    const version = known.get(word.trim());
    if (version === undefined)
      throw CertifyOptionInvalid({ option: "versions", why: `has '${word}', which is not 1, 2 or 3` });
    return version;
  });
}

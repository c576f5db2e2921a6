import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exists } from "@slipway/kernel/files";
import { BadPartName, PartThere } from "./errors.ts";

/** An empty job, whose spec shows what a spec has. */
export async function generateJob(dir: string, name: string): Promise<void> {
  await generate(dir, "jobs", name, {
    spec: `---\nname: ${name}\n\ntemplates: {}\n\npackages: []\n\nproperties: {}\n`,
    monit: "",
  });
  await mkdir(join(dir, "jobs", name, "templates"));
}

export async function generatePackage(dir: string, name: string): Promise<void> {
  await generate(dir, "packages", name, {
    spec: `---\nname: ${name}\n\ndependencies: []\n\nfiles: []\n`,
    packaging: "set -e\n",
  });
}

async function generate(
  dir: string,
  folder: "jobs" | "packages",
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  if (!/^[-0-9A-Za-z_+][-0-9A-Za-z_+.]*$/.test(name)) throw BadPartName({ name });
  const path = join(dir, folder, name);
  if (await exists(path)) throw PartThere({ kind: folder === "jobs" ? "Job" : "Package", name, path });
  await mkdir(path, { recursive: true });
  for (const [file, text] of Object.entries(files)) await writeFile(join(path, file), text);
}

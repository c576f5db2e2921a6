import type { BuiltStemcell } from "./build-local.ts";
import { BadStemcellOption } from "./errors.ts";
import { writeManifest } from "./manifest.ts";

export type StemcellName = Pick<BuiltStemcell, "name" | "version" | "os" | "apiVersion">;

/** The `stemcell.MF` of a root file system for the Docker CPI. */
export function dockerManifest({ name, version, os, apiVersion }: StemcellName, sha1: string): string {
  const manifest = writeManifest({
    ...{ name, version, operating_system: os, sha1, bosh_protocol: "1", api_version: apiVersion },
    // A tar of a root file system is what `general-tar` means to every CPI that takes it.
    stemcell_formats: ["slipway-docker", "docker-tar", "general-tar"],
    cloud_properties: { infrastructure: "docker", hypervisor: "docker", command: ["/sbin/init"] },
  });
  if (manifest.ok) return manifest.text;
  throw BadStemcellOption({
    option: "name, --version or --api-version",
    why: manifest.problems.join("; "),
  });
}

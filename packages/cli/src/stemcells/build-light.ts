import { createHash } from "node:crypto";
import type { Clock } from "@slipway/kernel/clock";
import type { BuiltStemcell } from "./build-local.ts";
import { BadStemcellOption, NoDigest } from "./errors.ts";
import { writeManifest } from "./manifest.ts";
import { writeArchive } from "./write-archive.ts";

export interface ImageReference {
  /** Reference for a container engine: `registry/name:tag`. */
  readonly name: string;
  readonly digest: string;
  /** The last part of the name, and the tag where it is a version. */
  readonly short: string;
  readonly version: string | undefined;
}

const NAME = /^[a-zA-Z0-9][\w.-]*(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:\w[\w.-]{0,127})?$/;

/** NAME[:TAG]@sha256:DIGEST. A tag alone can lead to another image tomorrow. */
export function readReference(reference: string): ImageReference {
  const [name = "", digest, ...more] = reference.split("@");
  if (!NAME.test(name) || more.length > 0) throw NoDigest({ reference, why: "it is no name of an image" });
  if (digest === undefined)
    throw NoDigest({ reference, why: "it has no digest, and can lead to another image tomorrow" });
  if (!/^sha256:[0-9a-f]{64}$/.test(digest))
    throw NoDigest({ reference, why: "its digest is not sha256: and 64 hex digits" });
  const [short = "", tag] = (name.split("/").at(-1) ?? "").split(":");
  return { name, digest, short, version: tag !== undefined && /^\d[\w.]*$/.test(tag) ? tag : undefined };
}

export interface LightStemcellOrder {
  readonly to: string;
  readonly image: ImageReference;
  readonly name: string;
  readonly version: string;
  /** Its name when left out. */
  readonly os?: string | undefined;
  readonly apiVersion?: number | undefined;
  readonly clock: Clock;
}

/** Writes a stemcell that only names an image, which the engine has or pulls. No engine is asked. */
export async function buildLightStemcell(order: LightStemcellOrder): Promise<BuiltStemcell> {
  const { to, name, version, clock, image, os = name, apiVersion = 3 } = order;
  const began = clock.monotonic();
  const manifest = writeManifest({
    ...{ name, version, operating_system: os, sha1: createHash("sha1").digest("hex"), bosh_protocol: "1" },
    api_version: apiVersion,
    stemcell_formats: ["slipway-docker", "docker-light"],
    cloud_properties: {
      ...{ infrastructure: "docker", hypervisor: "docker" },
      ...{ image_reference: image.name, digest: image.digest },
    },
  });
  if (!manifest.ok)
    throw BadStemcellOption({
      option: "name, --version, --os or --api-version",
      why: manifest.problems.join("; "),
    });
  const written = await writeArchive(to, [
    { name: "stemcell.MF", text: manifest.text },
    { name: "packages.txt", text: `The packages of ${image.name}@${image.digest} were not listed.\n` },
    { name: "image", text: "" },
  ]);
  return { ...written, file: to, name, version, os, apiVersion, ms: clock.monotonic() - began };
}

import { dirname, join } from "node:path";
import { parseYaml } from "@slipway/engine/documents/yaml";
import { messageTrail } from "@slipway/kernel/errors";
import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { BadStemcellOption } from "./errors.ts";
import { type Inspected, inspectUnpacked } from "./inspect-archive.ts";
import { writeManifest } from "./manifest.ts";
import { readArchive } from "./read-archive.ts";
import { type WrittenArchive, writeArchive } from "./write-archive.ts";

/** SHA-1 of nothing. */
const EMPTY = "da39a3ee5e6b4b0d3255bfef95601890afd80709";

export interface RepackOrder {
  readonly from: string;
  readonly to: string;
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  /** YAML of a map; its keys are put over those that are there. */
  readonly cloudProperties?: string | undefined;
  readonly emptyImage?: boolean;
  /** In place of the formats it has; none means those. */
  readonly formats?: readonly string[];
}

/**
 * A stemcell with another name, version or cloud properties. Everything else in it is copied, bit by bit. `from` is read
 * whole and judged before anything is written, and may be `to`.
 */
export function repackStemcell(order: RepackOrder): Promise<WrittenArchive> {
  return readArchive(order.from, { scratchDir: dirname(order.to), all: true }, async (unpacked) => {
    const text = newManifest(order, await inspectUnpacked(order.from, unpacked));
    const others = unpacked.names.filter((name) => name !== "stemcell.MF");
    return await writeArchive(order.to, [
      // First, so that readers of the manifest need not read the image.
      { name: "stemcell.MF", text },
      ...others.map((name) =>
        name === "image" && order.emptyImage ? { name, text: "" } : { name, path: join(unpacked.dir, name) },
      ),
    ]);
  });
}

function newManifest(order: RepackOrder, { manifest, stemcell }: Inspected): string {
  const was = v.parse(jsonObject(), manifest);
  const { name, version, formats = [], emptyImage, cloudProperties } = order;
  const written = writeManifest({
    ...was,
    ...(name !== undefined && { name }),
    version: version ?? stemcell.version,
    ...(formats.length > 0 && { stemcell_formats: formats }),
    ...(emptyImage && { sha1: EMPTY }),
    ...(cloudProperties !== undefined && {
      cloud_properties: { ...stemcell.cloudProperties, ...readProperties(cloudProperties) },
    }),
  });
  if (written.ok) return written.text;
  throw BadStemcellOption({ option: "name or --version", why: written.problems.join("; ") });
}

function readProperties(text: string): object {
  try {
    return v.parse(jsonObject(), parseYaml(text, "--cloud-properties"));
  } catch (cause) {
    const why = v.isValiError(cause) ? "it is YAML of a map: `{key: value}`" : messageTrail(cause);
    throw BadStemcellOption({ option: "cloud-properties", why }, { cause });
  }
}

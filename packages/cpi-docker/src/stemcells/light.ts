import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { DockerCloudContext } from "../cloud-context.ts";
import { must, refused } from "../engine/engine.ts";
import { textOf } from "../engine/http.ts";
import { EngineRefused, ImageMissing, WrongDigest } from "../errors.ts";
import { findImage, type Image, type Tag, tagImage } from "./images.ts";

export interface LightStemcell {
  readonly reference: string;
  readonly digest: string | undefined;
}

const REFERENCE = /^[a-zA-Z0-9][\w./:-]*(@sha256:[0-9a-f]{64})?$/;

/** The digest the stemcell insists on: its own, or the one at the end of the reference. */
function readReference({ reference, digest }: LightStemcell): {
  name: string;
  digest: string | undefined;
} {
  if (!REFERENCE.test(reference) || reference.includes(".."))
    throw ImageMissing({ reference, why: "it is no reference of an image (NAME[:TAG][@sha256:…])" });
  const [name = "", own] = reference.split("@");
  if (own !== undefined && digest !== undefined && own !== digest)
    throw WrongDigest({ reference, wanted: digest, has: own });
  return { name, digest: digest ?? own };
}

/** Takes an image that the engine has or can pull, and no other than the one the digest says. */
export async function adoptImage(cloud: DockerCloudContext, light: LightStemcell, to: Tag): Promise<void> {
  const { name, digest } = readReference(light);
  const pinned = digest === undefined ? name : `${name}@${digest}`;
  const here = (await findImage(cloud, pinned)) ?? (await localByName(cloud, name, digest));
  const found = here ?? (await pull(cloud, pinned));
  if (digest !== undefined && !isThe(found, digest))
    throw WrongDigest({ reference: light.reference, wanted: digest, has: digestsOf(found) });
  await tagImage(cloud, found.Id, to);
}

/** An image that was loaded or built here has an id and no digest of a registry; the id pins it as well. */
async function localByName(
  cloud: DockerCloudContext,
  name: string,
  digest: string | undefined,
): Promise<Image | undefined> {
  const found = digest === undefined ? undefined : await findImage(cloud, name);
  if (found === undefined || digest === undefined || isThe(found, digest)) return found;
  // Here under that name is another one: a registry may have the right one, else this is the reason.
  const pulled = await pull(cloud, `${name}@${digest}`).catch((cause: unknown) => {
    throw WrongDigest({ reference: name, wanted: digest, has: digestsOf(found) }, { cause });
  });
  return pulled;
}

const isThe = (found: Image, digest: string): boolean =>
  found.Id === digest || (found.RepoDigests ?? []).some((one) => one.endsWith(`@${digest}`));

const digestsOf = ({ Id, RepoDigests }: Image): string =>
  [...new Set([...(RepoDigests ?? []).map((one) => one.replace(/^.*@/, "")), Id])].join(", ");

async function pull(cloud: DockerCloudContext, reference: string): Promise<Image> {
  const call = {
    doing: `pulling the image ${reference}`,
    method: "POST",
    path: "/images/create",
    query: {
      fromImage: reference,
      ...(!/[:@]/.test(reference.slice(reference.lastIndexOf("/") + 1)) && { tag: "latest" }),
    },
  } as const;
  const reply = await cloud.engine.attempt(call);
  if (refused(reply)) throw ImageMissing({ reference, why: reply.said });
  const failed = errorIn(await textOf(must(reply, call)));
  if (failed !== undefined) throw ImageMissing({ reference, why: failed });
  const found = await findImage(cloud, reference);
  if (found === undefined) throw ImageMissing({ reference, why: "it is not there after it was pulled" });
  return found;
}

const progress = open({ error: v.string() });

/** Pulls and imports answer 200 at once, and say in one of many lines of JSON that they failed. */
export function errorIn(lines: string): string | undefined {
  for (const line of lines.split("\n")) {
    if (!line.includes('"error"')) continue;
    try {
      const found = check(progress, JSON.parse(line));
      if (found.ok) return found.value.error.trim().slice(0, 500);
    } catch (cause) {
      throw EngineRefused(
        { doing: "reading the engine's progress", status: 200, said: "no JSON" },
        { cause },
      );
    }
  }
  return undefined;
}

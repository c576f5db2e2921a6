import { stemcellNotFound } from "@slipway/cpi-sdk/errors";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { DockerCloudContext } from "../cloud-context.ts";
import { must, refused } from "../engine/engine.ts";
import { LABEL } from "../labels.ts";

/** Repository whose tags are the stemcells. It is on the engine only, and never pushed. */
const REPOSITORY = "slipway-stemcell";

export interface Tag {
  readonly repo: string;
  readonly tag: string;
}

export const cidOfToken = (token: string): string => `stemcell-${token}`;

/** The image a cid names; undefined for what cannot be one of ours. */
export function tagOf(cid: string): Tag | undefined {
  const tag = /^stemcell-(\w[\w-]{0,100})$/.exec(cid)?.[1];
  return tag === undefined ? undefined : { repo: REPOSITORY, tag };
}

export const referenceOf = ({ repo, tag }: Tag): string => `${repo}:${tag}`;

export const image = open({
  Id: v.string(),
  RepoTags: v.optional(v.nullable(v.array(v.string()))),
  RepoDigests: v.optional(v.nullable(v.array(v.string()))),
  Config: v.optional(
    v.nullable(
      open({
        Cmd: v.optional(v.nullable(v.array(v.string()))),
        Entrypoint: v.optional(v.nullable(v.array(v.string()))),
        Labels: v.optional(v.nullable(mapOf(v.string()))),
      }),
    ),
  ),
});
export type Image = v.InferOutput<typeof image>;

export const findImage = (
  { engine }: Pick<DockerCloudContext, "engine">,
  reference: string,
): Promise<Image | undefined> =>
  engine.find(image, {
    doing: `looking for the image ${reference}`,
    method: "GET",
    path: `/images/${reference}/json`,
  });

export interface ImageToRun {
  readonly reference: string;
  readonly command: readonly string[];
  /** True if the stemcell's properties named the command. */
  readonly given: boolean;
}

export async function imageOfStemcell(cloud: DockerCloudContext, cid: string): Promise<ImageToRun> {
  const tag = tagOf(cid);
  const found = tag && (await findImage(cloud, referenceOf(tag)));
  if (tag === undefined || found === undefined) throw stemcellNotFound(cid);
  const { Entrypoint, Cmd, Labels } = found.Config ?? {};
  const given = Labels?.[LABEL.command] !== undefined;
  return { reference: referenceOf(tag), command: [...(Entrypoint ?? []), ...(Cmd ?? [])], given };
}

export async function tagImage(
  { engine }: DockerCloudContext,
  id: string,
  { repo, tag }: Tag,
): Promise<void> {
  await engine.run({
    doing: `naming the image ${id}`,
    method: "POST",
    path: `/images/${id}/tag`,
    query: { repo, tag },
  });
}

/** Takes the name away, and with the last one the image. Gone already is success. */
export async function untagImage({ engine }: DockerCloudContext, tag: Tag): Promise<void> {
  const reference = referenceOf(tag);
  const call = {
    doing: `deleting the image ${reference}`,
    method: "DELETE",
    path: `/images/${reference}`,
  } as const;
  const reply = await engine.attempt(call);
  if (refused(reply) && reply.status === 404) return;
  must(reply, call).discard();
}

const listed = v.array(open({ Id: v.string(), Created: v.number() }));

/** Ids of the images of stemcells, newest first. */
export async function stemcellImages({ engine }: DockerCloudContext): Promise<readonly string[]> {
  const found = await engine.json(listed, {
    doing: "listing stemcells",
    method: "GET",
    path: "/images/json",
    query: { filters: JSON.stringify({ reference: [REPOSITORY] }) },
  });
  return found.sort((one, other) => other.Created - one.Created).map(({ Id }) => Id);
}

import type { Engine } from "@slipway/cpi-docker/engine/engine";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { ImageReference } from "./build-light.ts";
import { ImageUnseen, NoAgentInImage } from "./errors.ts";

export interface ImageAgent {
  readonly path: string;
  /** Version of the stemcell contract, derived from the messages the agent knows. */
  readonly apiVersion: 1 | 2 | 3;
}

/** Paths of agents: Slipway's, and upstream's. */
const PLACES = ["/usr/lib/slipway/slipway-agent.cjs", "/var/vcap/bosh/bin/bosh-agent"];

/** Names of messages stand in the program as they are on the wire. */
const KNOWS_HINTS = "add_persistent_disk";
const KNOWS_SIGNED_URLS = "fetch_logs_with_signed_url";

const created = open({ Id: v.string() });

/** Looks into the image, in a container that is never started. The engine pulls an image that it does not have. */
export async function agentInImage(engine: Engine, image: ImageReference): Promise<ImageAgent> {
  const reference = `${image.name}@${image.digest}`;
  const id = await imageId(engine, image, reference);
  const { Id: container } = await engine.json(created, {
    doing: `looking into the image ${reference}`,
    method: "POST",
    path: "/containers/create",
    body: { Image: id, Cmd: ["true"], NetworkDisabled: true },
  });
  try {
    for (const path of PLACES) {
      const known = await messagesIn(engine, container, path);
      if (known === undefined) continue;
      const [hints, signed] = known;
      return { path, apiVersion: signed ? 3 : hints ? 2 : 1 };
    }
  } finally {
    await engine.run({
      doing: `removing what the image ${reference} was looked at in`,
      method: "DELETE",
      path: `/containers/${container}`,
      query: { force: "true", v: "true" },
    });
  }
  throw NoAgentInImage({ reference, places: PLACES });
}

const found = open({ Id: v.string(), RepoDigests: v.optional(v.nullable(v.array(v.string()))) });

/** Finds an image by its digest, which is the image's id if it was built on this engine. */
async function imageId(engine: Engine, { name, digest }: ImageReference, reference: string): Promise<string> {
  const look = async (what: string) =>
    await engine.find(found, {
      doing: `looking for the image ${reference}`,
      method: "GET",
      path: `/images/${what}/json`,
    });
  const local = async () => {
    const pinned = await look(reference);
    if (pinned !== undefined) return pinned.Id;
    const byName = await look(name);
    return byName?.Id === digest ? byName.Id : undefined;
  };
  const here = await local();
  if (here !== undefined) return here;
  const pulled = await engine.attempt({
    doing: `pulling the image ${reference}`,
    method: "POST",
    path: "/images/create",
    query: { fromImage: reference },
  });
  if ("said" in pulled) throw ImageUnseen({ reference, why: pulled.said });
  // Its lines tell of progress, and of what went wrong.
  let said = "";
  for await (const chunk of pulled.body) said = `${said}${String(chunk)}`.slice(-2_000);
  const there = await local();
  if (there === undefined)
    throw ImageUnseen({ reference, why: /"error":"([^"]*)"/.exec(said)?.[1] ?? "it cannot be pulled" });
  return there;
}

/** Returns which of the two messages the program contains; undefined if the file does not exist. */
async function messagesIn(
  engine: Engine,
  container: string,
  path: string,
): Promise<readonly [hints: boolean, signed: boolean] | undefined> {
  const reply = await engine.attempt({
    doing: `reading ${path} of an image`,
    method: "GET",
    path: `/containers/${container}/archive`,
    query: { path },
  });
  if ("said" in reply) {
    if (reply.status === 404) return undefined;
    throw ImageUnseen({ reference: path, why: reply.said });
  }
  let [hints, signed, rest] = [false, false, ""];
  for await (const chunk of reply.body) {
    const text = rest + Buffer.from(chunk as Uint8Array).toString("latin1");
    hints ||= text.includes(KNOWS_HINTS);
    signed ||= text.includes(KNOWS_SIGNED_URLS);
    rest = text.slice(-KNOWS_SIGNED_URLS.length);
  }
  return [hints, signed];
}

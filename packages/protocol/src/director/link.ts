import * as v from "valibot";
import { keyText, open, text } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** `GET /link_providers`, `/link_consumers`, `/links`. */
export const linksQuery = v.looseObject({
  deployment: v.optional(doc(v.string(), "whose; it must be given")),
});

const definition = open({ type: v.string(), name: doc(v.string(), "as the release names it") });

const owner = open({
  type: doc(v.string(), "`job`, `manual`, `variable` or `external`"),
  name: v.string(),
  info: v.optional(open({ instance_group: v.string() })),
});

export const linkProvider = open({
  id: v.string(),
  name: doc(v.string(), "as consumers ask for it"),
  shared: v.boolean(),
  deployment: v.string(),
  link_provider_definition: definition,
  owner_object: owner,
});

export const linkConsumer = open({
  id: v.string(),
  name: v.string(),
  optional: v.boolean(),
  deployment: v.string(),
  owner_object: owner,
  link_consumer_definition: definition,
});

export const link = open({
  id: v.string(),
  name: v.string(),
  link_consumer_id: v.string(),
  link_provider_id: doc(v.nullable(v.string()), "null: it is gone"),
  created_at: v.string(),
});

/** `POST /links`: for a consumer that is no job of a deployment. */
export const newLink = open({
  link_provider_id: doc(text("link_provider_id"), "one that is shared"),
  link_consumer: open({
    owner_object: open({ name: keyText("name"), type: v.literal("external") }),
  }),
  network: v.nullish(doc(v.string(), "whose addresses are wanted; default: the provider's")),
});

/** `GET /link_address`. */
export const linkAddressQuery = v.looseObject({
  link_id: v.optional(v.string()),
  azs: v.optional(doc(v.string(), "`azs[]`, any number of them")),
  "azs[]": v.optional(doc(v.string(), "instances in these zones alone")),
  status: v.optional(doc(v.string(), "`default`, `healthy`, `unhealthy` or `all`")),
});
export const linkAddress = open({ address: v.nullable(v.string()) });

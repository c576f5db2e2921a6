import * as v from "valibot";
import { integer, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";

/** A line and what becomes of it: `added`, `removed`, or null for one that only shows the place. */
export const diffLines = v.array(v.tuple([v.string(), v.nullable(v.string())]));
export type DiffLines = v.InferOutput<typeof diffLines>;

/** Diff of two configs, or of new content and the latest config. */
export const configDiff = open({
  diff: diffLines,
  from: v.optional(doc(open({ id: v.string() }), "the latest config; its id is `0` where there is none yet")),
  error: v.optional(v.string()),
});

const ids = v.optional(v.nullable(v.array(integer(1))));

/** The configs a deploy is made with: what the diff showed is what is deployed. */
export const deployContext = open({ cloud_config_ids: ids, runtime_config_ids: ids });

/** A mistake in manifest or configs. */
export const deployProblem = open({
  code: doc(v.number(), "upstream's number"),
  where: v.string(),
  problem: v.string(),
  fix: v.string(),
});

/** `POST /deployments/:deployment/diff`. */
export const deploymentDiff = open({
  context: v.optional(doc(deployContext, "to be sent back with the deploy")),
  diff: diffLines,
  error: v.optional(doc(v.string(), "why there is no diff; the deploy may go on without")),
  problems: v.optional(
    doc(v.array(deployProblem), "ours only: all that a deploy of this manifest will be refused for"),
  ),
});

const redact = v.optional(doc(v.string(), "`false`: show properties as they are"));
export const diffQuery = open({ redact });
export const typedConfigDiffQuery = open({ redact, name: v.optional(v.string()) });

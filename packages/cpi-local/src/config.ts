import { provisioning } from "@slipway/cpi-sdk/provisioning";
import { doc } from "@slipway/protocol/schema/marks";
import * as v from "valibot";

const text = (what: string) => v.pipe(v.string(), v.nonEmpty(what));

/** The section `local` of the configuration. */
export const localConfig = v.object({
  dir: doc(text("name a directory for sandboxes, disks and stemcells"), "where everything is kept"),
  agent: doc(
    text("name the file of the agent's bundle, slipway-agent.cjs"),
    "the agent of sandboxes whose stemcell has none",
  ),
  disks: v.optional(
    doc(
      v.picklist(["auto", "directory", "loop"], "disks must be auto, directory or loop"),
      "what new disks are: `directory` has no size limit, `loop` is an ext4 file system of its own and needs root; `auto` is `loop` where that works",
    ),
    "auto",
  ),
  provisioning: v.optional(
    doc(
      provisioning,
      "of disks of the kind `loop` whose type does not say: `preallocated` has all its space from the start, `thin` takes it as it is written to",
    ),
    "preallocated",
  ),
  hide: v.optional(
    doc(
      v.array(v.pipe(v.string(), v.startsWith("/", "hide takes absolute paths"))),
      "directories of this host that sandboxes with the host's root see empty, beside `dir`",
    ),
    [],
  ),
  share: v.optional(
    doc(
      v.array(v.pipe(v.string(), v.startsWith("/", "share takes absolute paths"))),
      "directories of this host that sandboxes see at the same place and may write to, such as a blobstore `local` of the Director",
    ),
    [],
  ),
});

export type LocalConfig = v.InferOutput<typeof localConfig>;
export type GivenConfig = v.InferInput<typeof localConfig>;
